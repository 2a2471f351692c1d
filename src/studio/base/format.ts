import type { Failure } from '../../client/index.ts'
import { failureText, isolated, isRightToLeft, localeOf, t, text, tn } from './text.ts'

/** Formats `75.4` as `1:15` and `3700` as `1:01:40`. */
export { formatClock } from '../../elements/shared/clock.ts'

/** Formats seconds: `4230` as `1 h 11 min`, `200` as `3 min`, `20` as `20 s`. */
export function length(seconds: number): string {
  if (seconds < 59.5) return t('{n} s', { n: Math.max(1, Math.round(seconds)) })
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return t('{n} min', { n: minutes })
  return t('{hours} h {minutes} min', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}

/** Formats a total length in seconds: from ten hours on, in whole hours. */
export function hours(seconds: number): string {
  if (seconds === 0) return t('{n} min', { n: 0 })
  return seconds < 36_000 ? length(seconds) : t('{n} h', { n: Math.round(seconds / 3600) })
}

export const percent = (fraction: number) => t('{n} %', { n: Math.round(fraction * 100) })

/** Formats `1234.5` as `1,234.5`. */
export const number = (value: number) => value.toLocaleString(localeOf())

const UNITS = [text('{n} B'), text('{n} KB'), text('{n} MB'), text('{n} GB'), text('{n} TB')]

/** Formats `1234567` as `1.2 MB` and `20000000000` as `20 GB`. */
export function bytes(size: number): string {
  const step = Math.min(UNITS.length - 1, size < 1000 ? 0 : Math.floor(Math.log10(size) / 3))
  const value = size / 1000 ** step
  return t(UNITS[step]!, { n: step === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1)) })
}

/** Formats `['a', 'b']` as `a, b`. */
export const listText = (items: readonly string[]) =>
  new Intl.ListFormat(localeOf(), { type: 'conjunction', style: 'narrow' }).format(items.map(isolated))

/** Formats `1234567` as `1,234,567 bytes`. */
export const exactBytes = (size: number) => t('{n} bytes', { n: size })

const exact = (value: number) =>
  value.toLocaleString(localeOf(), { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** Returns the mark (U+200E) that keeps the sign before a number in a text from right to left. */
export const leftToRight = () => (isRightToLeft() ? '\u200e' : '')

/** Formats `-14.2` as `−14.2 LUFS`, with a minus sign (U+2212). */
export const signed = (value: number, unit: string) =>
  `${leftToRight()}${value < 0 ? '−' : ''}${exact(Math.abs(value))} ${unit}`

/** Returns a line of facts. Empty ones are left out. */
export const joined = (parts: readonly (string | number | false | null | undefined)[]) =>
  parts
    .filter(Boolean)
    .map((part) => isolated(String(part)))
    .join(' · ')

const NOUNS = {
  track: { one: '{n} track', other: '{n} tracks' },
  collection: { one: '{n} collection', other: '{n} collections' },
  playlist: { one: '{n} playlist', other: '{n} playlists' },
  item: { one: '{n} item', other: '{n} items' },
  key: { one: '{n} key', other: '{n} keys' },
  webhook: { one: '{n} webhook', other: '{n} webhooks' },
}
const MORE = {
  track: { one: '{n} or more tracks', other: '{n} or more tracks' },
  collection: { one: '{n} or more collections', other: '{n} or more collections' },
  playlist: { one: '{n} or more playlists', other: '{n} or more playlists' },
}
type Noun = keyof typeof NOUNS

/** Formats a count with its noun. With `more`, the count is a lower bound. */
export const plural = (count: number, noun: Noun, more = false) =>
  tn(more && noun in MORE ? MORE[noun as keyof typeof MORE] : NOUNS[noun], count)

const format = (timestamp: string, options: Intl.DateTimeFormatOptions) =>
  new Date(timestamp).toLocaleString(localeOf(), options)
export const date = (timestamp: string) => format(timestamp, { dateStyle: 'medium' })
export const dateTime = (timestamp: string) => format(timestamp, { dateStyle: 'medium', timeStyle: 'short' })
export const time = (timestamp: string) => format(timestamp, { timeStyle: 'short' })
export const exactTime = (timestamp: string) => format(timestamp, { dateStyle: 'medium', timeStyle: 'medium' })
export const ago = (timestamp: string) => t('{time} ago', { time: length((Date.now() - Date.parse(timestamp)) / 1000) })

type Fault = Pick<Failure, 'message' | 'errors'> & { code?: string }

/** Returns the message of a failure, or a sentence about its invalid fields. */
export function explain(failure: Fault): string {
  const { errors = [] } = failure
  if (errors.length === 0) return failureText(failure)
  return sentence(errors.map((error) => `${labelOf(error.path)} ${error.message}`).join('; '))
}

/** The errors of a form by field; `other` has the errors of no field. */
export type Faults = Partial<Record<string, string>>

/** Returns a failure as the errors of a form's fields. */
export function faultsOf(failure: Fault, fields: readonly string[]): Faults {
  const faults: Faults = {}
  const rest = (failure.errors ?? []).filter(({ path, message }) => {
    const field = fieldOf(path)
    if (!fields.includes(field)) return true
    faults[field] ??= sentence(message)
    return false
  })
  if (rest.length > 0 || Object.keys(faults).length === 0) faults.other = explain({ ...failure, errors: rest })
  return faults
}

/** Returns `allowed_origins` for the path `allowed_origins.0`. */
const fieldOf = (path: string) => path.split('.')[0] ?? ''

/** Returns `subtitle` for the path `player_subtitle`. */
const labelOf = (path: string) =>
  fieldOf(path)
    .replace(/^player_/, '')
    .replaceAll('_', ' ')

/** Returns a text as a sentence, with a capital letter and a full stop. */
export const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
