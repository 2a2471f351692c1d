import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle, Timestamp, unique } from './common.ts'
import { EventPattern } from './event.ts'
import { MAX_WEBHOOK_URL } from './facts.ts'
import { defineOperations } from './operation.ts'
import { WebhookDelivery, WebhookDeliveryDetails, WebhookDeliveryState } from './webhook_delivery.ts'

/** Webhook endpoints, and the operations on the deliveries of events to them (docs/decisions/0057). */

/**
 * An `active` endpoint receives events. It becomes `paused` by request, or after all attempts, at least 20, have failed for three days. It becomes `disabled` when
 * it responds with 410.
 */
export const WebhookEndpointState = z.enum(['active', 'paused', 'disabled'])
export type WebhookEndpointState = z.infer<typeof WebhookEndpointState>

/** The number of deliveries in one hour, by their state. */
export const WebhookHour = named('WebhookHour', {
  /** Start of the hour. */
  at: Timestamp,
  /** Number of deliveries that the endpoint accepted with 2xx. */
  delivered: z.int(),
  /** Number of deliveries whose last attempt has failed. */
  failed: z.int(),
  /** Number of deliveries that will be attempted now or later. */
  pending: z.int(),
})
export type WebhookHour = z.infer<typeof WebhookHour>

/** A URL of yours to which the service sends events (docs/webhooks.md). */
export const WebhookEndpoint = named('WebhookEndpoint', {
  /** Identifies the endpoint in paths and events. */
  id: z.uuid(),
  /** Where events are sent with `POST`. */
  url: z.url(),
  /** Name to display; the host name by default. */
  title: z.string(),
  /** The subscribed types of events: `*` for all types, groups such as `track.*`, or single types. */
  events: z.array(z.string()),
  /**
   * Whether the events of each subject are delivered in order. An event is then sent only after the previous one was delivered or has finally failed.
   */
  is_ordered: z.boolean(),
  state: WebhookEndpointState,
  /**
   * Why the endpoint is not active, and null if it is: `failing` (its attempts have failed), `gone` (it responded with 410), `requested` (a request
   * has paused it) or `restored` (the service was restored from a backup, or the organization imported, and the endpoint has not been resumed yet).
   */
  reason: z.enum(['failing', 'gone', 'requested', 'restored']).nullable(),
  /** The time since which all attempts have failed; null if the last one succeeded. */
  failing_since: Timestamp.nullable(),
  /** When a delivery was last accepted, accurate to a minute; null if none was. */
  last_success_at: Timestamp.nullable(),
  /** Until this time, deliveries are also signed with the previous secret. Null if there is none. */
  previous_secret_expires_at: Timestamp.nullable(),
  /** When it was added. */
  created_at: Timestamp,
  /**
   * Only with `include=day`: the last 24 hours, the oldest first. Hours without deliveries are left out, and only the newest 5,000 deliveries of
   * all endpoints in the response are counted.
   */
  day: z.array(WebhookHour).optional(),
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

/** Fields that can be changed after the endpoint was created. */
const endpointFields = {
  /** An `https:` URL on port 443 or 8443 of a public host (docs/webhooks.md). */
  url: z.string().min(1).max(MAX_WEBHOOK_URL),
  /** Name to display. */
  title: RequiredTitle,
  /** Types of events to send: `*` for all, groups such as `track.*`, or single types. */
  events: unique(z.array(EventPattern).min(1).max(50)),
  /** Whether an event is sent only after the previous one of its subject was delivered or has finally failed. */
  is_ordered: z.boolean(),
}

export const WebhookEndpointCreate = z.strictObject({
  /** An `https:` URL on port 443 or 8443 of a public host (docs/webhooks.md). */
  url: endpointFields.url,
  /** Name to display; the host name by default. */
  title: endpointFields.title.optional(),
  /** Types of events to send: `*` for all, groups such as `track.*`, or single types. */
  events: endpointFields.events.default(['*']),
  /** Whether an event is sent only after the previous one of its subject was delivered or has finally failed. */
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
const params = z.object({
  /** As returned when the endpoint was created. */
  webhook_endpoint_id: Id,
})
const deliveryParams = z.object({
  /** As in the list of deliveries. */
  webhook_delivery_id: Id,
})
const endpointResponse = ok({
  /** The same as `webhook_endpoint.id`. */
  webhook_endpoint_id: z.uuid(),
  webhook_endpoint: WebhookEndpoint,
})
const withSecret = endpointResponse.extend({
  /** The key of the signatures, starting with `whsec_`. It is returned only once. */
  secret: z.string(),
})
const deliveryResponse = ok({
  /** The same as `webhook_delivery.id`. */
  webhook_delivery_id: z.uuid(),
  webhook_delivery: WebhookDelivery,
})
/** `day` adds the deliveries of the last 24 hours, by hour. */
const include = z.enum(['day']).optional()

export const webhookOperations = defineOperations({
  listWebhookEndpoints: {
    method: 'get',
    path: '/v1/webhook_endpoint',
    summary: 'List webhook endpoints, newest first',
    tag,
    access,
    effect: 'read',
    guide: 'webhooks',
    query: Page.extend({ include }),
    response: ok({
      /** Number of endpoints on all pages together. */
      count: z.int(),
      /** The newest first. */
      webhook_endpoints: z.array(WebhookEndpoint),
    }),
  },
  createWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint',
    grows: 'content',
    summary: 'Create a webhook endpoint; its secret is shown this once',
    tag,
    access,
    effect: 'write',
    guide: 'webhooks',
    limits: ['webhook_endpoints', 'webhook_url_length'],
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
    effect: 'read',
    guide: 'webhooks',
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
    effect: 'write',
    guide: 'webhooks',
    limits: ['webhook_url_length'],
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
    effect: 'delete',
    guide: 'webhooks',
    params,
    response: ok({
      /** The same as `deleted_webhook_endpoint.id`. */
      webhook_endpoint_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_webhook_endpoint: WebhookEndpoint,
    }),
    invisibleToListeners: true,
  },
  rotateWebhookEndpoint: {
    method: 'post',
    path: '/v1/webhook_endpoint/{webhook_endpoint_id}/rotate',
    grows: false,
    summary: 'Give a webhook endpoint a new secret; the old one signs too for `grace_seconds` more',
    tag,
    access,
    effect: 'delete',
    guide: 'webhooks',
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
    effect: 'write',
    guide: 'webhooks',
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
    effect: 'write',
    guide: 'webhooks',
    recordsNoEvent: 'an active endpoint does not change',
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
    effect: 'write',
    guide: 'webhooks',
    recordsNoEvent: 'an active endpoint does not change',
    params,
    body: z.strictObject({
      /** Start of the outage. Later events that were not delivered are sent again. */
      since: z.iso.datetime({ offset: true }),
    }),
    response: endpointResponse.extend({
      /** Number of deliveries that will be sent. */
      recovered: z.int(),
      /** Repeat the request with this time as `since`, because there are more deliveries; null if these were all. */
      next_since: Timestamp.nullable(),
    }),
    invisibleToListeners: true,
  },
  listWebhookDeliveries: {
    method: 'get',
    path: '/v1/webhook_delivery',
    summary: 'List deliveries, newest first; `before` of an answer goes on behind it',
    tag,
    access,
    effect: 'read',
    guide: 'webhooks',
    limits: ['event_window'],
    query: z.strictObject({
      /** Only deliveries to this endpoint. */
      endpoint_id: Id.optional(),
      /** Only deliveries in this state. */
      state: WebhookDeliveryState.optional(),
      /** `before` of the previous response, to read older deliveries. */
      before: Id.optional(),
      limit: Page.shape.limit,
    }),
    response: ok({
      /** The newest first. With a filter, at most 5,000 deliveries of all endpoints are scanned, so a page may be empty. */
      webhook_deliveries: z.array(WebhookDelivery),
      /** Send it as `before` to get older deliveries; null if there are none. */
      before: z.uuid().nullable(),
    }),
    errors: ['not_found'],
  },
  getWebhookDelivery: {
    method: 'get',
    path: '/v1/webhook_delivery/{webhook_delivery_id}',
    summary: 'Get a delivery with its body and attempts',
    tag,
    access,
    effect: 'read',
    guide: 'webhooks',
    limits: ['webhook_answer_size'],
    params: deliveryParams,
    response: ok({
      /** The same as `webhook_delivery.id`. */
      webhook_delivery_id: z.uuid(),
      webhook_delivery: WebhookDeliveryDetails,
    }),
  },
  replayWebhookDelivery: {
    method: 'post',
    path: '/v1/webhook_delivery/{webhook_delivery_id}/replay',
    grows: false,
    summary: 'Send a delivery again, with the same `webhook-id`',
    tag,
    access,
    effect: 'write',
    guide: 'webhooks',
    recordsNoEvent: 'the delivery records its outcome',
    params: deliveryParams,
    response: deliveryResponse,
    invisibleToListeners: true,
    errors: ['webhook_endpoint_inactive'],
  },
})
