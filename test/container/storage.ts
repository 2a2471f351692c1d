import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

type Served = {
  bytes: Buffer
  /** The number of bytes after which each successive response is cut off. */
  cuts: number[]
  status: number
  /** Target of a redirect. */
  location?: string
  /** `Content-Type` of the response, which an uploader can choose. */
  type?: string
  /** Byte offset in the object at which responses stall without closing. */
  silentAfter?: number
  /** Chunk size of a response that sends one chunk every 20 ms. */
  drip?: number
  /** Replaces the object after a response has been cut off. */
  replacement?: Buffer
  /** Whether the response has no `Content-Length`. */
  chunked?: boolean
  /** Resolves when the response may start. */
  ready: Promise<void>
}

export type StorageRequest = { method: string; path: string } & Partial<Record<'range' | 'type' | 'cache', string>>

export const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`

/** Starts a fake bucket that behaves like R2: GET supports ranges and ETags, and PUT requires Content-Length. */
export async function startStorage() {
  const sources = new Map<string, Served>()
  const files = new Map<string, Buffer>()
  const refusals = new Map<string, number[]>()
  const redirects = new Map<string, string>()
  const cutUploads = new Map<string, number>()
  const silences = new Map<string, number>()
  const slow = new Set<string>()
  const requests: StorageRequest[] = []

  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1)
    const { range, 'content-type': type, 'cache-control': cache } = request.headers
    requests.push({
      method: request.method ?? '',
      path,
      ...(range && { range }),
      ...(type && { type }),
      ...(cache && { cache }),
    })
    const source = sources.get(path)
    const responded = request.method === 'PUT' ? put(path, request, response) : get(source, request, response)
    // A broken transfer is not an error here, because the client handles it.
    responded.catch(() => response.destroy())
  })

  async function put(path: string, request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = []
    const cuts = cutUploads.get(path) ?? 0
    cutUploads.set(path, cuts - 1)
    for await (const chunk of request) {
      if (cuts > 0) return request.destroy()
      if (slow.has(path)) await sleep(5)
      chunks.push(chunk)
    }
    const silent = silences.get(path) ?? 0
    silences.set(path, silent - 1)
    if (silent > 0) return
    const location = redirects.get(path)
    if (location) return response.writeHead(307, { location }).end()
    const refusal = refusals.get(path)?.shift()
    if (refusal) return response.writeHead(refusal).end()
    if (request.headers['content-length'] === undefined) return response.writeHead(411).end()
    const bytes = Buffer.concat(chunks)
    files.set(path, bytes)
    return response.writeHead(200, { etag: etagOf(bytes) }).end()
  }

  async function get(source: Served | undefined, request: IncomingMessage, response: ServerResponse) {
    if (!source) return response.writeHead(404).end()
    await source.ready
    const { location, type } = source
    // Node ends the connection after a 101 without notifying the caller.
    if (source.status === 101) return response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end()
    if (source.status !== 200) return response.writeHead(source.status, location ? { location } : {}).end()
    const etag = etagOf(source.bytes)
    const from =
      request.headers['if-range'] === etag ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0
    const body = source.bytes.subarray(from)
    const length = source.chunked ? {} : { 'content-length': body.length }
    const headers = { etag, ...length, 'accept-ranges': 'bytes', ...(type ? { 'content-type': type } : {}) }
    if (from > 0) {
      response.writeHead(206, {
        ...headers,
        'content-range': `bytes ${from}-${source.bytes.length - 1}/${source.bytes.length}`,
      })
    } else response.writeHead(200, headers)
    if (source.silentAfter !== undefined) return response.write(source.bytes.subarray(from, source.silentAfter))
    if (source.drip) return sendSlowly(body, source.drip, response)
    const cut = source.cuts.shift()
    if (cut === undefined) return response.end(body)
    if (source.replacement) source.bytes = source.replacement
    // Closes with FIN and not with RST, so the bytes sent so far arrive before the response ends.
    return response.write(body.subarray(0, cut), () => response.socket?.end())
  }

  async function sendSlowly(body: Buffer, step: number, response: ServerResponse) {
    for (let at = 0; at < body.length && !response.destroyed; at += step) {
      response.write(body.subarray(at, at + step))
      await sleep(20)
    }
    response.end()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    files,
    requests,
    url: (path: string) => `http://127.0.0.1:${port}/${path}`,
    /** Serves a source, with optional faults. */
    serve(path: string, bytes: Buffer, trouble: Partial<Omit<Served, 'bytes'>> = {}) {
      sources.set(path, { bytes, cuts: [], status: 200, ready: Promise.resolve(), ...trouble })
      return { url: `http://127.0.0.1:${port}/${path}`, size: bytes.length }
    },
    /** Rejects the next uploads to a path with these statuses. */
    refuse: (path: string, ...statuses: number[]) => refusals.set(path, statuses),
    /** Redirects uploads to a path to another URL. */
    redirect: (path: string, location: string) => redirects.set(path, location),
    /** Cuts off the next `times` uploads to a path midway. */
    cutUploads: (path: string, times: number) => cutUploads.set(path, times),
    /** Accepts uploads to a path with a pause after each chunk. */
    slowDown: (path: string) => slow.add(path),
    /** Accepts the next `times` uploads to a path but never responds. */
    silence: (path: string, times: number) => silences.set(path, times),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Storage = Awaited<ReturnType<typeof startStorage>>
