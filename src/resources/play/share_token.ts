import { encoder, hex, hmac, importKey } from '../../adapters/bucket/presign.ts'
import { toBase64url } from '../../adapters/crypto/base64url.ts'
import { idsBefore, randomBase62 } from '../../adapters/crypto/id.ts'
import { MAX_SESSION_TOKEN, SHARE_SESSION_TTL } from '../../contract/facts.ts'
import type { PlayScope } from '../../contract/play.ts'
import { HOUR } from '../../contract/time.ts'
import { invalid } from '../../core/errors.ts'

/**
 * The tokens of a share's play sessions (docs/decisions/0125). The service signs them itself, with one key that is derived from `SIGNING_SECRET`. The `kid` has a
 * fingerprint of the share's address and password, so that a new address or password ends the sessions.
 */

/** The facts of a share on which its tokens depend. */
export interface SharedBy {
  id: string
  slug: string
  password_hash: string | null
}

const KID = /^share\.([\da-f]{16})\.(000[\da-f]{5}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Returns the fingerprint and the id of the share in a `kid`; null if it is not that of a share. */
export function shareOf(kid: string): { hash: string; signer_id: string } | null {
  const [, hash, signer_id] = KID.exec(kid) ?? []
  return hash && signer_id ? { hash, signer_id } : null
}

/** The key of the last signature. Its promise is not stored, because it would end with the request that created it. */
let lastSecret: string | null = null
let lastKey: CryptoKey

/** Returns the key that signs for all shares. */
export async function shareSigningKey({ SIGNING_SECRET }: Env): Promise<CryptoKey> {
  if (lastSecret !== SIGNING_SECRET) {
    lastKey = await importKey(encoder.encode(`share session ${SIGNING_SECRET}`))
    lastSecret = SIGNING_SECRET
  }
  return lastKey
}

/** Returns the fingerprint of a share's address and password. No token has the form of this text. */
export const fingerprint = async (env: Env, { id, slug, password_hash }: SharedBy) =>
  hex(await hmac(await shareSigningKey(env), `share\n${id}\n${slug}\n${password_hash ?? ''}`)).slice(0, 16)

interface Session {
  scope: PlayScope
  id: string
  /** Null for those of the share. */
  variants: string[] | null
  is_downloadable: boolean
  /** Seconds until the session ends. It ends earlier with the share, and after `SHARE_SESSION_TTL` at the latest. */
  expires_in: number
}

/**
 * Returns the id of a signed session in listening reports: a UUID in the form of a play session's id, derived from the signature. `mac` is the signature in
 * hexadecimal.
 */
export const sessionUuid = (expires_at: number, mac: string) =>
  `${idsBefore(Math.floor(expires_at / HOUR))}-${mac.slice(0, 4)}-8${mac.slice(4, 7)}-a${mac.slice(7, 10)}-${mac.slice(10, 22)}`

const part = (value: object) => toBase64url(encoder.encode(JSON.stringify(value)))

/** Returns the token of a new session of a share, and two facts that `verifySessionToken` returns for it. Throws 400 if the names of the variants are too long for a token. */
export async function signShared(
  env: Env,
  share: SharedBy,
  { scope, id, variants, is_downloadable, expires_in }: Session,
  now: number,
) {
  const iat = Math.floor(now / 1000)
  const exp = Math.floor(now / 1000 + Math.min(expires_in, SHARE_SESSION_TTL))
  const kid = `share.${await fingerprint(env, share)}.${share.id}`
  const text = `${part({ alg: 'HS256', kid })}.${part({
    scope,
    id,
    iat,
    exp,
    jti: randomBase62(12),
    ...(variants && { variants }),
    ...(is_downloadable && { is_downloadable }),
  })}`
  const mac = await hmac(await shareSigningKey(env), text)
  const token = `${text}.${toBase64url(new Uint8Array(mac))}`
  if (token.length > MAX_SESSION_TOKEN) throw invalid('variants', 'have too long names for a session of a share')
  return { token, session_uuid: sessionUuid(exp * 1000, hex(mac)), created_at: iat * 1000 }
}
