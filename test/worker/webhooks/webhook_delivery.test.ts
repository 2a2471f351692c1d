import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { SCHEDULE } from '../../../src/background/webhooks/outcome.ts'
import worker from '../../../src/index.ts'
import type { Received } from '../../support/receiver.ts'
import { HOUR, ok, query } from '../support/api.ts'
import { countRows } from '../support/row_counter.ts'
import {
  aSubscriber,
  allAttempts,
  deliveries,
  endpointRow,
  getBody,
  insertEvents,
  allowReceivers,
  nextAttempt,
  postBody,
  runConsumer,
} from '../support/webhooks.ts'

/** A short timeout for receivers that hang. All other receivers get the normal timeout, which is long enough for busy cores. */
const shortTimeout: Env = { ...env, WEBHOOK_TIMEOUT: '0.3' }

beforeEach(allowReceivers)
afterEach(() => void vi.useRealTimers())

const verifiers = (secret: string) => [new Standard(secret), new Svix(secret)]
/** The errors of both libraries for a request. The list is empty if both accept the request. */
const faultsOf = ({ body, headers }: Pick<Received, 'body' | 'headers'>, secret: string) =>
  verifiers(secret).flatMap((verifier) => {
    try {
      verifier.verify(body, headers)
      return []
    } catch (error) {
      return [(error as Error).message]
    }
  })

