import type { Chapter } from '../../../contract/chapter.ts'
import type { Track } from '../../base/api.ts'
import { readTime, timeText } from '../../base/clock.ts'
import { t } from '../../base/text.ts'
import { infoOf } from '../../data/track_text.ts'

/** A chapter as it is typed. */
export interface ChapterRow {
  /** Identifies the row while the page is shown. */
  key: number
  time: string
  title: string
  /** The fields that cannot be edited here. */
  rest: Omit<Chapter, 'startTime' | 'title'>
}

/** A chapter of the waveform. `start` is in seconds. */
export interface Mark {
  start: number
  title: string | null
}

let rows = 0

export const newRow = (time = '', title = '', rest: ChapterRow['rest'] = {}): ChapterRow => ({
  key: rows++,
  time,
  title,
  rest,
})

export const rowsFrom = (chapters: readonly Chapter[]): ChapterRow[] =>
  chapters.map(({ startTime, title, ...rest }) => newRow(timeText(startTime), title ?? '', rest))

/** Returns the chapters of the file of a track. */
export const fileChapters = (track: Track): Chapter[] =>
  (infoOf(track).chapters ?? []).map(({ start, title }) => ({ startTime: start, ...(title && { title }) }))

/** Returns rows in the order of their times. Rows without a time are at the end. */
export const sorted = (rows: readonly ChapterRow[]): ChapterRow[] =>
  rows.toSorted((a, b) => {
    const [first, second] = [readTime(a.time) ?? Infinity, readTime(b.time) ?? Infinity]
    return first === second ? 0 : first - second
  })

/** Returns rows in the order of their times, with each valid time in the form of `timeText`. */
export const settled = (rows: readonly ChapterRow[]): ChapterRow[] =>
  sorted(
    rows.map((row) => {
      const seconds = readTime(row.time)
      return seconds === null ? row : { ...row, time: timeText(seconds) }
    }),
  )

/** Returns rows as chapters in their order, without those whose time is not valid. An end before the start is left out. */
export const chaptersFrom = (rows: readonly ChapterRow[]): Chapter[] =>
  sorted(rows).flatMap(({ time, title, rest: { endTime, ...rest } }) => {
    const startTime = readTime(time)
    if (startTime === null) return []
    const hasEnd = endTime !== undefined && endTime > startTime
    return [{ startTime, ...(hasEnd && { endTime }), ...(title.trim() && { title: title.trim() }), ...rest }]
  })

/** Returns the chapters that listeners of a track see. */
export const marksOf = (chapters: readonly Chapter[], duration: number): Mark[] =>
  chapters
    .filter(({ startTime, toc }) => toc !== false && startTime < duration)
    .map(({ startTime, title = null }) => ({ start: startTime, title }))

/** Returns what is wrong with the times of rows, by key. */
export function faultsOf(rows: readonly ChapterRow[], duration: number): Map<number, string> {
  const faults = new Map<number, string>()
  const taken = new Set<number>()
  for (const { key, time } of rows) {
    const seconds = readTime(time)
    if (seconds === null) faults.set(key, t('Enter a time, such as 1:05.'))
    else if (duration > 0 && seconds >= duration)
      faults.set(key, t('This is after the end of the track at {time}.', { time: timeText(duration) }))
    else if (taken.has(seconds)) faults.set(key, t('Another chapter starts at the same time.'))
    else taken.add(seconds)
  }
  return faults
}
