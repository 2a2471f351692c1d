import { AwsV4Signer } from 'aws4fetch'

import type { CoverOutputs } from '../../contract/job.ts'
import { log } from '../../core/log.ts'
import { randomBase62 } from '../crypto/id.ts'
import { type PathOwner, trackPath, uploadPath } from './track_paths.ts'

/**
 * Paths of files in R2, and signed URLs for them. R2 has no presigned POST, and a GET signature does not cover HEAD
 * (docs/architecture.md#r2).
 *
 *   uploads/{organization}/{collection}/{track}                    the first upload of a track, kept as the variant `original`
 *   uploads/{organization}/{collection}/{track}.{order}            an upload to a later upload handle of the track
 *   uploads/{organization}/{collection}/cover-{job}                an image for the collection's cover, until its square images exist
 *   uploads/{organization}/{collection}/{track index}/cover-{job}  an image for a track's cover, until its square images exist
 *   media/{organization}/{collection}/{track index}/{job}/…        the files that one job generated from a track
 *   media/{organization}/{collection}/{track index}/cover-{job}/…  the cover of a track
 *   media/{organization}/{collection}/cover-{job}/…                the cover of the collection
 *
 * A track that has moved keeps its files in the folder of its first collection (docs/decisions/0001).
 */
export const collectionPrefixes = (organization_id: string, collection_id: string) => [
  `uploads/${organization_id}/${collection_id}/`,
  `media/${organization_id}/${collection_id}/`,
]

/**
 * Returns the path of a track's next upload handle. Its suffix is the time in milliseconds as 9 digits in base 36, followed by 6 random characters,
 * so paths sort in the order of the handles. The time is always later than in the track's previous paths, even after the clock was set back.
 */
export function nextUploadPath(track: PathOwner & { upload_path: string; source_path: string | null }, now: number) {
  const previousTimes = [track.upload_path, track.source_path ?? ''].map((path) =>
    Number.parseInt(path.split('.')[1]?.slice(0, 9) ?? '', 36),
  )
  const at = Math.max(now, ...previousTimes.map((time) => (time || 0) + 1))
  return `${uploadPath(track)}.${at.toString(36).padStart(9, '0')}${randomBase62(6)}`
}
/** The prefixes of all files of a track: of its uploads, and of everything that jobs generated from them. */
export const trackPrefixes = (track: PathOwner & { index: string }) => [uploadPath(track), `${trackPath(track)}/`]
/** The track's id or index, taken from the path of one of its files. */
export const trackNameOf = (path: string) => path.split('/', 4)[3]!.split('.')[0]!

/** Maximum lifetime of a signed URL in seconds: SigV4 allows seven days. */
const MAX_EXPIRY = 604_800

interface SignOptions {
  /** Lifetime of the URL in seconds, from 1 to 604,800. */
  expires_in: number
  /** Headers that the client must send with exactly these values. */
  headers?: Record<string, string>
  query?: Record<string, string>
}

/**
 * Returns a presigned URL (AWS Signature Version 4, query form) for uploads and jobs. Its host is R2's S3 endpoint, or in development the local one
 * of wrangler. The URLs for listeners are signed in presign.ts.
 */
export async function signUrl(env: Env, method: 'GET' | 'PUT', path: string, options: SignOptions): Promise<string> {
  const key = path.split('/').map(encodeURIComponent).join('/')
  const url = new URL(`${env.S3_ENDPOINT}/${env.S3_BUCKET}/${key}`)
  const expires = Math.min(MAX_EXPIRY, Math.max(1, Math.floor(options.expires_in)))
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, value)
  url.searchParams.set('X-Amz-Expires', String(expires))
  const signed = await new AwsV4Signer({
    url: url.href,
    method,
    accessKeyId: env.R2_ACCESS_KEY_ID,
    secretAccessKey: env.R2_SECRET_ACCESS_KEY,
    service: 's3',
    region: 'auto',
    signQuery: true,
    allHeaders: true,
    headers: options.headers ?? {},
  }).sign()
  return signed.url.href
}

/** Returns signed `PUT` URLs for the square images of a cover, which are stored below the prefix `cover_path`. */
export async function signCoverOutputs(env: Env, cover_path: string, expires_in: number): Promise<CoverOutputs> {
  const sign = (size: string) => signUrl(env, 'PUT', `${cover_path}/${size}.jpg`, { expires_in })
  const sizes = ['icon', 'small', 'regular', 'large'] as const
  const [icon, small, regular, large] = await Promise.all(sizes.map(sign))
  return { icon: icon!, small: small!, regular: regular!, large: large! }
}

/** Returns the path and the size of a file; null if the file does not exist. */
export async function findFile(env: Env, path: string | null): Promise<{ path: string; size: number } | null> {
  const object = path === null ? null : await env.MEDIA.head(path)
  return object && { path: object.key, size: object.size }
}

/**
 * Returns the uploaded files of a track, the newest upload handle first: from the path `until` back to the path `after`, which is excluded. The path
 * of the first handle has no suffix and no predecessor, so it takes only one `head` request; a list request costs more (R2, Pricing).
 */
export async function findUploads(
  env: Env,
  until: string,
  after: string | null,
): Promise<{ path: string; size: number }[]> {
  const [prefix = until] = until.split('.')
  if (prefix === until) {
    const first = after === null ? await findFile(env, until) : null
    return first ? [first] : []
  }
  const { objects } = await env.MEDIA.list({ prefix, ...(after !== null && { startAfter: after }) })
  const found = objects.filter(({ key }) => key <= until).map(({ key, size }) => ({ path: key, size }))
  return found.toReversed()
}

