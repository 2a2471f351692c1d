import { notFound, sessionExpired } from '../errors.ts'

/** How long an expired session still answers 410 before it is gone (docs/architecture.md#sessions), in milliseconds. */
export const EXPIRED_FOR = 24 * 3600 * 1000

/** The session if it lives; 410 for a day after its end, then 404 like one that never was. */
export function checkExpiry<T extends { expires_at: number }>(what: string, session: T | undefined, now: number): T {
  if (!session || session.expires_at + EXPIRED_FOR <= now) throw notFound(what)
  if (session.expires_at <= now) throw sessionExpired(`This ${what}`)
  return session
}

/** Milliseconds since 1970 as the API writes times. */
export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString()
