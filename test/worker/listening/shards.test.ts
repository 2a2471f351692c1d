import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { HeardReport } from '../../../src/contract/heard.ts'
import { ListeningEngine } from '../../../src/listening/engine.ts'
import type { HeardOutcome } from '../../../src/listening/heard_call.ts'
import { Segments } from '../../../src/listening/segments.ts'
import { growShards, MAX_SHARDS, shardOf } from '../../../src/listening/shards.ts'
import type { Visit } from '../../../src/listening/visits.ts'
import { aPlaySession, call, HOUR, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { faultyDatabase } from '../support/faulty_database.ts'
import { aTenantWithTrack } from '../support/fixtures.ts'
import { aListener, aVisit, heardReport, today } from '../support/heard.ts'

/** The objects of an organization with many listeners (docs/decisions/0102). */

describe('shards', () => {
  it('become more with the load, even if the database fails once', async () => {
    const { organization_id, track_id, object } = await aListener()
    const via = { scope: 'track' as const, id: track_id, share: null }
    const session = { id: crypto.randomUUID(), created_at: Date.now() - HOUR, via }
    const open = { session, country: null, source: null, sequence: 1, age: 5, first: 0, finished: 0, collections: [] }
    const visits = Array.from({ length: 20_001 }, (_, index): Visit => {
      const [id, at] = [index.toString(16).padStart(16, '0'), Date.now()]
      return {
        ...open,
        id,
        at,
        sender: index + 1,
        started_at: at - 5000,
        listens: JSON.stringify({ open: [], past: [] }),
      }
    })
    const shards = async () =>
      (await query('select listening_shards from organizations where id = ?', organization_id))[0]
    const bad = () => new Error('D1_ERROR: database disk image is malformed')
    // The first call reads the track, the second one announces the object.
    const DB = faultyDatabase(env.DB, (number) => (number === 3 ? 'before' : null), bad)
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await runInDurableObject(object(), async (_, state) => {
      new Segments(state.storage.sql).replace(visits)
      const engine = new ListeningEngine(state, { ...env, DB })
      const send = () => {
        const call = { organization_id, shard: 0, session, shards: 1, country: null, client: '' }
        return engine.heard({ ...call, report: heardReport(track_id) })
      }
      expect(await send()).toBe('ok')
      expect(await send()).toBe('ok')
      expect(await shards()).toEqual({ listening_shards: 1 })
      vi.setSystemTime(Date.now() + 61_000)
      await send()
      expect(await shards()).toEqual({ listening_shards: 2 })
    })
  })

  it('get the sessions by their ids, and double', async () => {
    const ids = Array.from({ length: 8 }, (_, at) => `${UNKNOWN_ID.slice(0, -1)}${at}`)
    expect(ids.map((id) => shardOf(id, 4))).toEqual([0, 1, 2, 3, 0, 1, 2, 3])
    const { organization_id } = await aTenantWithTrack()
    const shards = async () =>
      (await query('select listening_shards from organizations where id = ?', organization_id))[0]
    await Promise.all([1, 2, 3].map(() => growShards(env.DB, organization_id, 1)))
    expect(await shards()).toEqual({ listening_shards: 2 })
    for (let count = 2; count <= 2 * MAX_SHARDS; count *= 2) await growShards(env.DB, organization_id, count)
    expect(await shards()).toEqual({ listening_shards: MAX_SHARDS })
  })

  it('receive the reports of the sessions that they get, whatever a visit is called, and statistics ask them', async () => {
    const { organization_id, key, collection_id, track_id, sums } = await aListener()
    const known = () => query('select shard from listening_folds where organization_id = ?', organization_id)
    const total = async () => (await ok('GET', `/v1/stats/organization/${organization_id}`, { key })).totals.visits
    expect([await total(), await known()]).toEqual([0, []])
    await query('update organizations set listening_shards = 2 where id = ?', organization_id)
    let session = await aPlaySession(key, 'collection', collection_id)
    while (shardOf(session.play_session_id, 2) !== 1) session = await aPlaySession(key, 'collection', collection_id)
    for (const visit of ['0000000000000001', '0000000100000001'])
      await call('POST', `/v1/heard/${session.heard_token}`, { body: heardReport(track_id, { visit }) })
    expect(await sums()).toMatchObject({ visits: 0 })
    expect([await total(), await known()]).toEqual([2, [{ shard: 1 }]])
  })

  it('accept no report before the database knows them', async () => {
    const { organization_id, track_id, object } = await aListener()
    const session = { id: UNKNOWN_ID, created_at: 0, via: { scope: 'track' as const, id: track_id, share: null } }
    const bad = () => new Error('D1_ERROR: database disk image is malformed')
    const DB = faultyDatabase(env.DB, (number) => (number === 2 ? 'before' : null), bad)
    await runInDurableObject(object(), async (_, state) => {
      const engine = new ListeningEngine(state, { ...env, DB })
      const call = { organization_id, shard: 0, session, shards: 1, country: null, client: '' }
      const send = () => engine.heard({ ...call, report: heardReport(track_id) })
      await expect(send()).rejects.toThrow('the object is not in the database')
      expect(await send()).toBe('ok')
    })
    expect(await query('select shard from listening_folds where organization_id = ?', organization_id)).toHaveLength(1)
  })
})

describe('12,000 reports of an attacker', () => {
  const ATTACKS: [addresses: number, sessions: number][] = [
    [1, 60],
    [50, 10],
  ]
  it.each(ATTACKS)(
    'from %i addresses with %i sessions each cost no other listener a second or the name of a source',
    async (addresses, sessions) => {
      const { organization_id, track_id, object } = await aListener()
      const via = { scope: 'track' as const, id: track_id, share: null }
      const idOf = (number: number) => `${UNKNOWN_ID.slice(0, -12)}${number.toString(16).padStart(12, '0')}`
      /** Returns a function that sends the reports of a visit. */
      const visitor = (engine: ListeningEngine, session: number, client: string, source: string) => {
        const visit = aVisit()
        const facts = { id: idOf(session), created_at: Date.now() - HOUR, via }
        const call = { organization_id, shard: 0, shards: 1, session: facts, country: null, client }
        return (sequence: number, age: number, listens: HeardReport['listens']) =>
          engine.heard({ ...call, report: { visit, sequence, age, first: 0, source, listens } })
      }
      const heard = (until: number) => [{ track: track_id, ranges: [[0, until]] }]
      const crumbs = Array.from({ length: 200 }, (_, at) => [at / 2, at / 2 + 0.1])
      const junk = [0, 50, 100, 150].map((from) => ({ track: track_id, ranges: crumbs.slice(from, from + 50) }))
      await runInDurableObject(object(), async (_, state) => {
        const engine = new ListeningEngine(state, env)
        const sitesOf = (name: string) =>
          Array.from({ length: 10 }, (_, at) => visitor(engine, 3000 + at, `${name} ${at}`, `${name}-${at}.example`))
        const late = sitesOf('late')
        const honest = [
          // A school has one address. A session in a page of others has many.
          ...Array.from({ length: 1000 }, (_, at) => visitor(engine, at, 'school', 'school.example')),
          ...Array.from({ length: 200 }, (_, at) => visitor(engine, 2000, `listener ${at}`, 'magazine.example')),
          ...sitesOf('small'),
        ]
        const outcomes = async (reports: Promise<HeardOutcome>[]) => [...new Set(await Promise.all(reports))]
        expect(await outcomes(honest.map((send) => send(1, 30, heard(20))))).toEqual(['ok'])
        const attack = Array.from({ length: 12_000 }, (_, at) => {
          const [address, session] = [at % addresses, Math.floor(at / addresses) % sessions]
          const number = 10_000 + address * sessions + session
          return visitor(engine, number, `attacker ${address}`, `junk-${at % 300}.example`)(1, 300, junk)
        })
        expect(await outcomes(attack)).toEqual(['ok'])
        expect(await outcomes(honest.map((send) => send(2, 60, heard(40))))).toEqual(['ok'])
        expect(await outcomes(late.map((send) => send(1, 60, heard(40))))).toEqual(['ok'])
        const days = { from: 0, to: today() }
        const check = ({ stats }: ListeningEngine) => {
          for (const [scope, id] of [
            ['organization', ''],
            ['track', track_id],
          ] as const) {
            const { totals, rows, refused } = stats({ scope, id, by: 'source', ...days })
            expect([totals[1], totals[2], refused]).toEqual([13_220, 1220 * 400 + 12_000 * 200, {}])
            const visits = new Map(rows.map(([source, counts]) => [source, [counts[1], counts[2]]]))
            expect([visits.get('school.example'), visits.get('magazine.example')]).toEqual([
              [1000, 400_000],
              [200, 80_000],
            ])
            for (const name of ['small', 'late'])
              for (let at = 0; at < 10; at++) expect(visits.get(`${name}-${at}.example`)).toEqual([1, 400])
          }
        }
        check(engine)
        engine.fold()
        check(new ListeningEngine(state, env))
      })
    },
  )
})
