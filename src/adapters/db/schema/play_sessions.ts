import { type SQL, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../../../contract/play.ts'
import { firstKeptId } from '../session_id.ts'

/**
 * Play sessions, ordered by id. An id starts with the hour in which its session ends (docs/decisions/0027), so the table needs neither a rowid nor an
 * index: a session costs one row written when it is created and one when it is deleted. A session never changes.
 */
export const playSessions = sqliteTable('play_sessions', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  scope: text().$type<PlayScope>().notNull(),
  /** The id of a collection, track or playlist, depending on `scope`. */
  resource_id: text().notNull(),
  creator_id: text(),
  organization_index: text(),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  variants: text({ mode: 'json' }).$type<string[]>().notNull(),
  is_downloadable: integer({ mode: 'boolean' }).notNull(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
  /** The share through which the session was created; null for another key. */
  share_id: text(),
  /** The HMAC of the caller's pseudonym for the listener, whose progress is kept (docs/counting.md#progress-of-a-listener). */
  listener: text(),
})

/** Matches the sessions that expired more than `EXPIRED_FOR` ago. They are a range of ids. */
export const purgeablePlaySessions = (now: number): SQL => sql`id < ${firstKeptId(now)}`
