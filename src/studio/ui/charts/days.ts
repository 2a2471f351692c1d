import { localeOf } from '../../base/text.ts'

/** Days in UTC, as in statistics and charts. */

interface Day {
  /** `2026-11-25` */
  date: string
}
/** Some days in sequence, which a chart shows as one. `date` is the last of them. */
export type Span<D extends Day> = D & { text: string }

/** Returns the number of days that are shown as one: a chart has room for about a hundred. */
export const spanSize = (days: number) => (days > 100 ? 7 : 1)

const dayFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(localeOf(), { timeZone: 'UTC', ...options })

/** Formats the date of a day as `3 Nov`. */
export const shortDay = (date: string) => dayFormat({ day: 'numeric', month: 'short' }).format(Date.parse(date))

/** Formats the date of a day as `Tue 3`. */
export const weekday = (date: string) => dayFormat({ weekday: 'short', day: 'numeric' }).format(Date.parse(date))

/** Formats the month of a day as `Nov`, and January as `2027`. */
export const shortMonth = (date: string) =>
  dayFormat(date.slice(5, 7) === '01' ? { year: 'numeric' } : { month: 'short' }).format(Date.parse(date))

/** Formats the date of a day as `November 3, 2026`. */
export const longDay = (date: string) => dayFormat({ dateStyle: 'long' }).format(Date.parse(date))

/** Formats two dates as `Nov 3 – 9, 2026`. */
export const dayRange = (from: string, to: string) =>
  dayFormat({ dateStyle: 'medium' }).formatRange(Date.parse(from), Date.parse(to))

/** Returns the days in spans of `size` days, the last of which is complete. Counts are added, and other numbers are those of the last day. */
export function spansOf<N extends string, D extends Day & Record<N, number>>(
  days: readonly D[],
  counts: readonly N[],
  size = 1,
): Span<D>[] {
  const one = dayFormat({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const spans: Span<D>[] = []
  for (let end = days.length; end > 0; end -= size) {
    const group = days.slice(Math.max(0, end - size), end)
    const [first, last] = [group[0]!, group.at(-1)!]
    const text = first === last ? one.format(Date.parse(last.date)) : dayRange(first.date, last.date)
    const sums = Object.fromEntries(counts.map((name) => [name, sumOf(group, name)]))
    spans.unshift({ ...last, ...sums, text })
  }
  return spans
}

/** Whether a date is a month, such as `2026-11`. */
export const isMonth = (date: string) => date.length === 7

/** Returns the sums of months, if some of the dates are months. */
export function monthsOf<N extends string, D extends Day & Record<N, number>>(
  days: readonly D[],
  counts: readonly N[],
): Span<D>[] {
  const format = dayFormat({ month: 'long', year: 'numeric' })
  return [...Map.groupBy(days, ({ date }) => date.slice(0, 7))].map(([month, group]) => {
    const sums = Object.fromEntries(counts.map((name) => [name, sumOf(group, name)]))
    return { ...group[0]!, ...sums, date: month, text: format.format(Date.parse(month)) }
  })
}

/** Returns the sum of one of the counts. */
export const sumOf = <N extends string>(days: readonly Record<N, number>[], name: N) =>
  days.reduce((sum, day) => sum + day[name], 0)

/** Returns the day of the week, from 0 for Sunday to 6 for Saturday. */
const dayOfWeek = (date: string) => new Date(date).getUTCDay()

export const isMonday = (date: string) => dayOfWeek(date) === 1

/** Whether a day is a Saturday or a Sunday. */
export const isWeekend = (date: string) => dayOfWeek(date) % 6 === 0
