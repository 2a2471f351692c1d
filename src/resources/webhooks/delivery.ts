import { and, eq, ne, sql } from 'drizzle-orm'

import { runBatch } from '../../adapters/db/database.ts'
import { events } from '../../adapters/db/schema/events.ts'
import { type RecordedAttempt, webhookDeliveries, webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { Context, Handlers } from '../../context.ts'
import { EVENT_WINDOW } from '../../contract/facts.ts'
import type { webhookOperations } from '../../contract/webhook.ts'
import type { WebhookDelivery, WebhookDeliveryState } from '../../contract/webhook_delivery.ts'
import { notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { eventBody } from '../../domain/webhooks/due.ts'
import { headersOf } from '../../domain/webhooks/request.ts'
import { endpointsOf, findEndpoint, endpointInactive } from './endpoint.ts'

/**
 * Returns the id of a delivery. It consists of the event's number, which is a time in milliseconds, and the random part of the endpoint's id, so that
 * deliveries need no column or index for it.
 */
export const deliveryIdOf = (endpoint_id: string, seq: number) => {
  const number = seq.toString(16).padStart(12, '0')
  return `${number.slice(0, 8)}-${number.slice(8)}-8${endpoint_id.slice(15)}`
}
const seqOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

const ofLastAttempt = (name: 'status' | 'error') => sql`attempts ->> ${`$[#-1].${name}`}`
const columns = {
  endpoint_id: webhookDeliveries.endpoint_id,
  seq: webhookDeliveries.seq,
  state: webhookDeliveries.state,
  attempt: webhookDeliveries.attempt,
  due_at: webhookDeliveries.due_at,
  event_id: sql<string>`events.id`.as('event_id'),
  type: events.type,
  subject: events.subject,
  created_at: events.created_at,
  status: sql<number | null>`${ofLastAttempt('status')}`.as('status'),
  error: sql<WebhookDelivery['error']>`${ofLastAttempt('error')}`.as('error'),
}

interface DeliveryRow {
  endpoint_id: string
  seq: number
  state: WebhookDeliveryState
  attempt: number
  due_at: number | null
  event_id: string
  type: string
  subject: string
  created_at: number
  status: number | null
  error: WebhookDelivery['error']
}

export const toDelivery = ({ due_at, ...row }: DeliveryRow): WebhookDelivery => ({
  ...row,
  id: deliveryIdOf(row.endpoint_id, row.seq),
  next_attempt_at: row.state === 'pending' && due_at !== null ? timestamp(Math.max(due_at, row.created_at)) : null,
  created_at: timestamp(row.created_at),
})

const eventOf = (organization_id: string) =>
  and(eq(events.organization_id, organization_id), eq(events.seq, webhookDeliveries.seq))

const deliveryNotFound = () => notFound('webhook delivery')

/** Returns a delivery to one of the caller's endpoints, with its attempts and its body. */
export async function findDelivery({ db, principal }: Context, id: string) {
  const { organization_id } = principal
  const owner = sql`(select id from webhook_endpoints where organization_id = ${organization_id} and state <> 'deleted'
    and substr(id, 16) = ${id.slice(15)})`
  const row = await db
    .select({
      ...columns,
      attempts: webhookDeliveries.attempts,
      body: sql<string>`${eventBody}`.as('body'),
    })
    .from(webhookDeliveries)
    .innerJoin(events, eventOf(organization_id))
    .where(and(sql`endpoint_id = ${owner}`, eq(webhookDeliveries.seq, seqOf(id))))
    .get()
  if (!row || id[14] !== '8') throw deliveryNotFound()
  return { ...row, id: deliveryIdOf(row.endpoint_id, row.seq) }
}

type DeliveryOperations = Pick<
  typeof webhookOperations,
  'listWebhookDeliveries' | 'getWebhookDelivery' | 'replayWebhookDelivery'
>

export const webhookDeliveryHandlers: Handlers<DeliveryOperations> = {
  async listWebhookDeliveries({ query: { endpoint_id, state, before, limit } }, context) {
    const { db, principal } = context
    const endpoints =
      endpoint_id === undefined
        ? await db.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(endpointsOf(context))
        : [await findEndpoint(context, endpoint_id)]
    if (endpoints.length === 0) return { webhook_deliveries: [], before: null }
    // The window is divided among all endpoints, so that the cost of a page does not depend on the number of endpoints.
    const windowSize = state === undefined ? limit + 1 : Math.floor(EVENT_WINDOW / endpoints.length)
    const queries = endpoints.map(({ id }) => {
      // Deliveries of the same event are ordered by their ids.
      const until = before === undefined ? null : seqOf(before) - (deliveryIdOf(id, seqOf(before)) < before ? 0 : 1)
      const window = sql`(select seq from webhook_deliveries where endpoint_id = ${id}
        and (${until} is null or seq <= ${until}) order by seq desc limit ${windowSize})`
      return {
        id,
        deliveries: db
          .select(columns)
          .from(webhookDeliveries)
          .innerJoin(events, eventOf(principal.organization_id))
          .where(
            and(
              eq(webhookDeliveries.endpoint_id, id),
              sql`${webhookDeliveries.seq} in ${window}`,
              state && eq(webhookDeliveries.state, state),
            ),
          )
          .orderBy(sql`${webhookDeliveries.seq} desc`)
          .limit(limit + 1),
        searched: db
          .select({ last: sql<number>`min(seq)`.as('last'), count: sql<number>`count(*)`.as('count') })
          .from(window),
      }
    })
    const statements = queries.flatMap(({ deliveries, searched }) => [deliveries, searched])
    const resultOf = await runBatch(db, statements)
    // Beyond the end of an endpoint's window, rows of other endpoints are left out as well, because their order relative to the missing rows is
    // unknown.
    const end = queries
      .flatMap(({ id, searched }) =>
        resultOf(searched).flatMap(({ last, count }) => (count === windowSize ? [deliveryIdOf(id, last)] : [])),
      )
      .toSorted()
      .at(-1)
    const rows = queries
      .flatMap(({ deliveries }) => resultOf(deliveries))
      .map(toDelivery)
      .filter(({ id }) => end === undefined || id >= end)
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    const page = rows.slice(0, limit)
    return { webhook_deliveries: page, before: rows.length > limit ? page.at(-1)!.id : (end ?? null) }
  },

  async getWebhookDelivery({ params }, context) {
    const { attempts, ...delivery } = await findDelivery(context, params.webhook_delivery_id)
    return {
      webhook_delivery_id: delivery.id,
      webhook_delivery: {
        ...toDelivery(delivery),
        attempts: attempts.map(({ at, signature, ...attempt }: RecordedAttempt) => ({
          ...attempt,
          at: timestamp(at),
          headers: signature === null ? {} : headersOf(delivery.event_id, at, signature),
        })),
        body: delivery.body,
      },
    }
  },

  async replayWebhookDelivery({ params }, context) {
    const { db, now } = context
    const delivery = await findDelivery(context, params.webhook_delivery_id)
    const { endpoint_id, seq } = delivery
    const endpoint = await findEndpoint(context, endpoint_id)
    if (endpoint.state !== 'active') throw endpointInactive(endpoint.state)
    const isDelivery = and(eq(webhookDeliveries.endpoint_id, endpoint_id), eq(webhookDeliveries.seq, seq))
    // A delivery that is in flight, or that waits for an earlier delivery of its subject, is not changed.
    await db
      .update(webhookDeliveries)
      .set({ state: 'pending', attempt: 0, due_at: now })
      .where(and(isDelivery, ne(webhookDeliveries.state, 'sending'), sql`(state <> 'pending' or due_at is not null)`))
    await wakeWebhooks(context)
    const replayed = await findDelivery(context, delivery.id)
    return { webhook_delivery_id: replayed.id, webhook_delivery: toDelivery(replayed) }
  },
}
