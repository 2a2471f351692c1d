import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'

import { DEFAULT_ACCEPT, isAccepted } from '../../src/client/upload/accept.ts'
import { MAX_COVER_BYTES, MAX_EPISODE_TEXT, MAX_SHARE_TEXT, MAX_STRING } from '../../src/contract/facts.ts'
import { oneLine } from '../../src/contract/text.ts'
import { Fault } from '../backup/service.ts'
import { parseChapters } from './chapters.ts'
import { type Downloader, secureUrl } from './download.ts'
import { decodeXml, type Feed, type FeedItem, parseFeed } from './feed.ts'
import { clip, notesOf } from './notes.ts'
import { readArguments } from './options.ts'
import { checkSource, fileNameOf, indexOf, indexOfUrl, type Load, type PlannedCollection, Planner } from './plan.ts'
import { publishFeed } from './share.ts'
import { carryOut } from './take.ts'

/** `npm run import -- rss URL|FILE`: imports the episodes of a podcast feed (docs/import.md#a-podcast-feed). */

const FEED = { maxBytes: 64_000_000, seconds: 120 }
const COVER = { maxBytes: MAX_COVER_BYTES, seconds: 60 }
const CHAPTERS = { maxBytes: 2_000_000, seconds: 30 }
/** Maximum number of pages of a feed, and of its items. */
const MAX_PAGES = 200
const MAX_ITEMS = 50_000
/** Number of pictures that are kept for the next items, which often have the same one. */
const KEPT_COVERS = 4

const isUrl = (from: string) => /^https?:\/\//i.test(from)

/** A feed with the address against which its relative addresses are resolved; null for a file without one. */
interface Read {
  feed: Feed
  base: string | null
}

async function readPage(from: string, read: Downloader['trusted'], signal: AbortSignal): Promise<Read> {
  if (!isUrl(from)) {
    const bytes = await readFile(resolve(from)).catch((error: Error) => {
      throw new Fault(`${from}: ${error.message}. A feed is an address with https://, or a file`)
    })
    const feed = parseFeed(decodeXml(bytes))
    return { feed, base: URL.canParse(feed.self) ? feed.self : null }
  }
  if (!URL.canParse(from)) throw new Fault('The address of the feed is no URL')
  const { bytes, contentType, url } = await read(from, { ...FEED, signal }).catch((error: unknown) => {
    throw error instanceof Fault ? new Fault(`The feed could not be read: ${error.message}`) : error
  })
  return { feed: parseFeed(decodeXml(bytes, contentType)), base: url }
}

/** Reads a feed with all its pages (RFC 5005 §3). */
async function readFeed(from: string, { trusted, untrusted }: Downloader, signal: AbortSignal): Promise<Read> {
  const first = await readPage(from, trusted, signal)
  const { feed } = first
  const seen = new Set([first.base])
  const keyOf = ({ guid, enclosure }: FeedItem) => JSON.stringify([guid, enclosure?.url])
  const known = new Set(feed.items.map(keyOf))
  for (let { next } = feed, { base } = first; next && isUrl(from);) {
    const url = resolved(next, base)
    if (url === null || seen.has(url) || seen.size >= MAX_PAGES || feed.items.length >= MAX_ITEMS) break
    seen.add(url)
    // A page of the same server is as trusted as the feed.
    const isSame = new URL(url).origin === new URL(from).origin
    const page = await readPage(url, isSame ? trusted : untrusted, signal)
    for (const item of page.feed.items) {
      // Items move to the next page when an episode appears meanwhile.
      if (known.has(keyOf(item))) continue
      known.add(keyOf(item))
      feed.items.push({ ...item, number: feed.items.length + 1 })
    }
    ;({ next } = page.feed)
    ;({ base } = page)
  }
  return first
}

/** Returns the URL of an address in a feed; null if it is not a URL. */
function resolved(address: string, base: string | null): string | null {
  return URL.canParse(address, base ?? undefined) ? new URL(address, base ?? undefined).href : null
}

