import { env, exports } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'

import type { TonearmEvent } from '../../../src/contract/event.ts'
import { aWaitingTrack, call, ok } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { countAllRows, countRequestsWith, untilIdle } from '../support/row_counter.ts'
import { eventsOf, typesOf } from '../support/tenant_events.ts'

/** Requests that wait for an event share what one of them has read (docs/decisions/0056). */

/** Requests the feed like a client: each request has its own context in workerd, which must not use the promises of another one. */
async function read(key: string, query: string): Promise<TonearmEvent[]> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await exports.default.fetch(`https://tonearm.test/v1/event?${query}`, { headers })
  const body = await response.text()
  expect(response.status, body).toBe(200)
  return (JSON.parse(body) as { events: TonearmEvent[] }).events
}

it('500 requests of one key that wait share one read per second with those of others, whatever their filter', async () => {
  const tenants = await Promise.all([aTenant(), aTenant()])
  const answers: { key: string; type: string; events: Promise<TonearmEvent[]> }[] = []
  for (const [tenant, { key }] of tenants.entries()) {
    const last = (await eventsOf(key)).at(-1)!.seq
    const requests = Array.from(
      { length: [500, 20][tenant]! },
      (_, at) => ['*', 'track.*', 'collection.updated'][at % 3]!,
    )
    for (const type of requests) answers.push({ key, type, events: read(key, `after=${last}&type=${type}&wait=25`) })
  }
  await untilIdle()
  const untilRead = async (times: number) => {
    const count = countRequestsWith('max(seq)')
    await vi.waitUntil(() => count.requests >= times, { timeout: 20_000, interval: 20 })
    return count.requests
  }
  // The first read comes up to a second after the requests.
  await untilRead(1)
  const started = Date.now()
  expect(await untilRead(2)).toBeLessThanOrEqual(1 + (Date.now() - started) / 1000)

  const [first, second] = tenants
  await ok('PUT', `/v1/collection/${first.collection_id}`, { key: first.key, body: { title: 'Other' } })
  await aWaitingTrack(first.key, first.collection_id)
  await aWaitingTrack(second.key, second.collection_id)
  await ok('PUT', `/v1/collection/${second.collection_id}`, { key: second.key, body: { title: 'Other' } })
  for (const { type, events } of answers) {
    const types = typesOf(await events)
    expect(types.length).toBeGreaterThan(0)
    const expected = type === 'track.*' ? ['track.created'] : ['collection.updated']
    if (type !== '*') expect(types).toEqual(expected)
  }
})

it('a request that knows of no newer event reads nothing before it waits', async () => {
  const { key, collection_id } = await aTenant()
  const last = (await eventsOf(key)).at(-1)!.seq
  const waiting = read(key, `after=${last}&wait=25`)
  await untilIdle()
  // The first read that the requests share.
  await vi.waitUntil(async () => (await countAllRows(() => scheduler.wait(20))).statements > 0, { timeout: 10_000 })
  const { statements } = await countAllRows(async () => {
    void read(key, `after=${last}&wait=1`)
    await scheduler.wait(100)
  })
  expect(statements).toBe(0)
  await aWaitingTrack(key, collection_id)
  expect(typesOf(await waiting)).toEqual(['track.created'])
})

it('another request takes over when the one that reads for all of them gets no answer', async () => {
  const { key, collection_id } = await aTenant()
  const last = (await eventsOf(key)).at(-1)!.seq
  let looks = 0
  const DB = new Proxy(env.DB, {
    get: (real, name: keyof D1Database) =>
      name === 'withSession'
        ? () => {
            looks++
            return { prepare: () => ({ bind: () => ({ all: () => new Promise(() => undefined) }) }) }
          }
        : (real[name] as () => unknown).bind(real),
  })
  void call('GET', `/v1/event?after=${last}&wait=25`, { key, bindings: { ...env, DB } })
  await vi.waitUntil(() => looks > 0, { timeout: 10_000 })
  const waiting = read(key, `after=${last}&type=track.*&wait=25`)
  await untilIdle()
  await aWaitingTrack(key, collection_id)
  expect(typesOf(await waiting)).toEqual(['track.created'])
})
