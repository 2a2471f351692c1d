import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import type { Episode, Feed } from '../../contract/feed.ts'

/** A podcast feed as it is written to XML. Times are in milliseconds since 1970. */

export interface ShownEpisode extends Omit<Episode, 'published_at'> {
  /** The id of the track. */
  id: string
  title: string
  artist: string | null
  published_at: number
  /** The file that apps load. `format` is the extension of its address. */
  file: { format: string; content_type: string; size: number; duration: number }
  has_chapters: boolean
}

export interface ShownFeed {
  share: Pick<ShareRow, 'id' | 'organization_id' | 'slug' | 'is_custom_slug' | 'text' | 'expires_at'>
  feed: Feed
  title: string
  subtitle: string
  /** Edge length of the cover in pixels. */
  cover_size: number
  /** Address of the share's page. */
  page: string
  /** Address of the feed. */
  address: string
  episodes: ShownEpisode[]
  /** The newest time of publication; null without episodes. */
  published_at: number | null
  /** When the feed has changed last, or later; null if that is not known. */
  changed_at: number | null
}
