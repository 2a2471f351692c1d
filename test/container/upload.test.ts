import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, globalAgent } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, it, vi } from 'vitest'

import { NODE_FLAGS } from '../../container/process/node_flags.ts'
import { uploadFile } from '../../container/transfer/upload.ts'
import { WAIT } from './processes.ts'
import { startStorage, type Storage } from './storage.ts'

/** Uploads without a job; transfer.test.ts covers the uploads of jobs. */

let storage: Storage
let directory: string
let path: string
const sockets = new Set<Socket>()
const servers: Server[] = []

beforeAll(async () => {
  storage = await startStorage()
  directory = await mkdtemp(join(tmpdir(), 'tonearm-test-upload-'))
  path = join(directory, 'file')
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  await storage.close()
  await rm(directory, { recursive: true })
})

const put = (url: string, stallMs?: number) => uploadFile(path, url, 'audio/wav', new AbortController().signal, stallMs)

/** Listens on a free port and returns the server's address. The server and its connections are closed after the tests. */
async function listen(server: Server): Promise<string> {
  servers.push(server)
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that responds before it has read the body, and then reads it. */
const serverThatRespondsEarly = (taken = (_bytes: number) => {}) =>
  createHttpServer((request, response) => {
    request.on('data', (piece: Buffer) => taken(piece.length))
    response.end()
  })

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'

/** A server that responds at the first byte and stops reading. */
const serverThatStopsReading = (answer: string) =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.pause().write(`${answer}\r\n`))
  })

it('an upload sends every byte, even if the storage reads slowly', async () => {
  // The file is larger than one read and than the kernel's buffer, and no two of its chunks are equal.
  const bytes = Buffer.from(Uint32Array.from({ length: 2_500_001 }, (_, i) => i).buffer)
  await writeFile(path, bytes)
  storage.slowDown('long')
  expect(await put(storage.url('long'))).toBe(bytes.length)
  expect(storage.files.get('long')?.equals(bytes)).toBe(true)
})

it('an upload is retried when the storage does not respond in time, and fails after three attempts', async () => {
  const bytes = Buffer.alloc(100_000, 1)
  await writeFile(path, bytes)
  storage.silence('slow', 2)
  expect(await put(storage.url('slow'), 2000)).toBe(bytes.length)
  expect(storage.requests.filter((request) => request.path === 'slow')).toHaveLength(3)
  storage.silence('dead', 3)
  await expect(put(storage.url('dead'), 2000)).rejects.toMatchObject({ code: 'upload_failed', retryable: true })
})

it('an upload reuses the connection of the previous one, even if the response arrived before the last byte was sent', async () => {
  await writeFile(path, Buffer.alloc(5_000_000))
  const server = serverThatRespondsEarly()
  const to = await listen(server)
  let connections = 0
  server.on('connection', () => connections++)
  for (let upload = 0; upload < 30; upload++) await put(`http://${to}/`)
  expect(connections).toBe(1)
})

it('an upload closes its connection when the storage rejects it before reading the whole body', async () => {
  const to = await listen(serverThatStopsReading('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n'))
  await writeFile(path, Buffer.alloc(64 * 1024 * 1024))
  await expect(put(`http://${to}/`)).rejects.toThrow('403')
  const connections = () => Object.keys({ ...globalAgent.sockets, ...globalAgent.freeSockets })
  await expect.poll(() => connections().filter((name) => name.startsWith(to))).toEqual([])
})

it('an upload succeeds if the storage has responded but stops reading', async () => {
  await writeFile(path, Buffer.alloc(64 * 1024 * 1024))
  expect(await put(`http://${await listen(serverThatStopsReading(OK))}/`, 1000)).toBe(64 * 1024 * 1024)
  expect(await put(`http://${await listen(serverThatStopsReading(`${OK}Connection: close\r\n`))}/`, 1000)).toBe(
    64 * 1024 * 1024,
  )
})

it('an upload ends with its job, even if the storage has responded and closed the connection', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined).on('data', () => undefined)
    socket.once('data', () => socket.end(`${OK}\r\n`))
  })
  const url = `http://${await listen(server)}/`
  await writeFile(path, Buffer.alloc(64 * 1024 * 1024))
  await Promise.allSettled([uploadFile(path, url, 'audio/wav', AbortSignal.timeout(500))])
})

it('an upload uses no more memory for a long file than for a short one', async () => {
  let taken = 0
  const to = await listen(serverThatRespondsEarly((bytes) => (taken += bytes)))
  await writeFile(path, '')
  const program = `
    import { truncate } from 'node:fs/promises'
    import { uploadFile } from ${JSON.stringify(join(import.meta.dirname, '../../container/transfer/upload.ts'))}
    const peaks = []
    for (const megabytes of [8, 512]) {
      await truncate(${JSON.stringify(path)}, megabytes * 1_000_000)
      await uploadFile(${JSON.stringify(path)}, 'http://${to}/', 'audio/wav', new AbortController().signal)
      peaks.push(process.resourceUsage().maxRSS)
    }
    console.log(JSON.stringify(peaks))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...NODE_FLAGS,
    '--input-type=module',
    '--eval',
    program,
  ])
  const [short, long] = JSON.parse(stdout) as [number, number]
  expect(long - short).toBeLessThan(40_000)
  // The upload has ended, but its last bytes may still be in flight.
  await vi.waitFor(() => expect(taken).toBe(520_000_000), WAIT)
})
