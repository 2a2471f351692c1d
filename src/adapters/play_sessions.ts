import { type SQL, sql } from 'drizzle-orm'
import { alias, sqliteTable } from 'drizzle-orm/sqlite-core'

import { hourOf, idsBefore } from './id.ts'
import { formerPlaySessions, playSessionColumns } from './schema.ts'

/**
 * Play sessions in the order of their ids, which begin with the hour of their end (docs/decisions/0027): without a rowid and an index,
 * a session is one row written and one deleted. drizzle-kit knows no such table, so it stands in a migration by hand
 * (drizzle/0003_hourly_play_sessions.sql) and apart from schema.ts.
 */
export const playSessions = sqliteTable('hourly_play_sessions', playSessionColumns())

/** Those of before, under the same name, so that a statement for them differs in nothing but its `from`. */
export const formerSessions = alias(formerPlaySessions, 'hourly_play_sessions') as unknown as typeof playSessions

const HOUR = 3600 * 1000
/** How long an expired session still answers 410 before it is gone (docs/architecture.md#sessions), in milliseconds. */
export const EXPIRED_FOR = 24 * HOUR

/** What ended before this hour is gone, whole hours of it. */
const goneBefore = (now: number) => Math.floor((now - EXPIRED_FOR) / HOUR)

/** The sessions that are gone: a range of ids. */
export const gonePlaySessions = (now: number): SQL => sql`id < ${idsBefore(goneBefore(now))}`

/** The table that holds a session; null when the id alone tells that it is gone. */
export function playSessionTable(id: string, now: number): typeof playSessions | null {
  const hour = hourOf(id)
  // Ids without an hour are from before there were any.
  if (hour === null) return formerSessions
  return hour < goneBefore(now) ? null : playSessions
}
