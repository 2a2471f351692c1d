import { beforeEach, describe, expect, it } from 'vitest'

import { aReadyTrack, eventually, trackRow, upload } from './fixtures.ts'
import { aHeldShop } from './held_shop.ts'
import { aCollection, aTrack, ok } from './support.ts'
import { error, events, made, serveTranscoder, startTranscoder } from './transcoder.ts'

/** Reprocessing brings a collection's tracks up to date with the current variants. */

let shop: Awaited<ReturnType<typeof aHeldShop>>
beforeEach(async () => {
  shop = await aHeldShop()
})

describe('the reprocess of a collection', () => {
  it('updates all tracks, reports its progress, and does nothing on a second request', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    const ids = await shop.doneTracks(5)
    await shop.define('Radio')
    expect(await shop.progress()).toBe(null)
    const started = await shop.post()
    expect(started).toEqual({
      state: 'running',
      all: false,
      total: 5,
      done: 0,
      failed: 0,
      started_at: expect.any(String),
      finished_at: null,
    })
    await shop.step()
    await shop.work()
    await shop.step()
    expect(await shop.progress()).toMatchObject({ state: 'running', total: 5, done: 2, failed: 0 })
    await shop.finish()
    const { finished_at, ...ended } = await shop.progress()
    expect(ended).toEqual({ state: 'done', all: false, total: 5, done: 5, failed: 0, started_at: started.started_at })
    expect(Date.parse(finished_at)).toBeGreaterThanOrEqual(Date.parse(started.started_at))
    expect(transcodes).toHaveLength(5)
    for (const id of ids) {
      const body = { track_id: id, variants: ['radio'] }
      const { first_track } = await ok('POST', '/v1/play_session/track', { key: shop.key, body })
      expect(first_track!.variants).toHaveLength(1)
    }
    await shop.post()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 5, done: 5, failed: 0 })
    expect(transcodes).toHaveLength(5)
  })

  it('reprocesses only tracks that lack a variant or have it with other settings', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    const { variant_id } = await shop.define('Radio')
    await shop.doneTracks(1)
    await shop.post()
    await shop.finish()
    const [late] = await shop.doneTracks(1)
    await shop.post()
    await shop.finish()
    expect(transcodes).toHaveLength(2)
    expect((await trackRow(late!)).made_with).toHaveLength(8)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: shop.key, body: { name: 'Other name' } })
    await shop.post()
    await shop.finish()
    expect(transcodes).toHaveLength(2)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: shop.key, body: { bitrate: 64 } })
    await shop.post()
    await shop.finish()
    expect(transcodes).toHaveLength(4)
    // A variant that was deleted does not count as missing.
    await ok('DELETE', `/v1/variant/${variant_id}`, { key: shop.key })
    await shop.post()
    await shop.finish()
    expect(transcodes).toHaveLength(4)
  })

  it('reprocesses tracks whose last upload failed, although they still play their old files', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const [id] = await shop.doneTracks(1)
    await shop.post()
    await shop.finish()
    startTranscoder({ transcode: () => events(error('decode_failed', 'The audio is damaged or not decodable.')) })
    await ok('POST', `/v1/track/${id}/reprocess`, { key: shop.key, bindings: shop.bindings })
    await shop.work()
    expect(await shop.statuses([id!])).toEqual(['incomplete'])
    startTranscoder({ transcode: (job) => events(made(job)) })
    await shop.post()
    await shop.finish()
    expect(await shop.statuses([id!])).toEqual(['ready'])
  })

  it('reprocesses every track when all are requested', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => events(made(job)) })
    await shop.doneTracks(3)
    await shop.post()
    await shop.finish()
    await shop.post({ all: true })
    await shop.finish()
    expect(transcodes).toHaveLength(6)
    expect(await shop.progress()).toMatchObject({ all: true, total: 3, done: 3 })
  })

  it('counts tracks with a missing variant as failed, and tries them again on the next request', async () => {
    const [good, bad, half] = await shop.doneTracks(3)
    const failed = [{ index: 'radio', message: 'The mp3 encoder failed.' }]
    let broken = true
    startTranscoder({
      transcode: (job) => {
        if (broken && job.source.url.includes(bad!)) return events(error('no_audio', 'No audio'))
        return events(made(job, broken && job.source.url.includes(half!) ? { failed, variants: [] } : {}))
      },
    })
    await shop.post()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 3, done: 1, failed: 2 })
    expect(await shop.statuses([good!, bad!, half!])).toEqual(['ready', 'incomplete', 'incomplete'])
    broken = false
    await shop.post()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 3, done: 3, failed: 0 })
    expect(await shop.statuses([good!, bad!, half!])).toEqual(['ready', 'ready', 'ready'])
  })

  it('skips tracks without a file, and counts tracks whose file is missing as failed', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    await aTrack(shop.key, shop.collection_id)
    await aReadyTrack(shop.key, shop.collection_id)
    await shop.post()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 2, done: 1, failed: 1 })
  })

  it('is done at once for an empty collection', async () => {
    await shop.post()
    await shop.finish()
    expect(await shop.progress()).toMatchObject({ state: 'done', total: 0, done: 0, failed: 0 })
  })

  it('keeps the tracks playable', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const [id] = await shop.doneTracks(1)
    const { play_session_id } = await ok('POST', '/v1/play_session/track', { key: shop.key, body: { track_id: id } })
    const view = () => ok('GET', `/v1/play/${play_session_id}/${id}`)
    const before = await view()
    await shop.post()
    await shop.step()
    expect((await trackRow(id!)).status).toBe('processing')
    expect((await view()).variants.map((v) => v.path)).toEqual(before.variants.map((v) => v.path))
    expect((await view()).track.is_preliminary).toBe(false)
    await shop.work()
    expect((await view()).variants[0]!.path).not.toBe(before.variants[0]!.path)
  })

  it('completes through the real queues', async () => {
    const jobs = serveTranscoder()
    await shop.doneTracks(3)
    await ok('POST', shop.path(), { key: shop.key })
    await eventually(async () => jobs.length > 0)
    // Two at a time; the reprocess job is due again every few seconds.
    await expect.poll(async () => (await shop.progress()).state, { timeout: 25_000, interval: 100 }).toBe('done')
    expect([jobs.length, (await shop.progress()).done]).toEqual([3, 3])
  })
})

