import { sql } from 'drizzle-orm'

import { webhookDeliveries } from '../../adapters/db/schema/webhooks.ts'
import type { System } from '../../context.ts'

/**
 * Statements that decide which deliveries of an endpoint are due, for the batch that changes the endpoint. No delivery is due while the endpoint is
 * not active, so that the search for due deliveries skips it. With ordered delivery, only the first delivery of each subject is due.
 */

type Writer = Pick<System, 'db' | 'now'>

/** Selects the endpoint's id if its state matches, otherwise null. With null, no deliveries are read. */
const ifState = (id: string, comparison: '=' | '<>') =>
  sql`(select id from webhook_endpoints where id = ${id} and state ${sql.raw(comparison)} 'active')`

export const isActive = (id: string) => sql`${ifState(id, '=')} is not null`

/** Whether an earlier delivery of the same subject has not arrived yet. */
export const hasPredecessor = sql`exists (select 1 from webhook_deliveries as earlier
  where earlier.endpoint_id = webhook_deliveries.endpoint_id and earlier.subject = webhook_deliveries.subject
  and earlier.seq < webhook_deliveries.seq)`

/** Makes deliveries due that do not have to wait for an earlier delivery anymore. */
export const scheduleHeads = ({ db, now }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: now })
    .where(sql`endpoint_id = ${ifState(id, '=')} and due_at is null and state = 'pending' and not ${hasPredecessor}`)

/** Makes the deliveries of an inactive endpoint no longer due. The outcome of deliveries in flight is still written. */
export const unscheduleAll = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${ifState(id, '<>')} and due_at is not null and state = 'pending'`)

/** Makes deliveries no longer due if they have to wait for an earlier delivery of their subject. */
export const unscheduleFollowers = ({ db }: Writer, id: string) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: null })
    .where(sql`endpoint_id = ${id} and due_at is not null and state = 'pending' and ${hasPredecessor}`)

/** Sets `subject` in an endpoint's remaining deliveries when ordered delivery is switched on for the endpoint. */
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
