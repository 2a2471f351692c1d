import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle, Timestamp, unique } from './common.ts'
import { EventPattern } from './event.ts'
import { MAX_WEBHOOK_URL } from './facts.ts'
import { defineOperations } from './operation.ts'

/** Endpoints that hear of events, and what was sent to each (docs/decisions/0057). */

/** `active`; `paused`: nothing but failures for three days, or by request; `disabled`: it answered 410. */
export const WebhookEndpointState = z.enum(['active', 'paused', 'disabled'])
export type WebhookEndpointState = z.infer<typeof WebhookEndpointState>

/** Deliveries of one hour, by what became of them. */
export const WebhookHour = named('WebhookHour', {
  /** When the hour began. */
  at: Timestamp,
  delivered: z.int(),
  failed: z.int(),
  pending: z.int(),
})
export type WebhookHour = z.infer<typeof WebhookHour>

export const WebhookEndpoint = named('WebhookEndpoint', {
  id: z.uuid(),
  url: z.url(),
  title: z.string(),
  /** Types of events that it receives: `*`, all of a group as `track.*`, or exact ones. */
  events: z.array(z.string()),
  /** A subject's events come one after the other: the next one when the one before has arrived, or was given up. */
  is_ordered: z.boolean(),
  state: WebhookEndpointState,
  /** Why it is not active: `failing`, `gone` (410) or `requested`. */
  reason: z.enum(['failing', 'gone', 'requested']).nullable(),
  /** Since when every attempt has failed; null when the last one arrived. */
  failing_since: Timestamp.nullable(),
  /** To within a minute. */
  last_success_at: Timestamp.nullable(),
  /** Until when the secret from before a rotation signs too. */
  previous_secret_expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  /** With `include=day`: the last 24 hours, those with deliveries, oldest first; only the newest deliveries are counted, 5,000 shared by the endpoints of the answer. */
  day: z.array(WebhookHour).optional(),
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

/** Of an attempt that did not arrive. */
export const AttemptError = z
  .enum(['status', 'redirect', 'timed_out', 'unreachable', 'url_refused', 'secret_unreadable'])
  .describe(
    [
      '- `status`: the answer was neither 2xx nor 3xx',
      '- `redirect`: the answer was 3xx, which is never followed',
      '- `timed_out`: no answer in time',
      '- `unreachable`: no connection, no TLS, or it was closed before an answer',
      '- `url_refused`: this service does not send to such a URL (any more)',
      '- `secret_unreadable`: the secret cannot be decrypted, as `SIGNING_SECRET` was changed; rotate it',
    ].join('\n'),
  )
export type AttemptError = z.infer<typeof AttemptError>

export const WebhookAttempt = named('WebhookAttempt', {
  at: Timestamp,
  duration_ms: z.int(),
  /** The status that was answered; null when there was no answer. */
  status: z.int().nullable(),
  /** Null when it arrived. */
  error: AttemptError.nullable(),
  /** The beginning of the answer's body, up to 1 KB. */
  answer: z.string().nullable(),
  /** Of the request, as they were sent. */
  headers: z.record(z.string(), z.string()),
})
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

/** `pending`: to be sent, now or later; `sending`; `delivered`: answered with 2xx; `failed`: given up after the last try. */
export const WebhookDeliveryState = z.enum(['pending', 'sending', 'delivered', 'failed'])
export type WebhookDeliveryState = z.infer<typeof WebhookDeliveryState>

const listed = {
  id: z.uuid(),
  endpoint_id: z.uuid(),
  /** The `webhook-id`: the same in all attempts, and when it is sent again. */
  event_id: z.uuid(),
  type: z.string(),
  subject: z.string(),
  seq: z.int(),
  state: WebhookDeliveryState,
  /** Attempts since it was created, or sent again by hand. */
  attempt: z.int(),
  /** Of the last attempt. */
  status: z.int().nullable(),
  error: AttemptError.nullable(),
  /** Null when there is none to come, or it waits for an earlier one of its subject. */
  next_attempt_at: Timestamp.nullable(),
  /** When the event happened. */
  created_at: Timestamp,
}

export const WebhookDelivery = named('WebhookDelivery', listed)
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookDeliveryDetails = named('WebhookDeliveryDetails', {
  ...listed,
  /** Oldest first; of many the last thirty. */
  attempts: z.array(WebhookAttempt),
  /** The body, byte by byte as it is sent. */
  body: z.string(),
})
export type WebhookDeliveryDetails = z.infer<typeof WebhookDeliveryDetails>

/** What may be changed later. */
const changeable = {
  /** https, on port 443 or 8443, of a public host (docs/webhooks.md). */
  url: z.string().min(1, 'must not be empty').max(MAX_WEBHOOK_URL),
  title: RequiredTitle,
  events: unique(z.array(EventPattern).min(1).max(50)),
  is_ordered: z.boolean(),
}

export const WebhookEndpointCreate = z.strictObject({
  url: changeable.url,
  title: changeable.title.optional(),
  events: changeable.events.default(['*']),
  is_ordered: changeable.is_ordered.default(false),
})
export const WebhookEndpointUpdate = z
  .strictObject({
    ...changeable,
    /** `paused`: nothing is sent until it is resumed. */
    state: z.enum(['active', 'paused']),
  })
  .partial()

/** Seconds: a day unless said, at most a week. */
const GraceSeconds = z.int().min(0).max(604_800).default(86_400)

const tag = 'Webhooks'
const access = ['server'] as const
const params = z.object({ webhook_endpoint_id: Id })
const deliveryParams = z.object({ webhook_delivery_id: Id })
const one = ok({ webhook_endpoint_id: z.uuid(), webhook_endpoint: WebhookEndpoint })
/** The secret is shown this once: what is stored of it is encrypted. */
const withSecret = one.extend({ secret: z.string() })
const oneDelivery = ok({ webhook_delivery_id: z.uuid(), webhook_delivery: WebhookDelivery })
const include = z.enum(['day']).optional()

export const webhookOperations = defineOperations({
  listWebhookEndpoints: {
    method: 'get',
    path: '/v1/webhook_endpoint',
    summary: 'List webhook endpoints, newest first',
    tag,
    access,
    query: Page.extend({ include }),
    response: ok({ count: z.int(), webhook_endpoints: z.array(WebhookEndpoint) }),
  },
  createWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint',
    summary: 'Create a webhook endpoint; its secret is shown this once',
    tag,
    access,
    body: WebhookEndpointCreate,
    response: withSecret,
    unseen: true,
    errors: ['webhook_endpoints_full'],
  },
  getWebhookEndpoint: {
    method: 'get',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}',
    summary: 'Get a webhook endpoint without its secret',
    tag,
    access,
    params,
    query: z.strictObject({ include }),
    response: one,
  },
  updateWebhookEndpoint: {
    method: 'put',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}',
    summary: 'Update a webhook endpoint; fields left out stay as they are',
    tag,
    access,
    params,
    body: WebhookEndpointUpdate,
    response: one,
    unseen: true,
  },
  deleteWebhookEndpoint: {
    method: 'delete',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}',
    summary: 'Delete a webhook endpoint and its deliveries; nothing more is sent',
    tag,
    access,
    params,
    response: ok({ webhook_endpoint_id: z.uuid(), deleted_webhook_endpoint: WebhookEndpoint }),
    unseen: true,
  },
  rotateWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/rotate',
    summary: 'Give a webhook endpoint a new secret; the old one signs too for `grace_seconds` more',
    tag,
    access,
    params,
    body: z.strictObject({ grace_seconds: GraceSeconds }),
    response: withSecret,
    unseen: true,
  },
  testWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/test',
    summary: 'Send a `webhook.test` event to this endpoint alone',
    tag,
    access,
    params,
    response: oneDelivery,
    unseen: true,
    errors: ['webhook_endpoint_inactive'],
  },
  resumeWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/resume',
    summary: 'Send to a paused or disabled endpoint again, first what was pending',
    tag,
    access,
    params,
    response: one,
    unseen: true,
  },
  recoverWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/recover',
    summary: 'Send again all that has happened since and did not arrive; resumes the endpoint',
    tag,
    access,
    params,
    body: z.strictObject({ since: z.iso.datetime({ offset: true }) }),
    /** `next_since`: where to go on, when there was more than one call recovers. */
    response: one.extend({ recovered: z.int(), next_since: Timestamp.nullable() }),
    unseen: true,
  },
  listWebhookDeliveries: {
    method: 'get',
    path: '/v1/webhook_delivery',
    summary: 'List deliveries, newest first; `before` of an answer goes on behind it',
    tag,
    access,
    query: z.strictObject({
      endpoint_id: Id.optional(),
      state: WebhookDeliveryState.optional(),
      /** A delivery's id, as `before` of an answer. */
      before: Id.optional(),
      limit: Page.shape.limit,
    }),
    /** `before` is null on the last page. A page that is filtered looks at 5,000 deliveries, shared by the endpoints, and may be empty. */
    response: ok({ webhook_deliveries: z.array(WebhookDelivery), before: z.uuid().nullable() }),
    errors: ['not_found'],
  },
  getWebhookDelivery: {
    method: 'get',
    path: '/v1/webhook_delivery/{webhook_delivery_id}',
    summary: 'Get a delivery with its body and attempts',
    tag,
    access,
    params: deliveryParams,
    response: ok({ webhook_delivery_id: z.uuid(), webhook_delivery: WebhookDeliveryDetails }),
  },
  replayWebhookDelivery: {
    method: 'post',
    path: '/v1/webhook_delivery/{webhook_delivery_id}/replay',
    summary: 'Send a delivery again, with the same `webhook-id`',
    tag,
    access,
    params: deliveryParams,
    response: oneDelivery,
    unseen: true,
    errors: ['webhook_endpoint_inactive'],
  },
})
