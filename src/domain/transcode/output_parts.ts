import { abortParts, createParts, joinParts, partUrl } from '../../adapters/bucket/media.ts'
import type { OutputUpload } from '../../adapters/db/schema/work.ts'
import type { Rendition } from '../../contract/catalog.ts'
import { CODECS, contentTypeOf } from '../../contract/facts.ts'
import { FILE_CACHE_CONTROL, type JobError, type MadeVariant, type OutputParts } from '../../contract/job.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { filePath } from './variants.ts'

/**
 * Large outputs of a transcode are uploaded in parts (docs/decisions/0077). The multipart uploads are started before the job, because the transcoder
 * has no credentials, and the size of a file is not known before it is made.
 */

/** Bytes of a part. A file that is not larger than one part is uploaded as a whole. */
const PART_BYTES = 100_000_000
/** Maximum number of parts of a file. The parts of larger files are larger. */
const MAX_PARTS = 32

/** Returns how many bytes the file of a rendition may have: about as many as the source, or twice as many if both are lossy. */
function maxBytes({ type, codec, bitrate }: Rendition, source_size: number, max_duration: number): number {
  if (!codec || type !== 'transcode') return 0
  if (CODECS[codec].lossless) return source_size * 1.1
  return Math.min(source_size * 2, bitrate * 125 * max_duration)
}

/** Starts a multipart upload for each file that may be larger than one part. If the bucket refuses, all files are uploaded as a whole. */
export async function openOutputs(
  env: Env,
  base: string,
  renditions: Rendition[],
  source_size: number,
): Promise<OutputUpload[]> {
  const large = renditions.flatMap((rendition) => {
    const bytes = maxBytes(rendition, source_size, Number(env.MAX_DURATION_SECONDS))
    return bytes > PART_BYTES ? [{ rendition, bytes }] : []
  })
  const opened = await Promise.allSettled(
    large.map(({ rendition, bytes }) => {
      const metadata = { contentType: contentTypeOf(rendition.extension), cacheControl: FILE_CACHE_CONTROL }
      return openUpload(env, rendition.index, filePath(base, rendition), bytes, metadata)
    }),
  )
  return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

/** Starts a multipart upload for a file of at most `bytes` bytes. */
export async function openUpload(
  env: Env,
  index: string,
  path: string,
  bytes: number,
  metadata: R2HTTPMetadata = {},
): Promise<OutputUpload> {
  const upload_id = await createParts(env, path, metadata)
  const part_size = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS))
  return { index, path, upload_id, part_size, part_count: Math.ceil(bytes / part_size) }
}

/** Signs the URLs of all parts of a file. */
export async function signParts(env: Env, upload: OutputUpload, expires_in: number): Promise<OutputParts> {
  const { part_size, part_count } = upload
  const numbers = Array.from({ length: part_count }, (_, at) => at + 1)
  return {
    size: part_size,
    urls: await Promise.all(numbers.map((number) => partUrl(env, upload, number, { expires_in }))),
  }
}

/** The error of a job whose files cannot be joined, because another attempt has overwritten their parts. */
export const PARTS_LOST: JobError = {
  code: 'upload_failed',
  message: 'The parts of a file could not be joined.',
  retryable: true,
}

/** Joins the parts of files. Returns false if the bucket does not have all of them; then the files have to be made again. Idempotent. */
export async function joinOutputs(
  env: Env,
  uploads: OutputUpload[] = [],
  files: Pick<MadeVariant, 'index' | 'size' | 'parts'>[],
): Promise<boolean> {
  const joined = await Promise.all(
    files.map(async ({ index, size, parts }) => {
      if (!parts) return true
      const upload = uploads.find((candidate) => candidate.index === index)
      const etags = parts.map((etag, at) => ({ part_number: at + 1, etag: etag.replaceAll('"', '') }))
      return upload !== undefined && (await joinParts(env, upload, etags)) === size
    }),
  )
  return joined.every(Boolean)
}

/** Deletes the parts that were not joined. R2 deletes them after a week anyway, so this never throws. */
export async function abortOutputs(env: Env, uploads: OutputUpload[] = []): Promise<void> {
  for (const result of await Promise.allSettled(uploads.map((upload) => abortParts(env, upload))))
    if (result.status === 'rejected') log('error', 'abort_failed', { error: describeError(result.reason) })
}
