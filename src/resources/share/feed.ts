import { filesOf } from '../../adapters/bucket/track_files.ts'
import { type EpisodeRow, readChapters, readEpisodes } from '../../adapters/db/feed_rows.ts'
import { embedRows } from '../../adapters/db/play/embed_rows.ts'
import { batch, type Client } from '../../adapters/db/query.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { shareRows } from '../../adapters/db/share_rows.ts'
import type { Context } from '../../context.ts'
import { contentTypeOf, MAX_FEED_TEXT } from '../../contract/facts.ts'
import { notFound } from '../../core/errors.ts'
import { trackTitle } from '../library/appearance.ts'
import { toChapter } from '../library/resource_fields.ts'
import { toEmbed } from './embed.ts'
import { feedAddress, feedOf } from './feed_access.ts'
import { bestFile, type FileType } from './share_file.ts'
import { openShare, toShare, withTitle } from './share_view.ts'
import type { ShownEpisode, ShownFeed } from './shown_feed.ts'

/** The podcast feed of a share (docs/feeds.md). */

/** The types of files in the order in which a feed prefers them. Every podcast app plays the first two. */
const TYPES: FileType[] = ['mp3', 'm4a', 'flac', 'opus']

/** Returns the file of an episode; undefined before it is ready, and if the share allows none of its files. */
function fileOf({ id, files }: EpisodeRow, share: ShareRow) {
  if (files === null || files.is_early) return undefined
  // The end of a path has the type. Its start is not needed.
  const found = filesOf({ id, files, organization_id: '', collection_id: '', folder_id: null, index: '' })
  for (const format of TYPES) {
    const file = bestFile(found, share, format)
    if (file)
      return {
        format,
        content_type: contentTypeOf(file.path.split('.').at(-1)!),
        size: file.size,
        duration: file.duration,
      }
  }
  return undefined
}

/** Returns an episode; an empty list if it is not published yet, or has no file. */
function toEpisode(row: EpisodeRow, share: ShareRow, uses_tags: boolean, now: number): ShownEpisode[] {
  const { id, episode, created_at, tags, has_chapters } = row
  const published_at = episode?.published_at ? Date.parse(episode.published_at) : created_at
  const file = fileOf(row, share)
  if (!file || published_at > now) return []
  const title = trackTitle(row, uses_tags)
  const artist = (uses_tags && tags.artist) || null
  return [{ id, title, artist, published_at, file, has_chapters: has_chapters === 1, ...described(episode) }]
}

/** Returns the episodes without the notes that would make the feed too large: those of the last ones. */
function withinLimit(episodes: ShownEpisode[]): ShownEpisode[] {
  let left = MAX_FEED_TEXT
  return episodes.map((episode) => {
    left -= episode.description?.length ?? 0
    return left < 0 ? { ...episode, description: null } : episode
  })
}

/** Returns what a person has said about an episode. */
const described = (episode: EpisodeRow['episode']) => ({
  season: episode?.season ?? null,
  number: episode?.number ?? null,
  type: episode?.type ?? 'full',
  explicit: episode?.explicit ?? null,
  description: episode?.description ?? null,
})

/**
 * Reads the feed of a share in two trips to the database. Throws 404 if there is no such feed, and 410 when the share was revoked or has expired.
 */
export async function readFeed(context: Context<Client>, slug: string): Promise<ShownFeed> {
  const { db, now, base_url } = context
  const key = { slug, password_hash: null }
  const [shared, embedded] = await batch(db, [shareRows.bind(db, key), embedRows.shares.bind(db, key)])
  const share = toShare(shareRows.decode(shared!)[0], now)
  const feed = feedOf(share)
  const [row] = embedRows.shares.decode(embedded!)
  const { title, subtitle, card_image } = withTitle(await toEmbed(context, row), share)
  const { rows, changed_at } = await readEpisodes(db, share)
  const uses_tags = row?.organization?.uses_tags === true
  const ids = new Set<string>()
  const episodes = rows.flatMap((found) => {
    if (ids.has(found.id)) return []
    ids.add(found.id)
    return toEpisode(found, share, uses_tags, now)
  })
  // Equal times keep the order of the list, so the last track comes first.
  if (feed.type === 'episodic') episodes.sort((one, other) => other.published_at - one.published_at)
  const newest = episodes.reduce((latest, { published_at }) => Math.max(latest, published_at), 0)
  return {
    share,
    feed,
    title,
    subtitle,
    cover_size: card_image.width,
    page: `${base_url}/s/${slug}`,
    address: feedAddress(base_url, slug),
    episodes: withinLimit(episodes),
    published_at: newest || null,
    changed_at: changed_at && Math.max(changed_at, newest),
  }
}

/** Reads the chapters of an episode. Throws 404 and 410 like `readFeed`, and 404 if the share does not have the track. */
export async function readFeedChapters(context: Context<Client>, slug: string, track_id: string) {
  const share = await openShare(context, slug)
  feedOf(share)
  const chapters = await readChapters(context.db, share, track_id)
  if (!chapters) throw notFound('track')
  return { share, chapters: chapters.map(toChapter) }
}
