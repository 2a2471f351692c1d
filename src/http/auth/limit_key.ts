import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { MINUTE } from '../../contract/time.ts'
import type { Principal } from '../../core/principal.ts'
import { type HeardGrant, verifyHeardToken } from '../../resources/play/heard_grant.ts'
import { limitMisses, tooMany } from './limit_rate.ts'

/**
 * Rate limits for API keys, and for clients that guess keys or passwords. The limits for listeners are in limit_rate.ts, which a new isolate loads
 * first.
 */

/**
 * Counts a request with an API key. Requests with a server key have one common limit, because servers have few addresses. Requests with a browser key
 * are also limited per client.
 */
export async function limitKey(env: Env, principal: Principal, client: string): Promise<void> {
  if (principal.kind === 'public') return
  const { kind, api_key_id } = principal
  const isFromBrowser = kind === 'player' || kind === 'uploader'
  const result = await env.API_RATE_LIMIT.limit({ key: isFromBrowser ? `${api_key_id} ${client}` : api_key_id })
  if (!result.success || (isFromBrowser && !(await env.AUDIENCE_RATE_LIMIT.limit({ key: api_key_id })).success))
    throw tooMany()
}

/** Counts a key that the isolate does not know yet. Throws a 429 if a client tries too many. */
export async function limitGuesses(env: Env, client: string): Promise<void> {
  if (client && !(await env.API_RATE_LIMIT.limit({ key: `guess:${client}` })).success) throw tooMany()
}

/**
 * Checks a password of a share with `isRight`. Throws a 429 if the client, or all clients together, tried too many wrong passwords. A client that was
 * never wrong is checked before it is counted, so others cannot lock it out, and right passwords are not counted (docs/decisions/0052).
 */
export async function checkPassword(
  env: Env,
  { wrongPasswords }: IsolateCache,
  share_id: string,
  client: string,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const key = `password:${share_id} ${client}`
  const count = async () => {
    const result = await env.MISS_RATE_LIMIT.limit({ key })
    if (!result.success || !(await env.API_RATE_LIMIT.limit({ key: `password:${share_id}` })).success) throw tooMany()
  }
  const wasWrong = wrongPasswords.get(key, Date.now())
  if (wasWrong) await count()
  if (await isRight()) return true
  wrongPasswords.set(key, true, { organization_id: '', bytes: 200, until: Date.now() + MINUTE })
  if (!wasWrong) await count()
  return false
}

/** Throws a 429 if an upload URL is used too often. */
export async function limitCovers(env: Env, owner_id: string): Promise<void> {
  if (!(await env.PLAY_RATE_LIMIT.limit({ key: `cover:${owner_id}` })).success) throw tooMany()
}

/**
 * Verifies the token of a listening report, and counts the report. Throws a 429 if one address sends too many with tokens of a share, or of a session without
 * a share, or of an organization. Wrong tokens count as guesses. Nothing is counted if the address is not known (an empty `address`).
 */
export async function admitReport(env: Env, cache: IsolateCache, token: string, address: string): Promise<HeardGrant> {
  const grant = await limitMisses(env, cache, address, () => verifyHeardToken(env, token, Date.now()))
  const { organization_id, share_id, session_id } = grant
  const isBelow = async (limit: RateLimit, id: string) => (await limit.limit({ key: `${id} ${address}` })).success
  // A refused report does not count toward the limit of the organization, so that other shares keep their part of it.
  if (
    address &&
    !(
      (await isBelow(env.HEARD_RATE_LIMIT, share_id ?? session_id)) &&
      (await isBelow(env.HEARD_ORGANIZATION_RATE_LIMIT, organization_id))
    )
  )
    throw tooMany()
  return grant
}