/** Returns an address in a feed with https; null if it is no URL. */
function absolute(address: string, base: string | null): string | null {
  const url = resolved(address, base)
  return url === null ? null : secureUrl(url)
}

/** Returns the time of an item in milliseconds; null if it has none that can be read. */
function timeOf({ date }: FeedItem): number | null {
  const time = Date.parse(date)
  return time > 0 && time < Date.UTC(9999, 0) ? time : null
}

/**
 * Returns items in the order of a collection. Feeds list the newest item first, and collections the newest last. A serial feed has the order in which it is
 * heard, unless its numbers or dates show that it is reversed.
 */
export function inOrder({ type, isOurs, items }: Feed): FeedItem[] {
  if (type === 'serial') {
    const isReversed = !isOurs && descends(items)
    return isReversed ? items.toReversed() : items
  }
  const reversed = items.toReversed()
  const times = new Map<FeedItem, number>()
  let last = 0
  for (const item of reversed) {
    last = timeOf(item) ?? last
    times.set(item, last)
  }
  return reversed.toSorted((one, other) => times.get(one)! - times.get(other)!)
}

/** Whether most items have a smaller number than the one before, or, without numbers, an earlier date. */
function descends(items: FeedItem[]): boolean {
  let [numbers, dates] = [0, 0]
  for (const [at, item] of items.entries()) {
    const before = items[at - 1]
    if (!before) continue
    if (item.episode && before.episode)
      numbers += Math.sign((item.season ?? 1) - (before.season ?? 1) || item.episode - before.episode)
    dates += Math.sign((timeOf(item) ?? 0) - (timeOf(before) ?? 0))
  }
  return numbers < 0 || (numbers === 0 && dates < 0)
}

/** Returns the loads of pictures. Several items may have the same one, which is then downloaded once. */
function coversOf({ untrusted }: Downloader): (url: string | null) => Load | undefined {
  const kept = new Map<string, ReturnType<Load>>()
  return (url) => {
    if (url === null) return undefined
    return (signal) => {
      const picture = kept.get(url) ?? untrusted(url, { ...COVER, signal })
      kept.delete(url)
      kept.set(url, picture)
      picture.catch(() => kept.delete(url))
      for (const oldest of kept.keys()) if (kept.size > KEPT_COVERS) kept.delete(oldest)
      return picture
    }
  }
}

/** Characters of the description in the metadata. Together with the other facts, it then has at most 16 KB in any language. */
const MAX_DESCRIPTION = 4000

/** Returns the collection of a feed. Facts that only a feed shows are in its metadata (docs/feeds.md). */
export function collectionOf(
  feed: Feed,
  from: string,
  id: string | undefined,
  cover: Load | undefined,
): PlannedCollection {
  const address = isUrl(from) ? indexOfUrl(from) : null
  const { author, email, link, language, copyright, category, explicit, type, medium } = feed
  const short = (text: string) => (text === '' || text.length > MAX_STRING ? null : text)
  const podcast = {
    author: short(author),
    email: short(email),
    link: short(link),
    language: short(language),
    copyright: short(copyright),
    category,
    explicit,
    type,
    medium,
    description: clip(notesOf(feed.description), MAX_DESCRIPTION) || null,
  }
  return {
    index: feed.guid
      ? indexOf(`podcast:${feed.guid}`)
      : (address ?? indexOf(`podcast:${feed.self || feed.link || feed.title}`)),
    title: clip(feed.title, MAX_STRING) || 'Podcast',
    ...(author && { player_subtitle: clip(author, MAX_STRING) }),
    metadata: { podcast },
    ...(cover && { cover }),
    ...(id !== undefined && { id }),
  }
}

interface Context {
  feed: Feed
  base: string | null
  base_url: string
  collection: PlannedCollection
  coverOf: (url: string | null) => Load | undefined
  downloader: Downloader
}

const EXTENSIONS = new Map([
  ['audio/mpeg', '.mp3'],
  ['audio/mp4', '.m4a'],
  ['audio/x-m4a', '.m4a'],
  ['video/mp4', '.mp4'],
  ['audio/ogg', '.ogg'],
  ['audio/opus', '.opus'],
  ['audio/flac', '.flac'],
])

