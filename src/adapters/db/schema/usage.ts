import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Usage of organizations (docs/decisions/0055). The tables are WITHOUT ROWID and triggers fill them, so the migration is handwritten
 * (drizzle/0001_triggers.sql).
 */

/** The changes of each day; their sum is the current usage. Old days are merged into one row with an empty date. */
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

/** How far rows are counted: a trigger counts those between the old and the new position of a cursor. */
export const usageCursors = sqliteTable('usage_cursors', {
  name: text().$type<'sessions' | 'days'>().primaryKey(),
  at: text().notNull(),
})
