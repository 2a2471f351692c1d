import { openAsBlob } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from './fault.ts'

/** One signed `PUT`: R2 refuses bodies without Content-Length, which a Blob and a Buffer both carry. */
export type Upload = { body: Blob | Uint8Array<ArrayBuffer>; url: string; contentType: string; signal: AbortSignal }

const ATTEMPTS = 3
/** Slowest connection that we wait for, bytes per second. */
const SLOWEST = 50_000

/** Puts a body to its URL, trying again after network faults and answers that may pass. */
export async function upload({ body, url, contentType, signal }: Upload): Promise<void> {
  const size = body instanceof Blob ? body.size : body.byteLength
  let problem = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(400 * 4 ** (attempt - 1), undefined, { signal })
    const status = await put(body, url, contentType, AbortSignal.any([signal, patience(size)]))
    signal.throwIfAborted()
    if (status >= 200 && status < 300) return
    problem = status === 0 ? 'did not take the bytes' : `answered ${status}`
    if (status >= 300 && status < 500 && status !== 408 && status !== 429) break
  }
  throw new Fault('upload_failed', `An output URL ${problem}.`, true)
}

/** Puts a file to its URL without reading it into memory. */
export async function uploadFile(path: string, url: string, contentType: string, signal: AbortSignal): Promise<number> {
  const body = await openAsBlob(path)
  await upload({ body, url, contentType, signal })
  return body.size
}

async function put(body: Upload['body'], url: string, contentType: string, signal: AbortSignal): Promise<number> {
  try {
    const headers = { 'content-type': contentType }
    const response = await fetch(url, { method: 'PUT', body, headers, signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.status
  } catch {
    return 0
  }
}

function patience(size: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(60_000 + (size / SLOWEST) * 1000))
}
