import { AwsV4Signer } from 'aws4fetch'

/**
 * Files in R2: where they lie, and signed URLs to them. R2 knows no presigned POST, and a GET signature does not cover HEAD
 * (docs/architecture.md#r2).
 *
 *   uploads/{organization}/{collection}/{track}               the uploaded audio, kept as the variant `original`
 *   uploads/{organization}/{collection}/cover-{job}           an uploaded image, until its squares are cut
 *   media/{organization}/{collection}/{track index}/{job}/…   what one job made of a track
 *   media/{organization}/{collection}/cover-{job}/…           a collection's cover
 */
export const collectionPrefixes = (organization_id: string, collection_id: string) => [
  `uploads/${organization_id}/${collection_id}/`,
  `media/${organization_id}/${collection_id}/`,
]

interface Owned {
  id: string
  organization_id: string
  collection_id: string
}
export const uploadPath = (track: Owned) => `uploads/${track.organization_id}/${track.collection_id}/${track.id}`
export const trackPath = (track: Owned & { index: string }) =>
  `media/${track.organization_id}/${track.collection_id}/${track.index}`

/** The seven days that SigV4 allows, in seconds. */
const MAX_EXPIRY = 604_800

interface SignOptions {
  /** Seconds, 1 to 604,800. */
  expires_in: number
  /** Headers the client must send exactly so. */
  headers?: Record<string, string>
}

/**
 * A presigned URL (AWS Signature Version 4, query form) on R2's S3 endpoint, or on wrangler's local one, for uploads and jobs. What
 * listeners fetch is signed in presign.ts.
 */
export async function signUrl(env: Env, method: 'GET' | 'PUT', path: string, options: SignOptions): Promise<string> {
  const key = path.split('/').map(encodeURIComponent).join('/')
  const url = new URL(`${env.S3_ENDPOINT}/${env.S3_BUCKET}/${key}`)
  const expires = Math.min(MAX_EXPIRY, Math.max(1, Math.floor(options.expires_in)))
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

/** Size and version of an object, or null. */
export async function headObject(env: Env, path: string): Promise<{ size: number; etag: string } | null> {
  const object = await env.MEDIA.head(path)
  return object && { size: object.size, etag: object.etag }
}

/** Deletes every object below a prefix; may be repeated. `alive` is called for each thousand. */
export async function deletePrefix(env: Env, prefix: string, alive: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const { objects, truncated } = await env.MEDIA.list({ prefix, limit: 1000 })
    if (objects.length > 0) await env.MEDIA.delete(objects.map((object) => object.key))
    if (!truncated) return
    await alive()
  }
}

/** `attachment` with a name that every browser understands (RFC 6266, RFC 8187). */
export function attachment(file_name: string): string {
  const plain = file_name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(file_name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
