import { once } from 'node:events'
import { type FileHandle, open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { MAX_REDIRECTS } from '../../src/contract/facts.ts'
import { type OwnHosts, sourceRefusal } from '../../src/contract/public_url.ts'
import { HEAD_BYTES, isText } from '../../src/contract/text.ts'
import { diskError, reserveSpace } from '../disk.ts'
import { JobError } from '../job_error.ts'
import { checkedLookup, type Resolve, resolveName } from './address.ts'
import { nameIn } from './disposition.ts'
import { type DownloadLimits, rejectSlow } from './download.ts'
import { openRequest } from './http.ts'

/**
 * Fetches a file from a server that a customer named (docs/decisions/0127). Unlike the bucket, this server may send anything: the length is not known in
 * advance, redirects are followed, and every connection is checked. Messages never contain the URL, which is a secret.
 */

export type SourceLimits = DownloadLimits & {
  /** Maximum seconds from the first request to the last byte. */
  totalSeconds: number
}

export type FetchOptions = {
  maxBytes: number
  limits: SourceLimits
  signal: AbortSignal
  hosts: OwnHosts
  /** The ports of http://127.0.0.1 that are refused; null refuses all (`SOURCE_LOCAL`). */
  closedPorts: readonly number[] | null
  /** Only tests replace it. */
  resolve?: Resolve
  /** Called with the fetched fraction, 0–1, if the server states the length. */
  onProgress?: (fraction: number) => void
}

/** Maximum number of consecutive attempts without any new bytes. */
const MAX_ATTEMPTS_WITHOUT_PROGRESS = 4
const ATTEMPTS = 30
/** Bytes after which the free disk is checked again, if the length is not known. */
const CHECK_EVERY = 256 * 1024 * 1024
/** Free bytes that other jobs need. */
const MARGIN = 1024 ** 3
const REDIRECTS = [301, 302, 303, 307, 308]

type Fetch = {
  file: FileHandle
  path: string
  options: FetchOptions
  received: number
  /** The length that the server states; null if it states none. */
  total: number | null
  /** The validator with which the file is resumed; null if the server has none. */
  version: string | null
  file_name: string | null
  head: Buffer
  isStalled: boolean
  stretch: { startedAt: number; bytes: number }
}

/** Fetches a URL to a file, and resumes after a lost connection. Returns the file's size and the name that the server gives it. */
export async function fetchSource(
  url: string,
  path: string,
  options: FetchOptions,
): Promise<{ size: number; file_name: string | null }> {
  const { signal: cancelled, limits } = options
  const deadline = AbortSignal.timeout(limits.totalSeconds * 1000)
  const signal = AbortSignal.any([cancelled, deadline])
  const state: Fetch = {
    file: await open(path, 'w'),
    path,
    options,
    received: 0,
    total: null,
    version: null,
    file_name: null,
    head: Buffer.alloc(0),
    isStalled: false,
    stretch: { startedAt: performance.now(), bytes: 0 },
  }
  let problem = unreachable('could not be reached')
  running.add(state)
  try {
    let fruitless = 0
    for (let attempt = 1; attempt <= ATTEMPTS && fruitless < MAX_ATTEMPTS_WITHOUT_PROGRESS; attempt++) {
      if (fruitless > 0) await sleep(250 * 2 ** fruitless, undefined, { signal }).catch(() => undefined)
      const before = state.received
      try {
        await receive(url, state, signal)
        return { size: state.received, file_name: state.file_name }
      } catch (error) {
        cancelled.throwIfAborted()
        if (deadline.aborted) throw tooLate(`did not send the file within ${limits.totalSeconds} seconds`, false)
        if ((error instanceof JobError && !error.retryable) || diskError(error)) throw error
        problem = problemOf(error, state)
      }
      fruitless = state.received > before ? 0 : fruitless + 1
    }
    throw problem
  } finally {
    running.delete(state)
    await state.file.close()
  }
}

function problemOf(error: unknown, { isStalled, received, options }: Fetch): JobError {
  if (isStalled) return tooLate(`sent nothing for ${options.limits.stallSeconds} seconds, several times`, true)
  if (error instanceof JobError) return error
  return unreachable(received > 0 ? 'closed the connection before the file had arrived' : 'could not be reached')
}

const unreachable = (what: string) => new JobError('source_unreachable', `The server of source_url ${what}.`, true)
const tooLate = (what: string, retryable: boolean) =>
  new JobError('source_timeout', `The server of source_url ${what}.`, retryable)

async function receive(url: string, state: Fetch, signal: AbortSignal): Promise<void> {
  const { limits, maxBytes, onProgress } = state.options
  const stall = new AbortController()
  state.isStalled = false
  const timer = setTimeout(() => {
    state.isStalled = true
    stall.abort()
  }, limits.stallSeconds * 1000)
  try {
    const response = await follow(url, state, AbortSignal.any([signal, stall.signal]))
    await accept(response, state)
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh()
      if (state.received + chunk.length > maxBytes) throw tooLarge(maxBytes)
      await append(state, chunk)
      rejectSlow(state.stretch, limits, chunk.length, (rate) => tooLate(`sent only ${rate} bytes per second`, false))
      if (state.total) onProgress?.(state.received / state.total)
    }
    rejectText(state)
  } finally {
    clearTimeout(timer)
    // Closes the connection if the response was not read to its end.
    stall.abort()
  }
}

