import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import { playSessionColumns } from './schema.ts'

/** Tables that only older versions write; what they have written is read and taken over. */

/** Where files stood before `tracks.files`: the sweep moves what an older version has written (docs/decisions/0030). */
export const formerTrackFiles = sqliteTable(
  'track_variants',
  {
    track_id: text().notNull(),
    index: text().notNull(),
    path: text().notNull(),
    size: integer().notNull(),
    bitrate: integer().notNull(),
    duration: real().notNull(),
    variant_id: text(),
    is_early: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.track_id, t.index] }),
    index('track_variants_own')
      .on(t.variant_id)
      .where(sql`variant_id is not null`),
  ],
)

/** Sessions from before there was play_sessions.ts: they play until they end, and no more are added (docs/decisions/0027). */
export const formerPlaySessions = sqliteTable('play_sessions', playSessionColumns(), (t) => [
  index('play_sessions_expiry').on(t.expires_at),
])
