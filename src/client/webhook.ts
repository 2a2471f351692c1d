import type { TonearmEvent } from '../contract/event.ts'

/** What a receiver of webhooks needs (docs/webhooks.md#verify): Standard Webhooks 1.0, in whatever runs WebCrypto. */

/** Seconds that a timestamp may be away from now, so that nobody can send again later what they have overheard. */
const TOLERANCE = 300
/** Bytes of the shortest secret that the standard allows. */
const MIN_SECRET = 24

/** What is wrong with a request that claims to be a webhook, or with the secret that it is judged by. */
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
  /** As it came, before anything has parsed it. */
  body: string | ArrayBuffer | Uint8Array
  /** Of `fetch`, of Node, or an object like theirs. */
  headers: Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>
  /** The endpoint's, `whsec_…`. */
  secret: string
}

/** Whether a request comes from the service, and the event that it brings. It does not throw. */
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
    // The platform compares in constant time.
    return signature && crypto.subtle.verify('HMAC', key, signature, content)
  })
  if (!(await Promise.all(checks)).includes(true)) return { ok: false, code: 'signature_mismatch' }
  try {
    return { ok: true, event: JSON.parse(new TextDecoder().decode(bytes)) as TonearmEvent }
  } catch {
    return { ok: false, code: 'body_invalid' }
  }
}

function valueOf(headers: WebhookRequest['headers'], name: string): string {
  // Frameworks and polyfills have classes of their own.
  if (typeof headers?.get === 'function') return (headers as Pick<Headers, 'get'>).get(name) ?? ''
  const [, value] = Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name) ?? []
  return [value].flat().join(' ')
}

/** Null for what something has parsed already; also buffers of another realm are bytes. */
function bytesOf(body: unknown): Uint8Array | null {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  const isBuffer = Object.prototype.toString.call(body) === '[object ArrayBuffer]'
  return isBuffer ? new Uint8Array(body as ArrayBuffer) : null
}

/** Null for what is no Base64, or has another spelling than the one that is sent. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(text)
    return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null
  } catch {
    return null
  }
}

/** Null for what is no secret. */
async function importKey(secret: unknown): Promise<CryptoKey | null> {
  const bytes = typeof secret === 'string' && decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length < MIN_SECRET) return null
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}
