import { noAnswer } from '../../client/failure.ts'
import { deadline } from '../../client/retry.ts'
import { uploadFile } from '../../client/upload.ts'
import type { UploadHandle } from '../../contract/media.ts'

/** A connection that is dead without having been closed is noticed by its silence, in milliseconds. */
const SILENCE = 60_000
/** Once all bytes are on their way, the storage may take its time with a large file. */
const PATIENCE = 300_000

/** Sends a file; when nothing is heard of it for too long, the connection is lost. */
export async function sendFile(
  handle: UploadHandle,
  file: File,
  signal: AbortSignal,
  onProgress?: (fraction: number) => void,
) {
  const stall = deadline(SILENCE, signal)
  const sent = await uploadFile(handle, file, {
    signal: stall.signal,
    onProgress(fraction) {
      stall.extend(fraction < 1 ? SILENCE : PATIENCE)
      onProgress?.(fraction)
    },
  })
  stall.end()
  return stall.signal.aborted && !sent.ok ? noAnswer(signal.aborted) : sent
}
