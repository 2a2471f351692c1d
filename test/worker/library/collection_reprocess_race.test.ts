import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { reprocesses } from '../../../src/adapters/db/schema/work.ts'
import { call, db, ok, query, expectError } from '../support/api.ts'
import { beforeBatch, deliver, eventually, jobRow, trackRow } from '../support/fixtures.ts'
import { aTenantWithHeldQueues } from '../support/held_queues.ts'
import { countRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'
import { eventStream, completeResult, openStream, startTranscoder } from '../support/transcoder.ts'

/** A collection's reprocess combined with concurrent changes. */

let tenant: Awaited<ReturnType<typeof aTenantWithHeldQueues>>
beforeEach(async () => {
  tenant = await aTenantWithHeldQueues()
})

describe('a repeated request while a reprocess runs', () => {
  const openJobs = () => query(`select id from jobs where state = 'open' and payload ->> 'kind' = 'reprocess'`)

  it('continues the same job, even when several requests arrive at once', async () => {
    await tenant.doneTracks(3)
    const answers = await Promise.all([1, 2, 3, 4].map(() => tenant.post()))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await openJobs()).toHaveLength(1)
    await tenant.step()
    const job_id = await tenant.jobOf()
    await tenant.post()
    expect(await tenant.jobOf()).toBe(job_id)
  })

  it('starts over when the variants have changed, so that no track is left with the old variants', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const ids = await tenant.doneTracks(4)
    await tenant.define('Radio')
    await tenant.post()
    const first = await tenant.jobOf()
    await tenant.step()
    await tenant.work()
    await tenant.define('Voice')
    await tenant.post()
    expect(await tenant.jobOf()).not.toBe(first)
    expect(await deliver('task', { job_id: first }, { bindings: tenant.bindings })).toMatchObject({
      acknowledged: true,
    })
    expect((await jobRow(first)).state).toBe('done')
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ total: 4, done: 4, failed: 0 })
    for (const id of ids) expect((await trackRow(id)).made_with).toHaveLength(9 * 8)
    // Two of the four tracks were processed twice, because their first job ran before `Voice` was defined.
    expect(transcodes).toHaveLength(6)
  })

  it('starts over when it asks for all tracks, and continues a job that already covers all tracks', async () => {
    await tenant.doneTracks(1)
    await tenant.post()
    const first = await tenant.jobOf()
    expect(await tenant.post({ all: true })).toMatchObject({ all: true })
    const second = await tenant.jobOf()
    expect(second).not.toBe(first)
    expect(await tenant.post()).toMatchObject({ all: true })
    expect(await tenant.jobOf()).toBe(second)
  })
})

describe('reprocessing with concurrent changes', () => {
  it('skips and repeats no track when a worker dies after it started tracks but before it recorded them', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await tenant.doneTracks(3)
    await tenant.post({ all: true })
    let batches = 0
    // The worker reads the tracks, starts to process two of them, and dies before its fourth batch, which would record the position.
    const dying = beforeBatch(async () => {
      if (++batches === 4) throw new Error('the worker died')
    })
    expect(await tenant.step(undefined, { ...tenant.bindings, DB: dying.DB })).toMatchObject({ acknowledged: false })
    expect(tenant.transcodes).toHaveLength(2)
    expect(await tenant.progress()).toMatchObject({ done: 0 })
    await query(`update jobs set lease_until = 0 where id = ?`, await tenant.jobOf())
    await tenant.work()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', done: 3, failed: 0 })
    expect(transcodes).toHaveLength(3)
  })

  it('waits for a track that is already being processed, and processes it again only if needed', async () => {
    const streams = [openStream(), openStream()]
    const { transcodes } = startTranscoder({
      transcode: (job, times) => streams[times - 1]?.response ?? eventStream(completeResult(job)),
    })
    const [id] = await tenant.doneTracks(1)
    const reprocess = () => ok('POST', `/v1/track/${id}/reprocess`, { key: tenant.key, bindings: tenant.bindings })
    for (const [at, name] of ['Before', 'Meanwhile'].entries()) {
      // The running job creates the variants that were defined when it started.
      if (at === 0) await tenant.define(name)
      await reprocess()
      const running = tenant.work()
      await eventually(async () => transcodes.length === at + 1)
      if (at === 1) await tenant.define(name)
      await tenant.post()
      await tenant.step()
      expect(await tenant.progress()).toMatchObject({ state: 'running', done: 0 })
      streams[at]!.send(completeResult(transcodes[at]!))
      await running
      await tenant.finish()
      expect(await tenant.progress()).toMatchObject({ state: 'done', done: 1 })
      expect(transcodes).toHaveLength(at === 0 ? 1 : 3)
    }
  })

  it('skips deleted tracks, and does not count tracks that are created later', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const ids = await tenant.doneTracks(4)
    await tenant.post()
    await tenant.step()
    for (const id of [ids[0], ids[3]]) await ok('DELETE', `/v1/track/${id}`, { key: tenant.key })
    await db
      .update(tracks)
      .set({ created_at: Date.now() + 1000 })
      .where(eq(tracks.id, await tenant.aDoneTrack()))
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 2, done: 2, failed: 0 })
  })

  it('reaches every track even if the order of the tracks changes', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const ids = await tenant.doneTracks(5)
    await tenant.post()
    await tenant.step()
    await ok('PUT', `/v1/collection/${tenant.collection_id}/track/order`, {
      key: tenant.key,
      body: { track_ids: ids.toReversed() },
    })
    await tenant.finish()
    expect([transcodes.length, (await tenant.progress()).done]).toEqual([5, 5])
  })

  it('ends when its collection is deleted', async () => {
    await tenant.doneTracks(1)
    await tenant.post()
    const job_id = await tenant.jobOf()
    await ok('DELETE', `/v1/collection/${tenant.collection_id}`, { key: tenant.key })
    await expectError(404, 'not_found', 'GET', tenant.path(), { key: tenant.key })
    await expectError(404, 'not_found', 'POST', tenant.path(), { key: tenant.key })
    await deliver('task', { job_id }, { bindings: tenant.bindings })
    expect((await jobRow(job_id)).state).toBe('done')
    expect(await db.select().from(reprocesses)).toEqual([])
  })

  it('returns 404 when the collection is deleted during the request', async () => {
    const racing = beforeBatch(() => query('delete from collections where id = ?', tenant.collection_id))
    const answer = await call('POST', tenant.path(), { key: tenant.key, bindings: racing })
    expect([answer.status, await db.select().from(reprocesses)]).toEqual([404, []])
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'reprocess'`)).toEqual([])
  })
})

describe('one step of a reprocess', () => {
  it('reads and writes a bounded number of rows in a collection of 10,000 tracks', async () => {
    await seed('tracks', 1, 10_000, tenant, { plain: true })
    await query(`update tracks set status = 'ready'`)
    const started = await countRows(() => tenant.post())
    expect(started.read).toBeGreaterThan(0)
    expect(started.read).toBeLessThan(20)
    let steps = 0
    while ((await tenant.progress()).state === 'running') {
      const { read, written } = await countRows(() => tenant.step())
      expect(read).toBeGreaterThan(0)
      expect(read).toBeLessThan(600)
      expect(written).toBeLessThan(20)
      steps++
    }
    expect(steps).toBeLessThan(40)
    expect(await tenant.progress()).toMatchObject({ total: 10_000, done: 10_000 })
  })
})
