import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { System } from '../../../src/contract/system.ts'
import { MINUTE } from '../../../src/contract/time.ts'
import { call, ok, query, expectError, silentQueue, UNKNOWN_ID } from '../support/api.ts'
import { aTrackWithJob, deliver, eventually, runSweep, stopTime, uploadEvent } from '../support/fixtures.ts'
import { countRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'
import { errorEvent, eventStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** The operator's view of the service, and `/health`, which is its public summary. */

const root = env.ROOT_KEY
const health = (bindings?: Env) => call('GET', '/health', bindings && { bindings })
const system = async (bindings?: Env) =>
  System.parse((await ok('GET', '/v1/system', { key: root, ...(bindings && { bindings }) })).system)
const retry = (body: object = {}) => ok('POST', '/v1/system/retry', { key: root, body })
const serving = () => Response.json({ ok: true, slots: [{}, {}, {}] })

/** The real bindings, except that each database call returns the result of `answer`. */
const withDatabase = (answer: () => Promise<never>): Env => {
  const statement = { bind: () => statement, raw: answer, all: answer, run: answer }
  return { ...env, DB: { prepare: () => statement, batch: answer } as unknown as D1Database }
}
const unresponsive = withDatabase(() => new Promise(() => undefined))
const full = withDatabase(async () => {
  throw new Error('D1_ERROR: database or disk is full: SQLITE_FULL')
})

beforeEach(() => {
  startTranscoder({ health: serving })
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

describe('health', () => {
  it('fails when the sweep has not run for five minutes, counted from the first check if the sweep never ran', async () => {
    stopTime()
    const started = Date.now()
    expect(await health()).toMatchObject({ status: 200, body: { ok: true } })
    vi.setSystemTime(started + 5 * MINUTE)
    expect((await health()).status).toBe(200)
    vi.setSystemTime(started + 5 * MINUTE + 1)
    expect(await health()).toMatchObject({ status: 503, body: { ok: false, failing: ['sweep'] } })
    await runSweep()
    expect((await health()).body).toEqual({ ok: true })
    vi.setSystemTime(started + 11 * MINUTE)
    expect((await health()).body.failing).toEqual(['sweep'])
  })

  it('fails when the database is unresponsive or fails, and the operator’s view reports the same', async () => {
    const failing = ['database']
    const bothViews = async (bindings: Env) => {
      const [summary, { failing, database }] = await Promise.all([health(bindings), system(bindings)])
      return { status: summary.status, body: summary.body, failing, database }
    }
    const failure = {
      status: 503,
      body: { ok: false, failing },
      failing,
      database: {
        answers: false,
        milliseconds: null,
        bytes: null,
        limit: 10_000_000_000,
        fraction: null,
        metadata_fraction: null,
      },
    }
    expect(await Promise.all([unresponsive, full].map(bothViews))).toEqual([failure, failure])
  })

  it('does not fail when a fold of listening reports is overdue, which only the operator’s view reports', async () => {
    const { organization_id } = await aTrackWithJob()
    const due_at = Date.now() - 3 * 60 * MINUTE
    await query('insert into listening_folds values (?, 0, ?, null)', organization_id, due_at)
    const LISTENING = { getByName: () => ({ call: () => Promise.reject(new Error('The object fails')) }) }
    const bindings = { ...env, LISTENING: LISTENING as unknown as Env['LISTENING'] }
    const views = async () => {
      const { failing, listening } = await system()
      return { health: (await health()).body, failing, overdue_folds: listening.overdue_folds }
    }
    stopTime()
    for (const passed of [0, 6 * MINUTE]) {
      vi.setSystemTime(Date.now() + passed)
      await runSweep(bindings)
      expect(await views()).toEqual({ health: { ok: true }, failing: ['listening'], overdue_folds: 1 })
    }
    await query('update listening_folds set due_at = 0 where organization_id = ?', organization_id)
    await runSweep()
    expect(await views()).toEqual({ health: { ok: true }, failing: [], overdue_folds: 0 })
  })

  it('does not depend on the size of listening, of which the operator’s view has the largest object', async () => {
    const largest = async () => (await system()).listening.largest
    const [small, large] = [crypto.randomUUID(), crypto.randomUUID()]
    const insert = (id: string, bytes: number | null) =>
      query('insert into listening_folds values (?, 1, 0, ?)', id, bytes)
    await insert(UNKNOWN_ID, null)
    expect(await largest()).toBeNull()
    await insert(small, 4096)
    await insert(large, 7.5e9)
    const size = { shard: 1, bytes: 7.5e9, limit: 10e9, fraction: 0.75 }
    expect(await largest()).toEqual({ organization_id: large, ...size })
    await runSweep()
    expect((await health()).body).toEqual({ ok: true })
  })

  it('reads a few rows, and then none for some seconds if everything works', async () => {
    await runSweep()
    const first = await countRows(() => health())
    expect(first).toMatchObject({ trips: 1, written: 0 })
    expect(first.read).toBeLessThan(4)
    const caching = { ...env, REUSE_ANSWERS: 'true' }
    stopTime()
    await health(caching)
    expect((await countRows(() => health(caching))).trips).toBe(0)
    vi.setSystemTime(Date.now() + 5001)
    expect((await countRows(() => health(caching))).trips).toBe(1)
  })
})

it('a request returns 507 when the disk is full, even if it only reads', async () => {
  await expectError(507, 'storage_full', 'GET', '/v1/organization', { key: root, bindings: full })
})

describe('the system', () => {
  it('estimates the part of the database that the metadata of tracks takes', async () => {
    const { organization_id, collection_id } = await aTrackWithJob()
    const part = async () => {
      const { bytes, metadata_fraction } = (await system()).database
      return Math.round(metadata_fraction! * bytes!)
    }
    await query(`update tracks set metadata = '{"title":"é"}'`)
    expect(await part()).toBe(14)
    // Ids that are spread like random ones, but the same in each run.
    const bits = `printf('%09x', "order" * 42470637529 % 68719476736)`
    const id = `'000' || substr(${bits}, 1, 5) || '-' || substr(${bits}, 6) || substr(id, 14)`
    await seed(
      'tracks',
      1,
      2000,
      { organization_id, collection_id },
      {
        plain: true,
        change: () => query(`update tracks set id = ${id}, metadata = '{"a":"' || printf('%992c', 'x') || '"}'`),
      },
    )
    expect((await part()) / 2_001_000).toBeCloseTo(1, 1)
  })

  it('reports the last sweep and the last event, which are recorded once a minute', async () => {
    expect(await system()).toMatchObject({ last_sweep_at: null, last_event_at: null })
    stopTime()
    const started = Date.now()
    const swept = await countRows(() => runSweep())
    expect(swept.written).toBeLessThan(3)
    const event = () => deliver('ingest', uploadEvent('elsewhere'))
    await event()
    vi.setSystemTime(started + MINUTE - 1)
    expect((await countRows(event)).written).toBe(0)
    const at = new Date(started).toISOString()
    expect(await system()).toMatchObject({ last_sweep_at: at, last_event_at: at })
    vi.setSystemTime(started + MINUTE)
    await event()
    expect((await countRows(() => runSweep())).written).toBe(1)
    const later = new Date(started + MINUTE).toISOString()
    expect(await system()).toMatchObject({ last_sweep_at: later, last_event_at: later })
  })

  it('counts jobs by kind and state, and reports the age of the oldest open job and the number of busy slots', async () => {
    const work = await aTrackWithJob()
    await aTrackWithJob()
    await work.changeJob({
      created_at: Date.now() - 90_000,
      attempt: 1,
      slot: 0,
      holder: 'another',
      lease_until: Date.now() + MINUTE,
    })
    const { jobs, transcoder } = await system()
    expect(jobs).toEqual([{ kind: 'transcode', state: 'open', count: 2, oldest_age: 90 }])
    expect(transcoder).toEqual({ answers: true, slots: 3, busy: 1 })
    await work.changeJob({ state: 'done', created_at: Date.now() - 23 * 60 * MINUTE })
    expect((await system()).jobs).toContainEqual({ kind: 'transcode', state: 'done', count: 1, oldest_age: null })
    await work.changeJob({ created_at: Date.now() - 25 * 60 * MINUTE })
    expect((await system()).jobs).toHaveLength(1)
  })
})

describe('failed tracks', () => {
  /** A track whose job failed with this error code. */
  async function aFailure(code: Parameters<typeof errorEvent>[0]) {
    startTranscoder({ health: serving, transcode: () => eventStream(errorEvent(code, 'It did not work')) })
    const work = await aTrackWithJob()
    await work.run()
    expect((await work.read()).status).toBe('failed')
    return work
  }
  const statuses = (...failures: Awaited<ReturnType<typeof aFailure>>[]) =>
    Promise.all(failures.map(async (work) => (await work.read()).status))

  it('are counted by reason, and can be retried if the reason may be transient', async () => {
    const [disk, stalled, broken] = [
      await aFailure('disk_full'),
      await aFailure('timed_out'),
      await aFailure('no_audio'),
    ]
    const failures = ['disk_full', 'no_audio', 'timed_out'].map((code) => ({ code, count: 1, retryable: 1 }))
    failures[1]!.retryable = 0
    expect((await system()).failures).toEqual(failures)
    startTranscoder({ health: serving, transcode: () => eventStream(lossyResult()) })
    expect(await retry({ code: 'timed_out' })).toMatchObject({ started: 1, left: 0 })
    await eventually(async () => (await stalled.read()).status === 'ready')
    expect(await statuses(disk, broken)).toEqual(['failed', 'failed'])
    expect(await retry()).toMatchObject({ started: 1, left: 0 })
    await eventually(async () => (await disk.read()).status === 'ready')
    expect(await retry()).toMatchObject({ started: 0, left: 0 })
    expect((await broken.read()).status).toBe('failed')
    expect((await system()).failures.map(({ retryable }) => retryable)).toEqual([0, 0, 0])
  })

  it('are not retried when they failed before `since`, which is a day ago by default', async () => {
    const work = await aFailure('internal')
    await work.changeJob({ created_at: Date.now() - 25 * 60 * MINUTE })
    expect((await system()).failures).toEqual([])
    expect(await retry()).toMatchObject({ started: 0, left: 0 })
    const since = new Date(Date.now() - 26 * 60 * MINUTE).toISOString()
    expect(await retry({ since })).toMatchObject({ started: 1, left: 0 })
  })

  it('are restarted in batches of a hundred, and a missing file does not block the other tracks', async () => {
    const work = await aFailure('internal')
    await env.MEDIA.delete(work.row.upload_path)
    await seed('tracks', 1, 120, work)
    await query(
      `update tracks set status = 'failed', job_id = 'job' || ("order" - 100), source_suffix = '' where id <> ?`,
      work.track_id,
    )
    const sources = await query<{ path: string }>('select source_path as path from tracks where id <> ?', work.track_id)
    await Promise.all(sources.map(({ path }) => env.MEDIA.put(path, 'RIFF\0audio')))
    await query(
      `insert into jobs (id, organization_id, payload, state, lease_until, wake_at, created_at, error)
        select tracks.job_id, jobs.organization_id, json_set(payload, '$.track_id', tracks.id), 'failed', 0, 0,
          jobs.created_at + 1, error from jobs, tracks where jobs.state = 'failed' and tracks.id <> ?`,
      work.track_id,
    )
    const again = () =>
      ok('POST', '/v1/system/retry', { key: root, body: {}, bindings: { ...env, TRANSCODE_QUEUE: silentQueue } })
    expect(await again()).toMatchObject({ started: 99, left: 21 })
    expect(await again()).toMatchObject({ started: 21, left: 0 })
    expect((await system()).failures).toEqual([
      { code: 'internal', count: 120, retryable: 0 },
      { code: 'track_not_uploaded', count: 1, retryable: 0 },
    ])
    expect((await work.read()).info.error!.code).toBe('internal')
  })

  it('can be retried only with the root key', async () => {
    const { key } = await aFailure('internal')
    await expectError(403, 'insufficient_scope', 'POST', '/v1/system/retry', { key, body: {} })
    await expectError(400, 'invalid_request', 'POST', '/v1/system/retry', { key: root, body: { code: 'no_audio' } })
  })
})
