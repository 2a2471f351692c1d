import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { call, heldQueue, HOUR, ok, query } from '../support/api.ts'
import { eventually, runSweep } from '../support/fixtures.ts'
import {
  aSubscriber,
  allAttempts,
  anEndpoint,
  aReceiver,
  deliveries,
  endpointRow,
  getBody,
  insertEvents,
  allowReceivers,
  nextAttempt,
  postBody,
  runConsumer,
} from '../support/webhooks.ts'

beforeEach(allowReceivers)
afterEach(() => void vi.useRealTimers())

describe('an endpoint', () => {
  it('is paused after 72 hours of failures, other endpoints get an event for this, and missed deliveries can be recovered', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('fails')
    const since = new Date().toISOString()
    const other = aReceiver('ok')
    const other_id = (await anEndpoint(key, { url: other.url, events: ['webhook_endpoint.*'] })).id
    await insertEvents(organization_id, ['track:1'], ['track:2'], ['track:3'])
    for (let at = 0; at < 40 && (await endpointRow(id)).state === 'active'; at++) await nextAttempt(id)
    const paused = await endpointRow(id)
    expect(paused).toMatchObject({ state: 'paused', reason: 'failing' })
    expect(Date.now() - (paused.failing_since as number)).toBeGreaterThanOrEqual(72 * HOUR)
    expect(paused.failures).toBeGreaterThanOrEqual(20)
    await runConsumer()
    expect((await other.received()).map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        type: 'webhook_endpoint.paused',
        subject: `webhook_endpoint:${id}`,
        data: { webhook_endpoint_id: id, reason: 'failing' },
      },
    ])
    expect(await deliveries(other_id)).toHaveLength(1)

    // Events during the pause create no delivery, and nothing is sent.
    await insertEvents(organization_id, ['track:4'])
    vi.setSystemTime(Date.now() + 100 * HOUR)
    const before = (await receiver.received()).length
    await runConsumer()
    expect(await receiver.received()).toHaveLength(before)
    await receiver.next('ok')
    const failed = (await deliveries(id)).filter(({ state }) => state === 'failed').length
    const answer = await postBody(key, `/v1/webhook_endpoint/${id}/recover`, { since })
    expect(answer.webhook_endpoint).toMatchObject({ state: 'active', reason: null, failing_since: null })
    // The recovery includes neither the deliveries that are still pending nor the event of the endpoint's own pause.
    expect(answer).toMatchObject({ recovered: 1 + failed, next_since: null })
    await runConsumer()
    const subjects = (await receiver.received()).slice(before).map(({ body }) => JSON.parse(body).subject)
    const missed = ['track:1', 'track:2', 'track:3', 'track:4', `webhook_endpoint:${other_id}`]
    expect(new Set(subjects)).toEqual(new Set(missed))
    expect(subjects).toHaveLength(5)
  })

  it('is not paused when a delivery succeeds occasionally', async () => {
    const { organization_id, receiver, id } = await aSubscriber('fails')
    await insertEvents(organization_id, ['track:1'], ['track:2'], ['track:3'])
    vi.setSystemTime(Date.now() + 60_000)
    for (let at = 0; at < 60 && (await nextAttempt(id)); at++) {
      if (at !== 18) continue
      await receiver.next('ok')
      await insertEvents(organization_id, ['track:4'])
      await runConsumer()
      await receiver.next('fails')
    }
    expect(await endpointRow(id)).toMatchObject({ state: 'active' })
  })

  it('receives the subscribed events but no events about itself, even when it is recovered', async () => {
    const { organization_id, key, id } = await aSubscriber('ok', { events: ['track.*', 'collection.updated'] })
    const all = (await anEndpoint(key, { url: aReceiver('ok').url })).id
    const types = ['track.ready', 'tracks.ready', 'collection.updated', 'collection.created', 'track.early.ready']
    await insertEvents(organization_id, ...types.map((type) => ['track:1', type] as [string, string]), [
      `webhook_endpoint:${all}`,
      'webhook_endpoint.paused',
    ])
    const receivedTypes = async (endpoint_id: string) =>
      (await getBody(key, `/v1/webhook_delivery?endpoint_id=${endpoint_id}`)).webhook_deliveries.map(({ type }) => type)
    expect(await receivedTypes(id)).toEqual(['track.early.ready', 'collection.updated', 'track.ready'])
    expect(await receivedTypes(all)).toEqual(types.toReversed())

    await query(`delete from webhook_deliveries`)
    const since = new Date(0).toISOString()
    expect(await postBody(key, `/v1/webhook_endpoint/${id}/recover`, { since })).toMatchObject({ recovered: 3 })
    expect(await receivedTypes(id)).toEqual(['track.early.ready', 'collection.updated', 'track.ready'])
  })

  it('that is slow does not delay other endpoints', async () => {
    const slow = await aSubscriber('hang')
    await insertEvents(slow.organization_id, ...Array.from({ length: 30 }, (_, at) => [`track:${at}`] as [string]))
    const quick = await aSubscriber('ok')
    const longTimeout: Env = { ...env, WEBHOOK_TIMEOUT: '8' }
    const sending = runConsumer(longTimeout)
    await eventually(async () => (await slow.receiver.received()).length === 4)
    // At this moment the slow endpoint has its maximum number of requests in flight.
    await insertEvents(quick.organization_id, ['track:1'])
    await eventually(async () => (await quick.receiver.received()).length === 1)
    expect((await deliveries(slow.id)).filter(({ state }) => state === 'sending')).toHaveLength(4)
    await query(`update webhook_endpoints set state = 'paused' where id = ?`, slow.id)
    await sending
  })

  it('that responds late does not delay other endpoints', async () => {
    const late = [await aSubscriber('late'), await aSubscriber('late')]
    const quick = await aSubscriber('ok')
    const many = Array.from({ length: 30 }, (_, at) => [`track:${at}`] as [string])
    for (const { organization_id } of late) await insertEvents(organization_id, ...many)
    const sending = runConsumer({ ...env, WEBHOOK_TIMEOUT: '60' })
    const inFlight = async () => (await Promise.all(late.map(({ receiver }) => receiver.received()))).flat().length
    await eventually(async () => (await inFlight()) === 4)
    await insertEvents(quick.organization_id, ['track:1'], ['track:2'], ['track:3'])
    await eventually(async () => (await quick.receiver.received()).length === 3)
    expect(await inFlight()).toBe(4)
    for (const { receiver } of late) await receiver.next('ok')
    await sending
    expect((await query(`select 1 from webhook_deliveries where state = 'delivered'`)).length).toBe(63)
  })

  it('that is ordered receives the events of each subject in order, even if deliveries fail', async () => {
    const { organization_id, receiver, id } = await aSubscriber('ok', { is_ordered: true })
    const subjects = ['track:1', 'track:2', 'track:3']
    for (let round = 0; round < 5; round++) {
      await insertEvents(organization_id, ...subjects.map((subject) => [subject] as [string]))
      await receiver.next(round % 2 === 0 ? 'fails' : 'ok')
      await runConsumer()
    }
    await receiver.next('ok')
    await allAttempts(id)
    const arrived = (await receiver.received()).map(
      ({ body }) => JSON.parse(body) as { subject: string; sequence: number },
    )
    for (const subject of subjects) {
      const numbers = arrived.filter((event) => event.subject === subject).map(({ sequence }) => sequence)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).toBe(5)
    }
    const rows = await deliveries(id)
    expect(rows.map(({ state }) => state)).toEqual(Array(15).fill('delivered'))
  })
})

