import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { HOUR, ok, query } from '../support/api.ts'
import {
  aTrackWithJob,
  eventually,
  transcoderObject,
  runSweep,
  storedFiles,
  trackRow,
  untilUnfollowed,
} from '../support/fixtures.ts'
import { eventStream, openStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** The follower of a job, and the events that end a job early (docs/decisions/0033). */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
})

/** Limits the lifetime of each follower's alarm until the test ends. */
async function shortLives(milliseconds: number) {
  const live = (life: number) =>
    runInDurableObject(transcoderObject(), (container) => {
      const before = container.life
      container.life = life
      return before
    })
  const before = await live(milliseconds)
  const restore = () => live(before)
  onTestFinished(() => void restore())
  return restore
}

describe('a job that outlives its follower', () => {
  it('is followed again each time, and is completed once', async () => {
    const liveOn = await shortLives(50)
    const streams: ReturnType<typeof openStream>[] = []
    const { transcodes } = startTranscoder({
      transcode: () => {
        const stream = openStream()
        streams.push(stream)
        return stream.response
      },
    })
    const running = work.run()
    await eventually(async () => transcodes.length > 3)
    expect(new Set(transcodes.map(({ job_id }) => job_id))).toEqual(new Set([work.job_id]))
    expect(await work.job()).toMatchObject({ state: 'open', attempt: 1 })
    await liveOn()
    await eventually(async () => {
      streams.at(-1)!.send(lossyResult())
      return (await work.job()).state === 'done'
    })
    await running
    await untilUnfollowed()
    expect(await work.job()).toMatchObject({ attempt: 1, slot: null })
    expect((await work.read()).status).toBe('ready')
  })

  it('continues after a restart of its follower, without a message', async () => {
    const lost = openStream()
    const { transcodes } = startTranscoder({
      transcode: (_, times) => (times === 1 ? lost.response : eventStream(lossyResult())),
    })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    // A restart of the Durable Object keeps only its storage and its alarm.
    await runInDurableObject(transcoderObject(), (container) => {
      container.activeJobs.get(work.job_id)!.leave.abort()
      container.activeJobs.clear()
    })
    await running
    await eventually(async () => (await work.job()).state === 'done')
    await untilUnfollowed()
    expect(await work.job()).toMatchObject({ state: 'done', attempt: 1 })
    expect(transcodes).toHaveLength(2)
  })

  it('is started again when its lease expires while it has no follower', async () => {
    const lost = openStream()
    const { transcodes } = startTranscoder({
      transcode: (_, times) => (times === 1 ? lost.response : eventStream(lossyResult())),
    })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    await runSweep()
    expect(transcodes).toHaveLength(1)
    await work.changeJob({ lease_until: Date.now() - 1 })
    await runSweep()
    await running
    await untilUnfollowed()
    expect(await work.job()).toMatchObject({ state: 'done', attempt: 1 })
  })
})

describe('a lease that was set by a fast clock', () => {
  it('is ignored', async () => {
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await work.changeJob({ holder: 'another', lease_until: Date.now() + HOUR })
    expect(await work.run()).toEqual({ ended: true })
  })
})

describe('a job whose track is deleted or replaced', () => {
  /** Starts the job of `work`, which runs until it is canceled. */
  async function running(cancel?: () => Response) {
    const stream = openStream()
    const { cancelled, transcodes } = startTranscoder({ transcode: () => stream.response, cancel })
    const run = work.run()
    await eventually(async () => transcodes.length === 1)
    return { run, cancelled, stream }
  }
  const path = (noun: 'track' | 'collection') => `/v1/${noun}/${noun === 'track' ? work.track_id : work.collection_id}`

  it.each(['track', 'collection'] as const)('ends at once and frees its slot when its %s is deleted', async (noun) => {
    const { run, cancelled } = await running()
    await ok('DELETE', path(noun), { key: work.key })
    await run
    expect(cancelled).toEqual([work.job_id])
    expect(await work.job()).toMatchObject({ state: 'done', slot: null })
    await eventually(async () => (await storedFiles()).length === 0)
  })

  it('ends at once when its organization is deleted', async () => {
    const { run, cancelled } = await running()
    await ok('DELETE', `/v1/organization/${work.organization_id}`, { key: env.ROOT_KEY })
    await run
    expect(cancelled).toEqual([work.job_id])
  })

  it('ends at once when another file is uploaded, and the files of the job are purged', async () => {
    const { run, cancelled, stream } = await running()
    await ok('POST', `/v1/track/${work.track_id}/upload`, { key: work.key, body: {} })
    await env.MEDIA.put((await trackRow(work.track_id)).upload_path, 'RIFF\0other')
    const next = startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await ok('POST', `/v1/track/${work.track_id}/upload_complete`, { key: work.key })
    await run
    stream.send(lossyResult({ duration: 1 }))
    expect([...cancelled, ...next.cancelled]).toEqual([work.job_id])
    await eventually(async () => (await work.read()).status === 'ready')
    expect((await work.read()).duration).toBe(12.346)
    const purges = await query<{ paths: string }>(
      `select payload ->> '$.paths' as paths from jobs where payload ->> 'kind' = 'purge'`,
    )
    const base = `media/${work.organization_id}/${work.collection_id}/${work.row.index}/${work.job_id.slice(-8)}`
    expect(purges.flatMap(({ paths }) => JSON.parse(paths) as string[])).toContain(`${base}/aac-160.m4a`)
  })

  it('keeps its slot until its transcoder confirms the cancellation, which the sweep sends again', async () => {
    let status = 500
    const { run, cancelled } = await running(() => new Response(null, { status }))
    await ok('DELETE', `/v1/track/${work.track_id}`, { key: work.key })
    expect(cancelled).toHaveLength(1)
    expect((await work.job()).slot).not.toBe(null)
    status = 404
    await runSweep()
    await run
    expect(await work.job()).toMatchObject({ state: 'done', slot: null })
  })

  it('is canceled by the sweep when the first cancellation was lost', async () => {
    const { run, cancelled } = await running()
    await query('delete from tracks')
    await runSweep()
    await run
    expect(cancelled).toEqual([work.job_id])
    expect(await work.job()).toMatchObject({ state: 'done', slot: null })
  })
})
