import { localeOf } from '../text.ts'

/** A day of `GET /v1/usage`. */
export interface UsageDay {
  date: string
  uploads: number
  upload_bytes: number
  sessions: number
  tracks: number
  duration: number
  bytes: number
}

/** Some days in sequence, which a chart shows as one. */
export interface Span extends Omit<UsageDay, 'date'> {
  text: string
}

/** The ranges of days that can be chosen. */
export const RANGES = [7, 30, 90, 365]

/** Returns the range in the address, or the usual one. */
export const rangeOf = (days: string | undefined) => RANGES.find((range) => String(range) === days) ?? 30

/** Returns the number of days that are shown as one: a chart has room for about a hundred. */
export const spanSize = (days: number) => (days > 100 ? 7 : 1)

const dayFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(localeOf(), { timeZone: 'UTC', ...options })

/** Formats the date of a day as `3 Nov`. */
export const shortDay = (date: string) => dayFormat({ day: 'numeric', month: 'short' }).format(Date.parse(date))

/** Returns the days in spans of `size` days, the last of which is complete. Counts are added, and levels are those of the last day. */
export function spansOf(days: readonly UsageDay[], size = 1): Span[] {
  const one = dayFormat({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const several = dayFormat({ dateStyle: 'medium' })
  const spans: Span[] = []
  for (let end = days.length; end > 0; end -= size) {
    const group = days.slice(Math.max(0, end - size), end)
    const [first, last] = [group[0]!, group.at(-1)!]
    spans.unshift({
      ...last,
      text:
        first === last
          ? one.format(Date.parse(last.date))
          : several.formatRange(Date.parse(first.date), Date.parse(last.date)),
      uploads: sumOf(group, 'uploads'),
      upload_bytes: sumOf(group, 'upload_bytes'),
      sessions: sumOf(group, 'sessions'),
    })
  }
  return spans
}

/** Returns the sum of one of the counts. */
export const sumOf = (days: readonly UsageDay[], name: 'uploads' | 'upload_bytes' | 'sessions') =>
  days.reduce((sum, day) => sum + day[name], 0)

const COLUMNS = ['date', 'sessions', 'uploads', 'upload_bytes', 'tracks', 'duration', 'bytes'] as const

/** Returns the days as CSV (RFC 4180). No value needs quotes. */
export const toCsv = (days: readonly UsageDay[]) =>
  [COLUMNS, ...days.map((day) => COLUMNS.map((name) => day[name]))].map((row) => `${row.join(',')}\r\n`).join('')
