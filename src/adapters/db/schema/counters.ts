import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Small tables WITHOUT ROWID, one B-tree each: their key is most of the row. drizzle-kit does not support them, so they are defined in
 * drizzle/0001_triggers.sql.
 */

/**
 * The length of each list, kept by triggers, so that neither `count` nor a deep `offset` scans. `list` is like `tracks:{collection}`, or with
 * a filter `tracks:{collection}?status=ready`. Level 0 is the total; levels 1 and 2 count by ranges of 256 and 16,384 of the list's
 * ordering number (`order` or `seq`).
 */
export const listCounts = sqliteTable(
  'list_counts',
  { list: text().notNull(), level: integer().notNull(), bucket: integer().notNull(), count: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.level, t.bucket] })],
)

/** When each background activity last happened (src/adapters/db/heartbeats.ts); `seen` is the first request for the status. */
export const heartbeats = sqliteTable('heartbeats', {
  name: text().$type<'sweep' | 'event' | 'seen' | 'events'>().primaryKey(),
  at: integer().notNull(),
})
