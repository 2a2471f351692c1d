import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { TestProject } from 'vitest/node'

/** A request that a receiver got, with its exact body. */
export interface Received {
  path: string
  headers: Record<string, string>
  body: string
}

/**
 * A server on loopback that receives webhooks, because workerd cannot listen. A request to `/{name}/{behavior}` is
 * recorded and gets the response that the behavior defines; `GET /{name}` returns the recorded requests. `?next=` sets
 * the behavior for all later requests to the name, which overrides their path, and lets pending `late` requests
 * complete. `GET /media/{name}` stands for a domain of files: it returns 403, or the status in `?next=`. The server is started once for all tests of the
 * Worker.
 */
export default async function serveReceivers(project: TestProject) {
  const received = new Map<string, Received[]>()
  const behaviorOf = new Map<string, string>()
  const waiting = new Map<string, (() => void)[]>()
  const ending = new Set<() => void>()

  const read = async (request: IncomingMessage) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }
  /** Writes a chunk repeatedly until the other end disconnects. */
  const repeat = (response: ServerResponse, chunk: Buffer, milliseconds: number) => {
    const write = () => void response.write(chunk)
    const timer = setInterval(write, milliseconds)
    const end = () => clearInterval(timer)
    ending.add(end)
    response.once('close', end)
    write()
  }
  /** Sends a body of 1 GB. */
  const flood = (response: ServerResponse) => {
    const chunk = Buffer.alloc(1 << 20, 'x')
    let remaining = 1024
    const pump = () => {
      while (remaining-- > 0) if (!response.write(chunk)) return void response.once('drain', pump)
      response.end()
    }
    pump()
  }
  const behaviors: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    ok: (_, response) => response.writeHead(200).end('thanks'),
    late: (request, response) => {
      const [, name = ''] = request.url!.split('/')
      waiting.set(name, [...(waiting.get(name) ?? []), () => response.writeHead(200).end('thanks')])
    },
    empty: (_, response) => response.writeHead(204).end(),
    fails: (_, response) => response.writeHead(500).end('x'.repeat(5000)),
    missing: (_, response) => response.writeHead(404).end(),
    gone: (_, response) => response.writeHead(410).end(),
    busy: (_, response) => response.writeHead(429, { 'retry-after': '7200' }).end(),
    busy_for_long: (_, response) => response.writeHead(503, { 'retry-after': '9999999' }).end(),
    redirect: (request, response) =>
      response.writeHead(307, { location: request.url!.replace('redirect', 'ok') }).end(),
    hang: () => undefined,
    drip: (_, response) => repeat(response.writeHead(200), Buffer.from('.'), 1000),
    drip_failing: (_, response) => repeat(response.writeHead(500), Buffer.from('.'), 1000),
    huge: (_, response) => flood(response.writeHead(200)),
    huge_failing: (_, response) => flood(response.writeHead(500)),
    close: (request) => request.socket.destroy(),
    close_early: (_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half')
      setImmediate(() => response.destroy())
    },
  }

  const answerAsMedia = (request: IncomingMessage, response: ServerResponse) => {
    const status = Number(behaviorOf.get('media') ?? 403)
    received.set('media', [...(received.get('media') ?? []), { path: request.url!, headers: {}, body: '' }])
    if (status > 0) response.writeHead(status).end()
    else request.socket.destroy()
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    const [, name = '', behavior = 'ok'] = pathname.split('/')
    if (request.method === 'GET') {
      const next = searchParams.get('next')
      if (next) behaviorOf.set(name, next)
      else if (name === 'media') return answerAsMedia(request, response)
      if (next) for (const end of waiting.get(name) ?? []) end()
      return void response.end(JSON.stringify(received.get(name) ?? []))
    }
    const body = await read(request)
    const list = received.get(name) ?? []
    received.set(name, [...list, { path: pathname, headers: request.headers as Record<string, string>, body }])
    behaviors[behaviorOf.get(name) ?? behavior]?.(request, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  project.provide('receivers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    for (const end of ending) end()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    receivers: string
  }
}
