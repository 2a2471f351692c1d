import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import type { TonearmEvent } from '../../../src/contract/event.ts'
import worker from '../../../src/index.ts'
import { anOrganization, aWaitingTrack, DAY, ok, query, expectError, errorPaths } from '../support/api.ts'
import { aTenant, eventually, advanceHours, runSweep } from '../support/fixtures.ts'
import { early } from '../support/long_track.ts'
import { countAllRows, countRows, untilIdle } from '../support/row_counter.ts'
import { seedEvents } from '../support/seed.ts'
import { aTenantWithEvents, eventsOf, typesOf } from '../support/tenant_events.ts'
import { completeResult } from '../support/transcoder.ts'

/** The event feed, its retention period, and its cost (docs/decisions/0056). */

afterEach(() => void vi.useRealTimers())

describe('the feed', () => {
  it('is read in pages, can be filtered by type and subject, and contains only the caller’s events', async () => {
    const tenant = await aTenant()
    await seedEvents(1, 5, tenant)
    const all = await eventsOf(tenant.key)
    expect(all).toHaveLength(7)
    const paged: TonearmEvent[] = []
    for (let after = 0, has_more = true; has_more;) {
      const page = await ok('GET', `/v1/event?limit=3&after=${after}`, { key: tenant.key })
      expect(page.events.length).toBeGreaterThan(0)
      paged.push(...page.events)
      ;({ after, has_more } = page)
    }
    expect(paged).toEqual(all)
    const filtered = async (filter: string) => (await eventsOf(tenant.key, 0, filter)).map(({ seq }) => seq)
    expect(await filtered('&type=api_key.revoked')).toEqual([1, 2, 3, 4, 5])
    expect(await filtered('&type=api_key.*')).toHaveLength(6)
    expect(await filtered('&type=*')).toHaveLength(7)
    expect(await filtered(`&subject=collection:${tenant.collection_id.toUpperCase()}`)).toEqual([all.at(-1)!.seq])
    expect(await filtered(`&type=track.*&subject=collection:${tenant.collection_id}`)).toEqual([])
    const other = await anOrganization()
    expect((await eventsOf(other.key)).map(({ type }) => type)).toEqual(['api_key.created'])
    // `after` is a time that is later than the last event.
    expect(await ok('GET', `/v1/event?after=${Date.now() + DAY}`, { key: tenant.key })).toMatchObject({
      events: [],
      after: expect.any(Number),
      has_more: false,
    })
  })

  it('rejects unknown types, subjects and parameters', async () => {
    const { key } = await anOrganization()
    const wrong = [
      ['type=track', 'type'],
      ['type=track.sung', 'type'],
      ['type=t*', 'type'],
      ['subject=track', 'subject'],
      ['subject=track:1', 'subject'],
      [`subject=play:${crypto.randomUUID()}`, 'subject'],
      ['after=-1', 'after'],
      ['after=1e3', 'after'],
      ['limit=201', 'limit'],
      ['wait=26', 'wait'],
    ]
    for (const [query, field] of wrong)
      expect(errorPaths(await expectError(400, 'invalid_request', 'GET', `/v1/event?${query}`, { key }))).toEqual([
        field,
      ])
    await expectError(400, 'unknown_field', 'GET', '/v1/event?types=track.*', { key })
  })

  it('scans a bounded number of events for rare types, and the next page continues after them', async () => {
    const tenant = await aTenant()
    await seedEvents(1, 5001, tenant)
    const read = (after: number) =>
      countRows(() => ok('GET', `/v1/event?type=collection.*&after=${after}`, { key: tenant.key }))
    const first = await read(0)
    expect(first.result).toMatchObject({ events: [], after: 5000, has_more: true })
    expect(first.read).toBeLessThan(10_100)
    const { result } = await read(first.result.after)
    expect(result).toMatchObject({ events: [{ type: 'collection.created' }], has_more: false })
  })

  it('omits no event that is recorded during the request', async () => {
    const { key, collection_id } = await aTenant()
    const update = () => ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Other' } })
    const last = (await eventsOf(key)).at(-1)!.seq
    let updates = 0
    const statement = (real: D1PreparedStatement, text: string): D1PreparedStatement =>
      new Proxy(real, {
        get(_, name: keyof D1PreparedStatement) {
          if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values), text)
          const value = Reflect.get(real, name) as unknown
          if (typeof value !== 'function') return value
          return async (...values: unknown[]) => {
            const answer = (await Reflect.apply(value, real, values)) as unknown
            if (text.includes('from "events"') && updates++ === 0) await update()
            return answer
          }
        },
      })
    const DB = new Proxy(env.DB, {
      get: (real, name: keyof D1Database) =>
        name === 'prepare' ? (text: string) => statement(real.prepare(text), text) : real[name].bind(real),
    })
    const request = new Request(`https://tonearm.test/v1/event?type=collection.*&after=${last}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const answer = await worker.fetch(request, { ...env, DB }, createExecutionContext())
    const { events, after } = await answer.json<{ events: TonearmEvent[]; after: number }>()
    expect(updates).toBeGreaterThan(0)
    const later = await eventsOf(key, after, '&type=collection.*')
    expect(typesOf([...events, ...later])).toEqual(['collection.updated'])
  })

  it('omits events whose types are only defined in a later version', async () => {
    const tenant = await aTenant()
    await seedEvents(1, 3, tenant)
    await query("update events set type = 'track.sung' where seq > 1 and seq < 4")
    const page = await ok('GET', '/v1/event?limit=3', { key: tenant.key })
    expect(page).toMatchObject({ events: [{ seq: 1 }], after: 3, has_more: true })
    expect(await eventsOf(tenant.key, page.after)).toHaveLength(2)
    expect(await ok('GET', '/v1/event?type=track.*&limit=1', { key: tenant.key })).toMatchObject({
      events: [],
      after: 2,
    })
  })

  it('waits for the next matching event, or until the requested time has passed', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    const last = (await eventsOf(key)).at(-1)!.seq
    const wait = (filter: string, seconds: number) =>
      ok('GET', `/v1/event?after=${last}&wait=${seconds}&${filter}`, { key })
    const started = Date.now()
    const [waited, other] = await Promise.all([
      wait('type=track.*', 25),
      wait('type=cover.*', 1),
      ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Other' } }).then(() =>
        aWaitingTrack(key, collection_id),
      ),
    ])
    expect(typesOf(waited.events)).toEqual(['track.created'])
    expect(Date.now() - started).toBeLessThan(20_000)
    expect(other).toMatchObject({ events: [], has_more: false })
    expect(other.after).toBeGreaterThanOrEqual(last)
  })
})

describe('old events', () => {
  it('are deleted once a day for all organizations, always for complete days', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()]
    const today = Date.now() - (Date.now() % DAY)
    const first = today - 30 * DAY
    for (const [owner, seq] of [
      [tenant, first - 1],
      [tenant, first],
      [other, first - 5 * DAY],
    ] as const)
      await seedEvents(seq, seq, owner)
    const old = () => query<{ seq: number }>('select seq from events where seq < ?', today - DAY)
    expect(await old()).toHaveLength(3)
    await runSweep()
    expect(await old()).toEqual([{ seq: first }])
    await seedEvents(first - 2, first - 2, tenant)
    await runSweep()
    expect(await old()).toHaveLength(2)
    advanceHours(24)
    await runSweep()
    expect(await old()).toEqual([])
    expect(await query('select 1 from events')).toHaveLength(4)
  })

  it('are deleted in several chunks', async () => {
    const tenant = await aTenant()
    await seedEvents(1, 12_000, tenant)
    await runSweep()
    expect(typesOf(await eventsOf(tenant.key))).toEqual(['api_key.created', 'collection.created'])
  })

  it('are deleted when their organization is deleted', async () => {
    const tenant = await aTenantWithEvents()
    await tenant.ready()
    await ok('DELETE', `/v1/organization/${tenant.organization_id}`, { key: env.ROOT_KEY })
    await eventually(async () => (await query('select 1 from events')).length === 0)
  })
})

it('an event of a track costs one written row', async () => {
  const tenant = await aTenantWithEvents()
  const life = async (result = {}) => {
    tenant.answers((job) => [early(), completeResult(job, result)])
    const { written } = await countAllRows(async () => {
      await tenant.ready()
      await untilIdle()
    })
    return written
  }
  const lives = async () => (await life(), [await life(), await life({ cover: { image_colors: [] } })])
  const now = await lives()
  // `track.created` is written by the request and not by this trigger, so it is in both counts.
  await query('drop trigger tracks_events')
  const without = await lives()
  expect(now.map((written, at) => written - without[at]!)).toEqual([3, 4])
})
