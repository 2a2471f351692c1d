import { encoder, hmac, importKey } from '../../adapters/bucket/presign.ts'
import { createLru } from '../../adapters/cache/lru.ts'
import { fromBase64url, toBase64url } from '../../adapters/crypto/base64url.ts'
import { sha256, toHex } from '../../adapters/crypto/secret.ts'
import {
  MAX_LISTENER,
  MAX_SESSION_TOKEN,
  MAX_SESSION_TTL,
  MAX_SESSION_VARIANTS,
  SESSION_TOKEN,
  TOKEN_CLOCK_SKEW,
} from '../../contract/facts.ts'
import type { PlayScope } from '../../contract/play.ts'
import { invalid, notFound, sessionExpired, unauthorized } from '../../core/errors.ts'
import { keyIdOf, signingSecret } from '../keys/signing_key.ts'
import { sessionUuid, shareOf, shareSigningKey } from './share_token.ts'

/**
 * Verifies the token of a signed play session: a JWT with HS256 (docs/decisions/0125). Nothing of it is read from the database: whether its key or share is still
 * valid is part of the statement that reads the view (src/adapters/db/play/signed_rows.ts).
 */

/** A verified token. Times are in milliseconds since 1970. */
export interface SessionToken {
  /** Whether it was signed with a signing key, or by the service for a share. */
  signer: 'key' | 'share'
  /** The id of the key or share. */
  signer_id: string
  /** The SHA-256 of the secret of the key, or the fingerprint of the share. */
  hash: string
  scope: PlayScope
  resource_id: string
  /** Empty for the default variants. */
  variants: string[]
  is_downloadable: boolean
  created_at: number
  expires_at: number
  /** The caller's pseudonym for the listener. */
  listener: string | null
  /** Identifies the session in listening reports: a UUID in the form of a play session's id, derived from the signature. */
  session_uuid: string
}

interface SigningKey {
  key: CryptoKey
  hash: string
}

/** The keys of the last tokens that were right. */
const signingKeys = createLru<SigningKey>({ entries: 1000, bytes: 500_000 })

const FORM = new RegExp(`^${SESSION_TOKEN}$`)

const badToken = (problem: string) => unauthorized(`This signed play session is not valid: ${problem}`)

