import { afterEach, describe, expect, it, vi } from 'vitest'

import type { JobEvent } from '../../../src/contract/job.ts'
import { aWaitingTrack, call, ok, query, readTrack } from '../support/api.ts'
import { aTenant, beforeBatch, eventually, advanceHours, storedFiles, runSweep, trackRow } from '../support/fixtures.ts'
import { aPlayedTrack } from '../support/played_track.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { untilIdle } from '../support/row_counter.ts'
import { errorEvent, completeResult, serveTranscoder } from '../support/transcoder.ts'
import { aTrackWithHandles, putFile, serveSources } from '../support/upload_handles.ts'

afterEach(() => void vi.useRealTimers())

const noAudio: JobEvent = errorEvent('no_audio', 'No audio')
describe('reprocessing', () => {
  it('returns 409 for a track that never had a file', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const { status, body } = await call('POST', `/v1/track/${track_id}/reprocess`, { key })
    expect([status, body.code]).toEqual([409, 'track_not_uploaded'])
  })

  it('generates the variants again while the track plays, and purges the old files when no URL to them is valid any more', async () => {
    const jobs = serveTranscoder()
    const { read, reprocess, plays } = await aPlayedTrack()
    const before = await plays()
    const { body } = await reprocess()
    expect(body.track.status).toBe('processing')
    expect(await plays()).toHaveLength(before.length)
    await eventually(async () => (await read()).status === 'ready')
    expect(jobs.length).toBe(2)
    expect(jobs[1]!.source.url.split('?')[0]).toBe(jobs[0]!.source.url.split('?')[0])
    const after = await plays()
    expect(after.filter((path) => before.includes(path))).toEqual([])
    // The URLs of the session are valid for an hour.
    advanceHours(1)
    await runSweep()
    await untilIdle()
    expect(await storedFiles()).toEqual(expect.arrayContaining([...before, ...after]))
    advanceHours(2)
    await runSweep()
    await eventually(async () => (await storedFiles()).every((path) => !before.includes(path)))
    // The uploaded file is the variant `original`, so it is kept.
    expect(await storedFiles('uploads/')).toHaveLength(1)
    expect(await storedFiles()).toEqual(expect.arrayContaining(after))
  })

  it('runs once, regardless of how many times it is requested', async () => {
    let finished = false
    let first = true
    const jobs = serveTranscoder(async (job) => {
      const waits = () => !first && !finished
      while (waits()) await scheduler.wait(5)
      first = false
      return completeResult(job)
    })
    const { read, reprocess } = await aPlayedTrack()
    const answers = await Promise.all([1, 2, 3, 4].map(reprocess))
    expect(answers.map(({ body }) => body.track.status)).toEqual(Array(4).fill('processing'))
    expect(await query(`select id from jobs where state = 'open'`)).toHaveLength(1)
    finished = true
    await eventually(async () => (await read()).status === 'ready')
    expect(jobs.length).toBe(2)
  })

  it('does not restore an older source when a new file is accepted at the same time', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await putFile(track.first, 9)
    await track.complete()
    await eventually(async () => (await track.read()).status === 'ready')
    const renewed = await track.renew({ file_name: 'b.wav' })
    let times = 0
    const bindings = beforeBatch(async () => {
      if (times++ > 0) return
      await putFile(renewed, 12)
      await track.complete()
      await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    })
    await ok('POST', `${track.at}/reprocess`, { key: track.key, bindings })
    await track.isOnly(12, 'b.wav', [])
  })

  it('keeps the variants when it fails, and reports the track as incomplete with the reason', async () => {
    let fails = false
    serveTranscoder((job) => (fails ? noAudio : completeResult(job)))
    const { read, reprocess, plays } = await aPlayedTrack()
    const before = await plays()
    fails = true
    await reprocess()
    await eventually(async () => (await read()).status === 'incomplete')
    expect((await read()).info.error).toMatchObject({ code: 'no_audio', message: 'No audio' })
    expect(await plays()).toEqual(before)
    expect(await storedFiles()).toEqual(expect.arrayContaining(before))
    fails = false
    await reprocess()
    await eventually(async () => (await read()).status === 'ready')
    expect((await read()).info.error).toBe(undefined)
  })

  it('processes a failed track again', async () => {
    let fails = true
    serveTranscoder((job) => (fails ? noAudio : completeResult(job)))
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    await uploadAndProcess(key, track_id, 'failed')
    fails = false
    await ok('POST', `/v1/track/${track_id}/reprocess`, { key })
    await eventually(async () => (await readTrack(key, track_id)).status === 'ready')
  })
})
