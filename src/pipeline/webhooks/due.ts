import { type SQL, sql } from 'drizzle-orm'

import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'

/** Finds due deliveries and wakes the consumer (docs/decisions/0057). send.ts sends them. */

/** Selects the endpoints with scheduled deliveries. This costs one index lookup per endpoint, regardless of the number of deliveries. */
export const scheduledEndpoints = sql`with recursive waiting(id) as (
    select min(endpoint_id) from webhook_deliveries where due_at is not null
    union all
    select (select min(endpoint_id) from webhook_deliveries where due_at is not null and endpoint_id > waiting.id)
    from waiting where waiting.id is not null)`
/** Selects the endpoints from `scheduledEndpoints` that are active and have due deliveries. */
export const dueEndpoints = (
  now: number,
) => sql`waiting cross join webhook_endpoints as endpoint on endpoint.id = waiting.id
  where endpoint.state = 'active' and exists (
    select 1 from webhook_deliveries as due where due.endpoint_id = endpoint.id and due.due_at <= ${now})`

/** Selects a row if any delivery is due. */
export const dueWebhooks = (now: number): SQL =>
  sql`(select 1 where exists (select 1 from webhook_deliveries where due_at is not null) and exists (${scheduledEndpoints} select 1 from ${dueEndpoints(now)}))`

/** Wakes the consumer, because a delivery may be due. When the queue refuses the message, the sweep wakes it later. */
export async function wake({ env }: Pick<System, 'env'>, delaySeconds = 0): Promise<void> {
  try {
    await env.WEBHOOK_QUEUE.send({}, { delaySeconds })
  } catch (error) {
    log('error', 'nudge_failed', { queue: 'webhook', error: describeError(error) })
  }
}

/** Wakes the consumer after background work that may have written events, if the organization has an active endpoint. Reads at most one row. */
export async function wakeIfSubscribed(system: Pick<System, 'env' | 'db'>, organization_id: string): Promise<void> {
  try {
    const activeEndpoint = sql`select 1 from webhook_endpoints where organization_id = ${organization_id} and state = 'active' limit 1`
    if ((await system.db.all(activeEndpoint)).length > 0) await wake(system)
  } catch (error) {
    log('error', 'nudge_failed', { queue: 'webhook', error: describeError(error) })
  }
}

/** The body of an event's request, which is the same in every attempt. `data` is the same as in the event feed (docs/webhooks.md). */
export const eventBody = sql`(select json_object('id', id, 'type', type, 'timestamp', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'),
    'seq', seq, 'sequence', sequence, 'subject', subject, 'actor', actor, 'data', json(data))
  from events where events.seq = webhook_deliveries.seq
    and events.organization_id = (select organization_id from webhook_endpoints where id = endpoint_id))`
