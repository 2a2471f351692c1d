import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { type ComparedStats, isComparable, type StatsRow } from '../../src/studio/data/stats.ts'
import { chartOf, metricTab } from '../../src/studio/data/stats_charts.ts'
import { dateTicks, valueTicks } from '../../src/studio/ui/charts/axis.ts'
import { isWeekend } from '../../src/studio/ui/charts/days.ts'
import { changeText } from '../../src/studio/ui/charts/metric.ts'
import { addDays, before, moved, periodOf, queryOf, rangeOf } from '../../src/studio/ui/charts/period.ts'
import { byteUnit, timesOf, timeUnit } from '../../src/studio/ui/charts/units.ts'

/** Tests the periods, axes and changes of the studio's charts. */

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-28T12:00:00Z'), toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a period is two dates of the address or some days until today, and is written into the address again', () => {
  expect(periodOf({})).toEqual({ from: '2026-10-30', to: '2026-11-28' })
  expect(periodOf({ days: '7' })).toEqual({ from: '2026-11-22', to: '2026-11-28' })
  expect(periodOf({ days: '31' }, 365)).toEqual({ from: '2025-11-29', to: '2026-11-28' })
  expect(periodOf({ days: '7', from: '2026-02-01', to: '2026-02-28' })).toEqual({
    from: '2026-02-01',
    to: '2026-02-28',
  })
  for (const query of [
    { from: '2026-02-30', to: '2026-03-01' },
    { from: 'today', to: '2026-03-01' },
    { from: '2026-03-01' },
  ])
    expect(periodOf(query)).toEqual(periodOf({}))
  expect(queryOf(periodOf({}))).toEqual({ days: '', from: '', to: '' })
  expect(queryOf(periodOf({}), 365)).toEqual({ days: '30', from: '', to: '' })
  expect(queryOf({ from: '2026-02-01', to: '2026-02-28' })).toEqual({ days: '', from: '2026-02-01', to: '2026-02-28' })
})

test('a period has no days in the future, its days in order, and at most 400 of them', () => {
  expect(periodOf({ from: '2026-11-27', to: '2027-01-01' })).toEqual({ from: '2026-11-27', to: '2026-11-28' })
  expect(periodOf({ from: '2026-05-02', to: '2026-05-01' })).toEqual({ from: '2026-05-01', to: '2026-05-01' })
  expect(periodOf({ from: '2020-01-01', to: '2026-11-28' }).from).toBe(addDays('2026-11-28', -399))
  const period = { from: '2026-05-01', to: '2026-05-10' }
  expect(moved(period, 'from', '2026-05-20')).toEqual({ from: '2026-05-20', to: '2026-05-20' })
  expect(moved(period, 'to', '2026-05-12')).toEqual({ from: '2026-05-01', to: '2026-05-12' })
  expect(before(period)).toEqual({ from: '2026-04-21', to: '2026-04-30' })
  expect([rangeOf(period), rangeOf(periodOf({ days: '90' }))]).toEqual([undefined, 90])
})

test('a period is compared only if all days before it are still known as days', () => {
  const days = (count: number) => ({ from: addDays('2026-11-28', 1 - count), to: '2026-11-28' })
  expect([isComparable('organization', days(90)), isComparable('organization', days(200))]).toEqual([true, true])
  expect(isComparable('organization', days(201))).toBe(false)
  expect([isComparable('track', days(30)), isComparable('track', days(31))]).toEqual([true, false])
})

const aRow = (key: string, plays: number): StatsRow => ({
  key,
  plays,
  visits: plays,
  seconds: plays * 100,
  completions: 0,
  downloads: 0,
  muted_seconds: 0,
  fast_seconds: 0,
})

test('a day that is not over is in the sum, and neither in the comparison nor in the small line', () => {
  const stats: ComparedStats = {
    ok: true,
    period: { from: '2026-11-26', to: '2026-11-28' },
    from: '2026-11-26',
    is_rounded: false,
    rows: [aRow('2026-11-26', 10), aRow('2026-11-27', 20), aRow('2026-11-28', 1)],
    before: [aRow('2026-11-23', 5), aRow('2026-11-24', 5), aRow('2026-11-25', 50)],
  }
  expect(metricTab('plays', stats)).toMatchObject({
    value: '31',
    compared: { now: 30, before: 10, days: 3 },
    line: [10, 20],
  })
  const { isOpen, before: earlier, table } = chartOf('seconds', stats)
  expect([isOpen, earlier!.values, table!.length]).toEqual([true, [500, 500, 5000], 4])
  const past = { ...stats, period: { from: '2026-11-25', to: '2026-11-27' } }
  expect(metricTab('plays', past)).toMatchObject({ compared: { now: 31, before: 60 }, line: [10, 20, 1] })
})

test('a change is a percentage, a multiple if it is large, and nothing without earlier numbers', () => {
  const texts = [
    [112, 100],
    [97, 100],
    [100, 100],
    [1400, 100],
    [5, 0],
  ].map(([now, before]) => changeText({ now: now!, before: before! }))
  expect(texts).toEqual(['+12 %', '−3 %', '±0 %', '×14', null])
})

test('the lines of a chart are at round values, at most four above zero', () => {
  expect(valueTicks(0)).toEqual([0, 1])
  expect(valueTicks(3)).toEqual([0, 1, 2, 3])
  expect(valueTicks(147)).toEqual([0, 50, 100, 150])
  expect(valueTicks(203)).toEqual([0, 100, 200, 300])
  for (let most = 1; most < 3000; most += 7) {
    const ticks = valueTicks(most)
    expect([ticks.length <= 5, ticks.at(-1)! >= most, ticks.every(Number.isInteger)]).toEqual([true, true, true])
  }
  expect(valueTicks(17_000, timeUnit(17_000))).toEqual([0, 7200, 14_400, 21_600])
  expect(valueTicks(2.7e9, byteUnit(2.7e9))).toEqual([0, 1e9, 2e9, 3e9])
})

test('the dates below a chart are all of a week, Mondays of some weeks, and months of a year', () => {
  const days = (count: number, size = 1) =>
    Array.from({ length: count }, (_, at) => addDays('2026-11-28', (at + 1 - count) * size))
  const texts = (dates: string[], size = 1, isOpen = false) => dateTicks(dates, size, isOpen).map(({ text }) => text)
  expect(texts(days(7))).toHaveLength(7)
  expect(texts(days(30))).toEqual(['Nov 2', 'Nov 9', 'Nov 16', 'Nov 23'])
  expect(texts(days(30), 1, true).at(-1)).toBe('Today')
  // Monday, November 23 is too close to the end.
  expect(texts(days(90), 1, true).slice(-2)).toEqual(['Nov 16', 'Today'])
  expect(texts(days(53, 7), 7)).toEqual('Dec 2026 Feb Mar Apr May Jun Jul Aug Sep Oct Nov'.split(' '))
  expect(dateTicks(days(30), 1)[0]!.at).toBe(3)
  expect(texts(['2026-09', '2026-10'], 0)).toEqual(['Sep', 'Oct'])
  expect(['2026-11-27', '2026-11-28', '2026-11-29', '2026-11-30'].map(isWeekend)).toEqual([false, true, true, false])
})

test('the times below a track are round', () => {
  expect(timesOf(12)).toEqual([0, 5, 10])
  expect(timesOf(214)).toEqual([0, 30, 60, 90, 120, 150, 180, 210])
  expect(timesOf(40_000)).toEqual([0, 7200, 14_400, 21_600, 28_800, 36_000])
})
