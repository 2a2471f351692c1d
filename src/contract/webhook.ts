import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle, Timestamp, unique } from './common.ts'
import { EventPattern } from './event.ts'
import { MAX_WEBHOOK_URL } from './facts.ts'
import { defineOperations } from './operation.ts'

/** Webhook endpoints, and the deliveries of events to them (docs/decisions/0057). */

/**
 * An `active` endpoint receives events. It becomes `paused` by request, or after all attempts have failed for three days. It becomes `disabled` when
 * it responds with 410.
 */
export const WebhookEndpointState = z.enum(['active', 'paused', 'disabled'])
export type WebhookEndpointState = z.infer<typeof WebhookEndpointState>

/** The number of deliveries in one hour, by their state. */
export const WebhookHour = named('WebhookHour', {
  /** The start of the hour. */
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
  /** The subscribed types of events: `*` for all types, groups such as `track.*`, or single types. */
  events: z.array(z.string()),
  /**
   * Whether the events of each subject are delivered in order. An event is then sent only after the previous one was delivered or has finally failed.
   */
  is_ordered: z.boolean(),
  state: WebhookEndpointState,
  /**
   * Why the endpoint is not active: `failing` (its attempts have failed), `gone` (it responded with 410), `requested` (a request has paused it) or
   * `restored` (the service was restored from a backup, and its operator has not resumed the webhooks yet).
   */
  reason: z.enum(['failing', 'gone', 'requested', 'restored']).nullable(),
  /** The time since which all attempts have failed; null if the last one succeeded. */
  failing_since: Timestamp.nullable(),
  /** The time of the last successful delivery, accurate to a minute. */
  last_success_at: Timestamp.nullable(),
  /** Until this time, deliveries are also signed with the previous secret. */
  previous_secret_expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  /**
   * The last 24 hours, with `include=day`. Only hours with deliveries are listed, the oldest first. Only the newest 5,000 deliveries of all endpoints
   * in the response are counted.
   */
  day: z.array(WebhookHour).optional(),
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

/** Why an attempt failed. */
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
  /** The status of the response; null if there was no response. */
  status: z.int().nullable(),
  /** Null if the attempt succeeded. */
  error: AttemptError.nullable(),
  /** The start of the response's body, at most 1 KB. */
  answer: z.string().nullable(),
  /** The headers that were sent with the request. */
  headers: z.record(z.string(), z.string()),
})
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

/**
 * `pending`: the delivery will be sent now or later. `sending`: an attempt is in progress. `delivered`: the endpoint responded with 2xx. `failed`:
 * the last attempt has failed.
 */
export const WebhookDeliveryState = z.enum(['pending', 'sending', 'delivered', 'failed'])
export type WebhookDeliveryState = z.infer<typeof WebhookDeliveryState>

const deliveryFields = {
  id: z.uuid(),
  endpoint_id: z.uuid(),
  /** The value of the header `webhook-id`. It is the same in all attempts and replays. */
  event_id: z.uuid(),
  type: z.string(),
  subject: z.string(),
  seq: z.int(),
  state: WebhookDeliveryState,
  /** The number of attempts since the delivery was created or last replayed. */
  attempt: z.int(),
  /** The status and the error of the last attempt. */
  status: z.int().nullable(),
  error: AttemptError.nullable(),
  /** Null if no attempt is scheduled, or if the delivery waits for an earlier delivery of the same subject. */
  next_attempt_at: Timestamp.nullable(),
  /** The time of the event. */
  created_at: Timestamp,
}

export const WebhookDelivery = named('WebhookDelivery', deliveryFields)
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookDeliveryDetails = named('WebhookDeliveryDetails', {
  ...deliveryFields,
  /** The last thirty attempts, the oldest first. */
  attempts: z.array(WebhookAttempt),
  /** The body, exactly as it was sent. */
  body: z.string(),
})
export type WebhookDeliveryDetails = z.infer<typeof WebhookDeliveryDetails>

/** Fields that can be changed after the endpoint was created. */
const endpointFields = {
  /** An https URL on port 443 or 8443 of a public host (docs/webhooks.md). */
  url: z.string().min(1).max(MAX_WEBHOOK_URL),
  title: RequiredTitle,
  events: unique(z.array(EventPattern).min(1).max(50)),
  is_ordered: z.boolean(),
}

