import { t } from '../../base/text.ts'
import { useUniqueId } from '../controls/id.ts'
import { dateTicks, valueTicks } from './axis.ts'
import { ChartFrame, ChartTip } from './chart_frame.tsx'
import { isWeekend } from './days.ts'
import { type ChartProperties, valueText } from './series.ts'
import { useCursor } from './use_cursor.ts'

const HEIGHT = 100
/** More days have no shaded weekends. */
const MOST_DAYS = 100

/** A chart of one series, and of the same series in the period before (docs/decisions/0025, 0131). */
export default function TimeChart({ label, spans, size, isOpen, series, before, table }: ChartProperties) {
  const last = spans.length - 1
  const width = Math.max(1, last)
  const cursor = useCursor(spans.length, (fraction) => Math.round(fraction * width))
  const most = Math.max(0, ...series.values, ...(before?.values ?? []))
  const ticks = valueTicks(most, series.unitOf?.(most))
  const top = ticks.at(-1)!
  const percentOf = (span: number) => (last === 0 ? 50 : (span / width) * 100)
  const dates = spans.map(({ date }) => date)
  const shown = [series, ...(before ? [before] : [])]
  const remark = isOpen && cursor.current === last ? t('until now') : ''
  const format = series.axisFormat ?? series.format
  return (
    <figure class="time-chart">
      <ChartFrame
        label={label}
        head={t('Date')}
        spans={spans.map(({ text }) => text)}
        series={shown}
        table={table}
        cursor={cursor}
        remark={remark}
        lines={ticks.map((tick) => ({ at: (tick / top) * 100, text: format(tick) }))}
        dates={dateTicks(dates, size, isOpen).map(({ at, text }) => ({ at: percentOf(at), text }))}
        shades={size === 1 && last > 0 && last < MOST_DAYS && <Weekends dates={dates} percentOf={percentOf} />}
      >
        <Lines values={series.values} before={before?.values} top={top} isOpen={isOpen} />
        {isOpen && <Dot at={percentOf(last)} value={series.values[last]} top={top} kind="open" />}
        {cursor.at !== null && (
          <>
            <i class="chart-cursor" style={{ left: `${percentOf(cursor.at)}%` }} />
            {shown.map(({ values }, index) => (
              <Dot
                key={index}
                at={percentOf(cursor.at!)}
                value={values[cursor.at!]}
                top={top}
                kind={index > 0 ? 'before' : ''}
              />
            ))}
            <ChartTip
              place={percentOf(cursor.at)}
              name={spans[cursor.at]!.text}
              remark={remark}
              rows={shown.map((one, index) => ({
                name: index > 0 ? (before?.spans[cursor.at!] ?? '') : one.label,
                value: valueText(one, cursor.at!),
                swatch: index > 0 ? 'before' : '',
              }))}
            />
          </>
        )}
      </ChartFrame>
    </figure>
  )
}

interface DotProperties {
  /** In percent of the width. */
  at: number
  value: number | undefined
  top: number
  kind: string
}

const Dot = ({ at, value, top, kind }: DotProperties) =>
  value === undefined ? null : (
    <i class={`chart-dot ${kind}`} style={{ left: `${at}%`, bottom: `${(value / top) * 100}%` }} />
  )

interface WeekendProperties {
  dates: readonly string[]
  percentOf: (span: number) => number
}

const Weekends = ({ dates, percentOf }: WeekendProperties) => (
  <>
    {dates.map(
      (date, at) =>
        isWeekend(date) && (
          <i
            key={date}
            class="chart-weekend"
            style={{
              left: `${Math.max(0, percentOf(at - 0.5))}%`,
              right: `${100 - Math.min(100, percentOf(at + 0.5))}%`,
            }}
          />
        ),
    )}
  </>
)

interface LinesProperties {
  values: readonly number[]
  before: readonly number[] | undefined
  top: number
  isOpen: boolean
}

/** The lines of both periods, and the area below the current one. The browser stretches the drawing to its width. */
function Lines({ values, before = [], top, isOpen }: LinesProperties) {
  const gradient = useUniqueId()
  const last = values.length - 1
  const points = (some: readonly number[], first = 0) =>
    some.map((value, at) => `${first + at},${(HEIGHT - (value / top) * HEIGHT).toFixed(2)}`).join(' ')
  // The line to a day that is not over is dotted.
  const known = isOpen ? values.slice(0, -1) : values
  return (
    <svg viewBox={`0 0 ${Math.max(1, last)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <linearGradient id={gradient} x1="0" y1="0" x2="0" y2="1">
        <stop class="chart-top" offset="0" />
        <stop class="chart-bottom" offset="1" />
      </linearGradient>
      {known.length > 1 && (
        <polygon points={`0,${HEIGHT} ${points(known)} ${known.length - 1},${HEIGHT}`} fill={`url(#${gradient})`} />
      )}
      <polyline class="before" points={points(before)} />
      <polyline points={points(known)} />
      {isOpen && last > 0 && <polyline class="open" points={points(values.slice(-2), last - 1)} />}
    </svg>
  )
}
