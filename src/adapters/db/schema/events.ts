import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A random UUID, and the current time in milliseconds since 1970. */
const newId = sql`(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))`
const now = sql`(CAST(unixepoch('subsec') * 1000 AS INTEGER))`

/**
 * Events (docs/decisions/0056), written in the same batch as the change that they report: by triggers if the service makes the change, by
 * `recordEvents` if a request does. The table is WITHOUT ROWID and has no other index, so an event costs one row written.
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
    id: text().notNull().default(newId),
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
    created_at: integer().notNull().default(now),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.seq] })],
)
export type EventRow = typeof events.$inferSelect

/** The columns of a row that its events include: those of `recordEvents`, and those of triggers (src/adapters/db/triggers/events.ts). */
const EVENT_COLUMNS = {
  track: ['track_id', 'collection_id', 'organization_index', 'status'],
  collection: ['collection_id', 'organization_index'],
  playlist: ['playlist_id', 'organization_index', 'version'],
  api_key: ['api_key_id', 'type'],
  share: ['share_id', 'scope', 'resource_id'],
  webhook_endpoint: ['webhook_endpoint_id'],
  quota: [],
  stats: [],
}
export type EventScope = keyof typeof EVENT_COLUMNS

/** Returns the fields that all events of a resource have, in SQL. `row` is `new.` in a trigger. */
export const fieldsOf = (scope: EventScope, row = ''): Record<string, string> =>
  Object.fromEntries(EVENT_COLUMNS[scope].map((name) => [name, `${row}${name === `${scope}_id` ? 'id' : name}`]))

/** SQL for the `seq` of the n-th event that a statement writes for an organization: the time, but more than in the previous event. */
export const nextSeq = (organization_id: string, n: string) =>
  `max(coalesce((SELECT max(seq) FROM events WHERE events.organization_id = ${organization_id}), 0) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER)) + ${n} - 1`
