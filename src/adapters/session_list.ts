import type { Tags } from '../contract/info.ts'
import type { PlayScope } from '../contract/play.ts'
import { columnsOf, selectOf } from './statement.ts'

/**
 * The tracks of a play session in playing order, each as one JSON text: a thousand objects of many columns, which D1's batch would make of
 * them, take the Worker longer than all the rest. Not all in one text: D1 takes none of more than 2 MB (D1, Limits).
 */

/** A track as it is listed: what it is, and what it takes to say how it looks. */
export interface ListedRow {
  id: string
  index: string
  duration: number
  /** Its place in the collection or playlist. */
  order: number
  file_name: string
  player_title: string | null
  player_subtitle: string | null
  player_color: string | null
  tags: Pick<Tags, 'title' | 'artist' | 'album_artist'> | null
  collection: { player_subtitle: string | null; player_color: string | null; is_theme_overridable: 0 | 1 }
  /** Null without files; what it has, if that is an early file only. One file tells enough: an early one never stands beside others. */
  file: { index: string; bitrate: number; is_early: 0 | 1 } | null
}

const FILE = `tracks.files -> '$[0]'`

/** Those that are shown: of a thousand tracks, the rest would be most of what is read. */
const TAGS = `iif(tracks.tags is null, null, json_object('title', tracks.tags ->> '$.title', 'artist', tracks.tags ->> '$.artist',
  'album_artist', tracks.tags ->> '$.album_artist'))`

/** D1 takes at most 32 arguments of a function. */
const entry = (place: string) => `json_object(
  'id', tracks.id, 'index', tracks."index", 'duration', tracks.duration, 'order', ${place},
  'file_name', tracks.file_name, 'player_title', tracks.player_title,
  'player_subtitle', tracks.player_subtitle, 'player_color', tracks.player_color,
  'tags', json(${TAGS}),
  'collection', json_object('player_subtitle', collections.player_subtitle,
    'player_color', collections.player_color, 'is_theme_overridable', collections.is_theme_overridable),
  'file', json(${FILE}))`

/** In the order of a column, as its index has it; `place` is what is said of it. */
const list = (source: string, column: string, inScope: string, place = column) =>
  selectOf({ list: columnsOf<{ entry: string }>('tracks')({ entry: 'plain' }, { entry: entry(place) }) })(
    `from ${source} join collections on collections.id = tracks.collection_id
      where ${inScope} and (tracks.status not in ('failed', 'initializing') or ${FILE} is not null)
      order by ${column} limit :limit`,
  )

/** `resource_id`, `limit`. What plays, or will: neither what failed nor what nobody has sent a file for. */
export const sessionList: Record<PlayScope, ReturnType<typeof list>> = {
  track: list('tracks', 'tracks."order"', 'tracks.id = :resource_id'),
  collection: list('tracks', 'tracks."order"', 'tracks.collection_id = :resource_id'),
  playlist: list(
    'playlist_tracks as places join tracks on tracks.id = places.track_id',
    'places.position',
    'places.playlist_id = :resource_id',
    'places.position + 1',
  ),
}
