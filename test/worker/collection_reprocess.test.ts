import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../src/adapters/schema.ts'
import { reprocesses } from '../../src/adapters/work_schema.ts'
import { aReadyTrack, aShop, beforeBatch, deliver, eventually, jobRow, trackRow, upload } from './fixtures.ts'
import { rowsDuring } from './meter.ts'
import { made, query, serveTranscoder } from './ready_track.ts'
import { seed } from './seed.ts'
import { aCollection, aTrack, call, db, ok, refused } from './support.ts'
import { error, events, startTranscoder } from './transcoder.ts'

/** A collection's tracks brought up to date. Here the queues hold their messages, and a test delivers them one by one. */

type Message = { job_id: string }
const transcodes: string[] = []
const held = (list?: string[]) => ({ send: async ({ job_id }: Message) => void list?.push(job_id) }) as unknown as Queue
const bindings: Env = { ...env, TASK_QUEUE: held(), TRANSCODE_QUEUE: held(transcodes) }

let shop: Awaited<ReturnType<typeof aShop>>
beforeEach(async () => {
  transcodes.length = 0
  shop = await aShop()
})

const define = (name: string) =>
  ok('POST', '/v1/variant', { key: shop.key, body: { name, codec: 'mp3', bitrate: 320 } })
const path = (collection_id = shop.collection_id) => `/v1/collection/${collection_id}/reprocess`
const post = async (body?: object, collection_id = shop.collection_id) =>
  (await ok('POST', path(collection_id), { key: shop.key, body, bindings })).reprocess
const progress = async (collection_id = shop.collection_id) =>
  (await ok('GET', path(collection_id), { key: shop.key })).reprocess
const jobOf = async (collection_id = shop.collection_id) =>
  (await db.select().from(reprocesses).where(eq(reprocesses.collection_id, collection_id)).get())!.job_id
/** One run of the walk. */
const step = async (collection_id?: string, by = bindings) =>
  deliver('task', { job_id: await jobOf(collection_id) }, { bindings: by })
/** The transcoder's turn: every job that the queue holds. */
async function work(count = transcodes.length) {
  for (const job_id of transcodes.splice(0, count)) await deliver('transcode', { job_id }, { bindings })
}
async function finish(collection_id?: string) {
  for (let turn = 0; turn < 50; turn++) {
    await step(collection_id)
    if ((await progress(collection_id)).state === 'done') return
    await work()
  }
  throw new Error('did not come to an end')
}

/** A track whose upload lies in its place; as a rule it was made before anybody compared. */
async function aDoneTrack(collection_id = shop.collection_id) {
  const track_id = await aReadyTrack(shop.key, collection_id)
  await upload(await trackRow(track_id))
  return track_id
}
async function doneTracks(count: number, collection_id?: string) {
  const ids = await Promise.all(Array.from({ length: count }, () => aDoneTrack(collection_id)))
  return ids.toSorted()
}
const statuses = async (ids: string[]) => Promise.all(ids.map(async (id) => (await trackRow(id)).status))

