import { STATS_DAYS } from '../../../contract/facts.ts'
import { DAY } from '../../../contract/time.ts'

/** Days in sequence, the first and the last included: days in UTC as `2026-11-25`. */
export interface Period {
  from: string
  to: string
}

/** The numbers of days until today that can be chosen. */
export const RANGES = [7, 30, 90, 365] as const

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)
export const today = () => dateOf(Date.now())

/** Returns the day some days later, or earlier. */
export const addDays = (date: string, days: number) => dateOf(Date.parse(date) + days * DAY)

/** Returns the number of days of a period. */
export const daysOf = ({ from, to }: Period) => (Date.parse(to) - Date.parse(from)) / DAY + 1

/** Returns the last days, with today. */
export const lastDays = (days: number): Period => ({ from: addDays(today(), 1 - days), to: today() })

/** Returns the period of the same length before another. */
export const before = (period: Period): Period => {
  const days = daysOf(period)
  return { from: addDays(period.from, -days), to: addDays(period.to, -days) }
}

/** Whether the last day of a period is not over. */
export const isOpen = ({ to }: Period) => to >= today()

/** Returns one of `RANGES` if the period is such a number of days until today. */
export const rangeOf = (period: Period) =>
  isOpen(period) ? RANGES.find((range) => range === daysOf(period)) : undefined

/** Returns the period with its days in order, none in the future, and at most as many as statistics have in one response. */
export function allowed({ from, to }: Period): Period {
  const last = to > today() ? today() : to
  const first = from > last ? last : from
  const earliest = addDays(last, 1 - STATS_DAYS)
  return { from: first < earliest ? earliest : first, to: last }
}

type Query = Readonly<Record<string, string | undefined>>
const isDate = (text: string | undefined): text is string =>
  /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text!)) && dateOf(Date.parse(text!)) === text

/** Returns the period in an address: two dates, or a number of days until today; otherwise the usual one. */
export function periodOf({ days, from, to }: Query, usual = 30): Period {
  if (isDate(from) && isDate(to)) return allowed({ from, to })
  return lastDays(RANGES.find((range) => String(range) === days) ?? usual)
}

/** Returns the values of a period in an address. */
export function queryOf(period: Period, usual = 30): { days: string; from: string; to: string } {
  const range = rangeOf(period)
  if (range === undefined) return { days: '', ...period }
  return { days: range === usual ? '' : String(range), from: '', to: '' }
}

/** Returns a period with another first or last day. The other day follows if it would be on the wrong side. */
export function moved(period: Period, name: 'from' | 'to', date: string): Period {
  const changed: Period = { ...period, [name]: date }
  return allowed(changed.from > changed.to ? { from: date, to: date } : changed)
}
