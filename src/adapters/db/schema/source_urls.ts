import { sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The URLs from which files of tracks are fetched, encrypted (docs/decisions/0127). A trigger deletes a row when its track no longer waits for the file, so a
 * URL is stored no longer than it is needed. It is not in the payload of the job, because jobs are kept and are part of backups.
 */
export const sourceUrls = sqliteTable('source_urls', {
  track_id: text().primaryKey(),
  /** See `seal`; the purpose contains the track's id. */
  sealed: text().notNull(),
})
