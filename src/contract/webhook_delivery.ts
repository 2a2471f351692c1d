import * as z from 'zod'

import { named, Timestamp } from './common.ts'

/**
 * `status`: the response was neither 2xx nor 3xx. `redirect`: it was 3xx, which is never followed. `timed_out`: no response in time. `unreachable`: no
 * connection, no TLS, or it was closed before a response. `url_refused`: this service does not send to such a URL (any more). `secret_unreadable`: the
 * secret cannot be decrypted, because `SIGNING_SECRET` was changed; rotate it.
 */
export const AttemptError = z.enum([
  'status',
  'redirect',
  'timed_out',
  'unreachable',
  'url_refused',
  'secret_unreadable',
])
export type AttemptError = z.infer<typeof AttemptError>

/** One request to an endpoint. */
export const WebhookAttempt = named('WebhookAttempt', {
  /** When the request was sent. */
  at: Timestamp,
  /** Milliseconds until the response or the error. */
  duration_ms: z.int(),
  /** The status of the response; null if there was no response. */
  status: z.int().nullable(),
  /** Null if the attempt succeeded. */
  error: AttemptError.nullable(),
  /** Start of the response's body, at most 1 KB; null if there was no response. */
  answer: z.string().nullable(),
  /** As sent with the request, including the signature. */
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
  /** Identifies the delivery in paths. */
  id: z.uuid(),
  /** Where the event is sent. */
  endpoint_id: z.uuid(),
  /** The value of the header `webhook-id`. It is the same in all attempts and replays. */
  event_id: z.uuid(),
  /** Type of the event. */
  type: z.string(),
  /** Subject of the event, such as `track:{id}`. */
  subject: z.string(),
  /** `seq` of the event. */
  seq: z.int(),
  state: WebhookDeliveryState,
  /** The number of attempts since the delivery was created or last replayed. */
  attempt: z.int(),
  /** HTTP status of the last attempt; null without a response. */
  status: z.int().nullable(),
  /** The error of the last attempt; null if it succeeded. */
  error: AttemptError.nullable(),
  /** Null if no attempt is scheduled, or if the delivery waits for an earlier delivery of the same subject. */
  next_attempt_at: Timestamp.nullable(),
  /** When the event happened. */
  created_at: Timestamp,
}

/** One event for one endpoint, with all attempts to send it. */
export const WebhookDelivery = named('WebhookDelivery', deliveryFields)
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

/** A delivery with its body and its attempts. */
export const WebhookDeliveryDetails = named('WebhookDeliveryDetails', {
  ...deliveryFields,
  /** The last thirty, the oldest first. */
  attempts: z.array(WebhookAttempt),
  /** The JSON, exactly as it was sent. */
  body: z.string(),
})
export type WebhookDeliveryDetails = z.infer<typeof WebhookDeliveryDetails>
