import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { db, ok } from '../support/api.ts'
import { deliver, eventually, storedFiles, trackRow } from '../support/fixtures.ts'
import { aLongTrack, early } from '../support/long_track.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'
import { errorEvent, eventStream, completeResult, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** Tests when an early file is requested and recorded, and when it is not. */

let work: Awaited<ReturnType<typeof aLongTrack>>
beforeEach(async () => {
  work = await aLongTrack()
})
afterEach(async () => {
  vi.useRealTimers()
  await work.leave()
})

describe('a job', () => {
  it('requests an early file for sources of at least 30 seconds', async () => {
    const { transcodes } = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await work.run()
    const { url, from_duration } = transcodes[0]!.early!
    expect([from_duration, signedParts(url).key]).toEqual([30, `${work.base}/early`])
    expect(await isSignedFor('PUT', url)).toBe(true)
  })

  it('requests no early file when the track already plays', async () => {
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await work.run()
    await ok('POST', `/v1/track/${work.track_id}/reprocess`, { key: work.key })
    await eventually(async () => transcodes.length === 2)
    expect(transcodes.map((job) => job.early === null)).toEqual([false, true])
  })

  it('requests an early file again when it restarts after a fault, even if the track has one', async () => {
    const transcodes = await work.startEarly()
    await work.end()
    const again = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await work.changeJob({ lease_until: 0 })
    await work.run()
    expect([...transcodes, ...again.transcodes].map((job) => job.early === null)).toEqual([false, false])
    expect((await work.read()).status).toBe('ready')
  })
})

describe('an early file is not recorded', () => {
  it('for a track that already has its final files', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await work.run()
    const before = await work.rows()
    await db.update(tracks).set({ status: 'processing' })
    await work.changeJob({ state: 'open', lease_until: 0 })
    startTranscoder({ transcode: () => eventStream(early({ duration: 1 }), errorEvent('no_audio', 'No audio')) })
    await work.run()
    expect(await work.rows()).toEqual(before)
    expect(await work.read()).toMatchObject({ status: 'incomplete', duration: 12.5 })
  })

  it.each([
    ['lost its lease', () => work.changeJob({ holder: 'another' })],
    ['is no longer the track’s', () => db.update(tracks).set({ job_id: 'newer' })],
    ['was ended', () => work.changeJob({ state: 'done' })],
  ])('from a job that %s', async (_, happens) => {
    await work.start()
    await happens()
    await work.end(early())
    expect([await work.rows(), (await trackRow(work.track_id)).duration]).toEqual([[], 0])
  })

  it('for a variant that the job does not generate', async () => {
    startTranscoder({ transcode: () => eventStream(early({ index: 'wav' }), errorEvent('no_audio', 'No audio')) })
    await work.run()
    expect(await work.rows()).toEqual([])
  })
})

it("an early file of a deleted track is deleted with the track's other files", async () => {
  await work.startEarly()
  await ok('DELETE', `/v1/track/${work.track_id}`, { key: work.key })
  await eventually(async () => (await storedFiles()).length === 0)
  work.stream.send(early())
  await work.end(errorEvent('cancelled', 'The job was cancelled.', true))
  expect(await work.rows()).toEqual([])
  await deliver('transcode', { job_id: work.job_id })
  expect((await work.job()).state).toBe('done')
})
