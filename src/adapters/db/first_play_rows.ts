import { HAS_FINAL_FILES } from '../bucket/track_storage.ts'
import { rowsOf } from './play_rows.ts'

const first = (tables: string, inScope: string, place: string) =>
  `(select tracks.id from ${tables} where ${inScope} and ${HAS_FINAL_FILES} order by ${place} limit 1)`

/**
 * Selects a session, its list, and the rows of the play view of its first track with final files; the track is null if there is none. SQLite evaluates
 * only the branch of the session's scope. Parameter: `session_id`.
 */
export const firstPlayRows = rowsOf(`case sessions.scope
  when 'track' then ${first('tracks', 'tracks.id = sessions.resource_id', 'tracks.id')}
  when 'collection' then ${first('tracks', 'tracks.collection_id = sessions.resource_id', 'tracks."order"')}
  else ${first(
    'playlist_tracks as places join tracks on tracks.id = places.track_id',
    'places.playlist_id = sessions.resource_id',
    'places.position',
  )} end`)
