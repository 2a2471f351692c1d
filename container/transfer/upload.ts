import { once } from 'node:events'
import { open, stat } from 'node:fs/promises'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { FILE_CACHE_CONTROL, type OutputParts } from '../../src/contract/job.ts'
import { JobError } from '../job_error.ts'
import { openRequest } from './http.ts'

/** The input of one upload with a signed `PUT`. */
export type Upload = { body: Uint8Array; url: string; contentType: string; signal: AbortSignal }

/** Yields the body in pieces. A piece is valid only until the next iteration, which may reuse its memory. */
type Pieces = AsyncGenerator<Uint8Array, void>
type Body = { size: number; open: () => Pieces }

const ATTEMPTS = 3
/** Bytes per read from the file. */
const PIECE = 1024 * 1024
/**
 * Maximum number of milliseconds in which a connection transfers no bytes in either direction. R2 responds within seconds after the last
 * byte.
 */
const STALL_MS = 60_000
/** Minimum accepted upload rate in bytes per second. */
const MIN_RATE = 50_000

/** Uploads bytes to a signed URL. */
export async function upload({ body, url, contentType, signal }: Upload): Promise<void> {
  await send({ size: body.byteLength, open: () => singlePiece(body) }, url, contentType, signal)
}

/** Uploads a file to a signed URL without reading the whole file into memory. Returns its size. */
export async function uploadFile(
  path: string,
  url: string,
  contentType: string,
  signal: AbortSignal,
  stallMs = STALL_MS,
): Promise<number> {
  const { size } = await stat(path)
  await send({ size, open: () => filePieces(path, 0, size) }, url, contentType, signal, stallMs)
  return size
}

/** An output file, and the URLs to which it may be uploaded. */
type Target = { url: string; content_type: string; parts?: OutputParts | undefined }

/** Uploads an output file, in parts if it is larger than one part. Returns its size, and the ETags of the parts. */
export async function uploadOutput(
  path: string,
  { url, content_type, parts }: Target,
  signal: AbortSignal,
): Promise<{ size: number; parts?: string[] }> {
  const { size } = await stat(path)
  if (parts && size > parts.size && size <= parts.size * parts.urls.length) {
    try {
      return { size, parts: await uploadParts(path, size, parts, content_type, signal) }
    } catch (error) {
      signal.throwIfAborted()
      // If an earlier attempt of the job has joined or aborted the parts, the storage refuses them. The whole file is still accepted.
      if (!(error instanceof JobError)) throw error
    }
  }
  return { size: await uploadFile(path, url, content_type, signal) }
}

/** Uploads a file in parts. Returns their ETags. */
export async function uploadParts(
  path: string,
  total: number,
  { size, urls }: OutputParts,
  type: string,
  signal: AbortSignal,
) {
  const etags: string[] = []
  for (let start = 0; start < total; start += size) {
    const length = Math.min(size, total - start)
    const part = { size: length, open: () => filePieces(path, start, length) }
    etags.push(await send(part, urls[etags.length]!, type, signal))
  }
  return etags
}

// Sends a body, and retries after network errors and transient HTTP statuses. Returns the ETag.
async function send(body: Body, url: string, contentType: string, signal: AbortSignal, stallMs = STALL_MS) {
  let problem = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(400 * 4 ** (attempt - 1), undefined, { signal })
    const { status, etag } = await put(body, url, contentType, AbortSignal.any([signal, deadline(body.size)]), stallMs)
    signal.throwIfAborted()
    if (status >= 200 && status < 300) return etag
    problem = status === 0 ? 'did not take the bytes' : `answered ${status}`
    if (status >= 300 && status < 500 && status !== 408 && status !== 429) break
  }
  throw new JobError('upload_failed', `An output URL ${problem}.`, true)
}

/** Sends one `PUT`. Returns the HTTP status, or 0 if there was no response, and the ETag. R2 rejects bodies without a Content-Length. */
async function put(body: Body, url: string, contentType: string, signal: AbortSignal, stallMs: number) {
  const headers = { 'content-type': contentType, 'content-length': body.size, 'cache-control': FILE_CACHE_CONTROL }
  const request = openRequest(url, { method: 'PUT', headers, signal })
  request.setTimeout(stallMs, () => request.destroy())
  const responded = once(request, 'response', { signal }) as Promise<[IncomingMessage]>
  const source = body.open()
  try {
    const sent = sendAll(source, request)
    // A rejection may arrive before the last byte is sent.
    await Promise.race([responded, sent])
    const [response] = await responded
    await once(response.resume(), 'end')
    const status = response.statusCode ?? 0
    // A connection can be reused only after its request has ended, so this waits for the end. The wait has a timeout, because Node does not
    // enforce the idle timeout after the response.
    if (status < 300)
      await Promise.race([sent.catch(() => undefined), sleep(stallMs, undefined, { signal, ref: false })])
    return { status, etag: response.headers.etag ?? '' }
  } catch {
    return { status: 0, etag: '' }
  } finally {
    // If the server rejects the request early, the rest of the body is never read, so the connection is closed.
    if (!request.writableEnded) request.destroy()
    await source.return()
  }
}

async function* singlePiece(body: Uint8Array): Pieces {
  yield body
}

// Yields a section of a file in pieces, all in the same buffer. New buffers would accumulate until a garbage collection, up to 100 MB at the end of a
// long job.
async function* filePieces(path: string, start: number, length: number): Pieces {
  const file = await open(path)
  try {
    const buffer = Buffer.allocUnsafe(PIECE)
    for (let at = start; at < start + length;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE, start + length - at), at)
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

async function sendAll(source: Pieces, request: ClientRequest): Promise<void> {
  for await (const piece of source) await writePiece(piece, request)
  request.end()
}

// Resolves when the bytes have been passed to the kernel, and not when the request has buffered them.
function writePiece(piece: Uint8Array, request: ClientRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    request.write(piece, (error) => (error ? reject(error) : resolve()))
  })
}

function deadline(size: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(60_000 + (size / MIN_RATE) * 1000))
}
