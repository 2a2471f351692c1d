import { beforeEach, expect, it, vi } from 'vitest'

import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import { aPlaySession, DAY, db, HOUR, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, runSweep, stopTime } from '../support/fixtures.ts'
import { countRows, countCallRows } from '../support/row_counter.ts'
import { seedSessions } from '../support/seed.ts'
import { openPage } from '../support/share_visitor.ts'

/** The end of play sessions: the responses for their ids in the following hours, and the cost of their deletion (docs/decisions/0027). */

const NOW = Date.UTC(2026, 10, 22, 12, 10)
/** Rows that each sweep writes to record that it ran. */
const ROWS_PER_SWEEP = 1

let key: string
let collection_id: string
beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  stopTime()
  vi.setSystemTime(NOW)
})
const remaining = async () => (await db.select({ id: playSessions.id }).from(playSessions)).map(({ id }) => id)

/** Inserts, for each of these hours, `count` sessions that end in that hour. */
async function seedHours(hours: number[], count: number) {
  for (const hour of hours) await seedSessions(count, hour * HOUR)
}

it('a play session has an id in the format of UUID version 8, in which the hour of its end follows the shard', async () => {
  const { play_session_id, expires_at } = await aPlaySession(key, 'collection', collection_id, { expires_in: 3000 })
  expect(expires_at).toBe('2026-11-22T13:00:00.000Z')
  expect(play_session_id).toMatch(/^00079c15-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const sooner = await aPlaySession(key, 'collection', collection_id, { expires_in: 2999 })
  expect(sooner.play_session_id).toMatch(/^00079c14-/)
  const again = await aPlaySession(key, 'collection', collection_id, { expires_in: 2999 })
  expect(again.play_session_id.slice(9)).not.toBe(sooner.play_session_id.slice(9))
})

it('a play session ends in the same second in which its URLs expire', async () => {
  const track_id = await aReadyTrack(key, collection_id)
  vi.setSystemTime(NOW + 193)
  const { play_session_id: id, expires_at } = await aPlaySession(key, 'collection', collection_id, {
    expires_in: 3000.9,
  })
  expect(expires_at).toBe('2026-11-22T13:00:00.000Z')
  vi.setSystemTime(Date.parse(expires_at) - 1)
  const { variants } = await ok('GET', `/v1/play/${id}/${track_id}`)
  const { searchParams } = new URL(variants[0]!.url)
  const [, year, month, day, hour, minute, second] = /(....)(..)(..)T(..)(..)(..)Z/
    .exec(searchParams.get('X-Amz-Date')!)!
    .map(Number)
  const signed_at = Date.UTC(year!, month! - 1, day, hour, minute, second)
  expect(signed_at + Number(searchParams.get('X-Amz-Expires')) * 1000).toBe(Date.parse(expires_at))
})

it('a play session plays until its end, then returns 410 for exactly a day, then 404, and needs no query after the next full hour', async () => {
  const track_id = await aReadyTrack(key, collection_id)
  const { play_session_id: id, expires_at } = await aPlaySession(key, 'collection', collection_id, {
    is_downloadable: true,
  })
  const end = Date.parse(expires_at)
  const pages = [
    `/v1/play/${id}`,
    `/v1/play/${id}/${track_id}`,
    `/v1/play/${id}/${track_id}/aac-160/download`,
    `/embed/${id}`,
  ]
  const answers = async (time: number) => {
    vi.setSystemTime(time)
    const { statements, result } = await countRows(() =>
      Promise.all(pages.map(async (path) => (await openPage(path)).status)),
    )
    return [[...new Set(result)], statements > 0]
  }
  expect(await answers(end - 1)).toEqual([[200], true])
  expect(await answers(end)).toEqual([[410], true])
  expect(await answers(end + DAY - 1)).toEqual([[410], true])
  expect(await answers(end + DAY)).toEqual([[404], true])
  const hour = Math.ceil(end / HOUR) * HOUR
  expect(await answers(hour + DAY - 1)).toEqual([[404], true])
  expect(await answers(hour + DAY)).toEqual([[404], false])
  expect(await answers(hour + 400 * DAY)).toEqual([[404], false])
})

it('a play session costs one written row, and one more when it is deleted, a day after the hour of its end', async () => {
  await aPlaySession(key, 'collection', collection_id)
  const { written, body } = await countCallRows('POST', '/v1/play_session/collection', { key, body: { collection_id } })
  expect(written).toBe(1)
  const hour = Math.ceil(Date.parse(body.expires_at) / HOUR) * HOUR
  vi.setSystemTime(hour + DAY - 1)
  // This sweep counts the sessions for the usage, so it is not measured.
  await runSweep()
  expect((await countRows(runSweep)).written).toBe(ROWS_PER_SWEEP)
  expect(await remaining()).toHaveLength(2)
  vi.setSystemTime(hour + DAY)
  expect((await countRows(runSweep)).written).toBe(2 + ROWS_PER_SWEEP)
  expect(await remaining()).toEqual([])
})

it('one sweep deletes 50,000 sessions that ended in different hours, but no sessions that are active or return 410', async () => {
  const now = Math.floor(NOW / HOUR)
  // The first sweep of a day also checks for old events and records the check, so it is not measured.
  await runSweep()
  await seedHours([now - 10_000, now - 300, now - 299, now - 30, now - 25], 10_000)
  await seedHours([now - 24, now - 1, now, now + 1, now + 24], 3)
  const sweeping = await countRows(runSweep)
  // The usage counts cost eight more rows, because their cursor moves over seven hours.
  expect(sweeping.written).toBe(50_000 + 8 + ROWS_PER_SWEEP)
  // Each row is read up to seven times: it is found and sorted for the usage, found for the shares, then found, marked, found again and deleted.
  expect(sweeping.read).toBeLessThan(7 * 50_000 + 110)
  const hours = (await remaining()).map((id) => Number.parseInt(id.slice(3, 8), 16) - now)
  expect(hours.toSorted((a, b) => a - b)).toEqual([-24, -1, 0, 1, 24].flatMap((hour) => [hour, hour, hour]))
  expect((await countRows(runSweep)).read).toBeLessThan(23)
})

it('one sweep deletes all old responses and ended jobs, regardless of their number', async () => {
  const many = (table: string, columns: string, values: string) =>
    query(`insert into ${table} (${columns}) with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000)
      select ${values} from n`)
  await many('idempotency_keys', 'id, request_hash, created_at', `'key' || i, '', ${NOW - DAY - 1}`)
  const job = 'id, organization_id, payload, state, lease_until, wake_at, created_at'
  await many('jobs', job, `'job' || i, '', '{}', iif(i % 2, 'done', 'failed'), 0, 0, ${NOW - 7 * DAY - 1}`)
  await query(`insert into idempotency_keys (id, request_hash, created_at) values ('kept', '', ${NOW - DAY})`)
  await query(`insert into jobs (${job}) values ('kept', '', '{}', 'done', 0, 0, ${NOW - 7 * DAY})`)
  await runSweep()
  expect(await query('select id from idempotency_keys')).toEqual([{ id: 'kept' }])
  expect(await query('select id from jobs')).toEqual([{ id: 'kept' }])
})
