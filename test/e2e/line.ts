import { createServer, request, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** The network between a browser and the service, as a proxy that can be slowed, held and cut. */
export interface Line {
  /** For Playwright's `proxy` option. */
  server: string
  /** Holds every upload of a file after its first bytes, until `flow`. */
  hold: () => void
  flow: () => void
  /** Ends every connection, and refuses new ones until `restore`. */
  cut: () => void
  restore: () => void
  close: () => Promise<void>
}

/** More than the kernel takes in by itself of one connection. */
const HELD_AFTER = 1_000_000

export async function openLine(): Promise<Line> {
  const sockets = new Set<Socket>()
  let whole = true
  let held = false
  const waiting = new Set<() => void>()

  const server: Server = createServer((incoming, answer) => {
    const target = new URL(incoming.url ?? '')
    const { hostname, port, pathname, search } = target
    const { method, headers } = incoming
    const outgoing = request({ host: hostname, port, path: pathname + search, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    outgoing.on('error', () => answer.destroy())
    incoming.on('error', () => outgoing.destroy())
    incoming.once('close', () => incoming.complete || outgoing.destroy())
    let bytes = 0
    incoming.on('data', (part: Buffer) => {
      bytes += part.length
      outgoing.write(part)
      if (!held || method !== 'PUT' || bytes < HELD_AFTER) return
      incoming.pause()
      waiting.add(() => incoming.resume())
    })
    incoming.on('end', () => outgoing.end())
  })
  server.on('connection', (socket) => {
    if (!whole) return void socket.destroy()
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function flow(): void {
    held = false
    for (const resume of waiting) resume()
    waiting.clear()
  }
  function cut(): void {
    whole = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => (held = true),
    flow,
    cut,
    restore: () => (whole = true),
    async close() {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
