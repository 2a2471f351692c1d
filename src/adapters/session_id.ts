import { hourOf, idsBefore } from './id.ts'

/** Expiry by play session id, without a query: an id begins with the hour in which its session ends (docs/decisions/0027). */

const HOUR = 3600 * 1000
/** Milliseconds for which an expired session answers 410 before it is deleted (docs/architecture.md#sessions). */
export const EXPIRED_FOR = 24 * HOUR

/** The first hour whose sessions are kept. Sessions are deleted by whole hours. */
const firstKeptHour = (now: number) => Math.floor((now - EXPIRED_FOR) / HOUR)

/** The lowest id that is kept: ids of earlier hours sort before it. */
export const firstKeptId = (now: number) => idsBefore(firstKeptHour(now))

/** Whether a session with this id can exist at `now`. False for ids without an hour. */
export function canBeSession(id: string, now: number): boolean {
  const hour = hourOf(id)
  return hour !== null && hour >= firstKeptHour(now)
}