describe('behaviour', () => {
  it('brings all tracks up to date, says how far it is, and does nothing when asked again', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await doneTracks(5)
    await define('Radio')
    expect(await progress()).toBe(null)
    const begun = await post()
    expect(begun).toEqual({
      state: 'running',
      all: false,
      total: 5,
      done: 0,
      failed: 0,
      started_at: expect.any(String),
      finished_at: null,
    })
    await step()
    await work()
    await step()
    expect(await progress()).toMatchObject({ state: 'running', total: 5, done: 2, failed: 0 })
    await finish()
    const { finished_at, ...ended } = await progress()
    expect(ended).toEqual({ state: 'done', all: false, total: 5, done: 5, failed: 0, started_at: begun.started_at })
    expect(Date.parse(finished_at)).toBeGreaterThanOrEqual(Date.parse(begun.started_at))
    expect(asked).toHaveLength(5)
    for (const id of ids) {
      const body = { track_id: id, variants: ['radio'] }
      const { first_track } = await ok('POST', '/v1/play_session/track', { key: shop.key, body })
      expect(first_track.variants).toHaveLength(1)
    }
    await post()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 5, done: 5, failed: 0 })
    expect(asked).toHaveLength(5)
  })

  it('makes only those again that lack a variant, or have it with other settings', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    const { variant_id } = await define('Radio')
    await doneTracks(1)
    await post()
    await finish()
    const [late] = await doneTracks(1)
    await post()
    await finish()
    expect(asked).toHaveLength(2)
    expect((await trackRow(late!)).made_with).toHaveLength(8)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: shop.key, body: { name: 'Other name' } })
    await post()
    await finish()
    expect(asked).toHaveLength(2)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: shop.key, body: { bitrate: 64 } })
    await post()
    await finish()
    expect(asked).toHaveLength(4)
    // What is no longer wanted is not missed.
    await ok('DELETE', `/v1/variant/${variant_id}`, { key: shop.key })
    await post()
    await finish()
    expect(asked).toHaveLength(4)
  })

  it('makes every track again when all are asked for', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    await doneTracks(3)
    await post()
    await finish()
    await post({ all: true })
    await finish()
    expect(asked).toHaveLength(6)
    expect(await progress()).toMatchObject({ all: true, total: 3, done: 3 })
  })

  it('counts the tracks that some variant could not be made of as failed, and tries them again when asked again', async () => {
    const [good, bad, half] = await doneTracks(3)
    const failed = [{ index: 'radio', message: 'The mp3 encoder failed.' }]
    let broken = true
    startTranscoder({
      transcode: (job) => {
        if (broken && job.source.url.includes(bad!)) return events(error('no_audio', 'No audio'))
        return events(made(job, broken && job.source.url.includes(half!) ? { failed, variants: [] } : {}))
      },
    })
    await post()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 3, done: 1, failed: 2 })
    expect(await statuses([good!, bad!, half!])).toEqual(['ready', 'incomplete', 'incomplete'])
    broken = false
    await post()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 3, done: 3, failed: 0 })
    expect(await statuses([good!, bad!, half!])).toEqual(['ready', 'ready', 'ready'])
  })

  it('has nothing to do for tracks without a file, and counts those as failed whose file is gone', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    await aTrack(shop.key, shop.collection_id)
    await aReadyTrack(shop.key, shop.collection_id)
    await post()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 2, done: 1, failed: 1 })
  })

  it('is done at once for an empty collection', async () => {
    await post()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 0, done: 0, failed: 0 })
  })

  it('lets the tracks play on', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const [id] = await doneTracks(1)
    const { play_session_id } = await ok('POST', '/v1/play_session/track', { key: shop.key, body: { track_id: id } })
    const view = () => ok('GET', `/v1/play/${play_session_id}/${id}`)
    const before = await view()
    await post()
    await step()
    expect((await trackRow(id!)).status).toBe('processing')
    expect((await view()).variants.map((v: { path: string }) => v.path)).toEqual(
      before.variants.map((v: { path: string }) => v.path),
    )
    expect((await view()).track.is_preliminary).toBe(false)
    await work()
    expect((await view()).variants[0].path).not.toBe(before.variants[0].path)
  })

  it('runs by itself through the real queues', async () => {
    const asked = serveTranscoder()
    await doneTracks(3)
    await ok('POST', path(), { key: shop.key })
    await eventually(async () => asked.length > 0)
    // Two at a time; the walk comes back every few seconds.
    await expect.poll(async () => (await progress()).state, { timeout: 25_000, interval: 100 }).toBe('done')
    expect([asked.length, (await progress()).done]).toEqual([3, 3])
  })
})

describe('the queue of transcodes', () => {
  it('holds two of these at most, however many collections are processed', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const other = (await aCollection(shop.key)).id as string
    const [mine, theirs] = [await doneTracks(4), await doneTracks(4, other)]
    await post()
    await post({}, other)
    await Promise.all([step(), step(other), step(), step(other)])
    await step(other)
    const working = async () => (await statuses([...mine, ...theirs])).filter((status) => status === 'processing')
    expect(await working()).toHaveLength(2)
    expect(transcodes).toHaveLength(2)
    await work(1)
    await step()
    await step(other)
    expect(await working()).toHaveLength(2)
    for (let turn = 0; turn < 20; turn++) {
      await step()
      await step(other)
      expect((await working()).length).toBeLessThanOrEqual(2)
      await work()
    }
    expect([await progress(), await progress(other)]).toMatchObject([
      { state: 'done', done: 4 },
      { state: 'done', done: 4 },
    ])
  })

  it('takes a new upload at once, while a collection is processed', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    await doneTracks(4)
    await post()
    await step()
    const track = await aTrack(shop.key, shop.collection_id)
    await upload(await trackRow(track.id))
    await ok('POST', `/v1/track/${track.id}/upload_complete`, { key: shop.key, bindings })
    // Behind the two that stand there, and before all the others.
    expect(transcodes).toHaveLength(3)
    const { job_id } = await trackRow(track.id)
    expect(transcodes[2]).toBe(job_id)
    await step()
    expect(transcodes).toHaveLength(3)
  })

  it('does not keep a walk that has nothing to start', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const other = (await aCollection(shop.key)).id as string
    await doneTracks(4)
    await post()
    await step()
    await aTrack(shop.key, other)
    await post({}, other)
    await step(other)
    expect(await progress(other)).toMatchObject({ state: 'done', done: 1 })
  })
})

