import { connect, type Socket } from 'node:net'

/** A small HTTP client: a report waits for up to half a second, so thousands of connections are needed, and each must cost little. */

/** Sends a report on a connection. Returns the status of the response; null if the connection was closed. */
function send(socket: Socket, path: string, body: string): Promise<number | null> {
  return new Promise((resolve) => {
    let head = ''
    const end = (status: number | null) => {
      socket.off('data', onData)
      socket.off('close', onClose)
      resolve(status)
    }
    const onClose = () => end(null)
    const onData = (data: Buffer) => {
      head += data.toString('latin1')
      // Only responses with an error have a body, and after them the connection is not used again.
      if (head.includes('\r\n\r\n')) end(Number(head.slice(9, 12)))
    }
    socket.on('data', onData)
    socket.on('close', onClose)
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
}

/** Sends all requests that `next` returns, on so many connections. Returns the numbers of responses by status. */
export async function sendAll(
  url: string,
  connections: number,
  next: () => { path: string; body: string; done?: () => void } | undefined,
): Promise<Map<number | null, number>> {
  const { hostname, port } = new URL(url)
  const statuses = new Map<number | null, number>()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.setNoDelay(true)
      for (let request = next(); request; request = next()) {
        const status = socket.destroyed ? null : await send(socket, request.path, request.body)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 204) request.done?.()
        else break
      }
      socket.destroy()
    }),
  )
  return statuses
}
