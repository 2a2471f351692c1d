import { type SQL, sql } from 'drizzle-orm'

/** Selects due deliveries (docs/decisions/0057). */

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

/** The body of an event's request, which is the same in every attempt. `data` is the same as in the event feed (docs/webhooks.md). */
export const eventBody = sql`(select json_object('id', id, 'type', type, 'timestamp', strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch'),
    'seq', seq, 'sequence', sequence, 'subject', subject, 'actor', actor, 'data', json(data))
  from events where events.seq = webhook_deliveries.seq
    and events.organization_id = (select organization_id from webhook_endpoints where id = endpoint_id))`
