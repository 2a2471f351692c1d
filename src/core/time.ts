import { DAY } from '../contract/time.ts'
import { notFound, sessionExpired } from './errors.ts'

/** Milliseconds for which requests for an expired session return 410; after that, the session is deleted (docs/architecture.md#sessions). */
export const EXPIRED_FOR = DAY

/** Returns the session if it is active. Throws 410 in the first day after its end; later, throws the same 404 as for an unknown id. */
export function checkExpiry<T extends { expires_at: number }>(what: string, session: T | undefined, now: number): T {
  if (!session || session.expires_at + EXPIRED_FOR <= now) throw notFound(what)
  if (session.expires_at <= now) throw sessionExpired(`This ${what}`)
  return session
}

/** Formats a time, in milliseconds since 1970, as the API does. */
export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString()

/** Returns the date (UTC) of a time, in milliseconds since 1970, such as `2027-01-31`. */
export const dateOf = (milliseconds: number) => timestamp(milliseconds).slice(0, 10)

/** Returns the month (UTC) of a day, in months since 1970. Days are in days since 1970. */
export function monthOf(day: number): number {
  const date = new Date(day * DAY)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}
/** Returns the first day of a month. */
export const firstDayOf = (month: number) => Date.UTC(1970, month, 1) / DAY
