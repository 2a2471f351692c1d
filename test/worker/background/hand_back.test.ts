import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { query } from '../support/api.ts'
import { aTenant, aTrackWithJob, deliver, eventually, untilUnfollowed } from '../support/fixtures.ts'
import { eventStream, lossyResult, openStream, startTranscoder } from '../support/transcoder.ts'

/** Jobs whose source decodes to more audio than their slot is for (docs/decisions/0079). */

const MB = 1_000_000
const runQueue = () => deliver('transcode', {}, { bindings: env })

describe('a job that the transcoder hands back', () => {
  const error = { code: 'cancelled', message: 'The source is too long for the slot.', retryable: true } as const
  const handBack = (seconds: number, slot: number) =>
    eventStream({ type: 'error', error, hand_back: { seconds, slot } })

  it('runs again in a larger slot, after the other jobs of its organization and without using up an attempt', async () => {
    const [attacker, other] = [await aTenant(), await aTenant()]
    const bomb = await aTrackWithJob({ tenant: attacker, size: MB })
    const next = await aTrackWithJob({ tenant: attacker, size: 30 * MB })
    const theirs = await aTrackWithJob({ tenant: other, size: 30 * MB })
    const slots: [number, number | undefined][] = []
    const bombs = [() => handBack(700, 1), () => handBack(46_800, 0), () => eventStream(lossyResult())]
    const { transcodes } = startTranscoder({
      transcode: async ({ job_id, known_seconds }) => {
        if (job_id !== bomb.job_id) return eventStream(lossyResult())
        slots.push([(await bomb.job()).slot!, known_seconds])
        return bombs.shift()!()
      },
    })
    const before = await bomb.job()
    await runQueue()
    for (const work of [bomb, next, theirs]) await eventually(async () => (await work.job()).state === 'done')
    expect(slots).toEqual([
      [2, 0],
      [1, 700],
      [0, 46_800],
    ])
    const job = await bomb.job()
    expect(job).toMatchObject({ attempt: 1, tries: 0, size_class: 2, payload: { seconds: 46_800 } })
    // The last job costs an hour, which is the maximum.
    expect(job.rank! - before.rank!).toBeGreaterThan(3600_000)
    expect(job.rank!).toBeGreaterThan((await next.job()).rank!)
    const finished = transcodes.map(({ job_id }) => job_id).filter((id) => id !== bomb.job_id)
    expect(finished.toSorted()).toEqual([next.job_id, theirs.job_id].toSorted())
    expect(await bomb.read()).toMatchObject({ status: 'ready' })
    await untilUnfollowed()
  })

  it('waits like a new job until the larger slot is free', async () => {
    const [large, bomb] = [await aTrackWithJob({ size: 30 * MB }), await aTrackWithJob({ size: MB })]
    const slow = openStream()
    startTranscoder({
      transcode: ({ job_id }) => {
        if (job_id === large.job_id) return slow.response
        const handedBack = { type: 'error', error, hand_back: { seconds: 46_800, slot: 0 } } as const
        return eventStream({ type: 'progress', fraction: 0.5 }, handedBack)
      },
    })
    await runQueue()
    await eventually(async () => (await bomb.job()).size_class === 2)
    const { status, info } = await bomb.read()
    expect([status, info.progress, info.waiting]).toEqual(['processing', 0, { before: 0, seconds: 15 }])
    slow.send(lossyResult())
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await eventually(async () => (await bomb.job()).state === 'done')
    await untilUnfollowed()
  })

  it('always moves to a larger class, so that it cannot be handed back forever', async () => {
    const work = await aTrackWithJob({ size: MB })
    const slots: number[] = []
    startTranscoder({
      transcode: async () => {
        slots.push((await work.job()).slot!)
        return handBack(3, 2)
      },
    })
    await runQueue()
    // In the largest class, it is an interruption like any other.
    await eventually(async () => (await work.job()).tries === 1)
    expect(slots).toEqual([2, 1, 0])
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 0, size_class: 2, slot: null })
    await untilUnfollowed()
  })

  it('keeps the rank of a reprocess, and its stored variants', async () => {
    const work = await aTrackWithJob({ size: MB })
    await work.changeJob({ is_background: true, rank: 5 })
    const answers = [() => handBack(46_800, 0), () => eventStream(lossyResult())]
    startTranscoder({ transcode: () => answers.shift()!() })
    await runQueue()
    await eventually(async () => (await work.job()).state === 'done')
    expect(await work.job()).toMatchObject({ rank: 5, payload: { seconds: 46_800, custom_variants: [] } })
    await untilUnfollowed()
  })

  it('is not moved by a worker that has lost it', async () => {
    const work = await aTrackWithJob({ size: MB })
    startTranscoder({
      transcode: async () => {
        await work.changeJob({ holder: 'another worker' })
        return handBack(46_800, 0)
      },
    })
    await runQueue()
    await untilUnfollowed()
    expect(await work.job()).toMatchObject({ holder: 'another worker', size_class: 0, payload: { source_size: MB } })
  })

  it('counts as its audio in the time that others wait', async () => {
    const tenant = await aTenant()
    const bomb = await aTrackWithJob({ tenant, size: MB })
    await bomb.changeJob({ size_class: 2 })
    await query(`update jobs set payload = json_set(payload, '$.seconds', 3600) where id = ?`, bomb.job_id)
    const later = await aTrackWithJob({ tenant, size: 30 * MB })
    expect((await later.read()).info.waiting).toEqual({ before: 1, seconds: 58 })
  })
})
