import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { ok, query } from '../support/api.ts'
import {
  advanceHours,
  beforeBatch,
  deliver,
  eventually,
  followWith,
  runSweep,
  storedFiles,
  untilUnfollowed,
  uploadEvent,
} from '../support/fixtures.ts'
import { aLongTrack, early } from '../support/long_track.ts'
import { completeResult, errorEvent, lossyResult, openStream, startTranscoder } from '../support/transcoder.ts'
import { pathOf, putFile } from '../support/upload_handles.ts'

/** A newer file that arrives while an early file plays: a play view never mixes the two, and no file is left behind. */

let work: Awaited<ReturnType<typeof aLongTrack>>
/** The stream of the newer file's job. */
let next: ReturnType<typeof openStream>
beforeEach(async () => {
  work = await aLongTrack()
  next = openStream()
})
afterEach(async () => {
  vi.useRealTimers()
  next.end()
  await work.leave()
  await untilUnfollowed()
})

/** Uploads a newer file, which R2's event announces. Its job runs until the test ends it. */
async function replace() {
  const { key, track_id } = work
  const body = { file_name: 'b.wav' }
  const { track_upload } = await ok('POST', `/v1/track/${track_id}/upload`, { key, body })
  await putFile(track_upload.upload_url, 25)
  const { transcodes } = startTranscoder({ transcode: () => next.response })
  await deliver('ingest', uploadEvent(pathOf(track_upload.upload_url)))
  return transcodes
}
const view = async () => (await work.view()).body
const purged = async () => {
  advanceHours(3)
  await runSweep()
}

describe('the early file of a replaced source', () => {
  it('plays no longer when the newer file is taken, and the newer early file plays under its own name', async () => {
    await work.startEarly()
    expect((await view()).track).toMatchObject({ file_name: work.row.file_name, duration: 3600.123 })
    const transcodes = await replace()
    const { status, body } = await work.view()
    expect([status, body.code]).toEqual([409, 'track_not_ready'])
    expect(await work.read()).toMatchObject({ status: 'processing', duration: 0, file_name: 'b.wav' })
    await eventually(async () => transcodes.length === 1)
    expect(transcodes[0]!.early).toMatchObject({ from_duration: 30 })
    next.send(early({ duration: 40 }))
    await eventually(async () => (await work.view()).status === 200)
    const { track, variants } = await view()
    expect(track).toMatchObject({ file_name: 'b.wav', duration: 40, is_preliminary: true })
    expect(variants.map(({ path }) => path)).toEqual([expect.not.stringContaining(work.base)])
    await purged()
    await eventually(async () => !(await storedFiles('media/')).includes(`${work.base}/early`))
  })

  it.each([
    ['an early file', () => early()],
    ['its result', () => lossyResult()],
  ])('is not recorded when the newer file is taken just before %s', async (_, event) => {
    let isArmed = false
    followWith(
      beforeBatch(async () => {
        if (!isArmed) return
        isArmed = false
        await replace()
      }),
    )
    await work.start()
    if (event().type === 'result') {
      work.stream.send(early())
      await eventually(async () => (await work.rows()).length > 0)
    }
    await env.MEDIA.put(`${work.base}/early`, 'audio')
    isArmed = true
    await work.end(event())
    await untilUnfollowed(work.job_id)
    expect(isArmed).toBe(false)
    expect(await work.rows()).toEqual([])
    expect((await work.view()).body.code).toBe('track_not_ready')
    await purged()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })

  it('is purged if the newer file fails', async () => {
    await work.startEarly()
    await replace()
    next.send(errorEvent('decode_failed', 'The audio is damaged'))
    await eventually(async () => (await work.read()).status === 'failed')
    expect((await work.view()).body.code).toBe('track_not_ready')
    await purged()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })

  it('does not affect the final files of a track that is replaced again', async () => {
    const { transcodes } = startTranscoder({ transcode: () => work.stream.response })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    work.stream.send(completeResult(transcodes[0]!))
    await running
    const before = await view()
    await replace()
    const { track, variants } = await view()
    expect(track).toMatchObject({ file_name: work.row.file_name, duration: 12.5, is_preliminary: false })
    expect(variants.map(({ path }) => path)).toEqual(before.variants.map(({ path }) => path))
    expect(
      await query(
        `select payload from jobs where payload ->> 'kind' = 'purge' and payload ->> '$.paths[0]' like 'media/%'`,
      ),
    ).toEqual([])
  })
})

describe('an early file that the transcoder uploaded and did not report', () => {
  it.each([
    ['is finished', () => lossyResult({ duration: 240 })],
    ['fails', () => errorEvent('decode_failed', 'The audio is damaged')],
  ])('is purged when its job %s', async (_, event) => {
    await work.start()
    await env.MEDIA.put(`${work.base}/early`, 'audio')
    await work.end(event())
    await purged()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })
})
