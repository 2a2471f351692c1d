import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import worker from '../../src/index.ts'
import { SCHEDULE } from '../../src/pipeline/webhook_outcome.ts'
import type { Received } from '../support/receiver.ts'
import { rowsOf } from './meter.ts'
import { ok, query } from './support.ts'
import {
  aListener,
  allAttempts,
  deliveries,
  endpointRow,
  get,
  insertEvents,
  allowReceivers,
  nextAttempt,
  post,
  send,
} from './webhooks.ts'

const HOUR = 3600_000
/** A receiver that lets one wait is not waited for: the others have all the time that busy cores take. */
const hasty: Env = { ...env, WEBHOOK_TIMEOUT: '0.3' }

beforeEach(allowReceivers)
afterEach(() => void vi.useRealTimers())

const verifiers = (secret: string) => [new Standard(secret), new Svix(secret)]
/** What the two libraries say of a request; empty: both take it. */
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
  it('is signed as Standard Webhooks say, and taken by both libraries, which refuse what was changed', async () => {
    const { organization_id, receiver, secret, key, id } = await aListener('ok')
    await insertEvents(organization_id, ['track:1', 'track.ready'])
    await send()
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

    const changed = (headers: Record<string, string>, body = request!.body) =>
      faultsOf({ body, headers: { ...request!.headers, ...headers } }, secret).length
    expect(changed({}, request!.body.replace('track.ready', 'track.reads'))).toBe(2)
    expect(changed({}, `${request!.body} `)).toBe(2)
    expect(changed({ 'webhook-id': crypto.randomUUID() })).toBe(2)
    expect(changed({ 'webhook-timestamp': String(Number(request!.headers['webhook-timestamp']) + 1) })).toBe(2)
    expect(faultsOf(request!, `whsec_${btoa('x'.repeat(32))}`)).toHaveLength(2)
    vi.setSystemTime(Date.now() + 301_000)
    expect(faultsOf(request!, secret)).toHaveLength(2)

    const { webhook_deliveries } = await get(key, `/v1/webhook_delivery?endpoint_id=${id}`)
    const { webhook_delivery } = await get(key, `/v1/webhook_delivery/${webhook_deliveries[0]!.id}`)
    expect(webhook_delivery).toMatchObject({ state: 'delivered', attempt: 1, status: 200, body: request!.body })
    const [attempt] = webhook_delivery.attempts
    expect(attempt).toMatchObject({ status: 200, error: null, answer: 'thanks' })
    expect(request!.headers).toMatchObject(attempt!.headers)
  })

  it('is signed with both secrets for a while after a rotation', async () => {
    const { organization_id, receiver, key, id, secret: old } = await aListener('ok')
    const { secret } = await post(key, `/v1/webhook_endpoint/${id}/rotate`, { grace_seconds: 3600 })
    await insertEvents(organization_id, ['track:1'])
    await send()
    vi.setSystemTime(Date.now() + HOUR + 1)
    await insertEvents(organization_id, ['track:1'])
    await send()
    const [during, after] = await receiver.received()
    vi.useRealTimers()
    expect([faultsOf(during!, old), faultsOf(during!, secret)]).toEqual([[], []])
    vi.setSystemTime(Date.now() + HOUR)
    expect([faultsOf(after!, secret), faultsOf(after!, old).length]).toEqual([[], 2])
  })

  it('is signed with the new secret alone when a changed SIGNING_SECRET has made the old one unreadable', async () => {
    const { organization_id, receiver, key, id } = await aListener('ok')
    const bindings = { ...env, SIGNING_SECRET: 'another' }
    const { secret } = await ok('POST', `/v1/webhook_endpoint/${id}/rotate`, { key, body: {}, bindings })
    await insertEvents(organization_id, ['track:1'])
    await send(bindings)
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
  ])('to a receiver that %s is tried ten times in 75 hours, and then given up', async (behaviour, attempt) => {
    const { organization_id, receiver, id } = await aListener(behaviour)
    await insertEvents(organization_id, ['track:1'])
    await allAttempts(id, behaviour === 'hang' ? hasty : env)
    const [delivery] = await deliveries(id)
    expect(delivery).toMatchObject({ state: 'failed', attempt: 10, due_at: null })
    const attempts = JSON.parse(delivery!.attempts) as { at: number }[]
    expect(attempts).toHaveLength(10)
    for (const [at, one] of attempts.entries()) {
      expect(one).toMatchObject(attempt)
      const pause = at === 0 ? 0 : one.at - attempts[at - 1]!.at
      const planned = SCHEDULE[at]!
      // Who is busy has asked for two hours.
      const least = behaviour === 'busy' && at > 0 ? Math.max(planned * 0.9, 2 * HOUR) : planned * 0.9
      expect(pause).toBeGreaterThanOrEqual(least - 1)
      expect(pause).toBeLessThanOrEqual(Math.max(planned * 1.1, least) + 1)
    }
    const hours = (attempts.at(-1)!.at - attempts[0]!.at) / HOUR
    expect(hours).toBeGreaterThan(68)
    expect(hours).toBeLessThan(90)
    const received = await receiver.received()
    expect(received).toHaveLength(10)
    // Nothing followed the redirect.
    expect(new Set(received.map(({ path }) => path.split('/')[2]))).toEqual(new Set([behaviour]))
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(await endpointRow(id)).toMatchObject({ state: 'active', failures: 10 })
  })

  it.each([
    ['drip', /^\.{1,3}$/],
    ['huge', /^x{1024}$/],
    ['close_early', /^(half)?$/],
    ['empty', /^$/],
  ])('has arrived at a receiver whose answer is %s: its status counts', async (behaviour, answer) => {
    const { organization_id, receiver, id } = await aListener(behaviour)
    await insertEvents(organization_id, ['track:1'])
    await send()
    const [delivery] = await deliveries(id)
    expect(delivery).toMatchObject({ state: 'delivered', attempt: 1 })
    expect(JSON.parse(delivery!.attempts)).toEqual([expect.objectContaining({ answer: expect.stringMatching(answer) })])
    vi.setSystemTime(Date.now() + 80 * HOUR)
    await send()
    expect(await receiver.received()).toHaveLength(1)
  })

  it.each([
    ['busy', 7200],
    ['busy_for_long', 86_400],
  ])('comes again when a receiver that is %s asks for it, a day later at most', async (behaviour, seconds) => {
    const { organization_id, id } = await aListener(behaviour)
    await insertEvents(organization_id, ['track:1'])
    await send()
    const [{ due_at, attempts } = { due_at: 0, attempts: '[]' }] = await deliveries(id)
    const [{ at }] = JSON.parse(attempts) as [{ at: number }]
    expect(due_at! - at).toBe(seconds * 1000)
  })

  it('that is answered 410 is the last one', async () => {
    const { organization_id, receiver, key, id } = await aListener('gone')
    await insertEvents(organization_id, ['track:1'])
    await send()
    const { webhook_endpoint } = await get(key, `/v1/webhook_endpoint/${id}`)
    expect(webhook_endpoint).toMatchObject({ state: 'disabled', reason: 'gone' })
    await insertEvents(organization_id, ['track:2'])
    await send()
    vi.setSystemTime(Date.now() + 80 * HOUR)
    await send()
    expect(await receiver.received()).toHaveLength(1)
    expect(await deliveries(id)).toMatchObject([{ state: 'failed', attempt: 1 }])
  })

  it('is sent by one run, however many messages say so', async () => {
    const { organization_id, id } = await aListener('ok')
    const statements = async (messages: number) => {
      await insertEvents(organization_id, ['track:1'])
      const list = Array.from({ length: messages }, (_, at) => ({
        id: `${at}`,
        timestamp: new Date(),
        attempts: 1,
        body: {},
      }))
      const batch = createMessageBatch('tonearm-webhook', list)
      const { statements } = await rowsOf(async () => worker.queue(batch, env))
      expect((await getQueueResult(batch, createExecutionContext())).explicitAcks).toHaveLength(messages)
      return statements
    }
    await statements(1)
    const one = await statements(1)
    expect(one).toBeGreaterThan(0)
    expect(await statements(10)).toBe(one)
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'))
  })

  it('is sent to no URL that is refused by now', async () => {
    const { organization_id, receiver, id } = await aListener('ok')
    await insertEvents(organization_id, ['track:1'])
    await send({ ...env, WEBHOOK_LOCAL: 'false' })
    expect(JSON.parse((await deliveries(id))[0]!.attempts)).toMatchObject([{ error: 'url_refused', status: null }])
    await nextAttempt(id, { ...env, SIGNING_SECRET: 'another' })
    expect(JSON.parse((await deliveries(id))[0]!.attempts)).toMatchObject([{}, { error: 'secret_unreadable' }])
    expect(await receiver.received()).toEqual([])
    await nextAttempt(id)
    expect(await receiver.received()).toHaveLength(1)
  })

  it('that failed is sent again by hand, with the same id and a new signature', async () => {
    const { organization_id, receiver, key, id, secret } = await aListener('fails')
    await insertEvents(organization_id, ['track:1'])
    await allAttempts(id)
    await receiver.next('ok')
    const path = `/v1/webhook_delivery?endpoint_id=${id}`
    const { webhook_deliveries } = await get(key, `${path}&state=failed`)
    vi.setSystemTime(Date.now() + HOUR)
    const again = await post(key, `/v1/webhook_delivery/${webhook_deliveries[0]!.id}/replay`)
    expect(again.webhook_delivery).toMatchObject({ state: 'pending', attempt: 0 })
    await send()
    const received = await receiver.received()
    expect(received).toHaveLength(11)
    expect(received.at(-1)!.headers['webhook-id']).toBe(received[0]!.headers['webhook-id'])
    expect(received.at(-1)!.headers['webhook-signature']).not.toBe(received[9]!.headers['webhook-signature'])
    expect(faultsOf(received.at(-1)!, secret)).toEqual([])
    expect((await get(key, path)).webhook_deliveries).toMatchObject([{ state: 'delivered', attempt: 1 }])
    expect((await get(key, `${path}&state=failed`)).webhook_deliveries).toEqual([])
  })
})
