import { useState } from 'preact/hooks'

import { listText, number } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { ChartTable, type Series, valueText } from './chart_table.tsx'

interface Properties {
  label: string
  /** The long name of each span, and the names below the chart of the first and the last. */
  spans: readonly string[]
  first: string
  last: string
  series: readonly Series[]
  /** The name of a span in the table. */
  head?: string
  /** The number of spans in the width of the chart, if the last span is shorter than the others. */
  width?: number
  /** Spans that the first series marks with numbers from 1. */
  marks?: readonly number[]
}

const HEIGHT = 100
const GAP = 0.2
/** A bar that is not zero has at least this height. */
const LEAST = 1.5

/** Returns a week of days, or a twentieth of more spans. */
const pageOf = (count: number) => Math.max(7, Math.round(count / 20))

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  PageUp: (at, count) => at - pageOf(count),
  PageDown: (at, count) => at + pageOf(count),
  Home: () => 0,
  End: (_, count) => count - 1,
}

/**
 * Charts of several series over the same spans of time, one below the other. The pointer, a finger or the arrow keys choose a span, whose exact values
 * are shown. A table has the same numbers, of at most 100 spans (docs/decisions/0025).
 */
export function TimeChart(properties: Properties) {
  const { label, spans, first, last, series, head = t('Date'), width: inWidth = spans.length, marks = [] } = properties
  const [chosen, choose] = useState<number | null>(null)
  const count = spans.length
  const at = chosen === null ? null : Math.max(0, Math.min(count - 1, chosen))
  const shown = at ?? count - 1
  const place = Math.min(100, ((shown + 0.5) / inWidth) * 100)
  const values = series.map((one) => `${one.label}: ${valueText(one, shown)}`)

  function point(event: PointerEvent & { currentTarget: HTMLElement }) {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    choose(Math.floor(((event.clientX - left) / width) * inWidth))
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') return choose(null)
    const step = STEPS[event.key]
    if (!step) return
    event.preventDefault()
    choose(Math.max(0, Math.min(count - 1, step(shown, count))))
  }
  return (
    <figure class="time-chart">
      <div
        class="chart-plots"
        // Time runs from left to right in all languages.
        dir="ltr"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={shown + 1}
        aria-valuetext={listText([spans[shown]!, ...values])}
        onPointerDown={point}
        onPointerMove={point}
        onPointerLeave={(event) => event.pointerType === 'mouse' && choose(null)}
        onKeyDown={press}
        onFocus={() => choose((before) => before ?? count - 1)}
        onBlur={() => choose(null)}
      >
        {series.map((one, index) => (
          <Plot key={one.label} series={one} at={at} width={inWidth} marks={index === 0 ? marks : []} />
        ))}
        {at !== null && (
          <div
            class="chart-tip"
            dir="auto"
            aria-hidden="true"
            // At both ends of the chart, it stays inside.
            style={{ left: `${place}%`, translate: `-${place}%` }}
          >
            <strong>{spans[at]}</strong>
            {series.map((one) => (
              <span key={one.label}>
                {one.label} <b>{valueText(one, at)}</b>
              </span>
            ))}
          </div>
        )}
      </div>
      <p class="chart-ends soft" dir="ltr" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </p>
      <ChartTable label={label} head={head} spans={spans} series={series} />
    </figure>
  )
}

interface PlotProperties {
  series: Series
  at: number | null
  width: number
  marks: readonly number[]
}

/** The bars or the area of one series. The browser stretches the drawing to its width. */
function Plot({ series: { label, summary, values, format, isLevel }, at, width, marks }: PlotProperties) {
  const most = Math.max(1, ...values)
  const yOf = (value: number) => HEIGHT - (value === 0 ? 0 : Math.max(LEAST, (value / most) * HEIGHT))
  const ys = values.map(yOf)
  // The line reaches both ends of the chart.
  const line = [`0,${ys[0]}`, ...ys.map((y, x) => `${x + 0.5},${y}`), `${width},${ys.at(-1)}`]
  return (
    <div class="chart-plot">
      <p class="chart-plot-head" dir="auto">
        <span>{label}</span>
        <span class="soft">{summary}</span>
      </p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {at !== null && <rect class="chart-at" x={at} width={1} height={HEIGHT} />}
        {isLevel ? (
          <>
            <polygon points={`0,${HEIGHT} ${line.join(' ')} ${width},${HEIGHT}`} />
            <polyline points={line.join(' ')} />
          </>
        ) : (
          values.map((value, x) => (
            <rect
              key={x}
              class={x === at ? 'bar at' : 'bar'}
              x={x + GAP / 2}
              y={yOf(value)}
              width={1 - GAP}
              height={HEIGHT - yOf(value)}
            />
          ))
        )}
      </svg>
      {marks.map((span, index) => (
        <span key={span} class="chart-mark" aria-hidden="true" style={{ left: `${(span / width) * 100}%` }}>
          {number(index + 1)}
        </span>
      ))}
      <span class="chart-most soft" aria-hidden="true">
        {values.some((value) => value > 0) && format(most)}
      </span>
    </div>
  )
}
