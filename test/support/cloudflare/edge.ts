import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'

import type { Account } from './account.ts'
import { matching, type Seen } from './rulesets.ts'

/**
 * Stands in for Cloudflare's edge in front of a simulated zone, over real HTTP. A request passes the phases in Cloudflare's order: token rules, the cache,
 * the bucket, response headers (Ruleset Engine, Phases list; Cache, Range request behavior).
 */
export interface Edge {
  url: string
  counts: { requests: number; blocked: number; hits: number; misses: number; bypassed: number; ranges: number }
  /** Seconds by which the clock of the edge is ahead. */
  clock: { offset: number }
  /** Empties the cache, and sets counts and clock to 0. */
  reset: () => void
  close: () => Promise<void>
}

/** An object of the bucket. */
export interface Stored {
  body: Uint8Array
  headers: Record<string, string>
}

interface EdgeOptions {
  /** The domain that all requests are for. */
  host: string
  /** Reads an object of the bucket by its key. */
  read: (key: string) => Promise<Stored | null>
  /** Size in bytes of the largest file that is cached. */
  limit?: number
}

interface Response {
  status: number
  headers: Record<string, string | number>
  body: Uint8Array
}

const EMPTY = new Uint8Array()
const text = (status: number, message: string): Response => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(message),
})

export async function startEdge(account: Account, { host, read, limit = 512_000_000 }: EdgeOptions): Promise<Edge> {
  const counts = { requests: 0, blocked: 0, hits: 0, misses: 0, bypassed: 0, ranges: 0 }
  const clock = { offset: 0 }
  const cache = new Map<string, Stored>()
  const isAttached = () => [...account.buckets.values()].some(({ domains }) => domains.has(host))
  const hasRecord = () => [...account.records.values()].some(({ name }) => name === host)

  /** Returns the object from the cache or the bucket. The key of the cache contains the origin of the page (Cache, Cache keys). */
  async function find(seen: Seen, headers: IncomingHttpHeaders): Promise<[status: string, object: Stored | null]> {
    const [path = ''] = seen.raw_uri.split('?')
    const settings = (await matching(account.rulesets.values(), 'http_request_cache_settings', seen)).at(-1)
    const { cache_key, edge_ttl } = settings?.action_parameters ?? {}
    const address = cache_key?.custom_key?.query_string?.exclude?.all ? path : seen.raw_uri
    const key = `${address} ${headers.origin ?? ''}`
    const cached = settings && cache.get(key)
    if (cached) {
      counts.hits++
      return ['HIT', cached]
    }
    const object = await read(decodeURIComponent(path.slice(1)))
    const isPrivate =
      /private|no-store/.test(object?.headers['cache-control'] ?? '') && edge_ttl?.mode !== 'override_origin'
    if (!settings || isPrivate || (object && object.body.length > limit)) {
      counts.bypassed++
      return ['BYPASS', object]
    }
    counts.misses++
    if (object) cache.set(key, object)
    return ['MISS', object]
  }

  async function answer({ method = '', headers }: IncomingMessage, seen: Seen): Promise<Response> {
    const { unguarded } = account.rules
    const isUnguarded = unguarded === 'always' || (unguarded === 'attached' && isAttached())
    const blocking = (await matching(account.rulesets.values(), 'http_request_firewall_custom', seen))[0]
    if (!isUnguarded && blocking?.action === 'block') {
      counts.blocked++
      return text(403, 'Sorry, you have been blocked')
    }
    if (!isAttached()) return text(522, 'Connection timed out')
    if (method === 'OPTIONS') return { status: 204, headers: preflight(headers), body: EMPTY }
    if (method !== 'GET' && method !== 'HEAD') return text(405, 'Method Not Allowed')
    const [status, object] = await find(seen, headers)
    const found = object ? part(object, headers.range, counts) : text(404, 'Object not found')
    found.headers['cf-cache-status'] = status
    const rules = await matching(account.rulesets.values(), 'http_response_headers_transform', seen)
    for (const rule of rules)
      for (const [name, { value }] of Object.entries(rule.action_parameters?.headers ?? {})) found.headers[name] = value
    return found
  }

  const server = createServer((request, response) => void serve(request, response))
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Without a record, the name has no address.
    if (!isAttached() && !hasRecord()) return void request.socket.destroy()
    counts.requests++
    const seen = { host, raw_uri: request.url ?? '', now: Math.floor(Date.now() / 1000) + clock.offset }
    const { status, headers, body } = await answer(request, seen)
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(request.method === 'HEAD' ? undefined : body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    counts,
    clock,
    reset() {
      cache.clear()
      clock.offset = 0
      for (const name of Object.keys(counts)) counts[name as keyof typeof counts] = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The response of the bucket to a preflight request, by the rules of scripts/deploy/cors.json. */
const preflight = (headers: IncomingHttpHeaders) => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, PUT',
  'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
})

/** Parses a Range header (RFC 9110 §14.2). Returns null if it is ignored, and an empty list if no range can be satisfied. */
function rangesOf(header: string | undefined, size: number): [start: number, end: number][] | null {
  const specs = /^bytes=(.*)$/
    .exec(header ?? '')?.[1]
    ?.split(',')
    .map((spec) => /^\s*(\d*)-(\d*)\s*$/.exec(spec))
  if (!specs || specs.length > 300 || specs.some((spec) => !spec)) return null
  return specs.flatMap((spec): [number, number][] => {
    const [, first = '', last = ''] = spec!
    const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
    const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
    return start < size && start <= end ? [[start, end]] : []
  })
}

/** Returns the requested parts of an object. */
function part({ body, headers: own }: Stored, header: string | undefined, counts: Edge['counts']): Response {
  const size = body.length
  const headers = { ...own, 'accept-ranges': 'bytes' }
  const ranges = rangesOf(header, size)
  if (!ranges) return { status: 200, headers, body }
  counts.ranges++
  const [only] = ranges
  if (!only) return { status: 416, headers: { 'content-range': `bytes */${size}` }, body: EMPTY }
  const named = ([start, end]: [number, number]) => `bytes ${start}-${end}/${size}`
  if (ranges.length === 1)
    return {
      status: 206,
      headers: { ...headers, 'content-range': named(only) },
      body: body.subarray(only[0], only[1] + 1),
    }
  const parts = ranges.flatMap((range) => [
    Buffer.from(`--part\r\ncontent-type: ${own['content-type']}\r\ncontent-range: ${named(range)}\r\n\r\n`),
    body.subarray(range[0], range[1] + 1),
    Buffer.from('\r\n'),
  ])
  const multipart = { ...headers, 'content-type': 'multipart/byteranges; boundary=part' }
  return { status: 206, headers: multipart, body: Buffer.concat([...parts, Buffer.from('--part--\r\n')]) }
}
