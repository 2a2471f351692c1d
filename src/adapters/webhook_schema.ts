import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { AttemptError, WebhookDeliveryState, WebhookEndpoint, WebhookEndpointState } from '../contract/webhook.ts'

/**
 * Webhook endpoints and deliveries (docs/decisions/0057). Both tables are WITHOUT ROWID, and a trigger on `events` writes the deliveries, so a
 * handwritten migration (drizzle/0001_triggers.sql) creates them and they are not in schema.ts.
 */

export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  url: text().notNull(),
  title: text().notNull(),
  events: text({ mode: 'json' }).$type<string[]>().notNull(),
  is_ordered: integer({ mode: 'boolean' }).notNull(),
  /** `deleted`: invisible to the API; the sweep removes its deliveries, then this row. */
  state: text().$type<WebhookEndpointState | 'deleted'>().notNull(),
  reason: text().$type<NonNullable<WebhookEndpoint['reason']>>(),
  /** Both encrypted (src/adapters/seal.ts). */
  secret: text().notNull(),
  previous_secret: text(),
  previous_secret_expires_at: integer(),
  /** The first of the consecutive failed attempts since the last success, and their number. */
  failing_since: integer(),
  failures: integer().notNull().default(0),
  last_success_at: integer(),
  /** The sweep has removed deliveries of events before this `seq`. */
  swept_until: integer().notNull(),
  seq: integer().notNull(),
  created_at: integer().notNull(),
})
export type EndpointRow = typeof webhookEndpoints.$inferSelect

/** One attempt, stored in its delivery: a separate table would cost one more row per attempt. */
export interface KeptAttempt {
  at: number
  duration_ms: number
  status: number | null
  error: AttemptError | null
  answer: string | null
  /** The header `webhook-signature`, if one was sent. */
  signature: string | null
}

/** An event for one endpoint. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    endpoint_id: text().notNull(),
    /** The event's `seq`. */
    seq: integer().notNull(),
    state: text().$type<WebhookDeliveryState>().notNull().default('pending'),
    /** Attempts of the current schedule. */
    attempt: integer().notNull().default(0),
    /**
     * The time of the next attempt, 0 for immediately. While sending: the end of the lease. Null if nothing is scheduled, or if an earlier delivery
     * of its subject comes first.
     */
    due_at: integer(),
    /** The event's subject, while later deliveries of an ordered endpoint wait for this one. */
    subject: text(),
    attempts: text({ mode: 'json' }).$type<KeptAttempt[]>().notNull().default([]),
  },
  (t) => [primaryKey({ columns: [t.endpoint_id, t.seq] })],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
