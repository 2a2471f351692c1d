import { PLAYBACK_TTL } from '../../contract/facts.ts'
import { timestamp } from '../../core/time.ts'

/**
 * Signs the `GET` URLs of files and covers for listeners (AWS Signature Version 4); a usual play view has eight. All other URLs, which are for uploads
 * and jobs, are signed with aws4fetch (media.ts), which imports five keys for each URL. media_url.ts chooses between these URLs and those of a domain.
 */

export const encoder = new TextEncoder()
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
export const hex = (bytes: ArrayBuffer) => Array.from(new Uint8Array(bytes), (byte) => HEX[byte]).join('')

/** Percent-encodes all characters except the unreserved ones (RFC 3986). */
export const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${HEX[char.charCodeAt(0)]!.toUpperCase()}`)

export const importKey = (key: BufferSource) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
export const hmac = (key: CryptoKey, text: string) => crypto.subtle.sign('HMAC', key, encoder.encode(text))

/**
 * The signing key of the last day for which a URL was signed. The promise of the key is not stored, because it would end with the request that
 * created it.
 */
let lastKey: { name: string; key: CryptoKey } | undefined

async function keyOf(env: Env, day: string): Promise<CryptoKey> {
  const name = `${day} ${env.R2_SECRET_ACCESS_KEY}`
  if (lastKey?.name === name) return lastKey.key
  let key = await importKey(encoder.encode(`AWS4${env.R2_SECRET_ACCESS_KEY}`))
  for (const part of [day, 'auto', 's3', 'aws4_request']) key = await importKey(await hmac(key, part))
  lastKey = { name, key }
  return key
}

/**
 * Returns the signing time of a URL, and the seconds until the URL expires: at the end of the session, but after an hour at most. The signing time is
 * rounded down to a multiple of a power of two, which is at most a third of the remaining time. A browser thus gets the same URL again and can use
 * its cached file.
 */
export function validityOf(now: number, ends_at: number): { signed_at: number; expires: number } {
  const second = Math.floor(now / 1000)
  const ends = Math.floor(ends_at / 1000)
  const third = Math.max(1, Math.min(PLAYBACK_TTL, ends - second) / 3)
  const step = 2 ** Math.floor(Math.log2(third))
  // The time is rounded from one second earlier, because a URL must be valid for at least one second.
  const signed_at = Math.floor((second - 1) / step) * step
  return { signed_at, expires: Math.min(PLAYBACK_TTL, ends - signed_at) }
}

/** Signs the URL of one object. `query` has additional parameters, such as `response-content-disposition`. */
export type Sign = (path: string, query?: Record<string, string>) => Promise<string>

/**
 * Returns the signed `GET` URL of a file or a cover for listeners. `size` is the file's size in bytes, unless it is small. Downloads are not among
 * them: only R2's S3 endpoint can rename a file.
 */
export type MediaUrl = (path: string, size?: number) => Promise<string>

/** Maps unsigned URLs to signed ones. */
export type SignedUrls = Map<string, string>
/** Maximum number of cached URLs: enough for the files of a track at a few signing times. */
const MAX_CACHED_URLS = 40

/** Stores a signed URL, and returns it. */
export function keepUrl(cache: SignedUrls, unsigned: string, url: string): string {
  if (cache.size >= MAX_CACHED_URLS) cache.clear()
  cache.set(unsigned, url)
  return url
}

/**
 * Returns a function that signs URLs (AWS Signature Version 4, query form). They expire with the session, which ends at `ends_at` in milliseconds
 * since 1970. URLs in `cache` are not signed again: sessions that end more than an hour from now share their URLs.
 */
export async function viewSigner(env: Env, now: number, ends_at: number, cache: SignedUrls = new Map()): Promise<Sign> {
  const { signed_at, expires } = validityOf(now, ends_at)
  const time = `${timestamp(signed_at * 1000)
    .slice(0, 19)
    .replace(/[:-]/g, '')}Z`
  const day = time.slice(0, 8)
  const scope = `${day}/auto/s3/aws4_request`
  const key = await keyOf(env, day)
  // Without one of these settings, this throws, and the response is `not_configured`.
  const endpoint = env.R2_ACCESS_KEY_ID && env.R2_SECRET_ACCESS_KEY && env.S3_BUCKET && env.S3_ENDPOINT
  const { origin, host, pathname } = new URL(`${endpoint}/${env.S3_BUCKET}/`)
  const signed =
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encode(`${env.R2_ACCESS_KEY_ID}/${scope}`)}` +
    `&X-Amz-Date=${time}&X-Amz-Expires=${expires}&X-Amz-SignedHeaders=host`

  return async (path, query = {}) => {
    const address = pathname + path.split('/').map(encode).join('/')
    // Parameters are signed in byte order, so capital letters come first.
    const extra = Object.entries(query).map(([name, value]) => `&${encode(name)}=${encode(value)}`)
    const parameters = signed + extra.join('')
    const unsigned = `${origin}${address}?${parameters}`
    const cached = cache.get(unsigned)
    if (cached) return cached
    const request = `GET\n${address}\n${parameters}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`
    const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(request)))
    const signature = hex(await hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`))
    return keepUrl(cache, unsigned, `${unsigned}&X-Amz-Signature=${signature}`)
  }
}
