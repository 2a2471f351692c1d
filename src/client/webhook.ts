import type { TonearmEvent } from '../contract/event.ts'

/** Verifies webhook requests as defined by Standard Webhooks 1.0 (docs/webhooks.md#verify), in any runtime with WebCrypto. */

/** Maximum difference between the timestamp and now, in seconds. Limits replay attacks. */
const TOLERANCE = 300
/** Minimum length of a secret that the standard allows, in bytes. */
const MIN_SECRET = 24

/** Why the verification of a request failed. `secret_invalid` refers to the secret that the receiver passed. */
export type WebhookFault =
  | 'headers_missing'
  | 'timestamp_invalid'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'secret_invalid'
  | 'signature_mismatch'
  | 'body_not_raw'
  | 'body_invalid'

export type VerifiedWebhook = { ok: true; event: TonearmEvent } | { ok: false; code: WebhookFault }

export interface WebhookRequest {
  /** The raw body, which must not have been parsed. */
  body: string | ArrayBuffer | Uint8Array
  /** The headers: a `Headers` object as in `fetch`, the headers object of Node, or a similar object. */
  headers: Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>
  /** The secret of the endpoint, `whsec_…`. */
  secret: string
}

/**
 * Checks that a request comes from the service and returns its event, or the reason why verification failed. Never throws.
 *
 * @example
 * ```ts
 * import { verifyWebhook } from '@tonearm/client'
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const secret = process.env.TONEARM_WEBHOOK_SECRET!
 *   const webhook = await verifyWebhook({ body: await request.text(), headers: request.headers, secret })
 *   if (!webhook.ok) return new Response(webhook.code, { status: 400 })
 *   if (webhook.event.type === 'track.ready') console.log(webhook.event.data.duration)
 *   return new Response(null, { status: 204 })
 * }
 * ```
 */
export async function verifyWebhook({ body, headers, secret }: WebhookRequest): Promise<VerifiedWebhook> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    valueOf(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signatures) return { ok: false, code: 'headers_missing' }
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, code: 'timestamp_invalid' }
  const age = Math.floor(Date.now() / 1000) - Number(timestamp)
  if (age > TOLERANCE) return { ok: false, code: 'timestamp_too_old' }
  if (age < -TOLERANCE) return { ok: false, code: 'timestamp_too_new' }

  const bytes = bytesOf(body)
  if (!bytes) return { ok: false, code: 'body_not_raw' }
  const key = await importKey(secret)
  if (!key) return { ok: false, code: 'secret_invalid' }
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + bytes.length)
  content.set(head)
  content.set(bytes, head.length)
  const checks = signatures.split(' ').map(async (each) => {
    const [version, text = ''] = each.split(',')
    const signature = version === 'v1' && decodeBase64(text)
    // `crypto.subtle.verify` compares signatures in constant time.
    return signature && crypto.subtle.verify('HMAC', key, signature, content)
  })
  if (!(await Promise.all(checks)).includes(true)) return { ok: false, code: 'signature_mismatch' }
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (event instanceof Object && !Array.isArray(event)) return { ok: true, event: event as TonearmEvent }
  } catch {
    // The body is not JSON.
  }
  return { ok: false, code: 'body_invalid' }
}

function valueOf(headers: WebhookRequest['headers'], name: string): string {
  // Does not check `instanceof Headers`, because frameworks and polyfills have their own classes.
  if (typeof headers?.get === 'function') return (headers as Pick<Headers, 'get'>).get(name) ?? ''
  const [, value] = Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name) ?? []
  return [value].flat().join(' ')
}

/** Returns the bytes of a body, or null if the body is already parsed. Accepts buffers from another realm, which `instanceof` would not. */
function bytesOf(body: unknown): Uint8Array | null {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  const isBuffer = Object.prototype.toString.call(body) === '[object ArrayBuffer]'
  return isBuffer ? new Uint8Array(body as ArrayBuffer) : null
}

/** Decodes Base64. Returns null if the text is invalid or not canonical. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null
  } catch {
    return null
  }
}

/** Imports a secret as a key. Resolves to null if the secret is invalid. */
async function importKey(secret: unknown): Promise<CryptoKey | null> {
  const bytes = typeof secret === 'string' && decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length < MIN_SECRET) return null
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}
