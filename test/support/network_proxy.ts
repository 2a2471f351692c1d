import { createServer, request, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A proxy between a browser and the service that simulates a network: it can pause uploads, cut connections and refuse new ones. */
export interface NetworkProxy {
  /** The address of the proxy, for Playwright's `proxy` option. */
  server: string
  /**
   * Pauses file uploads until `flow` is called: each of them after its first bytes or, if `after` is given, all of them
   * after that many bytes in total.
   */
  hold: (after?: number) => void
  /** Whether every file upload in flight is paused. */
  isStill: () => boolean
  flow: () => void
  /** Ends every connection, and refuses new ones until `restore` is called. */
  cut: () => void
  /** Ends the connection of an upload each time this many bytes of files have passed. */
  cutEvery: (bytes: number) => void
  /** Ends a connection once this many bytes have passed through it. */
  cutEach: (bytes: number) => void
  /** The number of connections that `cutEvery` and `cutEach` have ended. */
  cuts: () => number
  /** The number of bytes of files that have passed since the last call of `hold` or `cutEvery`. */
  passed: () => number
  /** Every part of a file whose upload was started, and whether the response has been returned completely. */
  parts: { number: number; isAnswered: boolean }[]
  restore: () => void
  close: () => Promise<void>
}

/** The number of bytes after which an upload is held. It exceeds what the kernel buffers for one connection. */
const HELD_AFTER = 1_000_000

export async function openNetworkProxy(): Promise<NetworkProxy> {
  const sockets = new Set<Socket>()
  let isConnected = true
  let held = false
  let [passed, holdAfter, each, eachLine, cuts] = [0, 0, Infinity, Infinity, 0]
  const parts: NetworkProxy['parts'] = []
  let onTheWay = 0
  const waiting = new Set<() => void>()

  const server: Server = createServer((incoming, answer) => {
    const target = new URL(incoming.url ?? '')
    const { hostname, port, pathname, search } = target
    const { method, headers } = incoming
    const part = { number: Number(target.searchParams.get('partNumber')), isAnswered: false }
    if (method === 'PUT') {
      parts.push(part)
      onTheWay++
      answer.once('close', () => onTheWay--)
    }
    answer.once('finish', () => (part.isAnswered = answer.statusCode === 200))
    const outgoing = request({ host: hostname, port, path: pathname + search, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
      // Aborts the response if the response of the server breaks off.
      response.on('error', () => answer.destroy())
    })
    outgoing.on('error', () => answer.destroy())
    incoming.on('error', () => outgoing.destroy())
    incoming.once('close', () => incoming.complete || outgoing.destroy())
    let bytes = 0
    incoming.on('data', (part: Buffer) => {
      bytes += part.length
      outgoing.write(part)
      if (method !== 'PUT') return
      const before = passed
      passed += part.length
      const isLong = incoming.socket.bytesRead > eachLine
      if (isLong || Math.floor(passed / each) > Math.floor(before / each)) {
        cuts++
        incoming.socket.destroy()
      }
      if (!held || (holdAfter > 0 ? passed < holdAfter : bytes < HELD_AFTER)) return
      incoming.pause()
      waiting.add(() => incoming.resume())
    })
    incoming.on('end', () => outgoing.end())
  })
  server.on('connection', (socket) => {
    if (!isConnected) return void socket.destroy()
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
    isConnected = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(after = 0) {
      held = true
      ;[passed, holdAfter] = [0, after]
    },
    cutEvery(bytes) {
      ;[passed, each, cuts] = [0, bytes, 0]
    },
    cutEach: (bytes) => (eachLine = bytes),
    cuts: () => cuts,
    passed: () => passed,
    parts,
    isStill: () => waiting.size > 0 && waiting.size === onTheWay,
    flow,
    cut,
    restore() {
      isConnected = true
      each = eachLine = Infinity
    },
    async close() {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
