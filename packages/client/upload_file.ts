import { uploadFile as send, type UploadFileOptions, type UploadResult } from '../../src/client/client.ts'
import type { UploadHandle } from '../../src/contract/media.ts'

type Handle = Pick<UploadHandle, 'method' | 'upload_url'>

/** Returns the meaning of a code of the storage (docs/upload.md#uploads-that-are-refused); null if the code is unknown. */
function meaningOf(code: string, { method }: Handle, { size, type }: Blob): string | null {
  switch (code) {
    case 'SignatureDoesNotMatch':
      return `the request is not the one that was signed. Use the unchanged upload_url with ${method}. If the URL was requested with file_size or content_type, they must be those of the file: ${size} bytes, ${type ? `type ${type}` : 'no type'}`
    case 'ExpiredRequest':
      return 'the URL has expired. Request a new one: POST /v1/track/{track_id}/upload'
    case 'NoSuchUpload':
      return 'the upload in parts has ended. Start another one'
    case 'AccessDenied':
      return 'the service may not write to its bucket. Its operator has to check the keys of the bucket'
    default:
      return null
  }
}

/**
 * Sends a file to an upload handle, which is in the response to a request that creates a track or requests a cover. Resolves when the storage has all
 * bytes. Fails with `network` if there is no progress for a minute, and with `upload_refused` if the storage refuses the file: then `storage_code` has its
 * reason, and `message` explains it.
 *
 * @example
 * ```ts
 * import { openAsBlob } from 'node:fs'
 * import { createClient, uploadFile, waitForTrack } from '@tonearm/client'
 *
 * const client = createClient({ base_url: 'https://audio.example.com', api_key: process.env.TONEARM_KEY! })
 * const file = await openAsBlob('song.wav')
 * const created = await client.post('/v1/track', {
 *   body: { collection_id: process.argv[2]!, file_name: 'song.wav', file_size: file.size },
 * })
 * if (!created.ok) throw new Error(created.message)
 * const sent = await uploadFile(created.track_upload, file, {
 *   onProgress: (fraction) => console.log(`${Math.round(fraction * 100)} %`),
 * })
 * if (!sent.ok) throw new Error(sent.message)
 * const processed = await waitForTrack(client, created.track_id)
 * console.log(processed.ok ? processed.track.status : processed.message)
 * ```
 */
export async function uploadFile(handle: Handle, file: Blob, options?: UploadFileOptions): Promise<UploadResult> {
  const sent = await send(handle, file, options)
  // A response without a code of the service is from the storage.
  if (sent.ok || sent.code !== 'network' || sent.status === 0) return sent
  const meaning = sent.storage_code ? meaningOf(sent.storage_code, handle, file) : null
  return { ...sent, code: 'upload_refused', message: [sent.message, ...(meaning ? [meaning] : [])].join(': ') }
}
