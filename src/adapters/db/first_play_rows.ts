import type { PlayScope } from '../../contract/play.ts'
import { HAS_FINAL_FILES } from '../bucket/track_storage.ts'
import { rowsOf } from './play_rows.ts'

/** Selects the play view of the first track with final files. */
const first = (tables: string, inScope: string, place: string) =>
  rowsOf(`(select tracks.id from ${tables} where ${inScope} and ${HAS_FINAL_FILES} order by ${place} limit 1)`)

/**
 * Statements that select the rows of the play view of a session's first track with final files, by scope. Parameters: `session_id` and `resource_id`.
 */
export const firstPlayRows: Record<PlayScope, ReturnType<typeof first>> = {
  track: first('tracks', 'tracks.id = :resource_id', 'tracks.id'),
  collection: first('tracks', 'tracks.collection_id = :resource_id', 'tracks."order"'),
  playlist: first(
    'playlist_tracks as places join tracks on tracks.id = places.track_id',
    'places.playlist_id = :resource_id',
    'places.position',
  ),
}
