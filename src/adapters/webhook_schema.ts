import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { AttemptError, WebhookDeliveryState, WebhookEndpoint, WebhookEndpointState } from '../contract/webhook.ts'

/**
 * Who receives events, and what was sent (docs/decisions/0057). Both tables are WITHOUT ROWID, and deliveries are written by a trigger on
 * `events`, so they stand in a migration by hand (drizzle/0001_triggers.sql) and apart from schema.ts.
 */

export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  url: text().notNull(),
  title: text().notNull(),
  events: text({ mode: 'json' }).$type<string[]>().notNull(),
  is_ordered: integer({ mode: 'boolean' }).notNull(),
  /** `deleted`: nobody sees it, and the sweep takes its deliveries away before it goes itself. */
  state: text().$type<WebhookEndpointState | 'deleted'>().notNull(),
  reason: text().$type<NonNullable<WebhookEndpoint['reason']>>(),
  /** Both sealed (src/adapters/seal.ts). */
  secret: text().notNull(),
  previous_secret: text(),
  previous_secret_expires_at: integer(),
  /** When the first attempt failed of those that all failed, and how many these are. */
  failing_since: integer(),
  failures: integer().notNull().default(0),
  last_success_at: integer(),
  /** Deliveries of events before are swept away. */
  swept_until: integer().notNull(),
  seq: integer().notNull(),
  created_at: integer().notNull(),
})
export type EndpointRow = typeof webhookEndpoints.$inferSelect

/** One attempt, as it is kept in its delivery: a table of their own would be a row more for each. */
export interface KeptAttempt {
  at: number
  duration_ms: number
  status: number | null
  error: AttemptError | null
  answer: string | null
  /** The header `webhook-signature`, when one was sent. */
  signature: string | null
}

/** An event on its way to an endpoint. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    endpoint_id: text().notNull(),
    /** The event's. */
    seq: integer().notNull(),
    state: text().$type<WebhookDeliveryState>().notNull().default('pending'),
    /** Tries of the schedule that it has had. */
    attempt: integer().notNull().default(0),
    /** When it is to be sent, 0 at once, or while it is, when somebody else may take it; null: not at all, or after another one of its subject. */
    due_at: integer(),
    /** The event's, as long as later ones of an ordered endpoint wait for it. */
    subject: text(),
    attempts: text({ mode: 'json' }).$type<KeptAttempt[]>().notNull().default([]),
  },
  (t) => [primaryKey({ columns: [t.endpoint_id, t.seq] })],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
