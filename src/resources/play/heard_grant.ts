import { HEARD_AFTER_SESSION, HEARD_TOKEN_TTL } from '../../contract/facts.ts'
import type { PlayScope } from '../../contract/play.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { withMac } from './heard_token.ts'

/** The contents of a token for listening reports. Times are in milliseconds since 1970. */
export interface HeardGrant {
  organization_id: string
  session_id: string
  /** When the session was created. */
  created_at: number
  scope: PlayScope
  /** The collection, track or playlist that the session plays. */
  resource_id: string
  share_id: string | null
  /** The HMAC of the listener whose progress is kept. */
  listener: string | null
  /** The number of objects that receive the organization's reports. */
  shards: number
}

const SCOPES: Record<string, PlayScope> = { t: 'track', c: 'collection', p: 'playlist' }
const FORM =
  /^([\da-f]{8})([\da-f]{8})0{6}([\da-f]{2})([tcp])([\da-f]{32})([\da-f]{32})([\da-f]{32})([\da-f]{32})?(?:l([\da-f]{32}))?[\da-f]{32}$/
const MAC_LENGTH = 32
const toId = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** Compares two texts of the same length in a time that does not depend on their content. */
function isSame(a: string, b: string): boolean {
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}

/** Verifies a token. Throws 404 if this deployment has not issued it, and 410 if it has expired. */
export async function verifyHeardToken(env: Env, token: string, now: number): Promise<HeardGrant> {
  const parts = FORM.exec(token)
  if (!parts || !isSame(await withMac(env, token.slice(0, -MAC_LENGTH)), token)) throw notFound('heard_token')
  const [created, expires, shards, scope, organization, session, resource, share, listener] = parts.slice(1)
  const created_at = Number.parseInt(created!, 16)
  const until = Math.max(created_at + HEARD_TOKEN_TTL, Number.parseInt(expires!, 16) + HEARD_AFTER_SESSION)
  if (until * 1000 <= now)
    throw new ApiError(
      'session_expired',
      'The heard_token has expired. Create a play session, and begin a new visit with its heard_token',
    )
  return {
    organization_id: toId(organization!),
    session_id: toId(session!),
    created_at: created_at * 1000,
    scope: SCOPES[scope!]!,
    resource_id: toId(resource!),
    share_id: share ? toId(share) : null,
    listener: listener ?? null,
    shards: Number.parseInt(shards!, 16),
  }
}
