import { notFound, sessionExpired } from './errors.ts'

/** Milliseconds for which an expired session answers 410 before it is deleted (docs/architecture.md#sessions). */
export const EXPIRED_FOR = 24 * 3600 * 1000

/** Returns the session if it is active; throws 410 for a day after its end, then 404 as for an unknown id. */
export function checkExpiry<T extends { expires_at: number }>(what: string, session: T | undefined, now: number): T {
  if (!session || session.expires_at + EXPIRED_FOR <= now) throw notFound(what)
  if (session.expires_at <= now) throw sessionExpired(`This ${what}`)
  return session
}

/** Milliseconds since 1970 in the API's time format. */
export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString()
