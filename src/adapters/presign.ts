import { PLAYBACK_TTL } from '../contract/facts.ts'

/**
 * Signs what listeners fetch: `GET` URLs of files and covers, seven for a usual play view. All other URLs, those that uploads and jobs
 * use, are signed by aws4fetch (media.ts), which imports five keys for each.
 */

const encoder = new TextEncoder()
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const hex = (bytes: ArrayBuffer) => Array.from(new Uint8Array(bytes), (byte) => HEX[byte]).join('')

/** Everything but unreserved characters (RFC 3986). */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${HEX[char.charCodeAt(0)]!.toUpperCase()}`)

const importKey = (key: BufferSource) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
const hmac = (key: CryptoKey, text: string) => crypto.subtle.sign('HMAC', key, encoder.encode(text))

/** The key of the day that was needed last. Not a promise: those end with the request that began them. */
let last: { name: string; key: CryptoKey } | undefined

async function keyOf(env: Env, day: string): Promise<CryptoKey> {
  const name = `${day} ${env.R2_SECRET_ACCESS_KEY}`
  if (last?.name === name) return last.key
  let key = await importKey(encoder.encode(`AWS4${env.R2_SECRET_ACCESS_KEY}`))
  for (const part of [day, 'auto', 's3', 'aws4_request']) key = await importKey(await hmac(key, part))
  last = { name, key }
  return key
}

/**
 * When a URL is signed, and for how many seconds from then: to the second in which the session ends, at most an hour. Signing times are
 * rounded down to a power of two, at most a third of what is left, so that a browser gets the URL again that it has the file of.
 */
function lifeOf(now: number, ends_at: number): { signed_at: number; expires: number } {
  const second = Math.floor(now / 1000)
  const ends = Math.floor(ends_at / 1000)
  const third = Math.max(1, Math.min(PLAYBACK_TTL, ends - second) / 3)
  const step = 2 ** Math.floor(Math.log2(third))
  // From the second before, because a URL has to live for one at least.
  const signed_at = Math.floor((second - 1) / step) * step
  return { signed_at, expires: Math.min(PLAYBACK_TTL, ends - signed_at) }
}

/** Signs one object's URL; `query` is what else belongs to it, such as `response-content-disposition`. */
export type Sign = (path: string, query?: Record<string, string>) => Promise<string>

/** URLs by what was signed. */
export type SignedUrls = Map<string, string>
/** More than the files of a track, for a few signing times. */
const MOST_KNOWN = 40

/**
 * Signs URLs that end when the session does, in milliseconds since 1970 (AWS Signature Version 4, query form). What is `known` is not
 * signed again: sessions that last longer than an hour get the same URLs.
 */
export async function viewSigner(env: Env, now: number, ends_at: number, known: SignedUrls = new Map()): Promise<Sign> {
  const { signed_at, expires } = lifeOf(now, ends_at)
  const time = `${new Date(signed_at * 1000).toISOString().slice(0, 19).replace(/[:-]/g, '')}Z`
  const day = time.slice(0, 8)
  const scope = `${day}/auto/s3/aws4_request`
  const key = await keyOf(env, day)
  const { origin, host, pathname } = new URL(`${env.S3_ENDPOINT}/${env.S3_BUCKET}/`)
  const signed =
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encode(`${env.R2_ACCESS_KEY_ID}/${scope}`)}` +
    `&X-Amz-Date=${time}&X-Amz-Expires=${expires}&X-Amz-SignedHeaders=host`

  return async (path, query = {}) => {
    const address = pathname + path.split('/').map(encode).join('/')
    // Parameters are signed in the order of their bytes, and capitals come first.
    const more = Object.entries(query).map(([name, value]) => `&${encode(name)}=${encode(value)}`)
    const parameters = signed + more.join('')
    const unsigned = `${origin}${address}?${parameters}`
    const before = known.get(unsigned)
    if (before) return before
    const request = `GET\n${address}\n${parameters}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`
    const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(request)))
    const signature = hex(await hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`))
    const url = `${unsigned}&X-Amz-Signature=${signature}`
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(unsigned, url)
    return url
  }
}
