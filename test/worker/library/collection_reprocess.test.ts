import { beforeEach, describe, expect, it } from 'vitest'

import { aCollection, aPlaySession, aTrack, ok } from '../support/api.ts'
import { aReadyTrack, eventually, trackRow, putUpload } from '../support/fixtures.ts'
import { aTenantWithHeldQueues } from '../support/held_queues.ts'
import { errorEvent, eventStream, completeResult, serveTranscoder, startTranscoder } from '../support/transcoder.ts'

/** Reprocessing brings the files of a collection's tracks up to date with the current variants. */

let tenant: Awaited<ReturnType<typeof aTenantWithHeldQueues>>
beforeEach(async () => {
  tenant = await aTenantWithHeldQueues()
})

describe('the reprocess of a collection', () => {
  it('updates all tracks, reports its progress, and does nothing when it is requested again', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const ids = await tenant.doneTracks(5)
    await tenant.define('Radio')
    expect(await tenant.progress()).toBe(null)
    const started = await tenant.post()
    expect(started).toEqual({
      state: 'running',
      all: false,
      total: 5,
      done: 0,
      failed: 0,
      started_at: expect.any(String),
      finished_at: null,
    })
    await tenant.step()
    await tenant.work()
    await tenant.step()
    expect(await tenant.progress()).toMatchObject({ state: 'running', total: 5, done: 2, failed: 0 })
    await tenant.finish()
    const { finished_at, ...ended } = await tenant.progress()
    expect(ended).toEqual({ state: 'done', all: false, total: 5, done: 5, failed: 0, started_at: started.started_at })
    expect(Date.parse(finished_at)).toBeGreaterThanOrEqual(Date.parse(started.started_at))
    expect(transcodes).toHaveLength(5)
    for (const id of ids) {
      const { first_track } = await aPlaySession(tenant.key, 'track', id, { variants: ['radio'] })
      expect(first_track!.variants).toHaveLength(1)
    }
    await tenant.post()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 5, done: 5, failed: 0 })
    expect(transcodes).toHaveLength(5)
  })

  it('processes only tracks that lack a variant or have a variant with outdated settings', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const { id: variant_id } = await tenant.define('Radio')
    await tenant.doneTracks(1)
    await tenant.post()
    await tenant.finish()
    const [late] = await tenant.doneTracks(1)
    await tenant.post()
    await tenant.finish()
    expect(transcodes).toHaveLength(2)
    expect((await trackRow(late!)).made_with).toHaveLength(8 * 8)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: tenant.key, body: { name: 'Other name' } })
    await tenant.post()
    await tenant.finish()
    expect(transcodes).toHaveLength(2)
    await ok('PUT', `/v1/variant/${variant_id}`, { key: tenant.key, body: { bitrate: 64 } })
    await tenant.post()
    await tenant.finish()
    expect(transcodes).toHaveLength(4)
    // A variant that was deleted does not count as missing.
    await ok('DELETE', `/v1/variant/${variant_id}`, { key: tenant.key })
    await tenant.post()
    await tenant.finish()
    expect(transcodes).toHaveLength(4)
  })

  it('processes tracks whose last upload failed, although they still play their old files', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const [id] = await tenant.doneTracks(1)
    await tenant.post()
    await tenant.finish()
    startTranscoder({
      transcode: () => eventStream(errorEvent('decode_failed', 'The audio is damaged or not decodable.')),
    })
    await ok('POST', `/v1/track/${id}/reprocess`, { key: tenant.key, bindings: tenant.bindings })
    await tenant.work()
    expect(await tenant.statuses([id!])).toEqual(['incomplete'])
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await tenant.post()
    await tenant.finish()
    expect(await tenant.statuses([id!])).toEqual(['ready'])
  })

  it('processes every track when all tracks are requested', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await tenant.doneTracks(3)
    await tenant.post()
    await tenant.finish()
    await tenant.post({ all: true })
    await tenant.finish()
    expect(transcodes).toHaveLength(6)
    expect(await tenant.progress()).toMatchObject({ all: true, total: 3, done: 3 })
  })

  it('counts tracks with a missing variant as failed, and processes them again on the next request', async () => {
    const [good, bad, half] = await tenant.doneTracks(3)
    const failed = [{ index: 'radio', message: 'The mp3 encoder failed.' }]
    let broken = true
    startTranscoder({
      transcode: (job) => {
        if (broken && job.source.url.includes(bad!)) return eventStream(errorEvent('no_audio', 'No audio'))
        return eventStream(
          completeResult(job, broken && job.source.url.includes(half!) ? { failed, variants: [] } : {}),
        )
      },
    })
    await tenant.post()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 3, done: 1, failed: 2 })
    expect(await tenant.statuses([good!, bad!, half!])).toEqual(['ready', 'incomplete', 'incomplete'])
    broken = false
    await tenant.post()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 3, done: 3, failed: 0 })
    expect(await tenant.statuses([good!, bad!, half!])).toEqual(['ready', 'ready', 'ready'])
  })

  it('skips tracks without a file, and counts tracks whose file is missing as failed', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await aTrack(tenant.key, tenant.collection_id)
    await aReadyTrack(tenant.key, tenant.collection_id)
    await tenant.post()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 2, done: 1, failed: 1 })
  })

  it('is complete at once for an empty collection', async () => {
    await tenant.post()
    await tenant.finish()
    expect(await tenant.progress()).toMatchObject({ state: 'done', total: 0, done: 0, failed: 0 })
  })

  it('keeps the tracks playable while it runs', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const [id] = await tenant.doneTracks(1)
    const { play_session_id } = await aPlaySession(tenant.key, 'track', id!)
    const view = () => ok('GET', `/v1/play/${play_session_id}/${id}`)
    const before = await view()
    await tenant.post()
    await tenant.step()
    expect((await trackRow(id!)).status).toBe('processing')
    expect((await view()).variants.map((v) => v.path)).toEqual(before.variants.map((v) => v.path))
    expect((await view()).track.is_preliminary).toBe(false)
    await tenant.work()
    expect((await view()).variants[0]!.path).not.toBe(before.variants[0]!.path)
  })

  it('completes when it runs through the real queues', async () => {
    const jobs = serveTranscoder()
    await tenant.doneTracks(3)
    await ok('POST', tenant.path(), { key: tenant.key })
    await eventually(async () => jobs.length > 0)
    // Two tracks are processed at a time, and the reprocess job runs again every few seconds.
    await expect.poll(async () => (await tenant.progress()).state, { timeout: 25_000, interval: 100 }).toBe('done')
    expect([jobs.length, (await tenant.progress()).done]).toEqual([3, 3])
  })
})