describe('asked for again while it runs', () => {
  const openJobs = () => query(`select id from jobs where state = 'open' and payload ->> 'kind' = 'reprocess'`)

  it('goes on, also when many ask at once', async () => {
    await doneTracks(3)
    const answers = await Promise.all([1, 2, 3, 4].map(() => post()))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await openJobs()).toHaveLength(1)
    await step()
    const job_id = await jobOf()
    await post()
    expect(await jobOf()).toBe(job_id)
  })

  it('begins anew when the variants have changed since, and no track is left with the old ones', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await doneTracks(4)
    await define('Radio')
    await post()
    const first = await jobOf()
    await step()
    await work(1)
    await define('Voice')
    await post()
    expect(await jobOf()).not.toBe(first)
    expect(await deliver('task', { job_id: first }, { bindings })).toMatchObject({ acknowledged: true })
    expect((await jobRow(first)).state).toBe('done')
    await finish()
    expect(await progress()).toMatchObject({ total: 4, done: 4, failed: 0 })
    for (const id of ids) expect((await trackRow(id)).made_with).toHaveLength(9)
    // One was made before `Voice` was defined, and one was waiting then.
    expect(asked).toHaveLength(5)
  })

  it('begins anew when all tracks are wanted now; and one of all tracks goes on', async () => {
    await doneTracks(1)
    await post()
    const first = await jobOf()
    expect(await post({ all: true })).toMatchObject({ all: true })
    const second = await jobOf()
    expect(second).not.toBe(first)
    expect(await post()).toMatchObject({ all: true })
    expect(await jobOf()).toBe(second)
  })
})

describe('whatever happens meanwhile', () => {
  it('loses and repeats nothing when a worker dies between starting tracks and writing that down', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    await doneTracks(3)
    await post({ all: true })
    let batches = 0
    // Reads, starts two tracks, and dies before the fourth batch: where the walk stands.
    const dying = beforeBatch(async () => {
      if (++batches === 4) throw new Error('the worker died')
    })
    expect(await step(undefined, { ...bindings, DB: dying.DB })).toMatchObject({ acknowledged: false })
    expect(transcodes).toHaveLength(2)
    expect(await progress()).toMatchObject({ done: 0 })
    await query(`update jobs set lease_until = 0 where id = ?`, await jobOf())
    await work()
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', done: 3, failed: 0 })
    expect(asked).toHaveLength(3)
  })

  it('waits for tracks that are being processed for another reason, and makes them again if they need it', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    const [id] = await doneTracks(1)
    await ok('POST', `/v1/track/${id}/reprocess`, { key: shop.key, bindings })
    await work()
    await ok('POST', `/v1/track/${id}/reprocess`, { key: shop.key, bindings })
    await post()
    await step()
    expect(await progress()).toMatchObject({ state: 'running', done: 0 })
    await work()
    await finish()
    expect([asked.length, (await progress()).done]).toEqual([2, 1])
  })

  it('leaves tracks that are deleted, and counts none that come later', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await doneTracks(4)
    await post()
    await step()
    for (const id of [ids[0], ids[3]]) await ok('DELETE', `/v1/track/${id}`, { key: shop.key })
    await db
      .update(tracks)
      .set({ created_at: Date.now() + 1000 })
      .where(eq(tracks.id, await aDoneTrack()))
    await finish()
    expect(await progress()).toMatchObject({ state: 'done', total: 2, done: 2, failed: 0 })
  })

  it('misses no track when their order changes', async () => {
    const { transcodes: asked } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await doneTracks(5)
    await post()
    await step()
    await ok('PUT', `/v1/collection/${shop.collection_id}/track/order`, {
      key: shop.key,
      body: { track_ids: ids.toReversed() },
    })
    await finish()
    expect([asked.length, (await progress()).done]).toEqual([5, 5])
  })

  it('ends with its collection', async () => {
    await doneTracks(1)
    await post()
    const job_id = await jobOf()
    await ok('DELETE', `/v1/collection/${shop.collection_id}`, { key: shop.key })
    await refused(404, 'not_found', 'GET', path(), { key: shop.key })
    await refused(404, 'not_found', 'POST', path(), { key: shop.key })
    await deliver('task', { job_id }, { bindings })
    expect((await jobRow(job_id)).state).toBe('done')
    expect(await db.select().from(reprocesses)).toEqual([])
  })

  it('is 404 when the collection is deleted in the moment in which it is asked for', async () => {
    const racing = beforeBatch(() => query('delete from collections where id = ?', shop.collection_id))
    const answer = await call('POST', path(), { key: shop.key, bindings: racing })
    expect([answer.status, await db.select().from(reprocesses)]).toEqual([404, []])
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'reprocess'`)).toEqual([])
  })
})

describe('rows', () => {
  it('that one step reads and writes are bounded, in a collection of 10,000 tracks', async () => {
    await seed('tracks', 1, 10_000, shop, { plain: true })
    await query(`update tracks set status = 'ready'`)
    const asking = await rowsDuring(() => post())
    expect(asking.read).toBeLessThan(20)
    let steps = 0
    while ((await progress()).state === 'running') {
      const { read, written } = await rowsDuring(() => step())
      expect(read).toBeLessThan(600)
      expect(written).toBeLessThan(20)
      steps++
    }
    expect(steps).toBeLessThan(40)
    expect(await progress()).toMatchObject({ total: 10_000, done: 10_000 })
  })
})
