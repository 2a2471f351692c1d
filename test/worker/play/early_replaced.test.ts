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
  storeFiles,
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
let next: ReturnType<typeof openStream> | undefined
beforeEach(async () => {
  work = await aLongTrack()
})
afterEach(async () => {
  vi.useRealTimers()
  next?.end()
  next = undefined
  await work.leave()
  await untilUnfollowed()
})

/** Uploads a newer file, which R2's event announces. Its job runs until the test ends it. `cancel` responds to the end of the previous job. */
async function replace(cancel?: () => Response) {
  const { key, track_id } = work
  const body = { file_name: 'b.wav' }
  const { track_upload } = await ok('POST', `/v1/track/${track_id}/upload`, { key, body })
  await putFile(track_upload.upload_url, 25)
  next?.end()
  const stream = (next = openStream())
  const { transcodes } = startTranscoder({ transcode: () => stream.response, cancel })
  await deliver('ingest', uploadEvent(pathOf(track_upload.upload_url)))
  return transcodes
}
const view = async () => (await work.view()).body
const purged = async () => {
  advanceHours(3)
  await runSweep()
}

describe('the early file of a replaced source', () => {
  it('stops playing when the track takes the newer file, whose early file plays under its own name', async () => {
    await work.startEarly()
    expect((await view()).track).toMatchObject({ file_name: work.row.file_name, duration: 3600.123 })
    const transcodes = await replace()
    const { status, body } = await work.view()
    expect([status, body.code]).toEqual([409, 'track_not_ready'])
    expect(await work.read()).toMatchObject({ status: 'processing', duration: 0, file_name: 'b.wav' })
    await eventually(async () => transcodes.length === 1)
    expect(transcodes[0]!.early).toMatchObject({ from_duration: 30 })
    next!.send(early({ duration: 40 }))
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
        // The previous job keeps its lease, because the transcoder does not confirm its end.
        await replace(() => new Response('busy', { status: 500 }))
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
    // The first sweep ends the job, whose lease has expired, and the second one purges its files.
    for (let time = 0; time < 2; time++) await purged()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })

  it('is purged if its job waits for a retry, even if the newer file fails', async () => {
    await work.startEarly()
    await work.end()
    expect(await work.job()).toMatchObject({ state: 'open', slot: null })
    await replace()
    next!.send(errorEvent('decode_failed', 'The audio is damaged'))
    await eventually(async () => (await work.read()).status === 'failed')
    expect((await work.view()).body.code).toBe('track_not_ready')
    await purged()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })
})

describe('the final files of a track', () => {
  it('play while two newer files replace each other', async () => {
    const { transcodes } = startTranscoder({ transcode: () => work.stream.response })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    await work.end(completeResult(transcodes[0]!))
    await running
    await storeFiles(work.track_id)
    const before = await view()
    const files = await storedFiles('media/')
    await replace()
    await replace()
    const { track, variants } = await view()
    expect(track).toMatchObject({ file_name: work.row.file_name, duration: 12.5, is_preliminary: false })
    expect(variants.map(({ path }) => path)).toEqual(before.variants.map(({ path }) => path))
    await purged()
    await eventually(
      async () =>
        (
          await query(
            `select 1 from jobs where payload ->> 'kind' = 'purge' and state = 'open' and lease_until < ${Date.now()}`,
          )
        ).length === 0,
    )
    expect(await storedFiles('media/')).toEqual(files)
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
