import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { aTrackWithJob, deliver, followWith, runSweep, stopTime, untilUnfollowed } from '../support/fixtures.ts'
import { errorEvent, eventStream, openStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** Jobs whose transcoder is unreachable, busy, crashed or faulty, and jobs that have no retries left. */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
  stopTime()
})
const due = () => work.changeJob({ lease_until: 0 })

describe('a transcoder', () => {
  it('that is unreachable is retried with increasing delays, and no attempts are counted', async () => {
    for (const retried_in of [5, 10, 20, 40, 60, 60]) {
      expect(await work.run()).toEqual({ ended: false, retried_in })
      expect(await work.job()).toMatchObject({ state: 'open', attempt: 0, slot: null, holder: null })
      await due()
    }
    expect((await work.read()).status).toBe('processing')
  })

  it('that is unreachable for hours causes the track to fail, but the upload is kept', async () => {
    await work.changeJob({ tries: 360 })
    expect(await work.run()).toEqual({ ended: true })
    expect(await work.read()).toMatchObject({
      status: 'failed',
      info: { error: { code: 'transcoder_unavailable', message: expect.stringContaining('kept') } },
    })
    expect(await work.job()).toMatchObject({ state: 'failed', slot: null })
  })

  it('that becomes reachable again causes the number of failures to be reset', async () => {
    await work.changeJob({ tries: 30 })
    startTranscoder({ transcode: () => eventStream({ type: 'progress', fraction: 0.05 }) })
    await work.run()
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 1, tries: 0 })
  })

  it('that is busy gets the job again after its Retry-After', async () => {
    startTranscoder({ transcode: () => new Response('busy', { status: 503, headers: { 'retry-after': '7' } }) })
    expect(await work.run()).toEqual({ ended: false, retried_in: 7 })
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0 })
    await runSweep()
    expect(await work.job()).toMatchObject({ slot: null })
  })

  it.each(['cancelled', 'killed'] as const)(
    'that reports `%s` causes the job to return to the queue, and no attempt is counted',
    async (code) => {
      startTranscoder({ transcode: () => eventStream(errorEvent(code, 'It was stopped.', true)) })
      expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
      expect((await work.job()).attempt).toBe(0)
    },
  )

  it('that is killed repeatedly causes the job to fail with that reason', async () => {
    startTranscoder({ transcode: () => eventStream(errorEvent('killed', 'The machine ended ffmpeg.')) })
    await work.changeJob({ tries: 9 })
    expect(await work.run()).toMatchObject({ ended: false })
    await due()
    expect(await work.run()).toEqual({ ended: true })
    expect((await work.read()).info.error).toMatchObject({ code: 'killed', message: 'The machine ended ffmpeg.' })
  })

  it('that is silent for a minute is abandoned, and no attempt is counted', async () => {
    const wait = scheduler.wait.bind(scheduler)
    const spy = vi.spyOn(scheduler, 'wait')
    spy.mockImplementation((time, options) => wait(time === 60_000 ? 20 : time, options))
    onTestFinished(() => spy.mockRestore())
    startTranscoder({ transcode: () => openStream().response })
    expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0, tries: 1, slot: null })
  })

  it('that disappears together with its follower is not retried forever', async () => {
    await work.changeJob({ tries: 360, holder: 'another', slot: 0, lease_until: 0 })
    const { transcodes } = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    expect(await work.run()).toEqual({ ended: true })
    expect((await work.read()).info.error!.code).toBe('transcoder_unavailable')
    expect(transcodes).toEqual([])
  })

  it('that is not configured is treated as unreachable', async () => {
    followWith({ ...env, TRANSCODER_URL: '' })
    expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0 })
  })

  it('that rejects the request is retried, and the rejection is not counted as a fault of the file', async () => {
    startTranscoder({ transcode: () => new Response('no', { status: 400 }) })
    expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
    await due()
    expect(await work.run()).toEqual({ ended: false, retried_in: 10 })
    expect((await work.job()).attempt).toBe(0)
    expect((await work.read()).status).toBe('processing')
  })

  it('that crashes twice gets a request for the tolerant pass, and its fourth crash fails the job', async () => {
    const { transcodes } = startTranscoder({ transcode: () => eventStream({ type: 'progress', fraction: 0.05 }) })
    const statuses = []
    for (let attempt = 1; attempt <= 4; attempt++) {
      await due()
      await work.run()
      statuses.push((await work.read()).status)
    }
    expect(statuses).toEqual(['processing', 'fallback_processing', 'fallback_processing', 'failed'])
    expect(transcodes.map(({ pass }) => pass)).toEqual(['strict', 'strict', 'tolerant', 'tolerant'])
    expect((await work.read()).info.error).toMatchObject({ code: 'internal', attempt: 4 })
    expect((await work.job()).state).toBe('failed')
  })

  it('that crashes at a later position than before costs no attempt', async () => {
    for (const [fraction, attempt] of [
      [0.4, 0],
      [0.45, 1],
      [0.8, 1],
    ] as const) {
      startTranscoder({ transcode: () => eventStream({ type: 'progress', fraction }) })
      await work.changeJob({ lease_until: 0 })
      await work.run()
      expect([fraction, (await work.job()).attempt]).toEqual([fraction, attempt])
    }
  })

  it('that crashes at the same position again costs an attempt, even if its progress was not yet written', async () => {
    for (const attempt of [0, 1, 2]) {
      const progress = [0.01, 0.5].map((fraction) => ({ type: 'progress' as const, fraction }))
      startTranscoder({ transcode: () => eventStream(...progress) })
      await due()
      await work.run()
      expect((await work.job()).attempt).toBe(attempt)
    }
  })

  it('that sends invalid data is treated like a crash', async () => {
    startTranscoder({ transcode: () => new Response('{"type":"result","result":{}}\n') })
    expect(await work.run()).toEqual({ ended: false, retried_in: 2 })
    expect((await work.read()).status).toBe('processing')
  })

  it('that reports a transient fault is retried, and in the end the job fails with the reported reason', async () => {
    const transient = errorEvent('source_unavailable', 'The source answered 500', true)
    startTranscoder({ transcode: () => eventStream(transient) })
    expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
    expect((await work.read()).status).toBe('processing')
    await work.changeJob({ attempt: 3, lease_until: 0 })
    expect(await work.run()).toEqual({ ended: true })
    expect((await work.read()).info.error).toMatchObject({ code: 'source_unavailable', attempt: 4 })
  })
})

describe('a dead letter', () => {
  const acknowledged = { acknowledged: true, retried_in: undefined }

  it('from the transcode queue does not end its job, which the sweep starts again', async () => {
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    expect(await deliver('dead', { job_id: work.job_id })).toEqual(acknowledged)
    expect(await work.job()).toMatchObject({ state: 'open', holder: null })
    await runSweep()
    await untilUnfollowed()
    expect((await work.read()).status).toBe('ready')
  })

  it('is acknowledged when it does not belong to a job', async () => {
    for (const body of [{ object: { key: 'x' } }, {}, { job_id: 'gone' }]) {
      expect(await deliver('dead', body)).toEqual(acknowledged)
    }
  })
})
