import { type Chapters, Chapters as Schema } from '../../src/contract/chapters.ts'
import { MAX_CHAPTER_START, MAX_CHAPTER_URL, MAX_CHAPTERS, MAX_STRING } from '../../src/contract/facts.ts'
import { oneLine } from '../../src/contract/text.ts'
import { DownloadFault } from './download.ts'
import { clip } from './notes.ts'

/** Reads chapters in the format JSON Chapters, which feeds refer to. Other programs write it less strictly than the API reads it. */

type Found = Chapters['chapters'][number]

const isUrl = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_CHAPTER_URL && /^https?:\/\//i.test(value) && URL.canParse(value)

function secondsOf(value: unknown): number | null {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const isValid = typeof seconds === 'number' && seconds >= 0 && seconds <= MAX_CHAPTER_START
  return isValid ? Math.round(seconds * 1000) / 1000 : null
}

function chapterOf(value: unknown): Found | null {
  if (value === null || typeof value !== 'object') return null
  const { startTime, endTime, title, img, url, toc } = value as Record<string, unknown>
  const [start, end] = [secondsOf(startTime), secondsOf(endTime)]
  if (start === null) return null
  const name = typeof title === 'string' ? clip(oneLine(title), MAX_STRING) : ''
  return {
    startTime: start,
    ...(end !== null && end > start && { endTime: end }),
    ...(name && { title: name }),
    ...(isUrl(img) && { img }),
    ...(isUrl(url) && { url }),
    ...(toc === false && { toc }),
  }
}

/** Returns chapters as the API accepts them. Throws if the document has none. */
export function parseChapters(text: string): Chapters {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new DownloadFault('it is no JSON')
  }
  const list = (document as { chapters?: unknown } | null)?.chapters
  if (!Array.isArray(list)) throw new DownloadFault('it has no list of chapters')
  const found = list
    .slice(0, 10 * MAX_CHAPTERS)
    .flatMap((value: unknown) => chapterOf(value) ?? [])
    .toSorted((one, other) => one.startTime - other.startTime)
    .filter(({ startTime }, at, all) => at === 0 || startTime > all[at - 1]!.startTime)
    .slice(0, MAX_CHAPTERS)
  const parsed = Schema.safeParse({ chapters: found })
  if (!parsed.success) throw new DownloadFault('its chapters are not valid')
  return parsed.data
}
