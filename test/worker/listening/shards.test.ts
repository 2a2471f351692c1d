import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { ListeningEngine } from '../../../src/pipeline/listening/engine.ts'
import { Segments } from '../../../src/pipeline/listening/segments.ts'
import { growShards, MAX_SHARDS, shardOf } from '../../../src/pipeline/listening/shards.ts'
import type { Visit } from '../../../src/pipeline/listening/visits.ts'
import { aPlaySession, call, HOUR, query } from '../support/api.ts'
import { faultyDatabase } from '../support/faulty_database.ts'
import { aTenantWithTrack } from '../support/fixtures.ts'
import { aListener, heardReport } from '../support/heard.ts'

/** The objects of an organization with many listeners (docs/decisions/0102). */

describe('shards', () => {
  it('become more with the load, even if the database fails once', async () => {
    const { organization_id, track_id, object } = await aListener()
    const via = { scope: 'track' as const, id: track_id, share: null }
    const session = { id: crypto.randomUUID(), created_at: Date.now() - HOUR, via }
    const open = { session, country: null, source: null, sequence: 1, age: 5, first: 0, finished: 0, collections: [] }
    const visits = Array.from({ length: 20_001 }, (_, index): Visit => {
      const [id, at] = [index.toString(16).padStart(16, '0'), Date.now()]
      return { ...open, id, at, started_at: at - 5000, listens: JSON.stringify({ open: [], past: [] }) }
    })
    const shards = async () =>
      (await query('select listening_shards from organizations where id = ?', organization_id))[0]
    const bad = () => new Error('D1_ERROR: database disk image is malformed')
    // The first call reads the track.
    const DB = faultyDatabase(env.DB, (number) => (number === 2 ? 'before' : null), bad)
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await runInDurableObject(object(), async (_, state) => {
      new Segments(state.storage.sql).replace(visits)
      const engine = new ListeningEngine(state, { ...env, DB })
      const send = () => {
        const call = { organization_id, shard: 0, session, shards: 1, country: null }
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

  it('get the visits by their ids, and double', async () => {
    expect(Array.from({ length: 8 }, (_, at) => shardOf(`0000000${at}00000000`, 4))).toEqual([0, 1, 2, 3, 0, 1, 2, 3])
    const { organization_id } = await aTenantWithTrack()
    const shards = async () =>
      (await query('select listening_shards from organizations where id = ?', organization_id))[0]
    await Promise.all([1, 2, 3].map(() => growShards(env.DB, organization_id, 1)))
    expect(await shards()).toEqual({ listening_shards: 2 })
    for (let count = 2; count <= 2 * MAX_SHARDS; count *= 2) await growShards(env.DB, organization_id, count)
    expect(await shards()).toEqual({ listening_shards: MAX_SHARDS })
  })

  it('receive the reports of tokens that name them', async () => {
    const { organization_id, key, collection_id, track_id, sums } = await aListener()
    await query('update organizations set listening_shards = 2 where id = ?', organization_id)
    const { heard_token } = await aPlaySession(key, 'collection', collection_id)
    for (const visit of ['0000000000000001', '0000000100000001'])
      await call('POST', `/v1/heard/${heard_token}`, { body: heardReport(track_id, { visit }) })
    expect(await sums()).toMatchObject({ visits: 1 })
    const second = env.LISTENING.getByName(`${organization_id}#1`)
    const count = await runInDurableObject(
      second,
      (_, { storage }) => storage.sql.exec('select * from segment').toArray().length,
    )
    expect(count).toBe(1)
  })
})
