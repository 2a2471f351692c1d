import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The usage of organizations (docs/decisions/0055). The tables are WITHOUT ROWID and are filled by triggers (src/adapters/db/triggers/usage.ts).
 */

/** The change on each day; the sum of all days is the current usage. Old days are merged into one row with an empty date. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    organization_id: text().notNull(),
    date: text().notNull(),
    milliseconds: integer().notNull().default(0),
    uploads: integer().notNull().default(0),
    upload_bytes: integer().notNull().default(0),
    sessions: integer().notNull().default(0),
    /** The stored bytes and files of each variant. */
    files: text({ mode: 'json' }).$type<Record<string, [bytes: number, files: number]>>().notNull().default({}),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.date] }), index('usage_days_date').on(t.date)],
)

/** The positions up to which rows are counted. When a cursor is moved, a trigger counts the rows between its old and its new position. */
export const usageCursors = sqliteTable('usage_cursors', {
  name: text().$type<'sessions' | 'days'>().primaryKey(),
  at: text().notNull(),
})
