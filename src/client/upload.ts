import type { UploadHandle } from '../contract/media.ts'
import { noAnswer, readFailure } from './failure.ts'
import type { Failure } from './types.ts'

export interface UploadOptions {
  /** Called with a fraction from 0 to 1. */
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

/** Sends a file to an upload handle (specification §2, UploadHandle). XMLHttpRequest, because `fetch` tells no progress. */
export function uploadFile(
  handle: UploadHandle,
  file: Blob,
  options: UploadOptions = {},
): Promise<{ ok: true } | Failure> {
  const { onProgress, signal } = options
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(noAnswer(true))
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const finish = (result: { ok: true } | Failure) => {
      signal?.removeEventListener('abort', abort)
      resolve(result)
    }
    signal?.addEventListener('abort', abort)
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total)
    request.onerror = () => finish(noAnswer(false, 'The upload was interrupted'))
    request.onabort = () => finish(noAnswer(true))
    request.onload = () => finish(request.status < 300 ? { ok: true } : refusal(request))
    request.open(handle.method, handle.upload_url)
    request.send(file)
  })
}

/** Our own routes answer JSON; the bucket answers XML, and a refusal there almost always means that the URL has expired. */
function refusal(request: XMLHttpRequest): Failure {
  try {
    return readFailure(request.status, JSON.parse(request.responseText))
  } catch {
    const code = /<Code>(\w+)<\/Code>/.exec(request.responseText)?.[1] ?? 'no reason given'
    return { ...readFailure(request.status, undefined), message: `The upload was refused (${request.status}, ${code})` }
  }
}
