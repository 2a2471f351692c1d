import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Usage of organizations (docs/decisions/0055). The tables are WITHOUT ROWID. A handwritten migration (drizzle/0001_triggers.sql) creates them with
 * the triggers that fill them, so they are not in schema.ts.
 */

/** Changes per day; their sum is the current state. Days before the usage period are merged into one row without a date. */
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

/** Progress of the counting: moving a cursor runs a trigger that counts everything between its old and new position. */
export const usageCursors = sqliteTable('usage_cursors', {
  name: text().$type<'sessions' | 'days'>().primaryKey(),
  at: text().notNull(),
})