/** The prefixes of all files of an organization. */
export const organizationPrefixes = (organization_id: string) => [
  `uploads/${organization_id}/`,
  `media/${organization_id}/`,
]

/**
 * Lists the objects of the service, or of one organization, after a path, in the order of their paths. `after` is the path from which to continue; null
 * at the end. Other objects in the bucket are left out.
 */
export async function listObjects(
  env: Env,
  after: string,
  limit: number,
  organization_id?: string,
): Promise<{ objects: R2Object[]; after: string | null }> {
  const [uploads, media] = organization_id ? organizationPrefixes(organization_id) : ['uploads/', 'media/']
  const prefix = after.startsWith('uploads/') ? uploads! : media!
  const start = after === '' ? {} : { startAfter: after }
  const { objects, truncated } = await env.MEDIA.list({ prefix, limit, include: ['httpMetadata'], ...start })
  const next = prefix === media ? uploads! : null
  return { objects, after: truncated ? (objects.at(-1)?.key ?? after) : next }
}

/** Whether the bucket has no object of the service, or of one organization. */
export async function isBucketEmpty(env: Env, organization_id?: string): Promise<boolean> {
  const pages = await Promise.all(['', 'uploads/'].map((prefix) => listObjects(env, prefix, 1, organization_id)))
  return pages.every(({ objects }) => objects.length === 0)
}

/** A multipart upload in R2. */
interface Parts {
  path: string
  upload_id: string
}

/** Starts a multipart upload and returns R2's id for it. Parts are uploaded to presigned URLs; all other steps use the R2 binding. */
export async function createParts(env: Env, path: string, httpMetadata: R2HTTPMetadata = {}): Promise<string> {
  const { uploadId } = await env.MEDIA.createMultipartUpload(path, { httpMetadata })
  return uploadId
}

/** Returns the URL to which a part is uploaded with `PUT`. If `size` is given, R2 accepts exactly that many bytes. */
export const partUrl = (
  env: Env,
  { path, upload_id }: Parts,
  part_number: number,
  { size, expires_in }: { size?: number; expires_in: number },
) =>
  signUrl(env, 'PUT', path, {
    expires_in,
    ...(size !== undefined && { headers: { 'content-length': String(size) } }),
    query: { partNumber: String(part_number), uploadId: upload_id },
  })

/** R2's error codes for an unknown or finished upload, and for parts that cannot be joined. */
const NO_SUCH_UPLOAD = '(10024)'
const INVALID_PARTS = /\((10025|10011|10048)\)/

/**
 * Joins the parts and returns the size of the file, or why R2 refuses: `gone` for an unknown upload, `invalid` for parts that cannot be joined.
 * Idempotent.
 */
export async function joinParts(
  env: Env,
  { path, upload_id }: Parts,
  parts: { part_number: number; etag: string }[],
): Promise<number | 'gone' | 'invalid'> {
  try {
    const uploaded = parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag }))
    return (await env.MEDIA.resumeMultipartUpload(path, upload_id).complete(uploaded)).size
  } catch (error) {
    // R2 may have joined the parts already, because the response was lost or another request was faster.
    const joined = await env.MEDIA.head(path)
    if (joined) return joined.size
    const { message } = error as Error
    if (message.includes(NO_SUCH_UPLOAD)) return 'gone'
    if (INVALID_PARTS.test(message)) return 'invalid'
    throw error
  }
}

/** Deletes the uploaded parts, which R2 would keep for a week. */
export async function abortParts(env: Env, { path, upload_id }: Parts): Promise<void> {
  try {
    await env.MEDIA.resumeMultipartUpload(path, upload_id).abort()
  } catch (error) {
    if (!(error as Error).message.includes(NO_SUCH_UPLOAD)) throw error
  }
}

/** Reads at most `length` bytes of an object from `offset`; returns an empty array if the object does not exist. */
export async function readObject(env: Env, path: string, offset: number, length: number): Promise<Uint8Array> {
  const object = await env.MEDIA.get(path, { range: { offset, length } })
  return new Uint8Array(object ? await object.arrayBuffer() : [])
}

/** R2's error code for an object that a bucket lock rule protects (R2, Error codes). */
const LOCKED = '(10069)'

/**
 * Deletes objects, at most a thousand. Idempotent. Returns false if a bucket lock rule protects one of them; R2 may then have deleted none of them.
 */
export async function deleteFiles(env: Env, paths: string | string[]): Promise<boolean> {
  try {
    await env.MEDIA.delete(paths)
    return true
  } catch (error) {
    if (!(error as Error).message.includes(LOCKED)) throw error
    log('log', 'files_locked', { paths: [paths].flat().slice(0, 3) })
    return false
  }
}

/**
 * Deletes every object below a prefix except those that `isKept` accepts. Idempotent. Calls `alive` after each page of a thousand objects. Returns
 * false if a bucket lock rule protects an object.
 */
export async function deletePrefix(
  env: Env,
  prefix: string,
  alive: () => Promise<unknown>,
  isKept: (path: string) => boolean = () => false,
): Promise<boolean> {
  let areDeleted = true
  for (let cursor: string | undefined; ;) {
    const page = await env.MEDIA.list({ prefix, limit: 1000, ...(cursor !== undefined && { cursor }) })
    const deletable = page.objects.map((object) => object.key).filter((path) => !isKept(path))
    if (deletable.length > 0 && !(await deleteFiles(env, deletable))) areDeleted = false
    if (!page.truncated) return areDeleted
    cursor = page.cursor
    await alive()
  }
}
