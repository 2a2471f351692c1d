import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Marks a column as generated, because Drizzle omits only generated columns from an insert. The database fills the column with its default. */
const byDefault = sql`default`

/**
 * Events (docs/decisions/0056), written in the same batch as the change that they report: by triggers if the service makes the change, by
 * `recordEvents` if a request does. The table is WITHOUT ROWID and has no other index, so an event costs one row written. The migration is
 * handwritten (drizzle/0001_triggers.sql).
 */
export const events = sqliteTable(
  'events',
  {
    organization_id: text().notNull(),
    /**
     * The time in milliseconds since 1970, but at least one more than in the organization's previous event. Unique and increasing within an
     * organization.
     */
    seq: integer().notNull(),
    /** The value of the header `webhook-id` in all deliveries of the event. */
    id: text().notNull().generatedAlwaysAs(byDefault),
    type: text().notNull(),
    /** The resource of the event: `track:{id}`, `collection:{id}`, … */
    subject: text().notNull(),
    /** Increases with every event of the same subject. */
    sequence: integer()
      .generatedAlwaysAs(sql`seq`, { mode: 'virtual' })
      .notNull(),
    /** The actor that made the change: `api_key:{id}` or `root`; null for the service itself. */
    actor: text(),
    /** JSON of at most 16 KB. It has ids and facts, but never URLs, titles or metadata. */
    data: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** The time of the event, in milliseconds since 1970. */
    created_at: integer().notNull().generatedAlwaysAs(byDefault),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.seq] })],
)
export type EventRow = typeof events.$inferSelect
