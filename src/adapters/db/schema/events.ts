import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Marks a column that the table's default fills: Drizzle omits only generated columns from an insert. */
const byDefault = sql`default`

/**
 * Events (docs/decisions/0056), written in the same batch as the change: by triggers for changes by the service, by `recordEvents` for
 * changes by a call. The table is WITHOUT ROWID and has no other index, so an event costs one row written. The migration is handwritten
 * (drizzle/0001_triggers.sql).
 */
export const events = sqliteTable(
  'events',
  {
    organization_id: text().notNull(),
    /** Milliseconds since 1970, or one more than the organization's last event. Unique and increasing within an organization. */
    seq: integer().notNull(),
    /** The `webhook-id` header of its deliveries. */
    id: text().notNull().generatedAlwaysAs(byDefault),
    type: text().notNull(),
    /** `track:{id}`, `collection:{id}`, … */
    subject: text().notNull(),
    /** Increases from event to event of a subject. */
    sequence: integer()
      .generatedAlwaysAs(sql`seq`, { mode: 'virtual' })
      .notNull(),
    /** `api_key:{id}` or `root`; null for the service. */
    actor: text(),
    /** JSON of at most 16 KB: ids and facts, never URLs, titles or metadata. */
    data: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** Milliseconds since 1970. */
    created_at: integer().notNull().generatedAlwaysAs(byDefault),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.seq] })],
)
export type EventRow = typeof events.$inferSelect
