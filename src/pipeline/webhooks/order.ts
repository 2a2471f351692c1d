import { sql } from 'drizzle-orm'

import { webhookDeliveries } from '../../adapters/db/schema/webhooks.ts'
import type { System } from '../../context.ts'

/**
 * Statements for the batch of a change that decide which of an endpoint's deliveries are due: none while the endpoint is not active, so that
 * the search for due deliveries skips it; and only the first one of each subject that is delivered in order.
 */

type Writer = Pick<System, 'db' | 'now'>

/** The endpoint's id if its state matches, otherwise null, so that no delivery is read. */
const ifState = (id: string, comparison: '=' | '<>') =>
  sql`(select id from webhook_endpoints where id = ${id} and state ${sql.raw(comparison)} 'active')`

export const isActive = (id: string) => sql`${ifState(id, '=')} is not null`

/** Whether an earlier delivery of the same subject has not arrived yet. */
export const hasPredecessor = sql`exists (select 1 from webhook_deliveries as earlier
  where earlier.endpoint_id = webhook_deliveries.endpoint_id and earlier.subject = webhook_deliveries.subject
  and earlier.seq < webhook_deliveries.seq)`

/** Makes deliveries due that no longer wait for another one. */
export const scheduleHeads = ({ db, now }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: now })
    .where(sql`endpoint_id = ${ifState(id, '=')} and due_at is null and state = 'pending' and not ${hasPredecessor}`)

/** Unschedules the deliveries of an inactive endpoint. Deliveries in flight still write their outcome. */
export const unscheduleAll = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${ifState(id, '<>')} and due_at is not null and state = 'pending'`)

/** Unschedules deliveries that wait for an earlier one of their subject. */
export const unscheduleFollowers = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${id} and due_at is not null and state = 'pending' and ${hasPredecessor}`)

/** Backfills `subject` in an endpoint's remaining deliveries when it becomes ordered. */
export const backfillSubjects = ({ db }: Writer, id: string) =>
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
