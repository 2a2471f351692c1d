import { MAX_STRING } from '../../../src/contract/facts.ts'
import type { Tags } from '../../../src/contract/info.ts'
import type { JobTags } from '../../../src/contract/job.ts'

/** Names of the tags for each field, as ffprobe prints them. The first name that a file has is used. */
const TEXTS = {
  title: ['title'],
  artist: ['artist', 'author', 'performer'],
  album: ['album'],
  album_artist: ['album_artist', 'albumartist', 'album artist'],
  composer: ['composer'],
  genre: ['genre'],
} as const

const TRACKS = ['tracktotal', 'totaltracks']
const DISCS = ['disctotal', 'totaldiscs']
const DATES = ['date', 'year', 'originaldate']
const USED_NAMES = new Set<string>([...Object.values(TEXTS).flat(), 'track', ...TRACKS, 'disc', ...DISCS, ...DATES])

/** Whether `tagsOf` uses the tag with this name. */
export const isUsedTag = (name: string) => USED_NAMES.has(name)

/**
 * Converts a text to a single line, removes characters that move, hide or reverse the surrounding text, and shortens it to the maximum
 * length of a string.
 */
export function singleLine(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]/g, '')
  return cutText(plain.trim(), MAX_STRING).trim()
}

// Shortens a text without splitting a surrogate pair.
const cutText = (text: string, length: number) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** Parses a number and an optional total, such as `3` or `3/12`, with at most four digits each. */
function numbers(text: string | undefined): [number?, number?] {
  const [, number, count] = /^\s*(\d{1,4})(?:\s*\/\s*(\d{1,4}))?\s*$/.exec(text ?? '') ?? []
  return [number, count].map((digits) => Number(digits) || undefined) as [number?, number?]
}

/** Parses a year, month or day, and ignores the text after it. */
function dateOf(text: string | undefined): string | undefined {
  const [, year, month, day] = /^\s*(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/.exec(text ?? '') ?? []
  const validPart = (part: string | undefined, last: number) => (Number(part) >= 1 && Number(part) <= last ? part : '')
  const parts = [year, validPart(month, 12), validPart(day, 31)]
  if (!Number(year)) return undefined
  return parts
    .slice(0, parts[1] ? 3 : 1)
    .filter(Boolean)
    .join('-')
}

const withoutEmpty = (tags: { [K in keyof Tags]: Tags[K] | undefined }): Tags =>
  Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== undefined && value !== ''))

/** Returns the tags that the service uses. `raw` contains all tags of a file, with names in lower case. */
export function tagsOf(raw: Record<string, string>): Tags {
  const first = (...names: readonly string[]) => names.map((name) => raw[name]).find(Boolean)
  const texts = Object.entries(TEXTS).map(([name, names]) => [name, singleLine(first(...names) ?? '')])
  const [track_number, track_count = numbers(first(...TRACKS))[0]] = numbers(first('track'))
  const [disc_number, disc_count = numbers(first(...DISCS))[0]] = numbers(first('disc'))
  const date = DATES.map((name) => dateOf(raw[name])).find(Boolean)
  return withoutEmpty({
    ...(Object.fromEntries(texts) as Tags),
    date,
    year: date === undefined ? undefined : Number(date.slice(0, 4)),
    track_number,
    track_count,
    disc_number,
    disc_count,
  })
}

/** Uses the album artist if there is no artist, as the listener pages do (`src/resources/library/appearance.ts`). */
const withArtist = ({ artist, ...source }: Tags) => withoutEmpty({ ...source, artist: artist ?? source.album_artist })

/**
 * Returns the tags for the output files. Values set by users take precedence over those of the source, and these over those of the
 * collection.
 */
export const tagsToWrite = ({ from_source, overrides, defaults }: JobTags, source: Tags): Tags => ({
  ...defaults,
  ...(from_source && withArtist(source)),
  ...overrides,
})

const numberOfTotal = (number?: number, count?: number) => (number && count ? `${number}/${count}` : number?.toString())

/** Returns the ffmpeg arguments that write the tags. */
export function tagArguments(tags: Tags): string[] {
  const texts = (Object.keys(TEXTS) as (keyof typeof TEXTS)[]).map((name) => [name, singleLine(tags[name] ?? '')])
  const fields = [
    ...texts,
    ['date', tags.date],
    ['track', numberOfTotal(tags.track_number, tags.track_count)],
    ['disc', numberOfTotal(tags.disc_number, tags.disc_count)],
  ]
  return fields.flatMap(([name, value]) => (value ? ['-metadata', `${name}=${value}`] : []))
}
