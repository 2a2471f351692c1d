import { type SQL, sql } from 'drizzle-orm'
import { alias, sqliteTable } from 'drizzle-orm/sqlite-core'

import { formerPlaySessions } from './former_schema.ts'
import { playSessionColumns } from './schema.ts'
import { firstKept, type SessionTable } from './session_table.ts'

/**
 * Play sessions in the order of their ids, which begin with the hour of their end (docs/decisions/0027): without a rowid and an index,
 * a session is one row written and one deleted. drizzle-kit knows no such table, so it stands in a migration by hand
 * (drizzle/0003_hourly_play_sessions.sql) and apart from schema.ts.
 */
export const playSessions = sqliteTable('hourly_play_sessions', playSessionColumns())

/** Those of before have the same name here, so that a statement for them differs in nothing but its `from`. */
export const sessionsIn: Record<SessionTable, typeof playSessions> = {
  hourly_play_sessions: playSessions,
  play_sessions: alias(formerPlaySessions, 'hourly_play_sessions') as unknown as typeof playSessions,
}

/** The sessions that are gone: a range of ids. */
export const gonePlaySessions = (now: number): SQL => sql`id < ${firstKept(now)}`
