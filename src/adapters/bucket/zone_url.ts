import { PLAYBACK_TTL, ZONE_FILE_LIMIT } from '../../contract/facts.ts'
import {
  encode,
  type MediaUrl,
  hmac,
  importKey,
  encoder,
  keepUrl,
  type Sign,
  type SignedUrls,
  validityOf,
  viewSigner,
} from './presign.ts'

/** The key of the last signature. Its promise is not stored, because it would end with the request that created it. */
let lastKey: { secret: string; key: CryptoKey } | undefined

async function keyOf(secret: string): Promise<CryptoKey> {
  if (lastKey?.secret !== secret) lastKey = { secret, key: await importKey(encoder.encode(secret)) }
  return lastKey.key
}

const base64Url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '')

/**
 * Like `mediaUrls`, for a custom domain of the bucket. The token is the last parameter of the URL and authenticates everything before it: Cloudflare's
 * WAF checks it with `is_timed_hmac_valid_v0` (Ruleset Engine, Functions, HMAC validation; flag `s`) before its cache is read. The rule gives every token
 * the same lifetime, so the time in a token is that of its expiry minus this lifetime. `X-Amz-Expires` states the lifetime to players, as in URLs of R2.
 * Files that the zone would not cache are requested from R2.
 */
export async function zoneUrls(
  env: Env,
  now: number,
  ends_at: number,
  cache: SignedUrls = new Map(),
): Promise<MediaUrl> {
  const { MEDIA_KEY, MEDIA_BASE_URL } = env
  // Without one of these settings, this throws, and the response is `not_configured`.
  const { origin } = new URL((MEDIA_KEY && MEDIA_BASE_URL) ?? '')
  const key = await keyOf(MEDIA_KEY!)
  const { signed_at, expires } = validityOf(now, ends_at)
  const time = signed_at + expires - PLAYBACK_TTL
  let signForR2: Promise<Sign> | undefined

  return async (path, size = 0) => {
    if (size > ZONE_FILE_LIMIT) return (await (signForR2 ??= viewSigner(env, now, ends_at, cache)))(path)
    const message = `/${path.split('/').map(encode).join('/')}?X-Amz-Expires=${expires}`
    const unsigned = `${origin}${message}&verify=${time}`
    return cache.get(unsigned) ?? keepUrl(cache, unsigned, `${unsigned}-${base64Url(await hmac(key, message + time))}`)
  }
}
