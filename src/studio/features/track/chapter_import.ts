import type { Chapter } from '../../../contract/chapter.ts'
import { MAX_CHAPTERS } from '../../../contract/facts.ts'
import { readTime } from '../../base/clock.ts'
import { t } from '../../base/text.ts'

/** Chapters that were read, or why they could not be. */
export type Imported = { chapters: Chapter[]; problem?: undefined } | { problem: string }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function checked(chapters: Chapter[]): Imported {
  if (chapters.length === 0) return { problem: t('No chapters were found.') }
  if (chapters.length > MAX_CHAPTERS)
    return { problem: t('A track can have at most {n} chapters.', { n: MAX_CHAPTERS }) }
  return { chapters }
}

/** Reads a file in the format JSON Chapters 1.2. Fields that the service does not store are left out. */
export function readJson(text: string): Imported {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  const entries = isRecord(value) ? value.chapters : null
  if (!Array.isArray(entries)) return { problem: t('This is not a JSON Chapters file.') }
  const chapters = entries.map(chapterOf)
  const wrong = chapters.indexOf(null)
  if (wrong >= 0) return { problem: t('Chapter {n} of the file has no valid start time.', { n: wrong + 1 }) }
  return checked(chapters as Chapter[])
}

function chapterOf(entry: unknown): Chapter | null {
  if (!isRecord(entry)) return null
  const { startTime, endTime, title, img, url, toc } = entry
  if (typeof startTime !== 'number' || startTime < 0) return null
  return {
    startTime,
    ...(typeof endTime === 'number' && { endTime }),
    ...(typeof title === 'string' && { title }),
    ...(typeof img === 'string' && img && { img }),
    ...(typeof url === 'string' && url && { url }),
    ...(typeof toc === 'boolean' && { toc }),
  }
}

/** A line with its time, which may be in brackets, and its title, which may follow a dash. */
const LINE = /^[[(]?(\d+(?::\d+){1,2}(?:[.,]\d+)?)[\])]?(?:\s*[-–—:|]\s+|\s+|$)(.*)$/

/** Reads lines such as `00:00 Title`. */
export function readLines(text: string): Imported {
  const chapters: Chapter[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, time = '', title = ''] = LINE.exec(line.trim()) ?? []
    const startTime = readTime(time)
    if (startTime === null)
      return { problem: t('Line {n} does not start with a time, such as 1:05: {line}', { n: at + 1, line }) }
    chapters.push({ startTime, ...(title.trim() && { title: title.trim() }) })
  }
  return checked(chapters)
}