describe('the sweep', () => {
  it('sends due deliveries, and deletes deliveries older than 30 days', async () => {
    const { organization_id, key, receiver, id } = await aSubscriber('fails')
    await insertEvents(organization_id, ['track:1'])
    await runConsumer()
    const messages: unknown[] = []
    const queue = heldQueue((body) => messages.push(body))
    await runSweep({ ...env, WEBHOOK_QUEUE: queue })
    expect(messages).toEqual([])
    vi.setSystemTime(Date.now() + 6000)
    await runSweep({ ...env, WEBHOOK_QUEUE: queue })
    expect(messages).toEqual([{}])
    expect(await receiver.received()).toHaveLength(1)
    // The sweep sends the due deliveries even if one of its later steps fails.
    const MEDIA = new Proxy(env.MEDIA, {
      get: () => () => {
        throw new Error('R2 is down')
      },
    })
    const { collection_id } = await postBody(key, '/v1/collection', { title: 'New' })
    await postBody(key, '/v1/track', { collection_id, file_name: 'a.mp3' })
    await query('update tracks set next_check_at = 0')
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await runSweep({ ...env, MEDIA, WEBHOOK_QUEUE: queue })
    expect(error.mock.calls.join()).toContain('R2 is down')
    error.mockRestore()
    expect(messages).toEqual([{}, {}])
    vi.setSystemTime(Date.now() + 32 * 24 * HOUR)
    await runSweep()
    expect(await deliveries(id)).toEqual([])
    expect(await query('select id from webhook_endpoints')).toHaveLength(1)
  })

  it('deletes all data of a deleted endpoint and of a deleted organization', async () => {
    const { organization_id, key, id, receiver } = await aSubscriber('ok')
    await insertEvents(organization_id, ['track:1'])
    await ok('DELETE', `/v1/webhook_endpoint/${id}`, { key })
    expect(await query('select * from webhook_endpoints')).toEqual([])
    await insertEvents(organization_id, ['track:2'])
    expect(await query('select * from webhook_deliveries')).toEqual([])
    await anEndpoint(key, { url: receiver.url })
    await insertEvents(organization_id, ['track:3'])
    const { status } = await call('DELETE', `/v1/organization/${organization_id}`, { key: env.ROOT_KEY })
    expect(status).toBe(200)
    await runConsumer()
    expect(await receiver.received()).toEqual([])
    await runSweep()
    expect(await query('select 1 from webhook_endpoints union all select 1 from webhook_deliveries')).toEqual([])
  })
})
