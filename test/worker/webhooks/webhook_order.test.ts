import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { unscheduleAll } from '../../../src/domain/webhooks/order.ts'
import { db, heldQueue, HOUR, ok, query } from '../support/api.ts'
import { eventually, runSweep } from '../support/fixtures.ts'
import { countRows } from '../support/row_counter.ts'
import {
  aSubscriber,
  allAttempts,
  allowReceivers,
  deliveries,
  insertEvents,
  postBody,
  runConsumer,
} from '../support/webhooks.ts'

beforeEach(allowReceivers)
afterEach(() => void vi.useRealTimers())

describe('an ordered endpoint', () => {
  const order = async (id: string) => (await deliveries(id)).map(({ subject, due_at }) => [subject, due_at !== null])

  it('continues when the sweep deletes the delivery that others wait for, even while the endpoint is paused', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('fails', { is_ordered: true })
    const swept = await aSubscriber('ok', { is_ordered: true })
    for (const tenant_id of [organization_id, swept.organization_id]) await insertEvents(tenant_id, ['track:1'])
    vi.setSystemTime(Date.now() + 24 * HOUR)
    for (const tenant_id of [organization_id, swept.organization_id])
      await insertEvents(tenant_id, ['track:1'], ['track:1'])
    await ok('PUT', `/v1/webhook_endpoint/${id}`, { key, body: { state: 'paused' } })
    vi.setSystemTime(Date.now() + 30 * 24 * HOUR)
    await runSweep()
    expect(await order(swept.id)).toEqual([
      ['track:1', true],
      ['track:1', false],
    ])
    expect(await order(id)).toEqual([
      ['track:1', false],
      ['track:1', false],
    ])
    await postBody(key, `/v1/webhook_endpoint/${id}/resume`)
    await receiver.next('ok')
    await runConsumer()
    expect(await receiver.received()).toHaveLength(2)
    expect(await swept.receiver.received()).toHaveLength(2)
  })

  it('continues when the event of a pending delivery was deleted', async () => {
    const { organization_id, receiver } = await aSubscriber('ok', { is_ordered: true })
    await insertEvents(organization_id, ['track:1'], ['track:1'])
    await query(`delete from events where seq = (select min(seq) from webhook_deliveries)`)
    const messages: unknown[] = []
    const queue = heldQueue((body) => messages.push(body))
    await runConsumer({ ...env, WEBHOOK_QUEUE: queue })
    expect(messages).toEqual([{}])
    await runConsumer()
    expect(await receiver.received()).toHaveLength(1)
  })

  it('that was unordered before sends no event before the pending and in-flight deliveries of the same subject', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('fails')
    await insertEvents(organization_id, ['track:1'], ['track:2'])
    await runConsumer()
    await receiver.next('hang')
    await insertEvents(organization_id, ['track:1'])
    const sending = runConsumer({ ...env, WEBHOOK_TIMEOUT: '2' })
    await eventually(async () => (await receiver.received()).length === 3)
    await ok('PUT', `/v1/webhook_endpoint/${id}`, { key, body: { is_ordered: true } })
    await sending
    await insertEvents(organization_id, ['track:1'], ['track:3'])
    await receiver.next('ok')
    const before = (await receiver.received()).length
    await allAttempts(id)
    const arrived = (await receiver.received()).slice(before).map(({ body }) => JSON.parse(body))
    const numbers = arrived.filter(({ subject }) => subject === 'track:1').map(({ sequence }) => sequence)
    expect(numbers).toHaveLength(3)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(arrived).toHaveLength(5)
  })

  it('that is recovered in several requests resumes after the last request', async () => {
    const { organization_id, key, id } = await aSubscriber('ok', { is_ordered: true })
    await ok('PUT', `/v1/webhook_endpoint/${id}`, { key, body: { state: 'paused' } })
    // The inserted events are later than the pause, because the pause is recorded as an event as well.
    const now = Date.now() + 1
    const since = new Date(now).toISOString()
    await query(
      `insert into events (organization_id, seq, id, type, subject, data, created_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 2001)
        select ?1, ?2 + i, 'event-' || i, 'track.updated', 'track:' || (i % 2), '{}', ?2 from n`,
      organization_id,
      now,
    )
    const path = `/v1/webhook_endpoint/${id}/recover`
    const first = await postBody(key, path, { since })
    expect(first).toMatchObject({ recovered: 2000, webhook_endpoint: { state: 'paused' } })
    const due = `select seq from webhook_deliveries where due_at is not null`
    expect(await query(due)).toEqual([])
    const last = await postBody(key, path, { since: first.next_since })
    expect(last).toMatchObject({ recovered: 1, next_since: null, webhook_endpoint: { state: 'active', reason: null } })
    expect(await query(due)).toHaveLength(2)
  })
})

describe('the consumer', () => {
  it('skips inactive endpoints, and does not retry the in-flight deliveries of an endpoint that is paused', async () => {
    const { organization_id, receiver, key, id } = await aSubscriber('hang')
    await insertEvents(organization_id, ['track:1'], ['track:2'], ['track:3'], ['track:4'], ['track:5'])
    const sending = runConsumer({ ...env, WEBHOOK_TIMEOUT: '2' })
    await eventually(async () => (await receiver.received()).length === 4)
    await ok('PUT', `/v1/webhook_endpoint/${id}`, { key, body: { state: 'paused' } })
    await sending
    expect((await deliveries(id)).map(({ state, due_at }) => [state, due_at])).toEqual(
      Array.from({ length: 5 }, () => ['pending', null]),
    )

    await query(
      `insert into webhook_endpoints (id, organization_id, url, title, events, is_ordered, state, secret, swept_until, seq, created_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
        select 'copy-' || i, organization_id, url, '', events, 0, 'active', '', swept_until, 100 + i, 0 from webhook_endpoints, n`,
    )
    await insertEvents(organization_id, ['track:6'])
    const pause = (endpoint_id: unknown) => unscheduleAll({ db, now: Date.now() }, endpoint_id as string)
    await query(`update webhook_endpoints set state = 'paused'`)
    const [first, ...rest] = (await query(`select id from webhook_endpoints where seq > 100`)).map((row) =>
      pause(row.id),
    )
    await db.batch([first!, ...rest])
    const { read } = await countRows(() => runConsumer())
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(10)

    await receiver.next('ok')
    const before = (await receiver.received()).length
    await postBody(key, `/v1/webhook_endpoint/${id}/resume`)
    await runConsumer()
    expect((await receiver.received()).slice(before)).toHaveLength(5)
    await insertEvents(organization_id, ['track:7'])
    await ok('PUT', `/v1/webhook_endpoint/${id}`, { key, body: { state: 'paused' } })
    expect((await deliveries(id)).at(-1)).toMatchObject({ state: 'pending', due_at: null })
  })
})
