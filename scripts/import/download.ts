import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { checkedLookup, resolveName } from '../../container/transfer/address.ts'
import { openRequest } from '../../container/transfer/http.ts'
import { MAX_REDIRECTS } from '../../src/contract/facts.ts'
import { sourceRefusal } from '../../src/contract/public_url.ts'
import { Fault } from '../backup/service.ts'

/** Downloads the small files of an import: feeds, lists of a bucket, chapters and covers. The service itself fetches the audio. */

/** A download that failed. Messages do not contain the URL, which may be a secret. */
export class DownloadFault extends Fault {
  /** Whether the download may succeed later. */
  readonly isTransient: boolean

  constructor(message: string, isTransient = false) {
    super(message)
    this.isTransient = isTransient
  }
}

export interface Downloaded {
  bytes: Buffer
  contentType: string
  /** Address after redirects, against which relative addresses are resolved. */
  url: string
}

interface Limits {
  maxBytes: number
  /** Maximum seconds until the last byte. */
  seconds: number
  signal: AbortSignal
}

export interface Downloader {
  /** Downloads from an address that the operator has named, which may be any host. */
  trusted: (url: string, limits: Limits) => Promise<Downloaded>
  /** Downloads from an address in a feed or a list. Only public hosts are asked, as with `source_url`. */
  untrusted: (url: string, limits: Limits) => Promise<Downloaded>
}

const NO_HOSTS = { own: [], bucket: null }
const REDIRECTS = [301, 302, 303, 307, 308]
const ATTEMPTS = 3

/** Returns the https address of an address with http. The service fetches with https only, which nearly all servers have. */
export function secureUrl(url: string): string {
  return /^http:\/\/(?!127\.0\.0\.1[:/])[^/:@]+(:80)?([/?]|$)/i.test(url)
    ? url.replace(/^http:\/\/([^/:?]+)(:80)?/i, 'https://$1')
    : url
}

/** Whether a service is the `npm start` of this machine, for which files may come from a server on this machine. */
export const isOnThisMachine = (base_url: string) => ['localhost', '127.0.0.1'].includes(new URL(base_url).hostname)

/** Returns why a URL of a feed or a list is refused; null if it is allowed. `base_url` is the service. */
export const refusalOf = (url: string, base_url: string): string | null =>
  sourceRefusal(url, NO_HOSTS, isOnThisMachine(base_url) ? [Number(new URL(base_url).port)] : null)

/** Returns the downloads of an import into a service. */
export function downloaderFor(base_url: string): Downloader {
  async function open(first: string, isTrusted: boolean, signal: AbortSignal): Promise<[IncomingMessage, string]> {
    let url = first
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      // A server that the operator has named may redirect to itself, and to public hosts. Another port of its host is another server.
      const isChosen = isTrusted && new URL(url).origin === new URL(first).origin
      if (!isChosen) url = secureUrl(url)
      const refusal = isChosen ? null : refusalOf(url, base_url)
      if (refusal) throw new DownloadFault(`${redirects > 0 ? 'a redirect of its address' : 'its address'} ${refusal}`)
      const lookup = isChosen ? undefined : checkedLookup(resolveName)
      const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Tonearm' }
      const request = openRequest(url, { headers, signal, agent: false, ...(lookup && { lookup }) }).end()
      const [response] = (await once(request, 'response', { signal })) as [IncomingMessage]
      const { location } = response.headers
      if (!REDIRECTS.includes(response.statusCode ?? 0) || location === undefined) return [response, url]
      response.destroy()
      if (!URL.canParse(location, url)) throw new DownloadFault('a redirect of its address is no URL')
      url = new URL(location, url).href
      if (!/^https?:/.test(url)) throw new DownloadFault('a redirect of its address is not https')
    }
    throw new DownloadFault(`it redirects more than ${MAX_REDIRECTS} times`)
  }

  async function once_(url: string, isTrusted: boolean, { maxBytes, seconds, signal }: Limits): Promise<Downloaded> {
    const ended = new AbortController()
    const deadline = AbortSignal.timeout(seconds * 1000)
    try {
      const [response, last] = await open(url, isTrusted, AbortSignal.any([signal, deadline, ended.signal]))
      const { statusCode: status = 0, headers } = response
      if (status !== 200)
        throw new DownloadFault(`its server answered ${status}`, status >= 500 || [408, 425, 429].includes(status))
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) throw tooLarge(maxBytes)
        chunks.push(chunk)
      }
      const body = Buffer.concat(chunks)
      const bytes = headers['content-encoding'] === 'gzip' ? await unzipped(body, maxBytes) : body
      return { bytes, contentType: headers['content-type'] ?? '', url: last }
    } catch (error) {
      if (error instanceof DownloadFault) throw error
      if (signal.aborted) throw new DownloadFault('the import was stopped', true)
      if (deadline.aborted) throw new DownloadFault(`its server did not send it within ${seconds} seconds`, true)
      // A refused address is no failure of the network (container/transfer/address.ts).
      if ((error as { code?: string }).code === 'source_refused')
        throw new DownloadFault('its host has an address that is not public')
      throw new DownloadFault('its server could not be reached, or closed the connection', true)
    } finally {
      ended.abort()
    }
  }

  async function download(url: string, isTrusted: boolean, limits: Limits): Promise<Downloaded> {
    for (let attempt = 1; ; attempt++)
      try {
        return await once_(url, isTrusted, limits)
      } catch (error) {
        if (attempt === ATTEMPTS || limits.signal.aborted || !(error instanceof DownloadFault) || !error.isTransient)
          throw error
        await sleep(500 * 3 ** attempt, undefined, { signal: limits.signal }).catch(() => undefined)
      }
  }
  return {
    trusted: (url, limits) => download(url, true, limits),
    untrusted: (url, limits) => download(url, false, limits),
  }
}

const tooLarge = (maxBytes: number) => new DownloadFault(`it has more than ${maxBytes} bytes`)

async function unzipped(body: Buffer, maxOutputLength: number): Promise<Buffer> {
  try {
    return await promisify(gunzip)(body, { maxOutputLength })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxOutputLength)
    throw new DownloadFault('it is damaged gzip')
  }
}
