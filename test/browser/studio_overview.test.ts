import { expect, test, vi } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import type { TonearmEvent } from '../../src/contract/event.ts'
import { isOfThisOrganization, readKeys } from '../../src/studio/data/organization.ts'
import { fetchQuery } from '../../src/studio/data/query.ts'
import type { UsageDay } from '../../src/studio/data/usage.ts'
import {
  endingShares,
  isNear,
  keyQuotas,
  startOfDay,
  unusedKeys,
} from '../../src/studio/features/overview/attention.ts'
import { COUNTS, toCsv } from '../../src/studio/features/usage/days.ts'
import { storageParts } from '../../src/studio/features/usage/storage.ts'
import { isMonth, monthsOf, spanSize, spansOf } from '../../src/studio/ui/charts/days.ts'

/** Tests the logic of the pages Overview and Usage. */

const NOW = Date.parse('2026-11-25T12:00:00Z')
const inDays = (days: number) => new Date(NOW + days * 24 * 3600_000).toISOString()

test('links that end within a week need attention, the first to end first', () => {
  const shares = [6.9, 7.1, 1, -1, null].map((days) => ({ expires_at: days === null ? null : inDays(days) }))
  expect(endingShares(shares, NOW)).toEqual([{ expires_at: inDays(1) }, { expires_at: inDays(6.9) }])
})

test('a key is unused if neither its last use nor its creation is in the last 90 days, and it has not expired', () => {
  const key = (name: string, created: number, used: number | null, ends: number | null = null) => ({
    name,
    created_at: inDays(created),
    last_used_at: used === null ? null : inDays(used),
    expires_at: ends === null ? null : inDays(ends),
  })
  const keys = [
    key('old, used', -200, -1),
    key('old, used long ago', -200, -91),
    key('old, never used', -91, null),
    key('new, never used', -89, null),
    key('expired', -200, null, -1),
    key('ends later', -200, null, 1),
  ]
  expect(unusedKeys(keys, NOW).map(({ name }) => name)).toEqual(['old, used long ago', 'old, never used', 'ends later'])
})

test('the keys that were read for the organization are used again only for some seconds', async () => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  let requests = 0
  const client = createClient({
    base_url: 'https://audio.example.com',
    async fetch() {
      requests++
      return Response.json({ ok: true, api_keys: [{ organization_id: 'a' }], count: 1 })
    },
  })
  const shown = { ok: true as const, organization: { id: 'a' } }
  await fetchQuery({ key: ['organization'], load: async () => shown })
  for (const [seconds, expected] of [
    [1, 1],
    [60, 2],
  ] as const) {
    requests = 0
    expect(await isOfThisOrganization(client)).toBe(true)
    vi.setSystemTime(Date.now() + seconds * 1000)
    await readKeys(client)
    expect(requests, `${seconds} s`).toBe(expected)
  }
  vi.useRealTimers()
})

test('a quota is near from 80 % on, and the last event of each key counts', () => {
  expect([isNear(79, 100), isNear(80, 100), isNear(5, null), isNear(0, 0)]).toEqual([false, true, false, true])
  const event = (type: string, scope: string, subject: string) =>
    ({ type, subject, data: { scope } }) as unknown as TonearmEvent
  const events = [
    event('quota.warning', 'api_key', 'api_key:1'),
    event('quota.warning', 'organization', 'organization:1'),
    event('quota.warning', 'api_key', 'api_key:2'),
    event('quota.reached', 'api_key', 'api_key:1'),
  ]
  expect(keyQuotas(events).map(({ type, subject }) => [type, subject])).toEqual([
    ['quota.reached', 'api_key:1'],
    ['quota.warning', 'api_key:2'],
  ])
  expect(new Date(startOfDay(NOW)).toISOString()).toBe('2026-11-25T00:00:00.000Z')
})

const aDay = (date: string, value: number): UsageDay => ({
  date,
  uploads: value,
  upload_bytes: value * 10,
  sessions: value * 2,
  tracks: value * 100,
  duration: value / 2,
  bytes: value * 1000,
})

test('days are shown in months if some of them are only known by month', () => {
  const days = [aDay('2026-08', 100), aDay('2026-09-01', 1), aDay('2026-09-30', 2), aDay('2026-10-01', 3)]
  expect(days.map(({ date }) => isMonth(date))).toEqual([true, false, false, false])
  expect(monthsOf(days, COUNTS).map(({ text, uploads }) => [text, uploads])).toEqual([
    ['August 2026', 100],
    ['September 2026', 3],
    ['October 2026', 3],
  ])
})

test('a year is shown in weeks, of which only the first may be incomplete; counts are added, and levels are the last', () => {
  const days = Array.from({ length: 9 }, (_, at) => aDay(`2026-11-0${at + 1}`, at + 1))
  expect(spansOf(days, COUNTS).map(({ text, uploads }) => [text, uploads])[8]).toEqual(['Mon, Nov 9, 2026', 9])
  const weeks = spansOf(days, COUNTS, 7)
  // The spaces of a range are thin.
  expect(weeks.map(({ text }) => text.replace(/\s/g, ' '))).toEqual(['Nov 1 – 2, 2026', 'Nov 3 – 9, 2026'])
  expect(weeks[1]).toMatchObject({
    uploads: 42,
    upload_bytes: 420,
    sessions: 84,
    tracks: 900,
    duration: 4.5,
    bytes: 9000,
  })
  expect([7, 30, 90, 365].map(spanSize)).toEqual([1, 1, 1, 7])
})

test('the CSV has a line for each day, with lines that end as RFC 4180 requires', () => {
  expect(toCsv([aDay('2026-11-01', 1), aDay('2026-11-02', 0)])).toBe(
    'date,sessions,uploads,upload_bytes,tracks,duration,bytes\r\n2026-11-01,2,1,10,100,0.5,1000\r\n2026-11-02,0,0,0,0,0,0\r\n',
  )
})

test('the smallest variants are added up if there are more than fit', () => {
  const variants = [4, 3, 2, 1].map((bytes) => ({ variant: `v${bytes}`, bytes, files: 1 }))
  const usage = { tracks: 5, duration: 1, bytes: { total: 15, original: 5 }, variants, days: [] }
  const names = (count?: number) => storageParts(usage, count).map(({ name, value }) => [name, value])
  expect(names(3)).toEqual([
    ['Uploaded files', 5],
    ['v4', 4],
    ['v3', 3],
    ['Other variants', 3],
  ])
  expect(names(4)).toEqual(names())
})
