import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { aTrackWithJob, deliver, eventually, runSweep, stopTime, trackRow } from './fixtures.ts'
import { error, events, openStream, result, startTranscoder } from './transcoder.ts'

/** Jobs whose transcoder is away, busy, dies or is at fault, and those that are given up. */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
})
const done = { acknowledged: true, retried_in: undefined }

describe('a transcoder', () => {
  it('that is not to be reached is tried again, and no attempt is counted', async () => {
    expect(await work.run(1)).toEqual({ acknowledged: false, retried_in: 5 })
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0 })
    await work.changeJob({ lease_until: 0 })
    expect(await work.run(4)).toEqual({ acknowledged: false, retried_in: 40 })
    expect((await work.read()).status).toBe('processing')
  })

  it('that is busy is asked again in a new message, as late as it says', async () => {
    startTranscoder({ transcode: () => new Response('busy', { status: 503, headers: { 'retry-after': '7' } }) })
    expect(await work.run()).toEqual(done)
    const { state, attempt, nudge_at } = await work.job()
    expect({ state, attempt }).toEqual({ state: 'open', attempt: 0 })
    // The sweep leaves the message time to come.
    expect(nudge_at).toBeGreaterThan(Date.now() + 7000 + 15_000)
  })

  it('that is busy for hours counts as unreachable', async () => {
    startTranscoder({ transcode: () => new Response('busy', { status: 503, headers: { 'retry-after': '7' } }) })
    await work.changeJob({ created_at: Date.now() - 7 * 3_600_000 })
    expect(await work.run()).toEqual({ acknowledged: false, retried_in: 5 })
  })

  it('that was stopped hands the job back, and the attempt does not count', async () => {
    const error = { code: 'cancelled' as const, message: 'The job was cancelled.', retryable: true }
    startTranscoder({ transcode: () => events({ type: 'error', error }) })
    expect(await work.run()).toEqual({ acknowledged: false, retried_in: 5 })
    expect((await work.job()).attempt).toBe(0)
  })

  it('that does not exist here counts as busy', async () => {
    const bindings = { ...env, TRANSCODER_URL: '' }
    expect(await deliver('transcode', { job_id: work.job_id }, { bindings })).toEqual(done)
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0 })
  })

  it('that refuses is tried again ever later, and that is not the file’s fault', async () => {
    startTranscoder({ transcode: () => new Response('no', { status: 400 }) })
    expect(await work.run()).toEqual({ acknowledged: false, retried_in: 5 })
    await work.changeJob({ lease_until: 0 })
    expect(await work.run(2)).toEqual({ acknowledged: false, retried_in: 10 })
    expect((await work.job()).attempt).toBe(0)
    expect((await work.read()).status).toBe('processing')
  })

  it('that dies twice gets the tolerant pass, and is given up the fourth time', async () => {
    const { transcodes } = startTranscoder({ transcode: () => events({ type: 'progress', fraction: 0.1 }) })
    const statuses = []
    for (let attempt = 1; attempt <= 4; attempt++) {
      await work.changeJob({ lease_until: 0 })
      await work.run(attempt)
      statuses.push((await work.read()).status)
    }
    expect(statuses).toEqual(['processing', 'fallback_processing', 'fallback_processing', 'failed'])
    expect(transcodes.map(({ pass }) => pass)).toEqual(['strict', 'strict', 'tolerant', 'tolerant'])
    expect((await work.read()).info.error).toMatchObject({ code: 'internal', attempt: 4 })
    expect((await work.job()).state).toBe('failed')
  })

  it('that speaks nonsense is like one that died', async () => {
    startTranscoder({ transcode: () => new Response('{"type":"result","result":{}}\n') })
    expect(await work.run()).toEqual({ acknowledged: false, retried_in: 2 })
    expect((await work.read()).status).toBe('processing')
  })

  it('that had a passing fault is tried again, and given up with its reason', async () => {
    const passing = error('source_unavailable', 'The source answered 500', true)
    startTranscoder({ transcode: () => events(passing) })
    expect(await work.run()).toEqual({ acknowledged: false, retried_in: 5 })
    expect((await work.read()).status).toBe('processing')
    await work.changeJob({ attempt: 3, lease_until: 0 })
    expect(await work.run()).toEqual(done)
    expect((await work.read()).info.error).toMatchObject({ code: 'source_unavailable', attempt: 4 })
  })

  it('that takes longer than a consumer may live is followed by the next one', async () => {
    const stream = openStream()
    startTranscoder({ transcode: () => stream.response })
    stopTime()
    const running = work.run()
    stream.send({ type: 'progress', fraction: 0.1 })
    await eventually(async () => (await trackRow(work.track_id)).progress === 0.1)
    vi.setSystemTime(Date.now() + 13 * 60_000)
    stream.send({ type: 'ping' })
    expect(await running).toEqual(done)
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0 })
  })
})

describe('a message that was delivered in vain too often', () => {
  it('ends its job: the transcoder was unavailable', async () => {
    expect(await work.run(11)).toMatchObject({ acknowledged: false })
    expect(await deliver('dead', { job_id: work.job_id })).toEqual(done)
    expect(await work.read()).toMatchObject({
      status: 'failed',
      info: { error: { code: 'transcoder_unavailable', message: expect.stringContaining('kept') } },
    })
    expect((await work.job()).state).toBe('failed')
    await runSweep()
    expect((await work.read()).status).toBe('failed')
  })

  it('does not end a job that somebody works on, or that has ended', async () => {
    const stream = openStream()
    startTranscoder({ transcode: () => stream.response })
    const running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    expect(await deliver('dead', { job_id: work.job_id })).toEqual(done)
    stream.send(result())
    await running
    expect(await deliver('dead', { job_id: work.job_id })).toEqual(done)
    expect((await work.read()).status).toBe('ready')
  })

  it('is acknowledged when it is not about a job', async () => {
    for (const body of [{ object: { key: 'x' } }, {}, { job_id: 'gone' }]) {
      expect(await deliver('dead', body)).toEqual(done)
    }
  })
})
