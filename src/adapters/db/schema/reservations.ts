import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The bytes that tracks use besides the stored files in `usage_days` (docs/decisions/0078): open upload handles, files that wait to be processed, and
 * tracks in the trash. A track has at most one row. Triggers delete a row that counts nothing
 * (src/adapters/db/triggers/reservations.sql).
 */
export const reservations = sqliteTable(
  'reservations',
  {
    organization_id: text().notNull(),
    track_id: text().notNull(),
    /** The upload session in which the track was created, and the uploader key that created it; both are null a day or two later. */
    upload_session_id: text(),
    api_key_id: text(),
    /** The day on which the track was created, in days since 1970. */
    day: integer().notNull(),
    /** The largest size that the open upload handles may have, in bytes. It counts until `expires_at`, in milliseconds since 1970. */
    reserved: integer().notNull(),
    expires_at: integer().notNull(),
    /** The size of the last file that has arrived. It counts for the session and the key. */
    uploaded: integer().notNull().default(0),
    /** The size of that file until it is processed. It counts for the organization; from then on, `usage_days` contains the file. */
    unprocessed: integer().notNull().default(0),
    /** The size of all files while the track is in the trash. It counts for the organization. */
    trashed: integer().notNull().default(0),
    /** Whether the last reservation has changed the level of a quota. */
    changes_level: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.track_id] }),
    index('reservations_key')
      .on(t.day, t.api_key_id)
      .where(sql`upload_session_id IS NOT NULL`),
    index('reservations_session')
      .on(t.upload_session_id)
      .where(sql`upload_session_id IS NOT NULL`),
  ],
)
