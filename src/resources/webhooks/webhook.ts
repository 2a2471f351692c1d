import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { seal, unseal } from '../../adapters/crypto/seal.ts'
import { fromHex } from '../../adapters/crypto/secret.ts'
import { rowId, secretHex } from '../../adapters/crypto/seed.ts'
import { insertFrom, insertOnce } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { type EndpointRow, webhookDeliveries, webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { Context, Handlers } from '../../context.ts'
import { MAX_ENDPOINTS } from '../../contract/facts.ts'
import type { WebhookEndpoint, webhookOperations } from '../../contract/webhook.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { DELETED_ENDPOINT, deleteDeliveries, sweptUntil } from '../../domain/webhooks/old_deliveries.ts'
import { unscheduleAll, unscheduleFollowers, backfillSubjects, scheduleHeads } from '../../domain/webhooks/order.ts'
import { sealPurpose, webhookSecretOf } from '../../domain/webhooks/request.ts'
import { refusalOf } from '../../domain/webhooks/url.ts'
import { optionalTimestamp } from '../keys/restrictions.ts'
import { deliveryIdOf, findDelivery, toDelivery, webhookDeliveryHandlers } from './delivery.ts'
import {
  ACTIVE,
  endpointsOf,
  findEndpoint,
  hoursOf,
  endpointInactive,
  ownEndpoint,
  recoverDeliveries,
} from './endpoint.ts'

const toEndpoint = (row: EndpointRow, now: number): WebhookEndpoint => ({
  ...row,
  state: row.state as WebhookEndpoint['state'],
  failing_since: optionalTimestamp(row.failing_since),
  last_success_at: optionalTimestamp(row.last_success_at),
  previous_secret_expires_at:
    (row.previous_secret_expires_at ?? 0) > now ? optionalTimestamp(row.previous_secret_expires_at) : null,
  created_at: timestamp(row.created_at),
})

const withId = (row: EndpointRow, { now }: Context) => ({
  webhook_endpoint_id: row.id,
  webhook_endpoint: toEndpoint(row, now),
})

/** Returns endpoints as the API shows them, with the deliveries of one day if `include` asks for them. */
async function withDay(context: Context, include: string | undefined, rows: EndpointRow[]) {
  const shown = rows.map((row) => toEndpoint(row, context.now))
  if (include === undefined || shown.length === 0) return shown
  const hours = await hoursOf(context, rows)
  return shown.map((endpoint, at) => ({ ...endpoint, day: hours[at]! }))
}

function checkUrl({ env, base_url }: Context, url: string): string {
  const refusal = refusalOf(url, env, base_url)
  if (refusal !== null) throw invalid('url', refusal)
  return new URL(url).href
}

/** Removes the organization's keys from the cache, because they store whether the organization has active endpoints. */
const invalidateKeys = ({ cache, principal }: Context) => cache.keys.evictOrganization(principal.organization_id)

type Change = [type: 'updated' | 'rotated' | 'deleted', facts?: { changed: string[] }, where?: SQL]
/** Changes an endpoint and writes an event. `otherStatements` run in the same batch and update the endpoint's deliveries. */
async function update(
  context: Context,
  id: string,
  [type, eventFields, where]: Change,
  values: object,
  otherStatements: BatchItem<'sqlite'>[] = [],
) {
  const { db } = context
  const isOwned = ownEndpoint(context, id)
  const [, [row]] = await db.batch([
    recordEvents(context, `webhook_endpoint.${type}`, sql`webhook_endpoints where ${and(isOwned, where)}`, eventFields),
    db.update(webhookEndpoints).set(values).where(isOwned).returning(),
    ...otherStatements,
  ])
  if (!row) throw notFound('webhook endpoint')
  invalidateKeys(context)
  return row
}

export const webhookHandlers: Handlers<typeof webhookOperations> = {
  ...webhookDeliveryHandlers,

  async listWebhookEndpoints({ query: { limit, offset, include } }, context) {
    const rows = await context.db
      .select()
      .from(webhookEndpoints)
      .where(endpointsOf(context))
      .orderBy(desc(webhookEndpoints.seq))
    const page = rows.slice(offset, offset + limit)
    return { count: rows.length, webhook_endpoints: await withDay(context, include, page) }
  },

  async createWebhookEndpoint({ body }, context) {
    const { db, env, now, principal } = context
    const { organization_id } = principal
    const id = rowId(context)
    const url = checkUrl(context, body.url)
    const secret = webhookSecretOf(fromHex(await secretHex(context)))
    const values = {
      ...body,
      title: body.title ?? new URL(url).hostname.slice(0, 255),
      id,
      organization_id,
      url,
      ...ACTIVE,
      secret: await seal(env.SIGNING_SECRET, sealPurpose(id), secret),
      swept_until: sweptUntil(now),
      seq: sql`(select coalesce(max(seq), 0) + 1 from webhook_endpoints where organization_id = ${organization_id})`,
      created_at: now,
    }
    const ifRoom = sql`(select 1) where (select count(*) from webhook_endpoints where ${endpointsOf(context)}) < ${MAX_ENDPOINTS}`
    const insert = insertFrom(db, webhookEndpoints, values, ifRoom).returning()
    const event = recordEvents(context, 'webhook_endpoint.created', sql`webhook_endpoints where id = ${id}`)
    const row = await insertOnce(db, insert, [event], () =>
      db.select().from(webhookEndpoints).where(ownEndpoint(context, id)).get(),
    )
    if (!row)
      throw new ApiError('webhook_endpoints_full', `An organization may have ${MAX_ENDPOINTS} webhook endpoints`)
    invalidateKeys(context)
    return { ...withId(row, context), secret }
  },

  async getWebhookEndpoint({ params, query }, context) {
    const row = await findEndpoint(context, params.webhook_endpoint_id)
    const [webhook_endpoint] = await withDay(context, query.include, [row])
    return { webhook_endpoint_id: row.id, webhook_endpoint: webhook_endpoint! }
  },

  async updateWebhookEndpoint({ params, body }, context) {
    const { url, state, ...settings } = body
    const row = await findEndpoint(context, params.webhook_endpoint_id)
    const values = {
      ...settings,
      ...(url !== undefined && { url: checkUrl(context, url) }),
      ...(state === 'active' && row.state !== 'active' && ACTIVE),
      ...(state === 'paused' && { state, reason: 'requested' as const }),
    }
    if (Object.keys(values).length === 0) return withId(row, context)
    const isOrdering = settings.is_ordered && !row.is_ordered
    const updated = await update(context, row.id, ['updated', { changed: Object.keys(body) }], values, [
      ...(isOrdering ? [backfillSubjects(context, row.id), unscheduleFollowers(context, row.id)] : []),
      ...(state === 'paused' ? [unscheduleAll(context, row.id)] : []),
      ...(state === 'active' ? [scheduleHeads(context, row.id)] : []),
    ])
    if (updated.state === 'active' && row.state !== 'active') await wakeWebhooks(context)
    return withId(updated, context)
  },

  async deleteWebhookEndpoint({ params }, context) {
    const row = await findEndpoint(context, params.webhook_endpoint_id)
    await update(context, row.id, ['deleted'], DELETED_ENDPOINT)
    // Usually this deletes all deliveries of the endpoint; otherwise the sweep deletes the rest.
    await deleteDeliveries(context, row.id, true)
    return { webhook_endpoint_id: row.id, deleted_webhook_endpoint: toEndpoint(row, context.now) }
  },

  async rotateWebhookEndpoint({ params, body }, context) {
    const { env, now } = context
    const id = params.webhook_endpoint_id
    const secret = webhookSecretOf(fromHex(await secretHex(context)))
    const existing = await findEndpoint(context, id)
    // The present secret is unreadable after a change of SIGNING_SECRET.
    const present = await unseal(env.SIGNING_SECRET, sealPurpose(id), existing.secret).catch(() => null)
    // An earlier attempt has rotated the secret already; another rotation would end the previous secret.
    if (present === secret) return { ...withId(existing, context), secret }
    const row = await update(context, id, ['rotated'], {
      previous_secret: sql`secret`,
      previous_secret_expires_at: now + body.grace_seconds * 1000,
      secret: await seal(env.SIGNING_SECRET, sealPurpose(id), secret),
    })
    return { ...withId(row, context), secret }
  },

  async testWebhookEndpoint({ params }, context) {
    const { db, now } = context
    const { id, organization_id, state } = await findEndpoint(context, params.webhook_endpoint_id)
    if (state !== 'active') throw endpointInactive(state)
    const isOwned = ownEndpoint(context, id)
    const newest = sql`(select max(seq) from events where events.organization_id = ${organization_id})`
    const [, [sent]] = await db.batch([
      recordEvents(context, 'webhook.test', sql`webhook_endpoints where ${isOwned}`),
      // Only this endpoint receives the test event, and the delivery is due immediately.
      insertFrom(
        db,
        webhookDeliveries,
        { endpoint_id: id, seq: newest, due_at: now },
        sql`webhook_endpoints where ${isOwned}`,
      ).returning({ seq: webhookDeliveries.seq }),
    ])
    if (!sent) throw notFound('webhook endpoint')
    await wakeWebhooks(context)
    const delivery = await findDelivery(context, deliveryIdOf(id, sent.seq))
    return { webhook_delivery_id: delivery.id, webhook_delivery: toDelivery(delivery) }
  },

  async resumeWebhookEndpoint({ params }, context) {
    const { id } = await findEndpoint(context, params.webhook_endpoint_id)
    const resumed = ['updated', { changed: ['state'] }, sql`state <> 'active'`] satisfies Change
    const row = await update(context, id, resumed, ACTIVE, [scheduleHeads(context, id)])
    await wakeWebhooks(context)
    return withId(row, context)
  },

  async recoverWebhookEndpoint({ params, body }, context) {
    const endpoint = await findEndpoint(context, params.webhook_endpoint_id)
    const { row, ...recovered } = await recoverDeliveries(context, endpoint, Date.parse(body.since))
    invalidateKeys(context)
    await wakeWebhooks(context)
    return { ...withId(row, context), ...recovered }
  },
}
