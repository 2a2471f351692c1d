import { beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import { aPlaySession, db, ok, expectError } from '../support/api.ts'
import { aTrackWithJob, eventually, fileRows, stopTime, storedFiles, trackRow } from '../support/fixtures.ts'
import { signedParts } from '../support/signature.ts'
import { errorEvent, eventStream, openStream, PALETTE, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** Tests a job from its row in the database to a playable track, or to the reason for its failure (docs/architecture.md#how-audio-flows). */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
})
const done = { ended: true }

describe('a job', () => {
  it('requests every variant, each with its own signed URL, and the embedded cover', async () => {
    const { transcodes } = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await work.run()
    const [request] = transcodes
    expect(request).toMatchObject({ version: 1, job_id: work.job_id, pass: 'strict', max_duration: 43200 })
    expect(signedParts(request!.source.url).key).toMatch(/^uploads\//)
    expect(request!.source.size).toBe(10)
    const base = `media/${work.organization_id}/${work.collection_id}/${work.row.index}/${work.job_id.slice(-8)}`
    const keys = request!.variants.map(({ url }) => signedParts(url).key)
    expect(keys).toEqual(
      [
        'aac-160.m4a',
        'mp3-128.mp3',
        'opus-96.webm',
        'lossless.flac',
        'preview.mp3',
        'waveform.json',
        'analysis.json',
      ].map((name) => `${base}/${name}`),
    )
    expect(signedParts(request!.cover!.icon).key).toBe(`${base}/cover/icon.jpg`)
  })

  it('makes the track ready', async () => {
    startTranscoder({
      transcode: () => eventStream({ type: 'ping' }, { type: 'progress', fraction: 0.5 }, lossyResult()),
    })
    expect(await work.run()).toEqual(done)
    expect(await work.read()).toMatchObject({
      status: 'ready',
      track_status_id: 'ready',
      duration: 12.346,
      info: { codec: 'mp3', sample_rate: 44100, warnings: [], skipped_variants: [{ index: 'lossless' }] },
    })
    expect((await work.read()).info).not.toHaveProperty('progress')
    expect(await work.job()).toMatchObject({ state: 'done', attempt: 1 })
    const rows = await fileRows(work.track_id)
    expect(rows.find(({ index }) => index === 'original')).toMatchObject({ size: 10, bitrate: 192, duration: 12.3456 })
    expect(rows.find(({ index }) => index === 'aac-160')).toMatchObject({ size: 1000, bitrate: 160 })
    expect(rows).toHaveLength(7)
    const { first_track } = await aPlaySession(work.key, 'track', work.track_id)
    expect(first_track!.levels.levels).toHaveLength(320)
    expect(first_track!.variants).toHaveLength(3)
  })

  it('leaves the track incomplete when a variant failed', async () => {
    const failed = [{ index: 'opus-96', message: 'encoder crashed' }]
    startTranscoder({ transcode: () => eventStream(lossyResult({ failed })) })
    await work.run()
    expect(await work.read()).toMatchObject({ status: 'incomplete', info: { failed_variants: failed } })
  })

  it('fails with a reason when the file is faulty', async () => {
    startTranscoder({ transcode: () => eventStream(errorEvent('no_audio', 'The file has no sound')) })
    expect(await work.run()).toEqual(done)
    expect(await work.read()).toMatchObject({
      status: 'failed',
      info: { error: { code: 'no_audio', message: 'The file has no sound', attempt: 1 } },
    })
    expect(await work.job()).toMatchObject({ state: 'failed', error: { code: 'no_audio' } })
  })

  it('reports its progress', async () => {
    const stream = openStream()
    startTranscoder({ transcode: () => stream.response })
    stopTime()
    const running = work.run()
    await eventually(async () => {
      vi.setSystemTime(Date.now() + 2000)
      stream.send({ type: 'progress', fraction: 0.4242 })
      return (await work.read()).info.progress === 0.424
    })
    stream.send(lossyResult())
    await running
    expect((await work.read()).info).not.toHaveProperty('progress')
  })

  it('reports the second, tolerant pass, and continues with this pass after a restart', async () => {
    const stream = openStream()
    const { transcodes } = startTranscoder({
      transcode: (_, call) => (call === 1 ? stream.response : eventStream(lossyResult())),
    })
    const running = work.run()
    stream.send({ type: 'fallback', reason: 'decoding failed' })
    await eventually(async () => (await work.read()).status === 'fallback_processing')
    stream.end()
    expect(await running).toMatchObject({ ended: false })
    await work.changeJob({ lease_until: 0 })
    await work.run()
    expect(transcodes.map(({ pass }) => pass)).toEqual(['strict', 'tolerant'])
    expect((await work.read()).status).toBe('ready')
  })

  it('stores the embedded cover if the track has none', async () => {
    const cover = { image_colors: PALETTE }
    startTranscoder({ transcode: () => eventStream(lossyResult({ cover })) })
    await work.run()
    expect((await work.read()).image_colors).toEqual(PALETTE)
    expect((await trackRow(work.track_id)).cover_path).toMatch(/\/cover$/)
  })

  it('does not request an embedded cover when the track has one, and ignores it when a cover was uploaded in the meantime', async () => {
    const own_cover = { cover_path: 'media/own', cover_colors: [] }
    const { transcodes } = startTranscoder({
      transcode: async () => {
        await db.update(tracks).set(own_cover)
        return eventStream(lossyResult({ cover: { image_colors: PALETTE } }))
      },
    })
    await work.run()
    expect(transcodes[0]!.cover).not.toBeNull()
    expect(await trackRow(work.track_id)).toMatchObject(own_cover)
    await db.update(jobs).set({ state: 'open', lease_until: 0, holder: null })
    await work.run()
    expect(transcodes[1]!.cover).toBeNull()
  })
})

describe('two consumers', () => {
  it('run a job only once', async () => {
    const { transcodes } = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    // A consumer may check the job before the job of another consumer is followed.
    await Promise.all([work.run(), work.run(), work.run()])
    await eventually(async () => (await work.job()).state === 'done')
    expect(transcodes).toHaveLength(1)
    expect(await work.run()).toEqual(done)
    expect(transcodes).toHaveLength(1)
  })

  it('do not both write: the result of a consumer that lost its lease is ignored', async () => {
    const slow = openStream()
    const { transcodes } = startTranscoder({
      transcode: (_, call) => (call === 1 ? slow.response : eventStream(lossyResult({ duration: 2 }))),
    })
    const first = work.run()
    await eventually(async () => transcodes.length === 1)
    await work.changeJob({ lease_until: 0 })
    expect(await work.run()).toEqual(done)
    slow.send(lossyResult({ duration: 1 }))
    expect(await first).toEqual(done)
    expect(await work.read()).toMatchObject({ status: 'ready', duration: 2 })
    expect(await work.job()).toMatchObject({ state: 'done', attempt: 1 })
  })

  it("do not delete each other's files", async () => {
    const slow = openStream()
    const { transcodes } = startTranscoder({
      transcode: (_, call) => (call === 1 ? slow.response : eventStream(lossyResult())),
    })
    const first = work.run()
    await eventually(async () => transcodes.length === 1)
    await work.changeJob({ lease_until: 0 })
    await work.run()
    // Both consumers are attached to the same transcoder job, so both receive its result.
    slow.send(lossyResult())
    await first
    expect((await db.select().from(jobs)).map(({ payload }) => payload.kind)).toEqual(['transcode'])
  })

  it('stop reading when they lose the lease of the job', async () => {
    const slow = openStream()
    const { transcodes } = startTranscoder({ transcode: () => slow.response })
    stopTime()
    const first = work.run()
    await eventually(async () => transcodes.length === 1)
    await work.changeJob({ holder: 'another' })
    vi.setSystemTime(Date.now() + 40_000)
    slow.send({ type: 'progress', fraction: 0.9 })
    await first
    expect((await trackRow(work.track_id)).progress).toBe(0)
  })
})

describe('a track that is deleted during its job', () => {
  it('is not recreated by the result', async () => {
    const stream = openStream()
    startTranscoder({ transcode: () => stream.response })
    const running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    await ok('DELETE', `/v1/track/${work.track_id}`, { key: work.key })
    await eventually(async () => (await storedFiles()).length === 0)
    stream.send(lossyResult())
    expect(await running).toEqual(done)
    await expectError(404, 'not_found', 'GET', `/v1/track/${work.track_id}`, { key: work.key })
  })

  it('does not keep its job open when its whole collection is deleted', async () => {
    await ok('DELETE', `/v1/collection/${work.collection_id}`, { key: work.key })
    expect(await work.run()).toEqual(done)
    expect((await work.job()).state).not.toBe('open')
  })
})