describe('the transcode queue', () => {
  it('contains at most two reprocess transcodes, regardless of the number of collections', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const other = (await aCollection(tenant.key)).id
    const [own_ids, other_ids] = [await tenant.doneTracks(4), await tenant.doneTracks(4, other)]
    await tenant.post()
    await tenant.post({}, other)
    await Promise.all([tenant.step(), tenant.step(other), tenant.step(), tenant.step(other)])
    await tenant.step(other)
    const processing = async () =>
      (await tenant.statuses([...own_ids, ...other_ids])).filter((status) => status === 'processing')
    expect(await processing()).toHaveLength(2)
    expect(tenant.transcodes).toHaveLength(2)
    await tenant.work()
    await tenant.step()
    await tenant.step(other)
    expect(await processing()).toHaveLength(2)
    for (let turn = 0; turn < 20; turn++) {
      await tenant.step()
      await tenant.step(other)
      expect((await processing()).length).toBeLessThanOrEqual(2)
      await tenant.work()
    }
    expect([await tenant.progress(), await tenant.progress(other)]).toMatchObject([
      { state: 'done', done: 4 },
      { state: 'done', done: 4 },
    ])
  })

  it('accepts a new upload at once while a collection is reprocessed', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await tenant.doneTracks(4)
    await tenant.post()
    await tenant.step()
    const track = await aTrack(tenant.key, tenant.collection_id)
    await putUpload(await trackRow(track.id))
    await ok('POST', `/v1/track/${track.id}/upload_complete`, { key: tenant.key, bindings: tenant.bindings })
    // The upload is third in the queue: after the two reprocess transcodes that are already there, and before the others.
    expect(tenant.transcodes).toHaveLength(3)
    const { job_id } = await trackRow(track.id)
    expect(tenant.transcodes[2]).toBe(job_id)
    await tenant.step()
    expect(tenant.transcodes).toHaveLength(3)
  })

  it('does not hold back a reprocess that starts no transcodes', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const other = (await aCollection(tenant.key)).id
    await tenant.doneTracks(4)
    await tenant.post()
    await tenant.step()
    await aTrack(tenant.key, other)
    await tenant.post({}, other)
    await tenant.step(other)
    expect(await tenant.progress(other)).toMatchObject({ state: 'done', done: 1 })
  })
})
