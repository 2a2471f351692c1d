import type { KeyCache } from '../../adapters/cache/key_cache.ts'
import { isSecret, sha256 } from '../../adapters/crypto/secret.ts'
import { EFFECTS } from '../../contract/effect.ts'
import type { Access } from '../../contract/operation.ts'
import { ApiError, unauthorized } from '../../core/errors.ts'
import { isAllowed } from '../../core/may.ts'
import { type KeyHolder, keyOf, LISTENER, type Principal, ROOT } from '../../core/principal.ts'
import { readKey } from '../../resources/keys/key_holder.ts'
import { isShareKey, cachedShare, readShareKey } from '../../resources/share/share_holder.ts'
import { baseUrl } from '../base_url.ts'
import { limitGuesses } from './limit_key.ts'
import { clientOf } from './limit_rate.ts'

async function principalOf(env: Env, keys: KeyCache, secret: string, request: Request): Promise<Principal> {
  if (isShareKey(secret)) return shareOf(env, keys, secret, request)
  const hash = await sha256(secret)
  const cached = keys.get(hash)
  if (cached) return cached
  // Before the key is compared, so that a client that has guessed too often cannot find out that a guess is right.
  await limitGuesses(env, clientOf(env, request.headers))
  // The hashes are compared, so that the time of the comparison reveals nothing about the secret.
  if (env.ROOT_KEY && hash === (await sha256(env.ROOT_KEY))) return ROOT
  if (!isSecret(secret)) throw unauthorized('This API key is not valid')
  return readKey(env, keys, hash)
}

/** Returns the holder of a share's key. */
export async function shareOf(env: Env, keys: KeyCache, secret: string, { headers, url }: Request): Promise<KeyHolder> {
  const cached = await cachedShare(env, keys, secret)
  if (cached) return cached
  await limitGuesses(env, clientOf(env, headers))
  return readShareKey(env, keys, secret, baseUrl(env, url))
}

/** Refuses a key on pages of other sites. Browsers omit `Origin` only in same-origin requests that read, so such requests are allowed. */
function checkOrigin(allowed: string[] | null | undefined, origin: string | null, method: string): void {
  if (!allowed || (origin ? allowed.includes(origin.toLowerCase()) : method === 'GET' || method === 'HEAD')) return
  const message = origin
    ? `This API key may not be used on ${origin.slice(0, 255)}`
    : 'This API key is for web pages: a change needs the header Origin, with one of its allowed_origins'
  throw new ApiError('origin_not_allowed', message)
}

/** Requests whose caller may not delete, although its key may. */
const withoutDelete = new WeakSet<Request>()

/** Marks a request to the app, so that it is refused if it needs the effect `delete`, whatever its key may do. */
export function forbidDelete(request: Request): Request {
  withoutDelete.add(request)
  return request
}

function narrowed(principal: Principal, request: Request): Principal {
  if (!withoutDelete.has(request) || principal.kind !== 'server') return principal
  return { ...principal, may: EFFECTS.filter((effect) => effect !== 'delete' && isAllowed(principal, effect)) }
}

/**
 * Identifies the caller (specification §5) by the header `Authorization: Bearer <API_KEY>`, in which the scheme may have any case (RFC 9110 §11.1).
 * The checksum of a key rejects a typo without a query, and keys are cached for a short time.
 */
export async function authenticate(
  env: Env,
  keys: KeyCache,
  request: Request,
  access: readonly Access[],
): Promise<Principal> {
  const { headers, method } = request
  if (access.length === 0) return LISTENER
  const header = headers.get('authorization')
  if (!header) throw unauthorized('Send your API key in the header Authorization: Bearer <API_KEY>')
  const secret = /^bearer +(\S+) *$/i.exec(header)?.[1]
  if (!secret) throw unauthorized('The Authorization header must be: Bearer <API_KEY>')
  const principal = await principalOf(env, keys, secret, request)
  checkOrigin(keyOf(principal)?.allowed_origins, headers.get('origin'), method)
  const { kind } = principal
  if (!access.includes(kind as Access)) {
    if (kind === 'signing')
      throw new ApiError(
        'insufficient_scope',
        'A signing key calls no operation: sign play sessions with it on your server',
      )
    const message = `This operation needs a key of the type ${access.join(' or ')}; this one has the type ${kind}`
    throw new ApiError('insufficient_scope', message)
  }
  return narrowed(principal, request)
}
