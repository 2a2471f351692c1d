import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { onEnd } from './cleanup.ts'
import type { Meta } from './simulator.ts'

/** Proxies in front of the simulators, which count every request, and the server that receives queue messages. */

export type Counts = {
  /** Requests to D1. A batch counts as one. */
  trips: number
  statements: number
  read: number
  written: number
  /** R2 operations of the billing classes A and B. */
  a: number
  b: number
  messages: number
}

const ZERO_COUNTS: Counts = { trips: 0, statements: 0, read: 0, written: 0, a: 0, b: 0, messages: 0 }
const CLASS_A = ['put', 'list', 'createMultipartUpload', 'uploadPart', 'completeMultipartUpload']
const CLASS_B = ['head', 'get']

export type Message = { queue: string; body: unknown }

export async function startMeter(d1: string, r2: string) {
  const counts = { ...ZERO_COUNTS }
  /** Queue messages that have not been delivered yet. */
  const messages: Message[] = []
  /** Duration of the slowest statement since the last reset to 0, in milliseconds. */
  const slowest = { duration: 0 }

  const database = await listen(async (request, body, response) => {
    const answer = await forward(d1, request, body, response)
    const results = JSON.parse(answer.toString()) as { meta: Meta }[] | { error: string }
    counts.trips++
    for (const { meta } of Array.isArray(results) ? results : []) {
      counts.statements++
      counts.read += meta.rows_read
      counts.written += meta.rows_written
      slowest.duration = Math.max(slowest.duration, meta.duration)
    }
  })
  const bucket = await listen(async (request, body, response) => {
    const method = bucketMethod(request.headers, body)
    if (CLASS_A.includes(method)) counts.a++
    if (CLASS_B.includes(method)) counts.b++
    await forward(r2, request, body, response)
  })
  const queues = await listen(async (request, body, response) => {
    const queue = String(request.headers.queue)
    if (request.url !== '/message') throw new Error(`unexpected request to a queue: ${request.url}`)
    counts.messages++
    messages.push({ queue, body: JSON.parse(body.toString()) })
    response.end('{}')
  })
  return {
    d1: database,
    r2: bucket,
    queue: queues,
    messages,
    slowest,
    /** Runs a function and returns what was counted in the meantime. */
    async during(run: () => Promise<unknown>): Promise<Counts> {
      const before = { ...counts }
      await run()
      const differences = Object.entries(before).map(([name, count]) => [name, counts[name as keyof Counts] - count])
      return Object.fromEntries(differences) as Counts
    },
  }
}

export type Meter = Awaited<ReturnType<typeof startMeter>>

/** Returns the method of an R2 operation. The binding sends it in a header for reads, and as a prefix of the body for writes. */
function bucketMethod(headers: IncomingHttpHeaders, body: Buffer): string {
  const size = Number(headers['cf-r2-metadata-size'] ?? 0)
  const text = headers['cf-r2-request'] ?? body.subarray(0, size).toString()
  return (JSON.parse(String(text)) as { method: string }).method
}

const HOP_HEADERS = ['host', 'connection', 'content-length', 'transfer-encoding']

async function forward(url: string, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<Buffer> {
  const headers = Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.includes(name)) as [string, string][]
  const { method = 'GET' } = request
  const init = { method, headers, ...(body.length > 0 && { body: new Uint8Array(body) }) }
  const answer = await fetch(`${url}${request.url}`, init)
  const bytes = Buffer.from(await answer.arrayBuffer())
  const responseHeaders = [...answer.headers].filter(([name]) => !HOP_HEADERS.includes(name))
  response.writeHead(answer.status, Object.fromEntries(responseHeaders)).end(bytes)
  return bytes
}

type Handler = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>

/** Starts a server on a free port of 127.0.0.1 and returns its URL. */
export async function listen(handle: Handler) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    await handle(request, Buffer.concat(chunks), response)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${port}`
}
