import { isUsedTag, singleLine } from './tags.ts'
import { decodeTexts } from './text_encoding.ts'

// Names that ffprobe lists as tags, but whose values are technical: MP4's brands and handlers (ISO/IEC 14496-12 §4.3, §8.4.3), and
// Matroska's statistics.
const TECHNICAL_TAGS =
  /^(major_brand|minor_version|compatible_brands|handler_name|vendor_id|(duration|bps|number_of_\w+|_statistics_\w+)(-\w+)?)$/

const MAX_TAGS = 64
/** Maximum number of characters per tag, and of all texts together. */
const MAX_TAG = 1024
const MAX_TEXT = 16_384
const MAX_CHAPTERS = 256

/** Formats with ID3v2 tags. ID3v2 frames often declare Latin-1 wrongly. */
const ID3 = /^(mp3|aac|aiff|tta)$/

interface Chapter {
  /** Start of the chapter in seconds. */
  start: number
  tags?: Record<string, string> | undefined
}

/** Decodes tags and chapters from any encoding, and limits their number and length. */
export function readTexts(format = '', tags: Record<string, string>, chapters: Chapter[]) {
  const decode = (texts: string[]) =>
    decodeTexts(
      texts.map((text) => Buffer.from(text, 'latin1')),
      ID3.test(format),
    )
  const values = Object.values(tags)
  const namedTags = decode(Object.keys(tags))
    .map((name, at) => [name?.toLowerCase() ?? '', values[at]!] as const)
    .filter(
      ([name, value]) =>
        /^.{1,64}$/s.test(name) && !TECHNICAL_TAGS.test(name) && !(name === 'language' && value === 'und'),
    )
    // If there are too many tags, those that the service does not use are dropped first.
    .toSorted(([a], [b]) => Number(isUsedTag(b)) - Number(isUsedTag(a)))
    .slice(0, MAX_TAGS)
  const listedChapters = chapters.slice(0, MAX_CHAPTERS)
  const texts = [...namedTags.map(([, value]) => value), ...listedChapters.map((chapter) => chapter.tags?.title ?? '')]
  // A character has up to four bytes in UTF-8.
  const decoded = decode(texts.map((text) => text.slice(0, 4 * MAX_TAG)))
  let charactersLeft = MAX_TEXT
  const rawTags = namedTags.flatMap(([name], at) => {
    const text = decoded[at]?.replaceAll('\0', '').toWellFormed().slice(0, Math.min(MAX_TAG, charactersLeft))
    charactersLeft -= text?.length ?? 0
    return text ? [[name, text] as const] : []
  })
  return {
    rawTags: Object.fromEntries(rawTags),
    chapters: listedChapters.map(({ start }, at) => ({
      start,
      title: singleLine(decoded[namedTags.length + at] ?? '') || null,
    })),
  }
}
