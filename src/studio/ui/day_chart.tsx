import { useState } from 'preact/hooks'

import { listText } from '../format.ts'
import { ChartTable, type Series } from './chart_table.tsx'

interface Properties {
  label: string
  /** The long name of each span, and the names below the chart of the first and the last. */
  spans: readonly string[]
  first: string
  last: string
  series: readonly Series[]
}

const HEIGHT = 100
const GAP = 0.2
/** A bar that is not zero has at least this height. */
const LEAST = 1.5

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  PageUp: (at) => at - 7,
  PageDown: (at) => at + 7,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/**
 * Charts of several series over the same days, one below the other. The pointer, a finger or the arrow keys choose a day, whose exact values are
 * shown. The same numbers are in a table (docs/decisions/0096).
 */
export function DayChart({ label, spans, first, last, series }: Properties) {
  const [chosen, choose] = useState<number | null>(null)
  const count = spans.length
  const at = chosen === null ? null : Math.max(0, Math.min(count - 1, chosen))
  const shown = at ?? count - 1
  const place = ((shown + 0.5) / count) * 100
  const values = series.map(({ label: name, format, values: numbers }) => `${name}: ${format(numbers[shown] ?? 0)}`)

  function point(event: PointerEvent & { currentTarget: HTMLElement }) {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    choose(Math.floor(((event.clientX - left) / width) * count))
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') return choose(null)
    const step = STEPS[event.key]
    if (!step) return
    event.preventDefault()
    choose(Math.max(0, Math.min(count - 1, step(shown, count))))
  }
  return (
    <figure class="day-chart">
      <div
        class="day-plots"
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
        {series.map((one) => (
          <Plot key={one.label} series={one} at={at} />
        ))}
        {at !== null && (
          <div
            class="day-tip"
            dir="auto"
            aria-hidden="true"
            // At both ends of the chart, it stays inside.
            style={{ left: `${place}%`, translate: `-${place}%` }}
          >
            <strong>{spans[at]}</strong>
            {series.map(({ label: name, format, values: numbers }) => (
              <span key={name}>
                {name} <b>{format(numbers[at] ?? 0)}</b>
              </span>
            ))}
          </div>
        )}
      </div>
      <p class="day-ends soft" dir="ltr" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </p>
      <ChartTable label={label} spans={spans} series={series} />
    </figure>
  )
}

/** The bars or the area of one series. The browser stretches the drawing to its width. */
function Plot({ series: { label, summary, values, format, isLevel }, at }: { series: Series; at: number | null }) {
  const most = Math.max(1, ...values)
  const yOf = (value: number) => HEIGHT - (value === 0 ? 0 : Math.max(LEAST, (value / most) * HEIGHT))
  const line = values.map((value, x) => `${x + 0.5},${yOf(value)}`)
  return (
    <div class="day-plot">
      <p class="day-plot-head" dir="auto">
        <span>{label}</span>
        <span class="soft">{summary}</span>
      </p>
      <svg viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {at !== null && <rect class="day-at" x={at} width={1} height={HEIGHT} />}
        {isLevel ? (
          <>
            <polygon points={`0.5,${HEIGHT} ${line.join(' ')} ${values.length - 0.5},${HEIGHT}`} />
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
      <span class="day-most soft" aria-hidden="true">
        {values.some((value) => value > 0) && format(most)}
      </span>
    </div>
  )
}
