import { formatClock } from '../../contract/facts.ts'

/** Formats seconds as `1:05`, or `1:05.25` if they are not whole. */
export function timeText(seconds: number): string {
  const total = Math.round(seconds * 1000)
  const fraction = total % 1000
  const rest = fraction === 0 ? '' : `.${String(fraction).padStart(3, '0').replace(/0+$/, '')}`
  return formatClock(Math.floor(total / 1000)) + rest
}

/** Returns the seconds of a time such as `1:02:05`, `1:05.25` or `65`; null for other texts. */
export function readTime(text: string): number | null {
  if (!/^(\d{1,4}:){0,2}\d{1,6}([.,]\d{1,3})?$/.test(text.trim())) return null
  const parts = text.trim().replace(',', '.').split(':').map(Number)
  if (parts.slice(1).some((part) => part >= 60)) return null
  return parts.reduce((total, part) => total * 60 + part, 0)
}
