import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { JobError } from '../../container/job_error.ts'
import { checkedLookup, type Resolve } from '../../container/transfer/address.ts'
import { type FetchOptions, fetchSource } from '../../container/transfer/fetch_source.ts'
import { openRequest } from '../../container/transfer/http.ts'
import { ownHosts } from '../../src/contract/public_url.ts'
import { startStorage, type Storage } from './storage.ts'

/** Fetching from a server that a customer named (docs/decisions/0127). Only loopback is contacted; other addresses are only judged. */

const storage = await startStorage()
const directory = await mkdtemp(join(tmpdir(), 'tonearm-fetch-'))
afterAll(async () => {
  await storage.close()
  await rm(directory, { recursive: true })
})

const HOSTS = ownHosts(['https://audio.shop.com'], 'https://0123.r2.cloudflarestorage.com')
const LIMITS = { stallSeconds: 1, leastRate: 0, rateSeconds: 3, totalSeconds: 60 }
const BYTES = Buffer.from(Array.from({ length: 400_000 }, (_, at) => (at * 31) % 256))

const nothing: Resolve = () => Promise.reject(new Error('no test expects a name to be resolved'))

/** Fetches a URL. Returns the bytes, or the error. */
async function outcomeOf(url: string, changes: Partial<FetchOptions> = {}) {
  const path = join(directory, crypto.randomUUID())
  const { signal } = new AbortController()
  const options = { maxBytes: 1e6, hosts: HOSTS, limits: LIMITS, closedPorts: [], resolve: nothing, signal, ...changes }
  try {
    const { size } = await fetchSource(url, path, options)
    const bytes = await readFile(path)
    return { size, isWhole: bytes.equals(BYTES) }
  } catch (error) {
    if (!(error instanceof JobError)) throw error
    // The addresses in messages are not those of the requests, which have a port.
    expect(error.message).not.toMatch(/127\.0\.0\.1:/)
    return { code: error.code, retryable: error.retryable, message: error.message }
  }
}

let names = 0
const serve = (trouble: Parameters<Storage['serve']>[2] = {}, bytes = BYTES) =>
  storage.serve(`source-${names++}`, bytes, trouble).url
const requestsFor = (url: string) => storage.requests.filter(({ path }) => storage.url(path) === url)
const whole = { size: BYTES.length, isWhole: true }

