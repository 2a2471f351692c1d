import { range, tickStep } from 'd3-array'

import { t } from '../../base/text.ts'
import { isMonday, isMonth, shortDay, shortMonth, weekday } from './days.ts'
import { addDays } from './period.ts'

/** The lines and dates of a chart, at round places (docs/decisions/0131). */

/** Maximum number of lines above zero. */
const LINES = 4
/** Fewer days have a date each. */
const FEW_DAYS = 14
/** The part of the width that a date takes. */
const CLOSE = 0.09
/** More months have only some dates. */
const MANY_MONTHS = 14

/** Returns round values from 0 on, the last of which is not below `most`. They are multiples of a round number of `unit`, which is not divided if it is 1. */
export function valueTicks(most: number, unit = 1): number[] {
  const high = Math.max(most, unit) / unit
  const steps = [3, 2, 1].map((count) => tickStep(0, high, count))
  const round = steps.find((step) => Math.ceil(high / step) <= LINES) ?? high
  const step = unit === 1 ? Math.max(1, round) : round
  return range(Math.ceil(high / step) + 1).map((at) => at * step * unit)
}

const isFirstOfMonth = (date: string) => date.endsWith('-01')

/** A date below a chart, at the place of a span; a fraction is between two spans. */
export interface DateTick {
  at: number
  text: string
}

/** Returns the dates below a chart of spans of `size` days, or of months: each of some days, Mondays, or the first days of months. A chart that `isOpen` ends today. */
export function dateTicks(dates: readonly string[], size: number, isOpen = false): DateTick[] {
  const last = dates.length - 1
  if (isMonth(dates[0]!)) {
    const every = Math.ceil(dates.length / MANY_MONTHS)
    return dates.flatMap((date, at) => (at % every === 0 ? [{ at, text: shortMonth(date) }] : []))
  }
  if (size === 1 && dates.length <= FEW_DAYS) return dates.map((date, at) => ({ at, text: weekday(date) }))
  // A span has the date of its last day.
  const first = addDays(dates[last]!, -last * size)
  const isTick = size === 1 ? isMonday : isFirstOfMonth
  const format = size === 1 ? shortDay : shortMonth
  const ticks = range(last * size + 1)
    .map((days) => ({ at: days / size, date: addDays(first, days) }))
    .filter(({ date }) => isTick(date))
    .map(({ at, date }) => ({ at, text: format(date) }))
  if (!isOpen) return ticks
  // The last day has its name, if no date is too close to it.
  const isFree = ({ at }: DateTick) => (last - at) / last > CLOSE
  return [...ticks.filter(isFree), { at: last, text: t('Today') }]
}