export const WebhookEndpointCreate = z.strictObject({
  url: endpointFields.url,
  title: endpointFields.title.optional(),
  events: endpointFields.events.default(['*']),
  is_ordered: endpointFields.is_ordered.default(false),
})
export const WebhookEndpointUpdate = z
  .strictObject({
    ...endpointFields,
    /** `paused` stops deliveries until the endpoint is resumed. */
    state: z.enum(['active', 'paused']),
  })
  .partial()

/** Seconds for which deliveries are also signed with the previous secret: a day by default, a week at most. */
const GraceSeconds = z.int().min(0).max(604_800).meta({ 'x-unit': 'seconds' }).default(86_400)

const tag = 'Webhooks'
const access = ['server'] as const
const params = z.object({ webhook_endpoint_id: Id })
const deliveryParams = z.object({ webhook_delivery_id: Id })
const endpointResponse = ok({ webhook_endpoint_id: z.uuid(), webhook_endpoint: WebhookEndpoint })
/** The response with the secret. The secret is stored encrypted and is returned only once. */
const withSecret = endpointResponse.extend({ secret: z.string() })
const deliveryResponse = ok({ webhook_delivery_id: z.uuid(), webhook_delivery: WebhookDelivery })
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
    grows: 'content',
    summary: 'Create a webhook endpoint; its secret is shown this once',
    tag,
    access,
    body: WebhookEndpointCreate,
    response: withSecret,
    invisibleToListeners: true,
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
    response: endpointResponse,
  },
  updateWebhookEndpoint: {
    method: 'put',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}',
    grows: false,
    summary: 'Update a webhook endpoint; fields left out stay as they are',
    tag,
    access,
    params,
    body: WebhookEndpointUpdate,
    response: endpointResponse,
    invisibleToListeners: true,
  },
  deleteWebhookEndpoint: {
    method: 'delete',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}',
    summary: 'Delete a webhook endpoint and its deliveries; nothing more is sent',
    tag,
    access,
    params,
    response: ok({ webhook_endpoint_id: z.uuid(), deleted_webhook_endpoint: WebhookEndpoint }),
    invisibleToListeners: true,
  },
  rotateWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/rotate',
    grows: false,
    summary: 'Give a webhook endpoint a new secret; the old one signs too for `grace_seconds` more',
    tag,
    access,
    params,
    body: z.strictObject({ grace_seconds: GraceSeconds }),
    response: withSecret,
    invisibleToListeners: true,
  },
  testWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/test',
    grows: false,
    summary: 'Send a `webhook.test` event to this endpoint alone',
    tag,
    access,
    params,
    response: deliveryResponse,
    invisibleToListeners: true,
    errors: ['webhook_endpoint_inactive'],
  },
  resumeWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/resume',
    grows: false,
    summary: 'Send to a paused or disabled endpoint again, first what was pending',
    tag,
    access,
    params,
    response: endpointResponse,
    invisibleToListeners: true,
  },
  recoverWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/recover',
    grows: 'content',
    summary: 'Send again all that has happened since and did not arrive; resumes the endpoint',
    tag,
    access,
    params,
    body: z.strictObject({ since: z.iso.datetime({ offset: true }) }),
    /** `next_since` is the time from which to continue with another request, if this one could not recover all deliveries. */
    response: endpointResponse.extend({ recovered: z.int(), next_since: Timestamp.nullable() }),
    invisibleToListeners: true,
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
      /** The id of a delivery: the `before` of the previous response. */
      before: Id.optional(),
      limit: Page.shape.limit,
    }),
    /**
     * `before` is null on the last page. For a page with a filter, at most 5,000 deliveries of all endpoints together are scanned, so the page may be
     * empty.
     */
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
    grows: false,
    summary: 'Send a delivery again, with the same `webhook-id`',
    tag,
    access,
    params: deliveryParams,
    response: deliveryResponse,
    invisibleToListeners: true,
    errors: ['webhook_endpoint_inactive'],
  },
})
