import { MAX_FEED_EPISODES } from '../../contract/facts.ts'
import type { Episode } from '../../contract/feed.ts'
import type { Tags } from '../../contract/info.ts'
import type { StoredFiles } from '../bucket/track_files.ts'
import { CHAPTERS } from './play/play_rows.ts'
import { PLACES } from './play/session_list.ts'
import type { Client } from './query.ts'
import type { ShareRow } from './schema/shares.ts'
import { CHAPTER_COUNT_SQL } from './track_info.ts'

/** Selects the episodes of a share's podcast feed. Each row is one JSON text, for the reason in session_list.ts. */

export interface EpisodeRow {
  id: string
  duration: number
  file_name: string
  player_title: string | null
  tags: Pick<Tags, 'title' | 'artist'>
  created_at: number
  episode: Episode | null
  /** Null while the track has no file. */
  files: StoredFiles | null
  has_chapters: 0 | 1
}

const ENTRY = `json_object(
  'id', tracks.id, 'duration', tracks.duration, 'file_name', tracks.file_name, 'player_title', tracks.player_title,
  'tags', json_object('title', tracks.tags ->> '$.title', 'artist', tracks.tags ->> '$.artist'),
  'created_at', tracks.created_at, 'episode', json(tracks.episode), 'files', json(tracks.files),
  'has_chapters', coalesce(json_array_length(tracks.chapters), ${CHAPTER_COUNT_SQL}, 0) > 0)`

const WITH_COLLECTION = 'join collections on collections.id = tracks.collection_id'

/**
 * Returns the statement for a share. It reads as many tracks as a feed may have: the last ones of the list for an episodic feed, because new tracks are
 * added at the end, and the first ones for a serial feed. Tracks without files are among them, so that the number of rows is limited. A playlist may
 * contain a track several times. A collection that is deleted has no share.
 */
function listOf({ scope, feed }: ShareRow): string {
  const direction = feed?.type === 'serial' ? 'asc' : 'desc'
  const [source, resource, place] = {
    collection: ['tracks', 'tracks.collection_id', 'tracks."order"'],
    track: [`tracks ${WITH_COLLECTION}`, 'tracks.id', 'tracks."order"'],
    playlist: [`${PLACES} ${WITH_COLLECTION}`, 'places.playlist_id', 'places.position'],
  }[scope] as [string, string, string]
  return `select ${ENTRY} as entry from ${source}
    where ${resource} = ?1 order by ${place} ${direction} limit ${MAX_FEED_EPISODES}`
}

/**
 * When anything of an organization has changed last, in milliseconds since 1970: every change of its resources has an event, except those of the
 * organization itself. Null if its newest event was deleted.
 */
const CHANGED = `select max((select max(seq) from events where organization_id = ?1),
  (select coalesce(updated_at, created_at) from organizations where id = ?1)) as changed_at`

/** Reads the episodes of a share in the order of its feed, and when its organization has changed last. */
export async function readEpisodes({ $client }: Client, share: ShareRow) {
  const [listed, changed] = (await $client.batch([
    $client.prepare(listOf(share)).bind(share.resource_id),
    $client.prepare(CHANGED).bind(share.organization_id),
  ])) as [D1Result<{ entry: string }>, D1Result<{ changed_at: number | null }>]
  const rows = JSON.parse(`[${listed.results.map(({ entry }) => entry).join(',')}]`) as EpisodeRow[]
  return { rows, changed_at: changed.results[0]!.changed_at }
}

/** The chapters of a track as JSON, if a share has the track. Parameters: the share's scope and resource, and the track's id. */
const SHARED_CHAPTERS = `select ${CHAPTERS} from tracks join collections on collections.id = tracks.collection_id
  where tracks.id = ?3 and case ?1 when 'track' then tracks.id = ?2 when 'collection' then tracks.collection_id = ?2
    else exists (select 1 from playlist_tracks where track_id = tracks.id and playlist_id = ?2) end`

/** Reads the chapters of a track in a share; undefined if the share does not have the track. */
export async function readChapters({ $client }: Client, { scope, resource_id }: ShareRow, track_id: string) {
  const [row] = await $client.prepare(SHARED_CHAPTERS).bind(scope, resource_id, track_id).raw<[string]>()
  return row && (JSON.parse(row[0]) as { start: number; end?: number; title: string | null }[])
}
