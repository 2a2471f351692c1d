import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Small tables that consist mostly of their key. They are WITHOUT ROWID, so each is a single B-tree. drizzle-kit does not support such tables, so
 * they are defined in drizzle/0001_triggers.sql.
 */

/**
 * The length of each list, which triggers keep up to date, so that neither `count` nor a high `offset` needs a scan. `list` is a name such as
 * `tracks:{collection}`, or with a filter `tracks:{collection}?status=ready`. Level 0 has the total; levels 1 and 2 have the counts for ranges of 256
 * and 16,384 of the number that orders the list (`order` or `seq`).
 */
export const listCounts = sqliteTable(
  'list_counts',
  { list: text().notNull(), level: integer().notNull(), bucket: integer().notNull(), count: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.level, t.bucket] })],
)

/** When each background activity last happened (src/adapters/db/heartbeats.ts). `seen` is the time of the first request for the service's status. */
export const heartbeats = sqliteTable('heartbeats', {
  name: text().$type<'sweep' | 'event' | 'seen' | 'events'>().primaryKey(),
  at: integer().notNull(),
})
