import { expect, it, vi } from 'vitest'

import type { JobEvent } from '../../../src/contract/job.ts'
import { aPlaySession, aVariant, aWaitingTrack, DAY, HOUR, ok, query, expectError } from '../support/api.ts'
import { aTenant, eventually, runSweep, stopTime } from '../support/fixtures.ts'
import { aLongTrack, early } from '../support/long_track.ts'
import { aProcessedTrack, uploadAndProcess } from '../support/processed_track.ts'
import { countRows } from '../support/row_counter.ts'
import { seedSessions } from '../support/seed.ts'
import { errorEvent, type completeResult, serveTranscoder } from '../support/transcoder.ts'
import { dateOf, expectCounted, resultOfSize, usageOf } from '../support/usage_counts.ts'

/** Tests `GET /v1/usage`, which is computed from counters (docs/decisions/0055). */

it('the usage contains the number, duration and bytes of ready tracks, and counts each upload on its day', async () => {
  serveTranscoder(resultOfSize(5, 12.346))
  const tenant = await aTenant()
  await aProcessedTrack(tenant.key, tenant.collection_id)
  await aProcessedTrack(tenant.key, tenant.collection_id)
  await aWaitingTrack(tenant.key, tenant.collection_id)
  const other = await aTenant()
  await aProcessedTrack(other.key, other.collection_id)
  const { days, ...usage } = await usageOf(tenant.key)
  expect(usage).toMatchObject({ tracks: 2, duration: 24.692, bytes: { total: 90, original: 20 } })
  expect(usage.variants).toContainEqual({ variant: 'lossless', bytes: 10, files: 2 })
  expect(days).toHaveLength(30)
  const uploads = days.reduce((sum: number, day: { uploads: number }) => sum + day.uploads, 0)
  const bytes = days.reduce((sum: number, day: { upload_bytes: number }) => sum + day.upload_bytes, 0)
  expect([uploads, bytes]).toEqual([2, 20])
  await expectCounted(tenant)
  await expectCounted(other)
})

it('the usage is updated by reprocessing, a new file, a failed file and deletions, and counts nothing twice', async () => {
  let answer: (job: Parameters<typeof completeResult>[0]) => JobEvent = resultOfSize(5, 12)
  serveTranscoder((job) => answer(job))
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const [first, second] = [await aProcessedTrack(key, collection_id), await aProcessedTrack(key, collection_id)]
  const uploads = async () => {
    const { days } = await usageOf(key)
    return days.reduce((sum: number, day: { uploads: number }) => sum + day.uploads, 0)
  }
  const processAgain = async (path: string, until = 'ready') => {
    const [before] = await query('select job_id from tracks where id = ?', first)
    await ok('POST', `/v1/track/${first}/${path}`, { key, body: {} })
    if (path === 'upload') await uploadAndProcess(key, first, until)
    await eventually(async () => {
      const [now] = await query<{ job_id: string; status: string }>(
        'select job_id, status from tracks where id = ?',
        first,
      )
      return now!.job_id !== before!.job_id && now!.status === until
    })
  }
  answer = resultOfSize(7, 12.5)
  await processAgain('reprocess')
  expect(await expectCounted(tenant)).toMatchObject({ tracks: 2, duration: 24.5 })
  expect(await uploads()).toBe(2)
  answer = resultOfSize(1, 3)
  await processAgain('upload')
  expect(await expectCounted(tenant)).toMatchObject({ tracks: 2, duration: 15 })
  expect(await uploads()).toBe(3)
  // The new file fails, so the track keeps playing its old file.
  answer = () => errorEvent('no_audio', 'No audio')
  await processAgain('upload', 'incomplete')
  expect(await expectCounted(tenant)).toMatchObject({ tracks: 2 })
  expect(await uploads()).toBe(3)

  // The same write is repeated, as after a lost response.
  await query('update tracks set files = files, duration = duration')
  await expectCounted(tenant)
  await ok('DELETE', `/v1/track/${second}`, { key })
  await expectError(404, 'not_found', 'DELETE', `/v1/track/${second}`, { key })
  expect(await expectCounted(tenant)).toMatchObject({ tracks: 1, duration: 3 })
  await ok('DELETE', `/v1/collection/${collection_id}`, { key })
  expect(await expectCounted(tenant)).toEqual({
    tracks: 0,
    duration: 0,
    bytes: { total: 0, original: 0 },
    variants: [],
  })
  expect(await uploads()).toBe(3)
})

it('each day of the usage contains what was stored at its end, including the changes of earlier days', async () => {
  const { key, organization_id } = await aTenant()
  const today = Date.parse(dateOf(Date.now()))
  const change = (date: string, milliseconds: number, bytes: number, files: number) =>
    query(
      'insert into usage_days (organization_id, date, milliseconds, files) values (?, ?, ?, ?)',
      organization_id,
      date,
      milliseconds,
      JSON.stringify({ original: [bytes, files], 'aac-160': [1, files] }),
    )
  // The row without a date contains all days that are no longer reported.
  await change('', 1500, 10, 1)
  await change(dateOf(today - 3 * DAY), 2000, 20, 2)
  await change(dateOf(today - DAY), -1000, -10, -1)
  const { days, ...usage } = await usageOf(key, `?from=${dateOf(today - 4 * DAY)}&to=${dateOf(today - 2 * DAY)}`)
  const stored = days.map(({ tracks, duration, bytes }) => [tracks, duration, bytes])
  expect(stored).toEqual([
    [1, 1.5, 11],
    [3, 3.5, 32],
    [3, 3.5, 32],
  ])
  expect(usage).toMatchObject({ tracks: 2, duration: 2.5, bytes: { total: 23, original: 20 } })
  expect((await usageOf(key)).days.at(-1)).toMatchObject({ tracks: 2, duration: 2.5, bytes: 23 })
})

