import type { ComponentChildren } from 'preact'

import { listText } from '../../base/format.ts'
import { ChartTable } from './chart_table.tsx'
import { type Series, valueText } from './series.ts'
import type { Cursor } from './use_cursor.ts'

/** A text at a place of an axis, in percent of its length. */
export interface Tick {
  at: number
  text: string
}

interface Properties {
  label: string
  /** The name of the column of the spans in the table. */
  head: string
  /** The names of the spans. */
  spans: readonly string[]
  /** The series that are drawn, and those of the table. */
  series: readonly Series[]
  table?: readonly Series[] | undefined
  cursor: Cursor
  /** Said after the name of the current span. */
  remark?: string
  /** Lines at equal distances, from the lowest to the highest, with their values. */
  lines: readonly Tick[]
  /** Below the plot. */
  dates: readonly Tick[]
  /** Behind the lines. */
  shades?: ComponentChildren
  /** The drawing. */
  children: ComponentChildren
  /** Below the dates. */
  below?: ComponentChildren
}

/** A plot with its axes and a table of the same numbers. It is a slider: the pointer, a finger or the arrow keys choose a span. */
export function ChartFrame(properties: Properties) {
  const {
    label,
    head,
    spans,
    series,
    table = series,
    cursor,
    remark,
    lines,
    dates,
    shades,
    children,
    below,
  } = properties
  const { current } = cursor
  const texts = [spans[current]!, remark ?? '', ...series.map((one) => `${one.label}: ${valueText(one, current)}`)]
  return (
    <>
      {/* Time runs from left to right in all languages. */}
      <div class="chart-box" dir="ltr">
        <div class="chart-values" aria-hidden="true">
          {lines.toReversed().map(({ at, text }) => (
            <span key={at}>
              <bdi>{text}</bdi>
            </span>
          ))}
        </div>
        <div
          class="chart-plot"
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-valuemin={1}
          aria-valuemax={spans.length}
          aria-valuenow={current + 1}
          aria-valuetext={listText(texts.flatMap((text) => text || []))}
          {...cursor.handlers}
        >
          {shades}
          {lines.map(({ at }) => (
            <i key={at} class={at === 0 ? 'chart-line zero' : 'chart-line'} style={{ bottom: `${at}%` }} />
          ))}
          {children}
        </div>
        <div class="chart-dates" aria-hidden="true">
          {dates.map(({ at, text }) => (
            <span key={at} class={at === 100 ? 'end' : undefined} style={{ left: `${at}%` }} dir="auto">
              {text}
            </span>
          ))}
        </div>
        {below}
      </div>
      <ChartTable label={label} head={head} spans={spans} series={table} />
    </>
  )
}

interface TipProperties {
  /** The place of the span, in percent of the width. At both ends of the chart, the box stays inside. */
  place: number
  name: string
  remark?: string
  rows: readonly { name: string; value: string; swatch?: string }[]
}

/** The values of the chosen span. */
export const ChartTip = ({ place, name, remark, rows }: TipProperties) => (
  <div class="chart-tip" aria-hidden="true" style={{ left: `${place}%`, translate: `-${place}%` }}>
    <span dir="auto">
      <strong>{name}</strong>
      {remark && <em>{remark}</em>}
    </span>
    {rows.map((row) => (
      <span key={row.name} dir="auto">
        {row.swatch !== undefined && <i class={`swatch ${row.swatch}`} />}
        {row.name} <b>{row.value}</b>
      </span>
    ))}
  </div>
)
