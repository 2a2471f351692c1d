import { hours, number, percent } from '../base/format.ts'
import { t, text } from '../base/text.ts'
import { dayRange, isMonth, monthsOf, spanSize, spansOf, sumOf } from '../ui/charts/days.ts'
import type { Metric } from '../ui/charts/metric.ts'
import { before as periodBefore, daysOf, isOpen } from '../ui/charts/period.ts'
import type { ChartProperties, Series } from '../ui/charts/series.ts'
import { timeUnit } from '../ui/charts/units.ts'
import type { ComparedStats, StatsRow } from './stats.ts'

/** The numbers of the page Listening that a chart shows. */

export const METRICS = ['plays', 'visits', 'seconds', 'completions'] as const
export type MetricName = (typeof METRICS)[number]

/** Returns the number in an address. */
export const metricOf = (name: string | undefined) => METRICS.find((metric) => metric === name) ?? 'plays'

/** The names of the numbers, and their rules (docs/counting.md). */
export const NAMES: Record<MetricName, readonly [name: string, meaning: string]> = {
  plays: [
    text('Plays'),
    text('A pass of a track in which 30 seconds were heard, or half of it if it is shorter than a minute.'),
  ],
  visits: [text('Visits'), text('One use of a player on a page.')],
  seconds: [
    text('Time heard'),
    text('The seconds of the recordings that were heard. A part that is heard twice counts twice.'),
  ],
  completions: [text('Completed (90 %)'), text('A pass of a track of which 90 % was heard.')],
}

/** Formats a time on an axis, which is a round number of hours, minutes or seconds. */
const axisTime = (seconds: number) =>
  seconds > 0 && seconds % 3600 === 0 ? t('{n} h', { n: seconds / 3600 }) : hours(seconds)

const formatOf = (name: MetricName) => (name === 'seconds' ? hours : number)

/** Returns a number as a tab: its sum, and that of the same days of the period before. A day that is not over is not compared. */
export function metricTab(name: MetricName, { rows, before, period }: ComparedStats): Metric<MetricName> {
  const total = sumOf(rows, name)
  const plays = sumOf(rows, 'plays')
  const over = isOpen(period) && rows.length > 1 ? -1 : rows.length
  const [shown] = spansFor(rows.slice(0, over))
  return {
    name,
    label: t(NAMES[name][0]),
    value: formatOf(name)(total),
    ...(name === 'seconds' && { exact: t('{n} seconds', { n: Math.round(total) }) }),
    ...(name === 'completions' && plays > 0 && { note: t('{share} of all plays', { share: percent(total / plays) }) }),
    compared: before && {
      now: sumOf(rows.slice(0, over), name),
      before: sumOf(before.slice(0, over), name),
      days: daysOf(period),
    },
    line: shown.map((span) => span[name]),
  }
}

const dated = (rows: readonly StatsRow[]) => rows.map((row) => ({ ...row, date: row.key! }))

/** Returns rows as the spans of a chart, and the number of days of a span; 0 for months. */
function spansFor(rows: readonly StatsRow[]) {
  const days = dated(rows)
  const size = spanSize(days.length)
  return isMonth(days[0]!.date)
    ? ([monthsOf(days, METRICS), 0] as const)
    : ([spansOf(days, METRICS, size), size] as const)
}

/** The names of a chart by its spans. */
const CHARTS = {
  day: text('Listening by day'),
  week: text('Listening by week'),
  month: text('Listening by month'),
} as const

/** The dates of both periods, for the legend of a chart. */
export const datesOf = ({ from, period }: Pick<ComparedStats, 'from' | 'period'>) => dayRange(from, period.to)
export function nameOfBefore({ period }: Pick<ComparedStats, 'period'>): string {
  const { from, to } = periodBefore(period)
  return dayRange(from, to)
}

/** Returns the chart of a number. Its table has all numbers. */
export function chartOf(name: MetricName, { rows, before, period }: ComparedStats): ChartProperties {
  const [spans, size] = spansFor(rows)
  const [earlier] = before ? spansFor(before) : []
  const series = (one: MetricName): Series => ({
    label: t(NAMES[one][0]),
    values: spans.map((span) => span[one]),
    format: formatOf(one),
  })
  return {
    label: t(CHARTS[size === 0 ? 'month' : size === 1 ? 'day' : 'week']),
    spans,
    size,
    isOpen: isOpen(period),
    series: { ...series(name), ...(name === 'seconds' && { unitOf: timeUnit, axisFormat: axisTime }) },
    before: earlier && {
      label: t('Period before'),
      values: earlier.map((span) => span[name]),
      format: formatOf(name),
      spans: earlier.map(({ text }) => text),
    },
    table: METRICS.map(series),
  }
}
