import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a server that acts as a bucket: it serves one file and records uploads. Like R2, it requires the correct Content-Length. */
export async function startStorage(path: string) {
  const { size } = await stat(path)
  const uploads = new Map<string, number>()

  const server = createServer((request, response) => {
    if (request.method === 'PUT') {
      // An aborted upload is not an error here, because the client handles it.
      put(request, response).catch(() => response.destroy())
      return
    }
    response.writeHead(200, { 'content-length': size, 'accept-ranges': 'bytes', etag: '"source"' })
    const stream = createReadStream(path, { highWaterMark: 256 * 1024 })
    stream.on('error', () => response.destroy())
    stream.pipe(response)
    response.on('close', () => stream.destroy())
  })

  async function put(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const promised = request.headers['content-length']
    let bytes = 0
    for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length
    if (promised === undefined) return void response.writeHead(411).end()
    if (bytes !== Number(promised)) return void response.writeHead(400).end()
    uploads.set((request.url ?? '').slice(1), bytes)
    response.writeHead(200).end()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    size,
    url: (name: string) => `http://127.0.0.1:${port}/${name}`,
    /** Returns the size in bytes of each upload under a prefix, keyed by the rest of its name. */
    uploaded(prefix: string): Record<string, number> {
      const matching = [...uploads].filter(([name]) => name.startsWith(`${prefix}/`))
      return Object.fromEntries(matching.map(([name, bytes]) => [name.slice(prefix.length + 1), bytes]))
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Storage = Awaited<ReturnType<typeof startStorage>>
