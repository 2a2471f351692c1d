import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Events (docs/decisions/0056), written in the same batch as the change: by triggers for changes of the service, by `recordEvents` for those of a
 * request. The table is WITHOUT ROWID and has no other index, so an event costs one row written. A handwritten migration (drizzle/0001_triggers.sql)
 * creates it with its triggers, so it is not in schema.ts.
 */
/** The table's default sets it. Drizzle omits only generated columns from an insert, so these are declared as generated. */
const byDefault = sql`default`

export const events = sqliteTable(
  'events',
  {
    organization_id: text().notNull(),
    /** Milliseconds since 1970, or the organization's last `seq` + 1 if that is more. Increases, and is never reused. */
    seq: integer().notNull(),
    /** The `webhook-id` of its deliveries. */
    id: text().notNull().generatedAlwaysAs(byDefault),
    type: text().notNull(),
    /** `track:{id}`, `collection:{id}`, … */
    subject: text().notNull(),
    /** Increases from event to event of a subject. */
    sequence: integer()
      .generatedAlwaysAs(sql`seq`, { mode: 'virtual' })
      .notNull(),
    /** `api_key:{id}` or `root`; null: the service. */
    actor: text(),
    /** JSON of at most 16 KB: ids and facts, never URLs, titles or metadata. */
    data: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** Milliseconds since 1970. */
    created_at: integer().notNull().generatedAlwaysAs(byDefault),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.seq] })],
)
export type EventRow = typeof events.$inferSelect
