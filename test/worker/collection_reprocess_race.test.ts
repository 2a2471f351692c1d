import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../src/adapters/schema.ts'
import { reprocesses } from '../../src/adapters/work_schema.ts'
import { beforeBatch, deliver, eventually, jobRow, trackRow } from './fixtures.ts'
import { aHeldShop } from './held_shop.ts'
import { rowsOf } from './meter.ts'
import { seed } from './seed.ts'
import { call, db, ok, query, refused } from './support.ts'
import { events, made, openStream, startTranscoder } from './transcoder.ts'

/** A collection's reprocess and concurrent changes. */

let shop: Awaited<ReturnType<typeof aHeldShop>>
beforeEach(async () => {
  shop = await aHeldShop()
})

describe('a repeated request for a reprocess that runs', () => {
  const openJobs = () => query(`select id from jobs where state = 'open' and payload ->> 'kind' = 'reprocess'`)

  it('continues the same job, even for several requests at once', async () => {
    await shop.doneTracks(3)
    const answers = await Promise.all([1, 2, 3, 4].map(() => shop.post()))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await openJobs()).toHaveLength(1)
    await shop.step()
    const job_id = await shop.jobOf()
    await shop.post()
    expect(await shop.jobOf()).toBe(job_id)
  })

  it('starts over when the variants have changed, and leaves no track with the old ones', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await shop.doneTracks(4)
    await shop.define('Radio')
    await shop.post()
    const first = await shop.jobOf()
    await shop.step()
    await shop.work()
    await shop.define('Voice')
    await shop.post()
    expect(await shop.jobOf()).not.toBe(first)
    expect(await deliver('task', { job_id: first }, { bindings: shop.bindings })).toMatchObject({ acknowledged: true })
    expect((await jobRow(first)).state).toBe('done')
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ total: 4, done: 4, failed: 0 })
    for (const id of ids) expect((await trackRow(id)).made_with).toHaveLength(9)
    // Two tracks were processed before `Voice` was defined.
    expect(transcodes).toHaveLength(6)
  })

  it('starts over when all tracks are requested, and a job for all tracks continues', async () => {
    await shop.doneTracks(1)
    await shop.post()
    const first = await shop.jobOf()
    expect(await shop.post({ all: true })).toMatchObject({ all: true })
    const second = await shop.jobOf()
    expect(second).not.toBe(first)
    expect(await shop.post()).toMatchObject({ all: true })
    expect(await shop.jobOf()).toBe(second)
  })
})

describe('a reprocess with concurrent changes', () => {
  it('loses and repeats nothing when a worker dies after starting tracks but before recording it', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    await shop.doneTracks(3)
    await shop.post({ all: true })
    let batches = 0
    // Reads, starts two tracks, and dies before the fourth batch, which records the position.
    const dying = beforeBatch(async () => {
      if (++batches === 4) throw new Error('the worker died')
    })
    expect(await shop.step(undefined, { ...shop.bindings, DB: dying.DB })).toMatchObject({ acknowledged: false })
    expect(shop.transcodes).toHaveLength(2)
    expect(await shop.progress()).toMatchObject({ done: 0 })
    await query(`update jobs set lease_until = 0 where id = ?`, await shop.jobOf())
    await shop.work()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', done: 3, failed: 0 })
    expect(transcodes).toHaveLength(3)
  })

  it('waits for a track that is already being processed, and processes it again only when needed', async () => {
    const streams = [openStream(), openStream()]
    const { transcodes } = startTranscoder({
      transcode: (job, times) => streams[times - 1]?.response ?? events(made(job)),
    })
    const [id] = await shop.doneTracks(1)
    const reprocess = () => ok('POST', `/v1/track/${id}/reprocess`, { key: shop.key, bindings: shop.bindings })
    for (const [at, name] of ['Before', 'Meanwhile'].entries()) {
      // The running job makes the variants that were defined when it started.
      if (at === 0) await shop.define(name)
      await reprocess()
      const running = shop.work()
      await eventually(async () => transcodes.length === at + 1)
      if (at === 1) await shop.define(name)
      await shop.post()
      await shop.step()
      expect(await shop.progress()).toMatchObject({ state: 'running', done: 0 })
      streams[at]!.send(made(transcodes[at]!))
      await running
      await shop.finish()
      expect(await shop.progress()).toMatchObject({ state: 'done', done: 1 })
      expect(transcodes).toHaveLength(at === 0 ? 1 : 3)
    }
  })

  it('skips deleted tracks, and does not count tracks created later', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await shop.doneTracks(4)
    await shop.post()
    await shop.step()
    for (const id of [ids[0], ids[3]]) await ok('DELETE', `/v1/track/${id}`, { key: shop.key })
    await db
      .update(tracks)
      .set({ created_at: Date.now() + 1000 })
      .where(eq(tracks.id, await shop.aDoneTrack()))
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 2, done: 2, failed: 0 })
  })

  it('misses no track when their order changes', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await shop.doneTracks(5)
    await shop.post()
    await shop.step()
    await ok('PUT', `/v1/collection/${shop.collection_id}/track/order`, {
      key: shop.key,
      body: { track_ids: ids.toReversed() },
    })
    await shop.finish()
    expect([transcodes.length, (await shop.progress()).done]).toEqual([5, 5])
  })

  it('ends with its collection', async () => {
    await shop.doneTracks(1)
    await shop.post()
    const job_id = await shop.jobOf()
    await ok('DELETE', `/v1/collection/${shop.collection_id}`, { key: shop.key })
    await refused(404, 'not_found', 'GET', shop.path(), { key: shop.key })
    await refused(404, 'not_found', 'POST', shop.path(), { key: shop.key })
    await deliver('task', { job_id }, { bindings: shop.bindings })
    expect((await jobRow(job_id)).state).toBe('done')
    expect(await db.select().from(reprocesses)).toEqual([])
  })

  it('returns 404 when the collection is deleted during the request', async () => {
    const racing = beforeBatch(() => query('delete from collections where id = ?', shop.collection_id))
    const answer = await call('POST', shop.path(), { key: shop.key, bindings: racing })
    expect([answer.status, await db.select().from(reprocesses)]).toEqual([404, []])
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'reprocess'`)).toEqual([])
  })
})

describe('one step of a reprocess', () => {
  it('reads and writes a bounded number of rows in a collection of 10,000 tracks', async () => {
    await seed('tracks', 1, 10_000, shop, { plain: true })
    await query(`update tracks set status = 'ready'`)
    const started = await rowsOf(() => shop.post())
    expect(started.read).toBeGreaterThan(0)
    expect(started.read).toBeLessThan(20)
    let steps = 0
    while ((await shop.progress()).state === 'running') {
      const { read, written } = await rowsOf(() => shop.step())
      expect(read).toBeGreaterThan(0)
      expect(read).toBeLessThan(600)
      expect(written).toBeLessThan(20)
      steps++
    }
    expect(steps).toBeLessThan(40)
    expect(await shop.progress()).toMatchObject({ total: 10_000, done: 10_000 })
  })
})
