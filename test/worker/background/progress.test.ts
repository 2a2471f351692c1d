import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { aTrackWithJob, eventually, fileRows, trackRow } from '../support/fixtures.ts'
import { early } from '../support/long_track.ts'
import { countAllRows } from '../support/row_counter.ts'
import { openStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** `info.progress` is 0 while the track is queued and above 0 as soon as the transcoder runs. It never decreases within a pass. */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
})
const reported = async () => (await work.read()).info.progress
const stored = async () => (await trackRow(work.track_id)).progress

/** Sends a fraction when enough time has passed since the last write. */
async function send(stream: ReturnType<typeof openStream>, fraction: number, expected: number) {
  vi.setSystemTime(Date.now() + 40_000)
  const before = (await work.job()).lease_until
  stream.send({ type: 'progress', fraction })
  // The lease is renewed before the progress is stored.
  await eventually(async () => (await work.job()).lease_until > before)
  await eventually(async () => (await stored()) === expected)
}

describe('progress', () => {
  it('is 0 while the track waits, and above 0 as soon as the transcoder works on it', async () => {
    expect(await reported()).toBe(0)
    startTranscoder({ transcode: () => new Response('busy', { status: 503 }) })
    await work.run()
    expect(await reported()).toBe(0)
    const stream = openStream()
    startTranscoder({ transcode: () => stream.response })
    await work.changeJob({ lease_until: 0 })
    const running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    vi.setSystemTime(Date.now() + 3000)
    stream.send({ type: 'ping' })
    expect(await reported()).toBe(0)
    await send(stream, 0, 0.001)
    await send(stream, 0.25, 0.25)
    stream.send(lossyResult())
    await running
    expect(await work.read()).toMatchObject({ status: 'ready', info: expect.not.objectContaining({ progress: 0.25 }) })
    expect(await reported()).toBe(undefined)
  })

  /** Starts the job; returns its stream, a function that sends fractions, and one that ends the job. */
  async function start() {
    const stream = openStream()
    const { transcodes } = startTranscoder({ transcode: () => stream.response })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    const sendProgress = (...fractions: number[]) =>
      fractions.forEach((fraction) => stream.send({ type: 'progress', fraction }))
    const finish = async () => {
      stream.send(lossyResult())
      await running
    }
    return { stream, sendProgress, finish }
  }

  it('is not written in the first two seconds', async () => {
    const { stream, sendProgress, finish } = await start()
    const { lease_until } = await work.job()
    vi.setSystemTime(Date.now() + 1900)
    sendProgress(0.01, 0.2)
    // The events are handled in their order.
    stream.send(early())
    await eventually(async () => (await fileRows(work.track_id)).length > 0)
    expect((await work.job()).lease_until).toBe(lease_until)
    await finish()
  })

  it('is written together with the lease, when ten seconds have passed and a tenth of the job has been completed', async () => {
    const { sendProgress, finish } = await start()
    const { written } = await countAllRows(async () => {
      vi.setSystemTime(Date.now() + 2000)
      sendProgress(0.01)
      await eventually(async () => (await stored()) === 0.01)
      vi.setSystemTime(Date.now() + 10_000)
      sendProgress(0.1, 0.23, 0.5)
      await eventually(async () => (await stored()) === 0.23)
    })
    expect((await work.job()).lease_until).toBeGreaterThan(Date.now() + 100_000)
    // Two fractions were written (0.01 and 0.23), each to the track and to the job.
    expect(written).toBe(4)
    await finish()
  })

  it('is written with the early file, which counts as the first write', async () => {
    const { stream, sendProgress, finish } = await start()
    const { written } = await countAllRows(async () => {
      sendProgress(0.15)
      stream.send(early())
      await eventually(async () => (await fileRows(work.track_id)).length > 0)
      expect(await stored()).toBe(0.15)
      vi.setSystemTime(Date.now() + 10_000)
      // The transcoder reports the file again after a reconnect, which writes nothing.
      stream.send(early())
      sendProgress(0.2, 0.3)
      await eventually(async () => (await stored()) === 0.3)
    })
    // The track with the early file, its index entry and its event, then the track and the lease.
    expect(written).toBe(5)
    await finish()
  })

  it('does not decrease when the transcoder restarts, but starts over with the tolerant pass', async () => {
    const streams = [openStream(), openStream()]
    startTranscoder({ transcode: (_, times) => streams[times - 1]!.response })
    const [first, second] = streams as [ReturnType<typeof openStream>, ReturnType<typeof openStream>]
    const running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    await send(first, 0.6, 0.6)
    first.end()
    await running
    await work.changeJob({ lease_until: 0 })
    const again = work.run()
    await eventually(async () => (await work.job()).holder !== null)
    await send(second, 0.1, 0.6)
    await send(second, 0.7, 0.7)
    second.send({ type: 'fallback', reason: 'decoding failed' })
    await eventually(async () => (await stored()) === 0.001)
    await send(second, 0.2, 0.2)
    // A reader that attaches again receives the `fallback` event again.
    second.send({ type: 'fallback', reason: 'decoding failed' })
    await send(second, 0.3, 0.3)
    await send(second, 0.25, 0.3)
    second.send(lossyResult())
    await again
    expect((await work.read()).status).toBe('ready')
  })
})
