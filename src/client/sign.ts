/** Signs play sessions on your server (docs/signed_sessions.md), in any runtime with WebCrypto. It never calls the service. */

export interface SignedSession {
  scope: 'collection' | 'track' | 'playlist'
  /** The id of the collection, track or playlist. */
  id: string
  /** Seconds until the session ends: an hour by default, a day at most. */
  expires_in?: number
  /** The variants that may be played: by default, the default variants that the key allows. */
  variants?: string[]
  /** Whether files may be downloaded. The key must allow it too. */
  is_downloadable?: boolean
  /** Your pseudonym for the listener, whose progress is then kept. Everyone who has the token can read it. */
  listener?: string
}

const encoder = new TextEncoder()

const base64url = (bytes: Uint8Array) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const part = (value: object) => base64url(encoder.encode(JSON.stringify(value)))

/** Seconds. */
const LONGEST = 86_400

/**
 * Returns the token of a play session, which works wherever the service accepts the id of one. `secret` is that of a signing key. Throws a `TypeError`
 * for any other secret, and a `RangeError` if the session would last longer than a day.
 *
 * @example
 * ```ts
 * import { signPlaySession } from '@tonearm/client/sign'
 *
 * const token = await signPlaySession(process.env.TONEARM_SIGNING_KEY!, { scope: 'collection', id: '0003c1b2-…' })
 * ```
 */
export async function signPlaySession(secret: string, session: SignedSession): Promise<string> {
  const kid = /^ta_sg_([0-9A-Za-z]+\.[\da-f-]{36})_[0-9A-Za-z]{49}$/.exec(secret)?.[1]
  if (!kid) throw new TypeError('The secret must be that of a signing key, ta_sg_…')
  const { expires_in = 3600, ...claims } = session
  if (!(expires_in > 0 && expires_in <= LONGEST)) throw new RangeError(`expires_in must be 1 to ${LONGEST} seconds`)
  const iat = Math.floor(Date.now() / 1000)
  const payload = { ...claims, iat, exp: iat + Math.floor(expires_in), jti: crypto.randomUUID() }
  const text = `${part({ alg: 'HS256', typ: 'JWT', kid })}.${part(payload)}`
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  return `${text}.${base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text))))}`
}
