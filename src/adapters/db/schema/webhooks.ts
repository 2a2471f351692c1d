import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type {
  AttemptError,
  WebhookDeliveryState,
  WebhookEndpoint,
  WebhookEndpointState,
} from '../../../contract/webhook.ts'

/**
 * Webhook endpoints and their deliveries (docs/decisions/0057). Both tables are WITHOUT ROWID, and a trigger on `events` writes the deliveries,
 * so the migration is handwritten (drizzle/0001_triggers.sql).
 */

export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  url: text().notNull(),
  title: text().notNull(),
  events: text({ mode: 'json' }).$type<string[]>().notNull(),
  is_ordered: integer({ mode: 'boolean' }).notNull(),
  /** `deleted` is hidden from the API; the sweep deletes the deliveries and then the row. */
  state: text().$type<WebhookEndpointState | 'deleted'>().notNull(),
  reason: text().$type<NonNullable<WebhookEndpoint['reason']>>(),
  /** This and the previous secret are encrypted (src/adapters/crypto/seal.ts). */
  secret: text().notNull(),
  previous_secret: text(),
  previous_secret_expires_at: integer(),
  /** The start and the number of the current run of failed attempts. */
  failing_since: integer(),
  failures: integer().notNull().default(0),
  last_success_at: integer(),
  /** Deliveries of earlier events were deleted by the sweep. */
  swept_until: integer().notNull(),
  seq: integer().notNull(),
  created_at: integer().notNull(),
})
export type EndpointRow = typeof webhookEndpoints.$inferSelect

/** One attempt, stored in its delivery: a table of attempts would cost a row written for each. */
export interface RecordedAttempt {
  at: number
  duration_ms: number
  status: number | null
  error: AttemptError | null
  answer: string | null
  /** The header `webhook-signature`; null if none was sent. */
  signature: string | null
}

/** The deliveries of events to endpoints. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    endpoint_id: text().notNull(),
    /** The event's `seq`. */
    seq: integer().notNull(),
    state: text().$type<WebhookDeliveryState>().notNull().default('pending'),
    /** The number of scheduled attempts so far. */
    attempt: integer().notNull().default(0),
    /** When it is due, 0 for at once; during an attempt, when its lease expires. Null if it is not sent, or waits for an earlier one of its subject. */
    due_at: integer(),
    /** The event's subject, while later deliveries of an ordered endpoint wait for this one. */
    subject: text(),
    attempts: text({ mode: 'json' }).$type<RecordedAttempt[]>().notNull().default([]),
  },
  (t) => [primaryKey({ columns: [t.endpoint_id, t.seq] })],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