function trackOf(item: FeedItem, { feed, base, base_url, collection, coverOf, downloader }: Context) {
  const { enclosure, title, guid, author, season, episode: number, type, explicit } = item
  if (!enclosure) throw new Fault('it has no enclosure, so it has no audio')
  if (/^(image|text|font)\/|^application\/(pdf|zip|epub)/.test(enclosure.type))
    throw new Fault(`its enclosure is no audio: ${enclosure.type.slice(0, 60)}`)
  const url = absolute(enclosure.url, base)
  if (url === null) throw new Fault('the URL of its enclosure is no URL, or is relative in a feed without an address')
  checkSource(url, base_url)
  const notes: string[] = []
  const time = timeOf(item)
  if (time === null && item.date) notes.push(`its date cannot be read: ${clip(oneLine(item.date), 40)}`)
  const text = notesOf(item.notes)
  if (text.length > MAX_EPISODE_TEXT) notes.push(`its notes are shortened to ${MAX_EPISODE_TEXT} characters`)
  const image = item.image ? absolute(item.image, base) : null
  const cover = item.image === feed.image ? undefined : coverOf(image)
  const chapters = item.chapters ? absolute(item.chapters, base) : null
  const file = fileNameOf(url)
  const isAudio = isAccepted({ name: file, type: '' }, DEFAULT_ACCEPT)
  const extension = (isAudio && extname(file)) || EXTENSIONS.get(enclosure.type) || '.mp3'
  // A name has no folders.
  const name = clip((title || file || `Episode ${item.number}`).replace(/[/\\]/g, '-'), MAX_STRING - extension.length)
  return {
    index: guid ? indexOf(guid) : indexOfUrl(url),
    collection,
    body: {
      file_name: name.endsWith(extension) ? name : name + extension,
      source_url: url,
      ...(title && { player_title: clip(title, MAX_STRING) }),
      episode: {
        season,
        number,
        type,
        explicit,
        description: clip(text, MAX_EPISODE_TEXT) || null,
        published_at: time === null ? null : new Date(time).toISOString(),
      },
    },
    ...(author && author !== feed.author && { tags: { artist: clip(author, MAX_STRING) } }),
    ...(cover && { cover }),
    ...(chapters !== null && {
      chapters: async (signal: AbortSignal) => {
        const { bytes } = await downloader.untrusted(chapters, { ...CHAPTERS, signal })
        return parseChapters(new TextDecoder().decode(bytes))
      },
    }),
    notes,
  }
}

/** Runs the command with the arguments after `rss`. */
export async function run(args: string[]): Promise<void> {
  const { from, collection_id, options, downloader, client, base_url, isDryRun } = readArguments(args, {
    feed: { type: 'boolean' },
    'ignore-lock': { type: 'boolean' },
  })
  const { feed, base } = await readFeed(from, downloader, new AbortController().signal)
  if (feed.isLocked && !options['ignore-lock'])
    throw new Fault(
      'The feed is locked (podcast:locked): its owner asks other services not to import it. Unlock it where it is published. If it is yours, you can also set --ignore-lock',
    )
  const coverOf = coversOf(downloader)
  const collection = collectionOf(feed, from, collection_id, coverOf(feed.image ? absolute(feed.image, base) : null))
  const planner = new Planner()
  const context = { feed, base, base_url, collection, coverOf, downloader }
  for (const item of feed.items) planner.add(item.number, item.title, () => trackOf(item, context))
  const places = new Map(inOrder(feed).map(({ number }, at) => [number, at]))
  planner.tracks.sort((one, other) => places.get(one.number)! - places.get(other.number)!)
  console.log(`"${collection.title}": ${feed.items.length} items`)
  const [id] = await carryOut(client, planner, { isDryRun })
  const text = clip(notesOf(feed.description), MAX_SHARE_TEXT)
  if (options.feed && id !== undefined) await publishFeed(client, id, feed, text)
}
