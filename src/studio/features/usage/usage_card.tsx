import { bytes, exactBytes, number, plural } from '../../base/format.ts'
import { setQuery } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import type { ComparedUsage, UsageDay } from '../../data/usage.ts'
import { dayRange, spanSize, spansOf, sumOf } from '../../ui/charts/days.ts'
import { Legend, TimeChart } from '../../ui/charts/lazy_chart.tsx'
import type { Metric } from '../../ui/charts/metric.ts'
import { MetricTabs } from '../../ui/charts/metric_tabs.tsx'
import { before as periodBefore, daysOf, isOpen } from '../../ui/charts/period.ts'
import type { Series } from '../../ui/charts/series.ts'
import { byteUnit } from '../../ui/charts/units.ts'
import { COUNTS } from './days.ts'

const METRICS = ['bytes', 'uploads', 'upload_bytes', 'sessions'] as const
type Name = (typeof METRICS)[number]

/** The names of the numbers, and their rules. */
const NAMES: Record<Name, readonly [name: string, meaning: string]> = {
  bytes: [text('Stored'), text('The size of all files at the end of a day.')],
  uploads: [text('Uploads'), text('Files that were processed on a day.')],
  upload_bytes: [text('Uploaded'), text('The size of the files that were processed on a day.')],
  sessions: [
    text('Play sessions'),
    text('A play session is counted after it has ended, on the day on which it was created.'),
  ],
}
const formatOf = (name: Name) => (name === 'bytes' || name === 'upload_bytes' ? bytes : number)
/** The value of a period: the sum of its days, or the level of its last day. */
const valueOf = (name: Name, days: readonly UsageDay[]) =>
  name === 'bytes' ? (days.at(-1)?.bytes ?? 0) : sumOf(days, name)

function tabOf(name: Name, { usage: { days, tracks }, before, period }: ComparedUsage): Metric<Name> {
  const value = valueOf(name, days)
  // A day that is not over is not compared, but the level of a day is.
  const over = name !== 'bytes' && isOpen(period) && days.length > 1 ? -1 : days.length
  return {
    name,
    label: t(NAMES[name][0]),
    value: formatOf(name)(value),
    ...(formatOf(name) === bytes && { exact: exactBytes(value) }),
    ...(name === 'bytes' && { note: plural(tracks, 'track') }),
    compared: before && {
      now: valueOf(name, days.slice(0, over)),
      before: valueOf(name, before.slice(0, over)),
      days: daysOf(period),
    },
    line: days.map((day) => day[name]),
  }
}

/** The numbers of the usage as tabs, and the chart of one of them. The choice is in the address (`show`). */
export function UsageCard({ answer, show }: { answer: ComparedUsage; show: string | undefined }) {
  const { usage, before, period } = answer
  const current = METRICS.find((name) => name === show) ?? 'bytes'
  const size = spanSize(usage.days.length)
  const spans = spansOf(usage.days, COUNTS, size)
  const earlier = before && spansOf(before, COUNTS, size)
  const series = (name: Name): Series => ({
    label: t(NAMES[name][0]),
    values: spans.map((span) => span[name]),
    format: formatOf(name),
  })
  const { from, to } = periodBefore(period)
  return (
    <MetricTabs
      label={t('Numbers')}
      current={current}
      onChange={(name) => setQuery({ show: name === 'bytes' ? '' : name })}
      metrics={METRICS.map((name) => tabOf(name, answer))}
    >
      <div class="chart-head">
        <p class="soft">{t(NAMES[current][1])}</p>
        <Legend label={dayRange(period.from, period.to)} before={before ? dayRange(from, to) : undefined} />
      </div>
      <TimeChart
        key={current}
        label={size === 1 ? t('Usage by day') : t('Usage by week')}
        spans={spans}
        size={size}
        isOpen={isOpen(period)}
        series={{ ...series(current), ...(formatOf(current) === bytes && { unitOf: byteUnit }) }}
        before={
          earlier && {
            label: t('Period before'),
            values: earlier.map((span) => span[current]),
            format: formatOf(current),
            spans: earlier.map(({ text }) => text),
          }
        }
        table={METRICS.map(series)}
      />
    </MetricTabs>
  )
}
