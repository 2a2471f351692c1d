import { canBeSession, EXPIRED_FOR } from '../adapters/session_id.ts'
import { notFound, sessionExpired } from '../errors.ts'

/** Throws 404 without a query when no session with this id can exist at `now`. */
export function checkSessionId(id: string, now: number): void {
  if (!canBeSession(id, now)) throw notFound('play session')
}

/** Returns the session if it is active; throws 410 for a day after its end, then 404 as for an unknown id. */
export function checkExpiry<T extends { expires_at: number }>(what: string, session: T | undefined, now: number): T {
  if (!session || session.expires_at + EXPIRED_FOR <= now) throw notFound(what)
  if (session.expires_at <= now) throw sessionExpired(`This ${what}`)
  return session
}

/** Milliseconds since 1970 in the API's time format. */
export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString()