describe('a name', () => {
  const source_refused = { code: 'source_refused', retryable: false, message: expect.stringContaining('is not public') }

  it('is refused if any of its addresses is not public', async () => {
    const lists = [
      ['127.0.0.1'],
      ['1.1.1.1', '10.0.0.1'],
      ['2606:4700::1111', 'fe80::1%eth0'],
      ['::ffff:127.0.0.1'],
      [],
    ]
    const publicList = ['1.1.1.1', '2606:4700::1111']
    // Only the function is called, so nothing is contacted.
    const answers = [...lists, publicList].map((list) => {
      const lookup = checkedLookup(async () => list.map((address) => ({ address, family: isIP(address) })))
      return new Promise((resolve) =>
        lookup('radio.shop.com', { all: true }, (error, found) => resolve(error ?? found)),
      )
    })
    const found = await Promise.all(answers)
    expect(found.slice(0, -1)).toEqual(lists.map(() => expect.objectContaining({ code: 'source_refused' })))
    expect(found.at(-1)).toEqual(publicList.map((address) => ({ address, family: isIP(address) })))
    const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(await outcomeOf('https://radio.shop.com/', { resolve, closedPorts: null })).toEqual(source_refused)
  })

  it('is also checked after a redirect', async () => {
    const resolved: string[] = []
    const resolve: Resolve = async (host) => {
      resolved.push(host)
      return [{ address: '192.168.0.1', family: 4 }]
    }
    const url = serve({ status: 302, location: 'https://cdn.shop.com:8443/a' })
    expect(await outcomeOf(url, { resolve })).toEqual(source_refused)
    expect(resolved).toEqual(['cdn.shop.com'])
  })

  it('is resolved once for each connection, which goes to the address that was checked', async () => {
    const hosts: unknown[] = []
    const server = createServer((request, response) => {
      hosts.push(request.headers.host)
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const resolved: string[] = []
    // After the first answer, the name has another address, as in an attack by DNS rebinding.
    const resolve: Resolve = async (host) => [
      { address: resolved.push(host) === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 },
    ]
    const judged: string[] = []
    const lookup = checkedLookup(resolve, (address) => Boolean(judged.push(address)))
    await new Promise((resolve) =>
      openRequest(`http://radio.shop.com:${port}/`, { agent: false, lookup }).on('response', resolve).end(),
    )
    server.closeAllConnections()
    server.close()
    expect({ hosts, resolved, judged }).toEqual({
      hosts: [`radio.shop.com:${port}`],
      resolved: ['radio.shop.com'],
      judged: ['127.0.0.1'],
    })
  })
})

describe('a redirect', () => {
  /** Serves a chain of redirects to a URL. */
  const chain = (length: number, target: string): string =>
    length === 0 ? target : serve({ status: 302 + (length % 2) * 5, location: chain(length - 1, target) })

  it('is followed up to five times', async () => {
    expect(await outcomeOf(chain(5, serve()))).toEqual(whole)
    const refused = { code: 'source_refused', retryable: false, message: 'source_url redirects more than 5 times.' }
    expect(await outcomeOf(chain(6, serve()))).toEqual(refused)
  })

  it('may be relative', async () => {
    const target = serve()
    expect(await outcomeOf(serve({ status: 301, location: new URL(target).pathname }))).toEqual(whole)
  })

  it('must lead to an allowed URL', async () => {
    const closed = new URL(serve()).port
    const targets = [
      'http://10.0.0.1/',
      'http://[::1]/',
      'http://localhost/',
      'file:///etc/passwd',
      'https://a:b@radio.shop.com/',
      'http://',
    ]
    for (const location of targets) {
      const refused = {
        code: 'source_refused',
        retryable: false,
        message: expect.stringMatching(/^A redirect of source_url must/),
      }
      expect(await outcomeOf(serve({ status: 307, location }))).toEqual(refused)
    }
    expect(await outcomeOf(serve(), { closedPorts: [Number(closed)] })).toMatchObject({ code: 'source_refused' })
    expect(await outcomeOf(serve(), { closedPorts: null })).toMatchObject({ code: 'source_refused' })
  })
})

describe('a download', () => {
  it('resumes where the connection was cut', async () => {
    const url = serve({ cuts: [150_000, 50_000] })
    expect(await outcomeOf(url)).toEqual(whole)
    expect(requestsFor(url).map(({ range }) => range)).toEqual([undefined, expect.any(String), expect.any(String)])
  })

  it('starts over if the file was replaced meanwhile', async () => {
    const url = serve({ cuts: [150_000], replacement: BYTES }, Buffer.alloc(BYTES.length, 7))
    expect(await outcomeOf(url)).toEqual(whole)
  })

  it('accepts a body of unknown length', async () => {
    expect(await outcomeOf(serve({ chunked: true }))).toEqual(whole)
  })

  it.concurrent.each([
    ['cuts every connection', { cuts: [0, 0, 0, 0, 0, 0] }, 'source_unreachable', true, 4],
    ['cuts chunked bodies', { cuts: [0, 0, 0, 0, 0, 0], chunked: true }, 'source_unreachable', true, 4],
    ['answers 500', { status: 500 }, 'source_unreachable', true, 4],
    ['answers 429', { status: 429 }, 'source_unreachable', true, 4],
    ['answers 404', { status: 404 }, 'source_not_found', false, 1],
    ['answers 410', { status: 410 }, 'source_not_found', false, 1],
    ['answers 401', { status: 401 }, 'source_denied', false, 1],
    ['answers 403', { status: 403 }, 'source_denied', false, 1],
    ['answers 204', { status: 204 }, 'source_denied', false, 1],
    ['redirects to nowhere', { status: 302 }, 'source_denied', false, 1],
    ['is silent from the start', { silentAfter: 0 }, 'source_timeout', true, 4],
  ] as const)('fails if the server %s', async (_, trouble, code, retryable, requests) => {
    const url = serve({ ...trouble, cuts: [...('cuts' in trouble ? trouble.cuts : [])] })
    expect(await outcomeOf(url)).toEqual({ code, retryable, message: expect.stringContaining('source_url') })
    expect(requestsFor(url)).toHaveLength(requests)
  })

  it.concurrent('fails if nothing listens', async () => {
    const other = await startStorage()
    await other.close()
    expect(await outcomeOf(other.url('a'))).toMatchObject({ code: 'source_unreachable', retryable: true })
  })

  it('ends when a file is larger than allowed, whether its server states the length or not', async () => {
    const refused = {
      code: 'source_too_large',
      retryable: false,
      message: 'The file at source_url has more than 300000 bytes.',
    }
    for (const chunked of [false, true]) {
      const url = serve({ chunked })
      expect(await outcomeOf(url, { maxBytes: 300_000 })).toEqual(refused)
      expect(requestsFor(url)).toHaveLength(1)
    }
  })

  it('does not count the time until the answer as a slow transfer', async () => {
    const limits = { ...LIMITS, leastRate: 1e6, rateSeconds: 0.2 }
    const ready = new Promise<void>((resolve) => setTimeout(resolve, 600))
    expect(await outcomeOf(serve({ ready }), { limits })).toEqual(whole)
  })

  it('ends when an endless body takes too long or is too slow', async () => {
    const url = serve({ drip: 1, chunked: true })
    const late = { code: 'source_timeout', retryable: false, message: expect.stringContaining('within 0.5 seconds') }
    expect(await outcomeOf(url, { limits: { ...LIMITS, totalSeconds: 0.5 } })).toEqual(late)
    const slow = { code: 'source_timeout', retryable: false, message: expect.stringContaining('bytes per second') }
    expect(await outcomeOf(url, { limits: { ...LIMITS, leastRate: 1e5, rateSeconds: 0.1 } })).toEqual(slow)
  })

  it('ends at the first bytes of a web page', async () => {
    const page = Buffer.from(`<!doctype html><title>Sign in</title>${' '.repeat(BYTES.length)}`)
    const refused = { code: 'source_not_audio', retryable: false, message: expect.stringContaining('web page') }
    expect(await outcomeOf(serve({ drip: 5000, chunked: true }, page))).toEqual(refused)
    expect(await outcomeOf(serve({}, Buffer.from('{"error":"expired"}')))).toEqual(refused)
  })
})