describe('a delivery', () => {
  it('is signed according to Standard Webhooks: two libraries accept it, and reject a changed request', async () => {
    const { organization_id, receiver, secret, key, id } = await aSubscriber('ok')
    await insertEvents(organization_id, ['track:1', 'track.ready'])
    await runConsumer()
    const [request] = await receiver.received()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(faultsOf(request!, secret)).toEqual([])
    const [event] = await query(
      `select * from events where organization_id = ? and type = 'track.ready'`,
      organization_id,
    )
    expect(JSON.parse(request!.body)).toEqual({
      id: event!.id,
      type: 'track.ready',
      timestamp: new Date(event!.created_at as number).toISOString(),
      seq: event!.seq,
      sequence: event!.sequence,
      subject: 'track:1',
      actor: null,
      data: { subject: 'track:1' },
    })
    expect(request!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Tonearm',
      'webhook-id': event!.id,
    })

    const faultsOfChange = (headers: Record<string, string>, body = request!.body) =>
      faultsOf({ body, headers: { ...request!.headers, ...headers } }, secret).length
    expect(faultsOfChange({}, request!.body.replace('track.ready', 'track.reads'))).toBe(2)
    expect(faultsOfChange({}, `${request!.body} `)).toBe(2)
    expect(faultsOfChange({ 'webhook-id': crypto.randomUUID() })).toBe(2)
    expect(faultsOfChange({ 'webhook-timestamp': String(Number(request!.headers['webhook-timestamp']) + 1) })).toBe(2)
    expect(faultsOf(request!, `whsec_${btoa('x'.repeat(32))}`)).toHaveLength(2)
    vi.setSystemTime(Date.now() + 301_000)
    expect(faultsOf(request!, secret)).toHaveLength(2)

    const { webhook_deliveries } = await getBody(key, `/v1/webhook_delivery?endpoint_id=${id}`)
    const { webhook_delivery } = await getBody(key, `/v1/webhook_delivery/${webhook_deliveries[0]!.id}`)
    expect(webhook_delivery).toMatchObject({ state: 'delivered', attempt: 1, status: 200, body: request!.body })
    const [attempt] = webhook_delivery.attempts
    expect(attempt).toMatchObject({ status: 200, error: null, answer: 'thanks' })
    expect(request!.headers).toMatchObject(attempt!.headers)
  })

  it('is signed with both secrets during the grace period of a rotation', async () => {
    const { organization_id, receiver, key, id, secret: old } = await aSubscriber('ok')
    const { secret } = await postBody(key, `/v1/webhook_endpoint/${id}/rotate`, { grace_seconds: 3600 })
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    vi.setSystemTime(Date.now() + HOUR + 1)
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    const [during, after] = await receiver.received()
    vi.useRealTimers()
    expect([faultsOf(during!, old), faultsOf(during!, secret)]).toEqual([[], []])
    vi.setSystemTime(Date.now() + HOUR)
    expect([faultsOf(after!, secret), faultsOf(after!, old).length]).toEqual([[], 2])
  })

  it('is signed only with the new secret when a changed SIGNING_SECRET makes the old secret unreadable', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('ok')
    const bindings = { ...env, SIGNING_SECRET: 'another' }
    const { secret } = await ok('POST', `/v1/webhook_endpoint/${id}/rotate`, { key, body: {}, bindings })
    await insertEvents(organization_id, ['track:1'])
    await runConsumer(bindings)
    const [request] = await receiver.received()
    expect(request!.headers['webhook-signature']).toMatch(/^v1,[^ ]+$/)
    expect(faultsOf(request!, secret)).toEqual([])
    expect(await deliveries(id)).toMatchObject([{ state: 'delivered' }])
  })

  it.each([
    ['fails', { status: 500, error: 'status', answer: 'x'.repeat(1024) }],
    ['missing', { status: 404, error: 'status', answer: '' }],
    ['hang', { status: null, error: 'timed_out', answer: null }],
    ['redirect', { status: 307, error: 'redirect', answer: '' }],
    ['drip_failing', { status: 500, error: 'status', answer: expect.stringMatching(/^\.{1,3}$/) }],
    ['close', { status: null, error: 'unreachable', answer: null }],
    ['huge_failing', { status: 500, error: 'status', answer: 'x'.repeat(1024) }],
    ['busy', { status: 429, error: 'status', answer: '' }],
  ])(
    'to a receiver that behaves like %s is attempted ten times in 75 hours, and then fails',
    async (behavior, attempt) => {
      const { organization_id, receiver, id } = await aSubscriber(behavior)
      await insertEvents(organization_id, ['track:1'])
      await allAttempts(id, behavior === 'hang' ? shortTimeout : env)
      const [delivery] = await deliveries(id)
      expect(delivery).toMatchObject({ state: 'failed', attempt: 10, due_at: null })
      const attempts = JSON.parse(delivery!.attempts) as { at: number }[]
      expect(attempts).toHaveLength(10)
      for (const [at, entry] of attempts.entries()) {
        expect(entry).toMatchObject(attempt)
        const pause = at === 0 ? 0 : entry.at - attempts[at - 1]!.at
        const planned = SCHEDULE[at]!
        // A busy receiver asks to wait for two hours.
        const minimum = behavior === 'busy' && at > 0 ? Math.max(planned * 0.9, 2 * HOUR) : planned * 0.9
        expect(pause).toBeGreaterThanOrEqual(minimum - 1)
        expect(pause).toBeLessThanOrEqual(Math.max(planned * 1.1, minimum) + 1)
      }
      const hours = (attempts.at(-1)!.at - attempts[0]!.at) / HOUR
      expect(hours).toBeGreaterThan(68)
      expect(hours).toBeLessThan(90)
      const received = await receiver.received()
      expect(received).toHaveLength(10)
      // No request has the path of the redirect, so the redirect was not followed.
      expect(new Set(received.map(({ path }) => path.split('/')[2]))).toEqual(new Set([behavior]))
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
      expect(new Set(received.map(({ body }) => body)).size).toBe(1)
      expect(await endpointRow(id)).toMatchObject({ state: 'active', failures: 10 })
    },
  )

  it.each([
    ['drip', /^\.{1,3}$/],
    ['huge', /^x{1024}$/],
    ['close_early', /^(half)?$/],
    ['empty', /^$/],
  ])('depends only on the status, and not on a body like %s', async (behavior, answer) => {
    const { organization_id, receiver, id } = await aSubscriber(behavior)
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    const [delivery] = await deliveries(id)
    expect(delivery).toMatchObject({ state: 'delivered', attempt: 1 })
    expect(JSON.parse(delivery!.attempts)).toEqual([expect.objectContaining({ answer: expect.stringMatching(answer) })])
    vi.setSystemTime(Date.now() + 80 * HOUR)
    await runConsumer()
    expect(await receiver.received()).toHaveLength(1)
  })

  it.each([
    ['busy', 7200],
    ['busy_for_long', 86_400],
  ])('is retried when a receiver like %s requests it, but after at most a day', async (behavior, seconds) => {
    const { organization_id, id } = await aSubscriber(behavior)
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    const [{ due_at, attempts } = { due_at: 0, attempts: '[]' }] = await deliveries(id)
    const [{ at }] = JSON.parse(attempts) as [{ at: number }]
    expect(due_at! - at).toBe(seconds * 1000)
  })

  it('that is answered with 410 is the last delivery to its endpoint', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('gone')
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    const { webhook_endpoint } = await getBody(key, `/v1/webhook_endpoint/${id}`)
    expect(webhook_endpoint).toMatchObject({ state: 'disabled', reason: 'gone' })
    await insertEvents(organization_id, ['track:2'])
    await runConsumer()
    vi.setSystemTime(Date.now() + 80 * HOUR)
    await runConsumer()
    expect(await receiver.received()).toHaveLength(1)
    expect(await deliveries(id)).toMatchObject([{ state: 'failed', attempt: 1 }])
  })

  it('is sent by a single run of the consumer for any number of messages', async () => {
    const { organization_id, id } = await aSubscriber('ok')
    const statements = async (messages: number) => {
      await insertEvents(organization_id, ['track:1'])
      const list = Array.from({ length: messages }, (_, at) => ({
        id: `${at}`,
        timestamp: new Date(),
        attempts: 1,
        body: {},
      }))
      const batch = createMessageBatch('tonearm-webhook', list)
      const { statements } = await countRows(async () => worker.queue(batch, env))
      expect((await getQueueResult(batch, createExecutionContext())).explicitAcks).toHaveLength(messages)
      return statements
    }
    await statements(1)
    const single = await statements(1)
    expect(single).toBeGreaterThan(0)
    expect(await statements(10)).toBe(single)
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'))
  })

  it('is not sent to a URL that is no longer accepted', async () => {
    const { organization_id, receiver, id } = await aSubscriber('ok')
    await insertEvents(organization_id, ['track:1'])
    await runConsumer({ ...env, WEBHOOK_LOCAL: 'false' })
    expect(JSON.parse((await deliveries(id))[0]!.attempts)).toMatchObject([{ error: 'url_refused', status: null }])
    await nextAttempt(id, { ...env, SIGNING_SECRET: 'another' })
    expect(JSON.parse((await deliveries(id))[0]!.attempts)).toMatchObject([{}, { error: 'secret_unreadable' }])
    expect(await receiver.received()).toEqual([])
    await nextAttempt(id)
    expect(await receiver.received()).toHaveLength(1)
  })

  it('can be replayed after its failure, with the same id and a new signature', async () => {
    const { organization_id, receiver, key, id, secret } = await aSubscriber('fails')
    await insertEvents(organization_id, ['track:1'])
    await allAttempts(id)
    await receiver.next('ok')
    const path = `/v1/webhook_delivery?endpoint_id=${id}`
    const { webhook_deliveries } = await getBody(key, `${path}&state=failed`)
    vi.setSystemTime(Date.now() + HOUR)
    const again = await postBody(key, `/v1/webhook_delivery/${webhook_deliveries[0]!.id}/replay`)
    expect(again.webhook_delivery).toMatchObject({ state: 'pending', attempt: 0 })
    await runConsumer()
    const received = await receiver.received()
    expect(received).toHaveLength(11)
    expect(received.at(-1)!.headers['webhook-id']).toBe(received[0]!.headers['webhook-id'])
    expect(received.at(-1)!.headers['webhook-signature']).not.toBe(received[9]!.headers['webhook-signature'])
    expect(faultsOf(received.at(-1)!, secret)).toEqual([])
    expect((await getBody(key, path)).webhook_deliveries).toMatchObject([{ state: 'delivered', attempt: 1 }])
    expect((await getBody(key, `${path}&state=failed`)).webhook_deliveries).toEqual([])
  })
})
