import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterEach, beforeEach, expect, expectTypeOf, test, vi } from 'vitest'

import { verifyWebhook, type WebhookRequest } from '../../src/client/index.ts'

/** `verifyWebhook`, compared with the reference implementations of Standard Webhooks. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_795_419_033_603 }))
afterEach(() => void vi.useRealTimers())

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const secret = secretOf(7)
const event = { id: 'e1', type: 'track.ready', subject: 'track:1', data: { duration: 12.5, title: 'Größe' } }

interface Message {
  id: string
  at: Date
  body: string
  by: string[]
}
/** A request signed by the reference implementation. */
function aRequest(message: Partial<Message> = {}) {
  const { id = event.id, at = new Date(), body = JSON.stringify(event), by = [secret] } = message
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': by.map((each) => new Webhook(each).sign(id, at, body)).join(' '),
  }
  return { body, headers, secret }
}

const verdict = async (request: WebhookRequest) => {
  const result = await verifyWebhook(request)
  return result.ok || result.code
}
/** Whether the reference implementation accepts the request. */
function isTaken({ body, headers, secret }: ReturnType<typeof aRequest>): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

test('verifyWebhook accepts text and bytes signed by the reference implementations, and returns a typed event', async () => {
  const request = aRequest()
  const result = await verifyWebhook(request)
  expect(result).toEqual({ ok: true, event })
  if (result.ok && result.event.type === 'track.ready') expectTypeOf(result.event.data.duration).toBeNumber()

  const bytes = new TextEncoder().encode(request.body)
  for (const body of [bytes, bytes.buffer, Buffer.from(request.body)])
    expect(await verdict({ ...request, body })).toBe(true)
  const signature = new Svix(secret).sign(event.id, new Date(), request.body)
  expect(await verdict({ ...request, headers: { ...request.headers, 'webhook-signature': signature } })).toBe(true)
  // The service shows secrets with a prefix; verification also accepts them without it.
  expect(await verdict({ ...request, secret: secret.slice(6) })).toBe(true)
})

test('verifyWebhook accepts Headers, Node’s header objects, and names in any case', async () => {
  const request = aRequest()
  const entries = Object.entries(request.headers)
  const spellings = [
    new Headers(request.headers),
    Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])),
    Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
    { ...request.headers, cookie: undefined },
    // Some frameworks and polyfills have their own header classes.
    { get: (name: string) => new Headers(request.headers).get(name) },
  ]
  for (const headers of spellings) expect(await verdict({ ...request, headers })).toBe(true)
})

test('verifyWebhook rejects a change to any single byte, like the reference implementation', async () => {
  const request = aRequest()
  const change = (text: string, at: number) =>
    text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
  const changed = Array.from(request.body, (_, at) => ({ ...request, body: change(request.body, at) }))
  for (const name of Object.keys(request.headers) as (keyof typeof request.headers)[]) {
    const value = request.headers[name]
    for (let at = 0; at < value.length; at++)
      changed.push({ ...request, headers: { ...request.headers, [name]: change(value, at) } })
  }
  expect(changed.length).toBeGreaterThan(150)
  for (const each of changed) expect([await verdict(each), isTaken(each)]).toEqual([expect.any(String), false])
  expect([await verdict({ ...request, secret: secretOf(8) }), await verdict(request)]).toEqual([
    'signature_mismatch',
    true,
  ])
})

test.each([
  [-300, true],
  [-301, 'timestamp_too_old'],
  [300, true],
  [301, 'timestamp_too_new'],
])('a signature created %i seconds from now results in %s, as in the reference code', async (seconds, expected) => {
  const request = aRequest({ at: new Date(Date.now() + seconds * 1000) })
  expect([await verdict(request), isTaken(request)]).toEqual([expected, expected === true])
})

test('verifyWebhook accepts a request if one of its signatures is valid, and ignores signatures of other versions', async () => {
  const both = aRequest({ by: [secretOf(8), secret] })
  expect([await verdict(both), await verdict({ ...both, secret: secretOf(8) })]).toEqual([true, true])
  expect(await verdict({ ...both, secret: secretOf(9) })).toBe('signature_mismatch')
  const [first, second] = both.headers['webhook-signature'].split(' ') as [string, string]
  const signed = (signature: string) => ({ ...both, headers: { ...both.headers, 'webhook-signature': signature } })
  expect(await verdict(signed(`v1a,xyz v1 v1, ${second}`))).toBe(true)
  for (const signature of [
    first,
    second.replace('v1', 'v2'),
    second.slice(3),
    `${second}A`,
    second.slice(0, -1),
    'v1,',
  ])
    expect([signature, await verdict(signed(signature)), isTaken(signed(signature))]).toEqual([
      signature,
      'signature_mismatch',
      false,
    ])
})

test('verifyWebhook returns a code for missing or unusable input and never throws', async () => {
  const request = aRequest()
  for (const name of Object.keys(request.headers)) {
    expect(await verdict({ ...request, headers: { ...request.headers, [name]: '' } })).toBe('headers_missing')
    expect(await verdict({ ...request, headers: { ...request.headers, [name]: undefined } })).toBe('headers_missing')
  }
  for (const timestamp of ['soon', '1795419033.6', '-1', '1795419033abc', ' '])
    expect(await verdict({ ...request, headers: { ...request.headers, 'webhook-timestamp': timestamp } })).toBe(
      'timestamp_invalid',
    )
  const short = `whsec_${Buffer.alloc(23, 7).toString('base64')}`
  for (const wrong of ['', 'whsec_', 'whsec_*', `${secret}=`, short, undefined, null, 7])
    expect(await verdict({ ...request, secret: wrong as string })).toBe('secret_invalid')
  expect(await verdict(aRequest({ by: [Buffer.alloc(24, 7).toString('base64')] }))).toBe('signature_mismatch')
  for (const parsed of [event, [1], null, undefined, 7])
    expect(await verdict({ ...request, body: parsed as unknown as string })).toBe('body_not_raw')
  for (const headers of [undefined, null])
    expect(await verdict({ ...request, headers: headers as unknown as Headers })).toBe('headers_missing')
  for (const body of ['no JSON', '[]', '7', 'null']) expect(await verdict(aRequest({ body }))).toBe('body_invalid')
})