it('the usage excludes early files, even when the track is deleted', async () => {
  const work = await aLongTrack()
  await work.startEarly(early())
  const emptyUsage = { tracks: 0, duration: 0, bytes: { total: 0, original: 0 }, variants: [] }
  expect(await expectCounted(work)).toEqual(emptyUsage)
  await ok('DELETE', `/v1/track/${work.track_id}`, { key: work.key })
  expect(await expectCounted(work)).toEqual(emptyUsage)
  await work.leave()
})

it('the usage contains the files of a custom variant until they are deleted, even if its name is “Constructor”', async () => {
  serveTranscoder()
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const variant = await aVariant(key, { name: 'Constructor' })
  await aProcessedTrack(key, collection_id)
  expect((await expectCounted(tenant)).variants).toContainEqual({ variant: variant.index, bytes: 5, files: 1 })
  await ok('DELETE', `/v1/variant/${variant.id}`, { key })
  await eventually(async () => (await usageOf(key)).variants.every((entry) => entry.variant !== variant.index))
  expect((await expectCounted(tenant)).tracks).toBe(1)
})

it('the usage counts a play session once on the day of its creation, as soon as the hour of its end has passed, and writes no row per session', async () => {
  const { key, organization_id, collection_id } = await aTenant()
  const other = await aTenant()
  stopTime()
  const midnight = Date.parse(`${dateOf(Date.now())}T00:00:00Z`)
  vi.setSystemTime(midnight + 5 * HOUR)
  const sessions = async () => (await usageOf(key, `?from=${dateOf(midnight - DAY)}`)).days.map((day) => day.sessions)
  await aPlaySession(key, 'collection', collection_id)
  await seedSessions(300, midnight + 4.5 * HOUR, { organization_id, created_at: midnight - 1 })
  await seedSessions(20, midnight + 3.5 * HOUR, { organization_id, created_at: midnight + 2 * HOUR })
  await seedSessions(7, midnight + 3.6 * HOUR, { organization_id: other.organization_id, created_at: midnight })
  await seedSessions(1, midnight - 40 * HOUR, { organization_id, created_at: midnight - 1 })
  await seedSessions(5, midnight + 3.5 * HOUR, { organization_id: 'gone', created_at: midnight })
  expect(await sessions()).toEqual([0, 0])
  // Two sweeps run concurrently, because cron runs may overlap. Each session is counted once.
  await Promise.all([runSweep(), runSweep()])
  expect(await sessions()).toEqual([1, 20])
  vi.setSystemTime(midnight + 5 * HOUR + 10 * 60_000)
  await runSweep()
  expect(await sessions()).toEqual([301, 20])
  // The session of the API ends in the sixth hour, so it is counted ten minutes after the end of that hour.
  vi.setSystemTime(midnight + 7 * HOUR + 10 * 60_000 - 1)
  expect((await countRows(() => runSweep())).written).toBe(1)
  vi.setSystemTime(midnight + 7 * HOUR + 10 * 60_000)
  // Three rows are written: the cursor, the day, and the time of the sweep.
  expect((await countRows(() => runSweep())).written).toBe(3)
  expect(await sessions()).toEqual([301, 21])
  vi.setSystemTime(midnight + 60 * HOUR)
  await runSweep()
  expect(await query('select id from play_sessions')).toEqual([])
  expect(
    (await usageOf(key, `?from=${dateOf(midnight - DAY)}&to=${dateOf(midnight)}`)).days.map((day) => day.sessions),
  ).toEqual([301, 21])
  expect((await usageOf(other.key)).days.at(-3)).toMatchObject({ date: dateOf(midnight), sessions: 7 })
  expect(await query(`select 1 from usage_days where organization_id = 'gone'`)).toEqual([])
})

it('the usage contains the requested days (up to 400, in UTC), and invalid days are rejected', async () => {
  const { key } = await aTenant()
  stopTime()
  vi.setSystemTime(Date.UTC(2026, 10, 23, 0, 30))
  const dates = async (query = '') => (await usageOf(key, query)).days.map(({ date }) => date)
  const usual = await dates()
  expect([usual.length, usual[0], usual.at(-1)]).toEqual([30, '2026-10-25', '2026-11-23'])
  expect(await dates('?from=2026-02-27&to=2026-03-01')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
  expect(await dates('?from=2025-10-20')).toHaveLength(400)
  expect(await dates('?to=2025-10-21')).toEqual(['2025-10-20', '2025-10-21'])
  const wrong: [query: string, path: string][] = [
    ['from=2025-10-19', 'from'],
    ['to=2026-11-24', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=yesterday', 'to'],
    ['from=', 'from'],
    ['from=2026-11-01T00:00:00Z', 'from'],
  ]
  await expectError(400, 'unknown_field', 'GET', '/v1/usage?form=2026-11-01', { key })
  for (const [query, path] of wrong) {
    const { errors } = await expectError(400, 'invalid_request', 'GET', `/v1/usage?${query}`, { key })
    expect([query, errors?.map((error) => error.path)]).toEqual([query, [path]])
  }
})
