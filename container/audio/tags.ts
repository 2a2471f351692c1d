import { MAX_STRING } from '../../src/contract/facts.ts'
import type { Tags } from '../../src/contract/info.ts'
import type { JobTags } from '../../src/contract/job.ts'

/** What a file calls its fields, as ffprobe says them: the first that is there counts. */
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
const NAMES = new Set<string>([...Object.values(TEXTS).flat(), 'track', ...TRACKS, 'disc', ...DISCS, ...DATES])

/** Whether `tagsOf` reads the tag of this name. */
export const isRead = (name: string) => NAMES.has(name)

/** A text of one line: without what moves, hides or turns the text around it, and not longer than any other of ours. */
export function line(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]/g, '')
  return cutText(plain.trim(), MAX_STRING).trim()
}

// Not in the middle of a character.
const cutText = (text: string, length: number) => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** `3` or `3/12`: a number and of how many; at most four digits. */
function numbers(text: string | undefined): [number?, number?] {
  const [, number, count] = /^\s*(\d{1,4})(?:\s*\/\s*(\d{1,4}))?\s*$/.exec(text ?? '') ?? []
  return [number, count].map((digits) => Number(digits) || undefined) as [number?, number?]
}

/** A day, a month or a year, however more is said behind it. */
function dateOf(text: string | undefined): string | undefined {
  const [, year, month, day] = /^\s*(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/.exec(text ?? '') ?? []
  const within = (part: string | undefined, last: number) => (Number(part) >= 1 && Number(part) <= last ? part : '')
  const parts = [year, within(month, 12), within(day, 31)]
  if (!Number(year)) return undefined
  return parts
    .slice(0, parts[1] ? 3 : 1)
    .filter(Boolean)
    .join('-')
}

const filled = (tags: { [K in keyof Tags]: Tags[K] | undefined }): Tags =>
  Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== undefined && value !== ''))

/** The tags that the service works with, out of all those of a file, whose names are in lower case. */
export function tagsOf(raw: Record<string, string>): Tags {
  const first = (...names: readonly string[]) => names.map((name) => raw[name]).find(Boolean)
  const texts = Object.entries(TEXTS).map(([name, names]) => [name, line(first(...names) ?? '')])
  const [track_number, track_count = numbers(first(...TRACKS))[0]] = numbers(first('track'))
  const [disc_number, disc_count = numbers(first(...DISCS))[0]] = numbers(first('disc'))
  const date = DATES.map((name) => dateOf(raw[name])).find(Boolean)
  return filled({
    ...(Object.fromEntries(texts) as Tags),
    date,
    year: date === undefined ? undefined : Number(date.slice(0, 4)),
    track_number,
    track_count,
    disc_number,
    disc_count,
  })
}

/** With the artist that listeners see (`src/resources/appearance.ts`). */
const withArtist = ({ artist, ...source }: Tags) => filled({ ...source, artist: artist ?? source.album_artist })

/** The tags of the files that are made: what people have set, else what the source says, else where it belongs. */
export const tagsToWrite = ({ own, over, under }: JobTags, source: Tags): Tags => ({
  ...under,
  ...(own && withArtist(source)),
  ...over,
})

const ofCount = (number?: number, count?: number) => (number && count ? `${number}/${count}` : number?.toString())

/** ffmpeg's arguments for them. */
export function tagArguments(tags: Tags): string[] {
  const texts = (Object.keys(TEXTS) as (keyof typeof TEXTS)[]).map((name) => [name, line(tags[name] ?? '')])
  const all = [
    ...texts,
    ['date', tags.date],
    ['track', ofCount(tags.track_number, tags.track_count)],
    ['disc', ofCount(tags.disc_number, tags.disc_count)],
  ]
  return all.flatMap(([name, value]) => (value ? ['-metadata', `${name}=${value}`] : []))
}
