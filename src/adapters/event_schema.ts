import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * What happened (docs/decisions/0056), written in the batch of the change: by triggers where the service changes something, by
 * `recordEvents` where a call does. The table is WITHOUT ROWID and has no other index, so an event is one row written; it stands with its
 * triggers in a migration by hand (drizzle/0001_triggers.sql), and apart from schema.ts.
 */
/** The table's default makes it. Drizzle leaves nothing else out of an insert than what it takes for generated. */
const byDefault = sql`default`

export const events = sqliteTable(
  'events',
  {
    organization_id: text().notNull(),
    /** Milliseconds since 1970, or one more than the last of the organization: rises, and is never given twice. */
    seq: integer().notNull(),
    /** The `webhook-id` of its deliveries. */
    id: text().notNull().generatedAlwaysAs(byDefault),
    type: text().notNull(),
    /** `track:{id}`, `collection:{id}`, … */
    subject: text().notNull(),
    /** Rises from one event of a subject to the next. */
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
