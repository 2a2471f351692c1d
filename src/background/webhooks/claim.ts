import { and, eq, sql } from 'drizzle-orm'

import { webhookDeliveries } from '../../adapters/db/schema/webhooks.ts'
import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { System } from '../../context.ts'
import { eventBody, dueEndpoints, scheduledEndpoints } from '../../domain/webhooks/due.ts'
import { scheduleHeads } from '../../domain/webhooks/order.ts'
import type { DeliveryRequest } from '../../domain/webhooks/request.ts'
import { type DueEndpoint, MAX_PER_ENDPOINT, sharesOf } from './share.ts'

/** Milliseconds that a lease lasts beyond the receiver's timeout, so that the outcome of the attempt can be written. */
const SLACK = 15_000

/** A delivery that a sender has claimed until the time `lease`. */
export interface LeasedDelivery extends DeliveryRequest {
  seq: number
  attempt: number
  lease: number
}

/** Whether this sender still holds the lease. */
export const isLeaseHolder = ({ endpoint, seq, lease }: LeasedDelivery) =>
  and(
    eq(webhookDeliveries.endpoint_id, endpoint.id),
    eq(webhookDeliveries.seq, seq),
    eq(webhookDeliveries.state, 'sending'),
    eq(webhookDeliveries.due_at, lease),
  )

const endpointSql = sql`(select json_object('id', id, 'url', url, 'secret', secret, 'previous_secret', previous_secret,
    'previous_secret_expires_at', previous_secret_expires_at) from webhook_endpoints where id = endpoint_id)`

/** Claims as many due deliveries as there is capacity for. */
export async function claimDue(
  system: System,
  running: Iterable<LeasedDelivery>,
  free: number,
): Promise<LeasedDelivery[]> {
  const { env, db } = system
  const now = Date.now()
  const leaseTime = Number(env.WEBHOOK_TIMEOUT) * 1000 + SLACK
  const endpoints = await db.all<DueEndpoint>(sql`${scheduledEndpoints}
    select endpoint.id as id, endpoint.failing_since is not null as failing, (select count(*) from (
      select 1 from webhook_deliveries as leased where leased.endpoint_id = endpoint.id and leased.due_at > ${now}
      and leased.due_at <= ${now + leaseTime} and leased.state = 'sending' limit ${MAX_PER_ENDPOINT})) as leases
    from ${dueEndpoints(now)} order by failing, leases, random()`)
  const shares = sharesOf(endpoints, running, free)
  if (shares.length === 0) return []
  const lease = now + leaseTime
  const claimedRows = sql`select endpoint_id, seq from (
    select delivery.endpoint_id, delivery.seq, share.value ->> '$[1]' as share,
      row_number() over (partition by delivery.endpoint_id order by delivery.due_at, delivery.seq) as place
    from json_each(${JSON.stringify(shares)}) as share
    cross join webhook_deliveries as delivery on delivery.endpoint_id = share.value ->> '$[0]' and delivery.seq in (
      select seq from webhook_deliveries as due where due.endpoint_id = share.value ->> '$[0]' and due.due_at <= ${now}
      order by due.due_at, due.seq limit ${MAX_PER_ENDPOINT}))
    where place <= share`
  const rows = await db
    .update(webhookDeliveries)
    .set({ state: 'sending', due_at: lease })
    .where(sql`(endpoint_id, seq) in (${claimedRows}) and due_at <= ${now}`)
    .returning({
      seq: webhookDeliveries.seq,
      attempt: webhookDeliveries.attempt,
      endpoint: sql<string>`${endpointSql}`.as('endpoint'),
      body: sql<string | null>`${eventBody}`.as('body'),
    })
  const deliveries = rows.map(({ body, endpoint, ...row }) => ({
    ...row,
    lease,
    endpoint: JSON.parse(endpoint) as DeliveryRequest['endpoint'],
    body: body ?? '',
    event: { id: body === null ? '' : (JSON.parse(body) as { id: string }).id },
  }))
  // The events of these deliveries were deleted because of their age, so there is nothing to send.
  const withoutEvent = deliveries.filter(({ body }) => body === '')
  for (const delivery of withoutEvent) {
    await db.batch([
      db.delete(webhookDeliveries).where(isLeaseHolder(delivery)),
      scheduleHeads(system, delivery.endpoint.id),
    ])
  }
  if (withoutEvent.length > 0) await wakeWebhooks(system)
  return deliveries.filter(({ body }) => body !== '')
}