/** Parses a part of a token; null unless it is a JSON object. */
function parse(part: string): Record<string, unknown> | null {
  const bytes = fromBase64url(part)
  if (!bytes) return null
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** Returns the MAC of a token. Throws 401 if its signature is another one. */
async function checkSignature(key: CryptoKey, [head, body, signature = '']: string[]): Promise<Uint8Array> {
  const mac = new Uint8Array(await hmac(key, `${head}.${body}`))
  // The texts are compared, because several texts decode to the same 32 bytes.
  const isRight = signature.length === 43 && isSame(signature, toBase64url(mac))
  if (!isRight) throw badToken('its signature is wrong')
  return mac
}

/** Returns the verified payload of a token, its signer, and its signature in hexadecimal. Throws 401 for any other token. */
async function verifySignature(env: Env, token: string) {
  const parts = token.split('.')
  const header = parse(parts[0]!)
  if (!header) throw badToken('its header is not JSON')
  const { alg, kid, crit } = header
  // Without the check of the algorithm, the key would be used for one that the token names.
  if (alg !== 'HS256' || crit !== undefined) throw badToken('its header must have alg HS256, and no crit')
  const { mac, ...signer } = await signerOf(env, kid, parts)
  const claims = parse(parts[1]!)
  if (!claims) throw badToken('its payload is not JSON')
  return { claims, mac: toHex(mac), ...signer }
}

/** Checks the signature of a token, and returns it with the signer that its `kid` names. */
async function signerOf(env: Env, kid: unknown, parts: string[]) {
  const share = typeof kid === 'string' ? shareOf(kid) : null
  if (share) return { signer: 'share' as const, ...share, mac: await checkSignature(await shareSigningKey(env), parts) }
  const signer_id = keyIdOf(kid)
  if (typeof kid !== 'string' || signer_id === null) throw badToken('its header must have the kid of a signing key')
  const name = `${kid} ${env.SIGNING_SECRET}`
  const known = signingKeys.get(name, 0)
  const secret = known ? '' : await signingSecret(env, kid)
  const key = known?.key ?? (await importKey(encoder.encode(secret)))
  const mac = await checkSignature(key, parts)
  const hash = known?.hash ?? (await sha256(secret))
  // Only right tokens are cached, so that guesses do not evict them.
  if (!known) signingKeys.set(name, { key, hash }, { organization_id: '', bytes: 500, until: Infinity })
  return { signer: 'key' as const, signer_id, hash, mac }
}

/** Compares two texts of the same length in a time that does not depend on their content. */
const isSame = (a: string, b: string) => crypto.subtle.timingSafeEqual(encoder.encode(a), encoder.encode(b))

const SCOPES: readonly unknown[] = ['collection', 'track', 'playlist'] satisfies PlayScope[]
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longest
const isTime = (value: unknown) => typeof value === 'number' && value >= 0 && value < 1e11

/** The claims of a token, each with its rule. A claim with another name is refused, because it may be a misspelled restriction. */
const CLAIMS: Record<string, [isValid: (value: unknown) => boolean, rule: string]> = {
  scope: [(value) => SCOPES.includes(value), 'must be collection, track or playlist'],
  id: [(value) => typeof value === 'string' && UUID.test(value.toLowerCase()), 'must be the id of a resource'],
  iat: [isTime, 'must be the time of signing, in seconds since 1970'],
  exp: [isTime, 'must be the end of the session, in seconds since 1970'],
  jti: [(value) => isText(value, 64), 'must be a random text of at most 64 characters'],
  nbf: [(value) => value === undefined || isTime(value), 'must be a time in seconds since 1970'],
  variants: [
    (value) =>
      value === undefined ||
      (Array.isArray(value) && value.length <= MAX_SESSION_VARIANTS && value.every((index) => isText(index, 64))),
    `must be a list of at most ${MAX_SESSION_VARIANTS} variants`,
  ],
  is_downloadable: [(value) => value === undefined || typeof value === 'boolean', 'must be true or false'],
  listener: [
    (value) => value === undefined || (isText(value, MAX_LISTENER) && value !== '.' && value !== '..'),
    `must be a text of at most ${MAX_LISTENER} characters`,
  ],
}

interface Claims {
  scope: PlayScope
  id: string
  iat: number
  exp: number
  nbf?: number
  variants?: string[]
  is_downloadable?: boolean
  listener?: string
}

/** Throws a 400 for claims that a signer must not make. */
function checkClaims(claims: Record<string, unknown>): Claims {
  for (const name of Object.keys(claims))
    if (!Object.hasOwn(CLAIMS, name)) throw invalid(name, 'is not a claim of a signed play session', 'unknown_field')
  for (const [name, [isValid, rule]] of Object.entries(CLAIMS)) if (!isValid(claims[name])) throw invalid(name, rule)
  const { iat, exp } = claims as unknown as Claims
  if (exp <= iat || exp > iat + MAX_SESSION_TTL)
    throw invalid('exp', `must be after iat, by at most ${MAX_SESSION_TTL} seconds`)
  return claims as unknown as Claims
}

/**
 * Verifies a token. Throws 401 if its signature is wrong or it was signed in the future, 400 if its claims are invalid, 410 if it has expired, and 404
 * if its resource cannot exist or the text is no token. It does not query the database.
 */
export async function verifySessionToken(env: Env, token: string, now: number): Promise<SessionToken> {
  // Like any other text that is no id.
  if (token.length > MAX_SESSION_TOKEN || !FORM.test(token)) throw notFound('play session')
  const { claims, mac, ...by } = await verifySignature(env, token)
  const { scope, id, iat, exp, nbf = 0, variants = [], is_downloadable = false, listener = null } = checkClaims(claims)
  if (Math.max(iat, nbf) > now / 1000 + TOKEN_CLOCK_SKEW) throw badToken('its iat or nbf is in the future')
  const expires_at = Math.floor(exp) * 1000
  if (expires_at <= now) throw sessionExpired('This signed play session')
  const resource_id = id.toLowerCase()
  if (!resource_id.startsWith('000')) throw notFound(scope)
  const session_uuid = sessionUuid(expires_at, mac)
  return {
    ...by,
    scope,
    resource_id,
    variants: [...new Set(variants)],
    is_downloadable,
    created_at: Math.floor(iat) * 1000,
    expires_at,
    listener,
    session_uuid,
  }
}
