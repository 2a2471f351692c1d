import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { WebhookEndpoint, WebhookEndpointState } from '../../../contract/webhook.ts'
import type { AttemptError, WebhookDeliveryState } from '../../../contract/webhook_delivery.ts'

/**
 * Webhook endpoints and their deliveries (docs/decisions/0057). Both tables are WITHOUT ROWID, and a trigger on `events` writes the deliveries
 * (src/adapters/db/triggers/webhooks.sql).
 */

export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    url: text().notNull(),
    title: text().notNull(),
    events: text({ mode: 'json' }).$type<string[]>().notNull(),
    is_ordered: integer({ mode: 'boolean' }).notNull(),
    /** A `deleted` endpoint is hidden from the API; the sweep deletes its deliveries and then the row. */
    state: text().$type<WebhookEndpointState | 'deleted'>().notNull(),
    reason: text().$type<NonNullable<WebhookEndpoint['reason']>>(),
    /** The secrets are encrypted (src/adapters/crypto/seal.ts). */
    secret: text().notNull(),
    previous_secret: text(),
    previous_secret_expires_at: integer(),
    /** When the current series of failed attempts started, and the number of attempts in it. */
    failing_since: integer(),
    failures: integer().notNull().default(0),
    last_success_at: integer(),
    /** The sweep has deleted the deliveries of events before this time. */
    swept_until: integer().notNull(),
    seq: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    index('webhook_endpoints_list').on(t.organization_id, t.seq),
    index('webhook_endpoints_swept').on(t.swept_until),
  ],
)
export type EndpointRow = typeof webhookEndpoints.$inferSelect

/** One attempt. It is stored in the row of its delivery, because a row in a separate table would cost one more row written per attempt. */
export interface RecordedAttempt {
  at: number
  duration_ms: number
  status: number | null
  error: AttemptError | null
  answer: string | null
  /** The value of the header `webhook-signature`; null if no request was sent. */
  signature: string | null
}

/** The deliveries of events to endpoints. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    endpoint_id: text().notNull(),
    /** The `seq` of the event. */
    seq: integer().notNull(),
    state: text().$type<WebhookDeliveryState>().notNull().default('pending'),
    /** The number of attempts that were scheduled so far. */
    attempt: integer().notNull().default(0),
    /**
     * When the delivery is due, or 0 if it is due immediately; during an attempt, when its lease expires. Null if the delivery is not pending, or
     * waits for an earlier delivery of the same subject.
     */
    due_at: integer(),
    /** The subject of the event, as long as later deliveries of an ordered endpoint wait for this delivery. */
    subject: text(),
    attempts: text({ mode: 'json' }).$type<RecordedAttempt[]>().notNull().default([]),
  },
  (t) => [
    primaryKey({ columns: [t.endpoint_id, t.seq] }),
    index('webhook_deliveries_due')
      .on(t.endpoint_id, t.due_at)
      .where(sql`due_at IS NOT NULL`),
    index('webhook_deliveries_held')
      .on(t.endpoint_id, t.seq)
      .where(sql`due_at IS NULL AND state = 'pending'`),
    index('webhook_deliveries_subject')
      .on(t.endpoint_id, t.subject, t.seq)
      .where(sql`subject IS NOT NULL`),
  ],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
