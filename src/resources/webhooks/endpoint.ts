import { and, eq, ne, type SQL, sql } from 'drizzle-orm'

import { insertFrom } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { type EndpointRow, webhookDeliveries, webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import type { Context } from '../../context.ts'
import { EVENT_WINDOW } from '../../contract/facts.ts'
import { HOUR } from '../../contract/time.ts'
import type { WebhookHour } from '../../contract/webhook.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { sweptUntil } from '../../domain/webhooks/old_deliveries.ts'
import { unscheduleFollowers, scheduleHeads } from '../../domain/webhooks/order.ts'

/** Maximum number of events that one call recovers. */
const RECOVERED = 2000

/** A condition for the caller's endpoints. */
export const endpointsOf = ({ principal }: Context) =>
  and(eq(webhookEndpoints.organization_id, principal.organization_id), ne(webhookEndpoints.state, 'deleted'))

export const ownEndpoint = (context: Context, id: string) => and(eq(webhookEndpoints.id, id), endpointsOf(context))

export async function findEndpoint(context: Context, id: string): Promise<EndpointRow> {
  const row = await context.db.select().from(webhookEndpoints).where(ownEndpoint(context, id)).get()
  if (!row) throw notFound('webhook endpoint')
  return row
}

export const endpointInactive = (state: string) =>
  new ApiError('webhook_endpoint_inactive', `The webhook endpoint is ${state}; resume it first`)

/**
 * Returns the number of deliveries to each endpoint by hour, for the last 24 hours. The endpoints share one window, which limits the rows that are
 * read.
 */
export async function hoursOf({ db, now }: Context, endpoints: EndpointRow[]): Promise<WebhookHour[][]> {
  const since = (Math.floor(now / HOUR) - 23) * HOUR
  const windowSize = Math.floor(EVENT_WINDOW / endpoints.length)
  const sum = (state: string) => sql<number>`sum(state = ${state})`
  const counts = endpoints.map(({ id }) =>
    db
      .select({
        // The cast is needed because D1 binds numbers as floats.
        hour: sql<number>`cast(seq / ${HOUR} as integer)`.as('hour'),
        delivered: sum('delivered').as('delivered'),
        failed: sum('failed').as('failed'),
        pending: sql<number>`count(*) - ${sum('delivered')} - ${sum('failed')}`.as('pending'),
      })
      .from(
        sql`(select seq, state from webhook_deliveries where endpoint_id = ${id} and seq >= ${since} order by seq desc limit ${windowSize})`,
      )
      .groupBy(sql`1`)
      .orderBy(sql`1`),
  )
  const counted = await db.batch(counts as [(typeof counts)[number]])
  return (counted as (typeof counted)[0][]).map((hours) =>
    hours.map(({ hour, ...count }) => ({ at: timestamp(hour * HOUR), ...count })),
  )
}

/**
 * Whether an endpoint receives an event, as defined by the trigger on `events` (src/adapters/db/triggers/webhooks.sql). The alias is needed because `json_each`
 * also has a column `type`.
 */
const isSubscribed = ({
  id,
  events: filters,
}: EndpointRow): SQL => sql`happened.type <> 'webhook.test' and subject <> ${`webhook_endpoint:${id}`}
  and exists (select 1 from json_each(${JSON.stringify(filters)}) where value in ('*', happened.type)
    or (value like '%.*' and substr(happened.type, 1, length(value) - 1) = substr(value, 1, length(value) - 1)))`

/** The column values of an active endpoint. Earlier failures are reset. */
export const ACTIVE = { state: 'active', reason: null, failing_since: null, failures: 0 } as const

/**
 * Schedules all events since a point in time that were neither delivered nor are being delivered. The order is kept: an inactive endpoint receives
 * new events only after all of these have been inserted.
 */
export async function recoverDeliveries(context: Context, endpoint: EndpointRow, since: number) {
  const { db } = context
  const { id, organization_id, is_ordered } = endpoint
  const recentEvents = sql`(select seq, type, subject from events
    where organization_id = ${organization_id} and seq >= ${Math.max(since, sweptUntil(context.now))} order by seq limit ${RECOVERED})`
  const rescheduled = {
    state: 'pending' as const,
    attempt: 0,
    due_at: sql`excluded.due_at`,
    subject: sql`excluded.subject`,
  }
  const isLast = sql`${ownEndpoint(context, id)} and (select count(*) from ${recentEvents}) < ${RECOVERED}`
  const [[found], recovered, [updated]] = await db.batch([
    db.select({ last: sql<number>`max(seq)`.as('last'), count: sql<number>`count(*)`.as('count') }).from(recentEvents),
    insertFrom(
      db,
      webhookDeliveries,
      {
        endpoint_id: id,
        seq: sql`seq`,
        subject: is_ordered ? sql`subject` : null,
      },
      sql`${recentEvents} as happened where ${isSubscribed(endpoint)}`,
    )
      .onConflictDoUpdate({
        target: [webhookDeliveries.endpoint_id, webhookDeliveries.seq],
        set: rescheduled,
        setWhere: eq(webhookDeliveries.state, 'failed'),
      })
      .returning({ seq: webhookDeliveries.seq }),
    db.update(webhookEndpoints).set(ACTIVE).where(isLast).returning(),
    // This event is recorded after the update, because the condition of the update would otherwise count it as well.
    ...(endpoint.state === 'active'
      ? []
      : [
          recordEvents(context, 'webhook_endpoint.updated', sql`webhook_endpoints where ${isLast}`, {
            changed: ['state'],
          }),
        ]),
    unscheduleFollowers(context, id),
    scheduleHeads(context, id),
  ])
  return {
    row: updated ?? endpoint,
    recovered: recovered.length,
    next_since: found!.count === RECOVERED ? timestamp(found!.last + 1) : null,
  }
}
