import type { Tags } from '../../../contract/info.ts'
import type { PlayScope } from '../../../contract/play.ts'
import { HAS_FILES, indexSql } from '../../bucket/track_storage.ts'
import { columnsOf, selectOf } from '../query.ts'

/**
 * Selects the tracks of a play session in playing order. Each row is one JSON text: D1's batch would return a thousand objects with many columns, and
 * creating them would take the Worker longer than the rest of the request. The tracks are not all in one text, because D1 allows at most 2 MB per
 * value (D1, Limits).
 */

/** A track in the list of a session, with the data for its title, subtitle and color. */
export interface ListedRow {
  id: string
  index: string
  duration: number
  /** The track's position in the collection or playlist. */
  order: number
  file_name: string
  player_title: string | null
  player_subtitle: string | null
  player_color: string | null
  tags: Pick<Tags, 'title' | 'artist' | 'album_artist'> | null
  collection: { player_subtitle: string | null; player_color: string | null; is_theme_overridable: 0 | 1 }
  /**
   * The first file; null if the track has none. Its `is_early` applies to all files of the track, because a track never has both early and final
   * files.
   */
  file: { index: string; bitrate: number; is_early: 0 | 1 } | null
}

const FILE = `iif(${HAS_FILES}, json_object('index', ${indexSql(`(tracks.files ->> '$.list[0][0]')`)},
  'bitrate', tracks.files ->> '$.list[0][2]', 'is_early', tracks.files ->> '$.is_early' is not null), null)`

/** Only the tags that players show. The other tags would be most of the bytes that are read for a thousand tracks. */
const TAGS = `iif(tracks.tags is null, null, json_object('title', tracks.tags ->> '$.title', 'artist', tracks.tags ->> '$.artist',
  'album_artist', tracks.tags ->> '$.album_artist'))`

/** The JSON of one track. It has nested objects because D1 allows at most 32 arguments per function. */
const entry = (place: string) => `json_object(
  'id', tracks.id, 'index', tracks."index", 'duration', tracks.duration, 'order', ${place},
  'file_name', tracks.file_name, 'player_title', tracks.player_title,
  'player_subtitle', tracks.player_subtitle, 'player_color', tracks.player_color,
  'tags', json(${TAGS}),
  'collection', json_object('player_subtitle', collections.player_subtitle,
    'player_color', collections.player_color, 'is_theme_overridable', collections.is_theme_overridable),
  'file', json(${FILE}))`

/** A table or subquery whose rows refer to a list of tracks: its name, its SQL after `from`, and the condition that finds a row. */
export interface OwnerSource {
  name: string
  from: string
  condition: string
}

/**
 * The tables whose rows refer to a list of tracks. The parameters are the id of the session, or the slug of the
 * share and the hash of its password: without the right hash, nothing of a share with a password is read.
 */
export const OWNERS = {
  play_sessions: { name: 'play_sessions', from: 'play_sessions', condition: 'play_sessions.id = :play_session_id' },
  shares: {
    name: 'shares',
    from: 'shares',
    condition: 'shares.slug = :slug and shares.password_hash is :password_hash',
  },
}
export type ListOwner = keyof typeof OWNERS
export type ListKey = { play_session_id: string } | { slug: string; password_hash: string | null }
export const ownerOf = (key: ListKey): ListOwner => ('slug' in key ? 'shares' : 'play_sessions')

/** Whether a track is listed: it has not failed without a playable file, and has an upload. */
export const IS_LISTED = `(tracks.status not in ('failed', 'initializing') or ${HAS_FILES})`

/** The tables of a playlist's tracks, in which a track may have several places. */
export const PLACES = 'playlist_tracks as places join tracks on tracks.id = places.track_id'

/**
 * Returns the statements by scope. They have the parameter `limit` and those of the owner's condition. Each one returns no rows if the session or share has another scope, so a
 * batch of all three needs no earlier query for the scope.
 */
export function listsOf(owner: OwnerSource) {
  /** Selects a list that is ordered by an indexed column. `place` is the value of `order` in the result. */
  const list = (scope: PlayScope, source: string, resource: string, column: string, place = column) =>
    selectOf({ list: columnsOf<{ entry: string }>('tracks')({ entry: 'plain' }, { entry: entry(place) }) })(
      `from ${source} join collections on collections.id = tracks.collection_id
        where ${resource} = (select resource_id from ${owner.from} where ${owner.condition} and scope = '${scope}')
        and ${IS_LISTED}
        order by ${column} limit :limit`,
    )
  return {
    collection: list('collection', 'tracks', 'tracks.collection_id', 'tracks."order"'),
    track: list('track', 'tracks', 'tracks.id', 'tracks."order"'),
    playlist: list('playlist', PLACES, 'places.playlist_id', 'places.position', 'places.position + 1'),
  }
}

export const sessionLists = { play_sessions: listsOf(OWNERS.play_sessions), shares: listsOf(OWNERS.shares) }
for (const list of Object.values(sessionLists.play_sessions)) list.atStart()
export type SessionLists = ReturnType<typeof listsOf>
