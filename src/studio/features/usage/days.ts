import type { UsageDay } from '../../data/usage.ts'

/** The numbers of a day that are counts. The others are levels. */
export const COUNTS = ['uploads', 'upload_bytes', 'sessions'] as const

const COLUMNS = ['date', 'sessions', 'uploads', 'upload_bytes', 'tracks', 'duration', 'bytes'] as const

/** Returns the days as CSV (RFC 4180). No value needs quotes. */
export const toCsv = (days: readonly UsageDay[]) =>
  [COLUMNS, ...days.map((day) => COLUMNS.map((name) => day[name]))].map((row) => `${row.join(',')}\r\n`).join('')
