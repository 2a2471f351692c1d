import { unseal } from '../../adapters/crypto/seal.ts'
import type { RecordedAttempt } from '../../adapters/db/schema/webhooks.ts'
import { MAX_WEBHOOK_ANSWER } from '../../contract/facts.ts'
import type { AttemptError } from '../../contract/webhook_delivery.ts'
import { refusalOf } from './url.ts'

/** Sends one request to a receiver, as defined by Standard Webhooks 1.0 (docs/webhooks.md). */

/** The data of a request, with the endpoint and the event in the form in which SQL returns them. */
export interface DeliveryRequest {
  endpoint: {
    id: string
    url: string
    secret: string
    previous_secret: string | null
    previous_secret_expires_at: number | null
  }
  event: { id: string }
  body: string
}

/** The outcome of a request, including the receiver's `Retry-After`. */
export interface AttemptOutcome extends RecordedAttempt {
  /** Seconds, from the `Retry-After` header of the response. */
  retry_after: number | null
}

const encoder = new TextEncoder()

/** The `purpose` that `seal` and `unseal` get for an endpoint's secret. */
export const sealPurpose = (endpoint_id: string) => `webhook:${endpoint_id}`

/** Returns a new secret: 256 random bits with a prefix that secret scanners recognize. */
export const webhookSecretOf = (random: Uint8Array) => `whsec_${btoa(String.fromCharCode(...random))}`

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.replace('whsec_', '')), (char) => char.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
  return `v1,${btoa(String.fromCharCode(...signature))}`
}

/** Signs a request with the secret and, for a limited time after a rotation, also with the previous secret. */
async function signatureOf(env: Env, { endpoint, event, body }: DeliveryRequest, at: number): Promise<string> {
  const { previous_secret, previous_secret_expires_at } = endpoint
  const previous = previous_secret !== null && (previous_secret_expires_at ?? 0) > at ? [previous_secret] : []
  const text = `${event.id}.${Math.floor(at / 1000)}.${body}`
  const signWith = async (sealed: string) =>
    sign(await unseal(env.SIGNING_SECRET, sealPurpose(endpoint.id), sealed), text)
  // A previous secret cannot be decrypted if `SIGNING_SECRET` has changed since. Then only the current secret signs.
  const previousSignatures = previous.map((sealed) => signWith(sealed).catch(() => null))
  const signed = await Promise.all([signWith(endpoint.secret), ...previousSignatures])
  return signed.filter((signature) => signature !== null).join(' ')
}

/** The headers of an attempt. They are sent, and later also shown. */
export const headersOf = (event_id: string, at: number, signature: string) => ({
  'content-type': 'application/json',
  'user-agent': 'Tonearm',
  'webhook-id': event_id,
  'webhook-timestamp': String(Math.floor(at / 1000)),
  'webhook-signature': signature,
})

/** Maximum milliseconds to wait for the body of a response, because the status already decides the outcome. */
const BODY_TIMEOUT = 1000

/** Returns the beginning of a response's body as text, without waiting for the rest. */
async function readStart(response: Response, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const bodyEnd = Promise.withResolvers<{ done: true; value?: undefined }>()
  const end = () => bodyEnd.resolve({ done: true })
  signal.addEventListener('abort', end)
  const timer = setTimeout(end, BODY_TIMEOUT)
  const bytes: number[] = []
  try {
    while (bytes.length < MAX_WEBHOOK_ANSWER) {
      const { done, value } = await Promise.race([reader.read(), bodyEnd.promise])
      if (done) break
      bytes.push(...value.subarray(0, MAX_WEBHOOK_ANSWER - bytes.length))
    }
  } catch {
    // The connection was closed too early; the bytes that have arrived are kept.
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    await reader.cancel().catch(() => undefined)
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** Maximum number of seconds by which a receiver can postpone the next attempt. */
const MAX_RETRY_AFTER = 86_400

/** Returns the seconds that the header states, as a number or as a date (RFC 9110 §10.2.3); null if it cannot be parsed. */
function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000
  return Number.isFinite(seconds) ? Math.min(MAX_RETRY_AFTER, Math.max(0, seconds)) : null
}

const errorOf = (status: number): AttemptError | null =>
  status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? 'redirect' : 'status'

/** Sends a request once. Never throws, and gives up after the receiver's timeout. */
export async function send(env: Env, sending: DeliveryRequest): Promise<AttemptOutcome> {
  const at = Date.now()
  const startedAt = performance.now()
  const toOutcome = (values: Partial<AttemptOutcome>): AttemptOutcome => ({
    at,
    duration_ms: Math.round(performance.now() - startedAt),
    status: null,
    error: null,
    answer: null,
    signature: null,
    retry_after: null,
    ...values,
  })
  const { url } = sending.endpoint
  if (refusalOf(url, env) !== null) return toOutcome({ error: 'url_refused' })
  const signature = await signatureOf(env, sending, at).catch(() => null)
  if (signature === null) return toOutcome({ error: 'secret_unreadable' })
  const signal = AbortSignal.timeout(Number(env.WEBHOOK_TIMEOUT) * 1000)
  try {
    const headers = headersOf(sending.event.id, at, signature)
    const response = await fetch(url, { method: 'POST', headers, body: sending.body, redirect: 'manual', signal })
    const { status } = response
    const answer = await readStart(response, signal)
    const retry_after = retryAfter(response.headers.get('retry-after'), at)
    return toOutcome({ status, error: errorOf(status), answer, signature, retry_after })
  } catch {
    return toOutcome({ error: signal.aborted ? 'timed_out' : 'unreachable', signature })
  }
}
