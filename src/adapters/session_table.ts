import { hourOf, idsBefore } from './id.ts'

/** Where a play session lies: its id begins with the hour of its end (docs/decisions/0027). */

const HOUR = 3600 * 1000
/** How long an expired session still answers 410 before it is gone (docs/architecture.md#sessions), in milliseconds. */
export const EXPIRED_FOR = 24 * HOUR

/** What ended before this hour is gone, whole hours of it. */
const goneBefore = (now: number) => Math.floor((now - EXPIRED_FOR) / HOUR)

/** The first id that is not gone: earlier ones sort before it. */
export const firstKept = (now: number) => idsBefore(goneBefore(now))

/** Ids without an hour are from before there were any, and in a table of their own. */
export type SessionTable = 'hourly_play_sessions' | 'play_sessions'

/** The table that holds a session; null when the id alone tells that it is gone. */
export function sessionTable(id: string, now: number): SessionTable | null {
  const hour = hourOf(id)
  if (hour === null) return 'play_sessions'
  return hour < goneBefore(now) ? null : 'hourly_play_sessions'
}
