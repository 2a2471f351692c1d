import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { aWaitingTrack, ok, query, silentQueue } from '../support/api.ts'
import { atRate, faultyDatabase } from '../support/faulty_database.ts'
import {
  aTenant,
  aTrackWithJob,
  deliver,
  eventually,
  fileRows,
  followWith,
  advanceHours,
  runSweep,
  storedFiles,
  trackRow,
  untilUnfollowed,
} from '../support/fixtures.ts'
import { eventStream, completeResult, openStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** Jobs with a database that has intermittent transient faults (docs/decisions/0075). */

/** The transcode queue drops its messages: the test delivers each message itself, with the faulty database. */
const silenced = { ...env, TRANSCODE_QUEUE: silentQueue }
const bindings = (failsAt: Parameters<typeof faultyDatabase>[1]): Env => ({
  ...silenced,
  DB: faultyDatabase(env.DB, failsAt),
})

describe('a fault at any call of a job', () => {
  it.each(['before', 'after'] as const)('%s the call does not change the result', async (moment) => {
    const { transcodes } = startTranscoder({
      transcode: () => eventStream({ type: 'ping' }, { type: 'progress', fraction: 0.5 }, lossyResult()),
    })
    let completed = 0
    for (let place = 1; completed === 0; place++) {
      const work = await aTrackWithJob()
      let calls = 0
      const failing = bindings((call) => ((calls = call) === place ? moment : null))
      followWith(failing)
      await work.run(failing)
      expect([place, await work.job()]).toMatchObject([place, { state: 'done', attempt: 1 }])
      expect([place, (await work.read()).status, (await fileRows(work.track_id)).length]).toEqual([place, 'ready', 7])
      if (calls < place) completed = place
      else expect(await query('select id from jobs')).toHaveLength(transcodes.length)
    }
    expect(completed).toBeGreaterThan(4)
  })

  it('purges exactly the files that were replaced', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let place = 1; place < 9; place++) {
        const work = await aTrackWithJob()
        startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
        await work.run()
        const old = (await fileRows(work.track_id)).map(({ path }) => path)
        await ok('POST', `/v1/track/${work.track_id}/reprocess`, { key: work.key, bindings: silenced })
        const { job_id } = await trackRow(work.track_id)
        const failing = bindings((call) => (call === place ? moment : null))
        followWith(failing)
        await deliver('transcode', { job_id }, { bindings: failing })
        await untilUnfollowed()
        const current = (await fileRows(work.track_id)).map(({ path }) => path)
        const purges = await query<{ paths: string }>(
          `select payload ->> '$.paths' as paths from jobs where payload ->> 'kind' = 'purge' and organization_id = ?`,
          work.organization_id,
        )
        const replaced = old.filter((path) => !current.includes(path))
        expect([moment, place, purges.map(({ paths }) => (JSON.parse(paths) as string[]).toSorted())]).toEqual([
          moment,
          place,
          [replaced.toSorted()],
        ])
        expect(replaced).toHaveLength(7)
      }
    }
  })
})

describe('one failing database call in twenty', () => {
  it('does not prevent any upload from becoming ready, and leaves no job or file behind', async () => {
    startTranscoder({ transcode: (job) => eventStream({ type: 'progress', fraction: 0.3 }, completeResult(job)) })
    const { key, collection_id } = await aTenant()
    const failing = bindings(atRate(0.05, 14))
    followWith(failing)
    const ids = []
    for (let n = 0; n < 40; n++) {
      const track_id = await aWaitingTrack(key, collection_id)
      const { upload_path } = await trackRow(track_id)
      await env.MEDIA.put(upload_path, 'RIFF\0audio')
      const event = { action: 'PutObject', object: { key: upload_path } }
      await deliver('ingest', event, { bindings: failing })
      await deliver('transcode', {}, { bindings: failing })
      ids.push(track_id)
    }
    await eventually(async () => (await query(`select 1 from jobs where state = 'open'`)).length === 0)
    for (const id of ids) expect((await trackRow(id)).status).toBe('ready')
    expect(await query('select max(attempt) as most, count(*) as jobs from jobs')).toEqual([{ most: 1, jobs: 40 }])
    // The deletion removes all files, although some of its calls fail.
    onTestFinished(() => void vi.useRealTimers())
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    advanceHours(8)
    await runSweep()
    const purges = async () => query<{ id: string }>(`select id from jobs where state = 'open'`)
    for (const { id } of await purges()) await deliver('task', { job_id: id }, { bindings: failing })
    await eventually(async () => (await purges()).length === 0)
    expect(await storedFiles()).toEqual([])
  })
})

describe('a longer outage of the database', () => {
  it('makes a running job lose only its progress', async () => {
    const work = await aTrackWithJob()
    const stream = openStream()
    const { transcodes } = startTranscoder({ transcode: () => stream.response })
    let away = false
    let failures = 0
    followWith(bindings(() => (away && ++failures ? 'before' : null)))
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    // In the first two seconds, no progress is written.
    advanceHours(1 / 1000)
    onTestFinished(() => void vi.useRealTimers())
    away = true
    stream.send({ type: 'progress', fraction: 0.5 })
    await eventually(async () => failures >= 5)
    away = false
    stream.send({ type: 'progress', fraction: 0.6 })
    await eventually(async () => (await trackRow(work.track_id)).progress === 0.6)
    stream.send(lossyResult())
    expect(await running).toEqual({ ended: true })
    expect((await work.read()).status).toBe('ready')
  })

  it('is never counted as a fault of the file', async () => {
    const wait = scheduler.wait.bind(scheduler)
    const hurry = vi.spyOn(scheduler, 'wait')
    hurry.mockImplementation((milliseconds, options) => wait(milliseconds / 20, options))
    onTestFinished(() => hurry.mockRestore())
    const work = await aTrackWithJob()
    let isFailing = false
    startTranscoder({
      transcode: () => {
        isFailing = true
        return eventStream(lossyResult())
      },
    })
    for (let delivery = 1; delivery <= 6; delivery++) {
      isFailing = false
      // The job starts, but the result cannot be written.
      followWith(bindings(() => (isFailing ? 'before' : null)))
      expect(await work.run()).toMatchObject({ ended: false })
      // The job keeps its slot, because its transcoder keeps the result.
      expect(await work.job()).toMatchObject({ state: 'open', slot: 2, holder: expect.any(String) })
      await work.changeJob({ lease_until: 0 })
    }
    followWith(env)
    await work.run()
    expect((await work.read()).status).toBe('ready')
    expect(await work.job()).toMatchObject({ state: 'done', attempt: 1 })
  })
})
