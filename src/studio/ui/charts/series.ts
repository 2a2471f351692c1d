/** The numbers that charts draw. */

export interface Series {
  label: string
  /** One number for each span of time; none until they are read. */
  values: readonly number[]
  format: (value: number) => string
}

/** Returns the value of a series in a span, as text. */
export function valueText({ values, format }: Series, span: number): string {
  const value = values[span]
  return value === undefined ? '–' : format(value)
}

/** A chart of one series. */
export interface ChartProperties {
  label: string
  /** The date of each span, or of its last day, and its long name. */
  spans: readonly { date: string; text: string }[]
  /** Days of a span. */
  size: number
  /** Whether the last span is not over. */
  isOpen: boolean
  series: Series & {
    /** Returns the unit in which values up to `most` are round; by default 1. */
    unitOf?: (most: number) => number
    /** Formats a round value; by default as all values. */
    axisFormat?: (value: number) => string
  }
  /** The series in the period before, with the names of its spans. */
  before?: (Series & { spans: readonly string[] }) | null | undefined
  /** The series of the table; by default the series of the chart. */
  table?: readonly Series[]
}

/** A row with a bar. */
export interface Bar {
  /** Identifies the bar for `onChoose`; null if it cannot be chosen. */
  key: string | null
  name: string
  value: number
  /** The number of files, for example. */
  note?: string
}
