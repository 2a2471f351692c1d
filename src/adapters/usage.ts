import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * What organizations have and did (docs/decisions/0055). Tables WITHOUT ROWID and the triggers that fill them stand in a migration by hand
 * (drizzle/0001_triggers.sql), so these are apart from schema.ts.
 */

/** The changes of each day: their sum is what there is now. The days that are too old are one row, without a date. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    organization_id: text().notNull(),
    date: text().notNull(),
    milliseconds: integer().notNull(),
    uploads: integer().notNull(),
    upload_bytes: integer().notNull(),
    sessions: integer().notNull(),
    files: text({ mode: 'json' }).$type<Record<string, [bytes: number, files: number]>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.date] })],
)

/** How far everything is counted: a trigger counts what lies between where a cursor was and where it is moved to. */
export const usageCursors = sqliteTable('usage_cursors', {
  name: text().$type<'sessions' | 'days'>().primaryKey(),
  at: text().notNull(),
})
