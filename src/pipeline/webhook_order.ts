import { sql } from 'drizzle-orm'

import { webhookDeliveries } from '../adapters/webhook_schema.ts'
import type { System } from '../context.ts'

/**
 * Statements for the batch of a change that decide which of an endpoint's deliveries are due: none while the endpoint is not active, so that
 * the search for due deliveries skips it; and only the first one of each subject that is delivered in order.
 */

type Writer = Pick<System, 'db' | 'now'>

/** Its id, if it is active or if it is not: else no row is looked at. */
const ifState = (id: string, comparison: '=' | '<>') =>
  sql`(select id from webhook_endpoints where id = ${id} and state ${sql.raw(comparison)} 'active')`

export const isActive = (id: string) => sql`${ifState(id, '=')} is not null`

/** Of a row: an earlier one of its subject is still to arrive. */
export const isBehind = sql`exists (select 1 from webhook_deliveries as earlier
  where earlier.endpoint_id = webhook_deliveries.endpoint_id and earlier.subject = webhook_deliveries.subject
  and earlier.seq < webhook_deliveries.seq)`

/** Makes due what waits for nothing any more. */
export const releaseHeads = ({ db, now }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: now })
    .where(sql`endpoint_id = ${ifState(id, '=')} and due_at is null and state = 'pending' and not ${isBehind}`)

/** Has nothing due of an endpoint that is not active. What is being sent is still written down. */
export const holdAll = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${ifState(id, '<>')} and due_at is not null and state = 'pending'`)

/** Has what is behind another one of its subject wait for it. */
export const holdFollowers = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${id} and due_at is not null and state = 'pending' and ${isBehind}`)

/** What is still to come of an endpoint that was in no order has its subjects from now on. */
export const nameSubjects = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({
      subject: sql`(select subject from events where events.seq = webhook_deliveries.seq
        and organization_id = (select organization_id from webhook_endpoints where id = ${id}))`,
    })
    .where(
      sql`endpoint_id = ${id} and subject is null and seq in (
        select seq from webhook_deliveries where endpoint_id = ${id} and due_at is not null
        union all select seq from webhook_deliveries where endpoint_id = ${id} and due_at is null and state = 'pending')`,
    )
