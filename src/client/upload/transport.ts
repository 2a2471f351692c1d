import type { UploadHandle } from '../../contract/media.ts'
import { noAnswer, readFailure } from '../failure.ts'
import { deadline } from '../retry.ts'
import type { Failure } from '../types.ts'

export interface UploadFileOptions {
  /** Called with a fraction from 0 to 1. */
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

export type Sent = { ok: true; etag: string | null } | Failure
type Handle = Pick<UploadHandle, 'method' | 'upload_url'>

/** A connection that is dead without having been closed is noticed by its silence, in milliseconds. */
const SILENCE_TIMEOUT = 60_000
/** Once all bytes are on their way, the storage may take its time with a large file. */
const ANSWER_TIMEOUT = 300_000

/** Sends a file to an upload handle (specification §2, UploadHandle); when nothing is heard of it for too long, the connection is lost. */
export async function uploadFile(handle: Handle, file: Blob, options: UploadFileOptions = {}): Promise<Sent> {
  const stall = deadline(SILENCE_TIMEOUT, options.signal)
  const onProgress = (fraction: number) => {
    stall.extend(fraction < 1 ? SILENCE_TIMEOUT : ANSWER_TIMEOUT)
    options.onProgress?.(fraction)
  }
  const send = typeof XMLHttpRequest === 'undefined' ? sendByFetch : sendByRequest
  const sent = await send(handle, file, stall.signal, onProgress)
  stall.end()
  return stall.signal.aborted && !sent.ok ? noAnswer(options.signal?.aborted ?? false) : sent
}

type Send = (handle: Handle, file: Blob, signal: AbortSignal, onProgress: (fraction: number) => void) => Promise<Sent>

/** XMLHttpRequest, because `fetch` tells no progress. */
const sendByRequest: Send = (handle, file, signal, onProgress) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(noAnswer(true))
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const finish = (result: Sent) => {
      signal.removeEventListener('abort', abort)
      resolve(result)
    }
    signal.addEventListener('abort', abort)
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onerror = () => finish(noAnswer(false, 'The upload was interrupted'))
    request.onabort = () => finish(noAnswer(true))
    request.onload = () => {
      const { status } = request
      if (status >= 300) return finish(refusal(status, request.responseText))
      // Asked for by its name, a header that CORS hides would be an error in the console.
      finish({ ok: true, etag: /^etag: *(.+?)\r?$/im.exec(request.getAllResponseHeaders())?.[1] ?? null })
    }
    request.open(handle.method, handle.upload_url)
    request.send(file)
  })

/** Where there is no XMLHttpRequest: Node and Workers. */
const sendByFetch: Send = async (handle, file, signal, onProgress) => {
  try {
    const answer = await fetch(handle.upload_url, { method: handle.method, body: file, signal })
    if (!answer.ok) return refusal(answer.status, await answer.text())
    await answer.body?.cancel()
    onProgress(1)
    return { ok: true, etag: answer.headers.get('etag') }
  } catch {
    return noAnswer(signal.aborted, 'The upload was interrupted')
  }
}

/** Our own routes answer JSON; the bucket answers XML, and a refusal there almost always means that the URL has expired. */
function refusal(status: number, text: string): Failure {
  try {
    return readFailure(status, JSON.parse(text))
  } catch {
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no reason given'
    return { ...readFailure(status, undefined), message: `The upload was refused (${status}, ${code})` }
  }
}