describe('the transcode queue', () => {
  it('holds at most two reprocess transcodes, however many collections are processed', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const other = (await aCollection(shop.key)).id
    const [own_ids, other_ids] = [await shop.doneTracks(4), await shop.doneTracks(4, other)]
    await shop.post()
    await shop.post({}, other)
    await Promise.all([shop.step(), shop.step(other), shop.step(), shop.step(other)])
    await shop.step(other)
    const processing = async () =>
      (await shop.statuses([...own_ids, ...other_ids])).filter((status) => status === 'processing')
    expect(await processing()).toHaveLength(2)
    expect(shop.transcodes).toHaveLength(2)
    await shop.work()
    await shop.step()
    await shop.step(other)
    expect(await processing()).toHaveLength(2)
    for (let turn = 0; turn < 20; turn++) {
      await shop.step()
      await shop.step(other)
      expect((await processing()).length).toBeLessThanOrEqual(2)
      await shop.work()
    }
    expect([await shop.progress(), await shop.progress(other)]).toMatchObject([
      { state: 'done', done: 4 },
      { state: 'done', done: 4 },
    ])
  })

  it('accepts a new upload at once while a collection is reprocessed', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    await shop.doneTracks(4)
    await shop.post()
    await shop.step()
    const track = await aTrack(shop.key, shop.collection_id)
    await upload(await trackRow(track.id))
    await ok('POST', `/v1/track/${track.id}/upload_complete`, { key: shop.key, bindings: shop.bindings })
    // Behind the two that are queued, and before all others.
    expect(shop.transcodes).toHaveLength(3)
    const { job_id } = await trackRow(track.id)
    expect(shop.transcodes[2]).toBe(job_id)
    await shop.step()
    expect(shop.transcodes).toHaveLength(3)
  })

  it('does not hold back a reprocess that starts no transcodes', async () => {
    startTranscoder({ transcode: (job) => events(made(job)) })
    const other = (await aCollection(shop.key)).id
    await shop.doneTracks(4)
    await shop.post()
    await shop.step()
    await aTrack(shop.key, other)
    await shop.post({}, other)
    await shop.step(other)
    expect(await shop.progress(other)).toMatchObject({ state: 'done', done: 1 })
  })
})