/** Requests a URL and follows its redirects. Each attempt starts at the first URL, because those after it may expire. */
async function follow(url: string, state: Fetch, signal: AbortSignal): Promise<IncomingMessage> {
  const { hosts, closedPorts, resolve = resolveName } = state.options
  const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Tonearm' }
  // Without a validator, the file could have changed in the meantime, so it is fetched again from its start.
  if (state.received > 0 && state.version) {
    headers.range = `bytes=${state.received}-`
    headers['if-range'] = state.version
  }
  let target = url
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const refusal = sourceRefusal(target, hosts, closedPorts)
    if (refusal)
      throw new JobError('source_refused', `${redirects > 0 ? 'A redirect of source_url' : 'source_url'} ${refusal}.`)
    // No connection is shared with other requests.
    const request = openRequest(target, { headers, signal, agent: false, lookup: checkedLookup(resolve) }).end()
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage]
    const { location } = response.headers
    if (!REDIRECTS.includes(response.statusCode ?? 0) || location === undefined) return response
    response.destroy()
    target = URL.canParse(location, target) ? new URL(location, target).href : location
  }
  throw new JobError('source_refused', `source_url redirects more than ${MAX_REDIRECTS} times.`)
}

/** Checks the headers of a response, and prepares the state for its body. */
async function accept({ statusCode: status = 0, headers }: IncomingMessage, state: Fetch): Promise<void> {
  if (status >= 500 || status === 408 || status === 425 || status === 429) throw unreachable(`answered ${status}`)
  if (status === 404 || status === 410)
    throw new JobError('source_not_found', `The server of source_url answered ${status}: the file does not exist.`)
  const isRest = status === 206 && isRestOf(headers['content-range'], state.received)
  if (status === 416 || (status === 206 && !isRest)) {
    // The server has another file now, so the next attempt starts over.
    state.version = null
    throw unreachable('does not resume a download')
  }
  if (status !== 200 && !isRest)
    throw new JobError('source_denied', `The server of source_url answered ${status} instead of a file.`)
  if (!isRest) await startOver(state)
  const { etag, 'content-length': length } = headers
  state.total = length === undefined ? null : state.received + Number(length)
  state.version = (etag && !etag.startsWith('W/') ? etag : headers['last-modified']) ?? null
  state.file_name = nameIn(headers['content-disposition'])
  if ((state.total ?? 0) > state.options.maxBytes) throw tooLarge(state.options.maxBytes)
  await reserveSpace(state.path, outstandingBytes() + MARGIN)
  // The time until the answer, and that of earlier attempts, is not a slow transfer.
  state.stretch = { startedAt: performance.now(), bytes: 0 }
}

/** The fetches that run. */
const running = new Set<Fetch>()
/** Returns the bytes that running fetches will still write, as far as their servers state a length. */
export const outstandingBytes = () =>
  [...running].reduce((sum, { total, received }) => sum + Math.max(0, (total ?? 0) - received), 0)

/** Whether a range reaches from a position to the end of the file (RFC 9110 §14.4). */
function isRestOf(range: string | undefined, from: number): boolean {
  const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(range ?? '') ?? []
  return Number(start) === from && Number(end) + 1 === Number(total)
}

async function startOver(state: Fetch): Promise<void> {
  await state.file.truncate(0)
  state.received = 0
  state.head = Buffer.alloc(0)
}

async function append(state: Fetch, chunk: Buffer): Promise<void> {
  if (state.received < HEAD_BYTES) {
    state.head = Buffer.concat([state.head, chunk.subarray(0, HEAD_BYTES - state.received)])
    if (state.head.length === HEAD_BYTES) rejectText(state)
  }
  const before = state.received
  // If the disk is nearly full, a write may store only a part of the chunk.
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await state.file.write(chunk, done, chunk.length - done, state.received)
    done += bytesWritten
    state.received += bytesWritten
  }
  const isDue = Math.floor(before / CHECK_EVERY) < Math.floor(state.received / CHECK_EVERY)
  if (state.total === null && isDue) await reserveSpace(state.path, outstandingBytes() + MARGIN)
}

/** Rejects web pages and other texts early. All other files are checked after they have been stored, like uploads. */
function rejectText({ head }: Fetch): void {
  if (head.length > 0 && isText(head))
    throw new JobError(
      'source_not_audio',
      'source_url leads to text, such as a web page, and not to audio. Use the URL of the audio file itself.',
    )
}

const tooLarge = (maxBytes: number) =>
  new JobError('source_too_large', `The file at source_url has more than ${maxBytes} bytes.`)
