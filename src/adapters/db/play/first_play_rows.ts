import { HAS_FINAL_FILES } from '../../bucket/track_storage.ts'
import { byScope, rowsOf } from './play_rows.ts'
import { IS_LISTED, PLACES } from './session_list.ts'

const first = (tables: string, inScope: string, place: string) =>
  `(select tracks.id from ${tables} where ${inScope} and ${HAS_FINAL_FILES} order by ${place} limit 1)`

/** The id of the first track with final files; null if there is none. */
export const FIRST = byScope(
  first('tracks', 'tracks.id = sessions.resource_id', 'tracks.id'),
  first('tracks', 'tracks.collection_id = sessions.resource_id', 'tracks."order"'),
  first(PLACES, 'places.playlist_id = sessions.resource_id', 'places.position'),
)

/**
 * Selects a session, its list, and the rows of the play view of its first track with final files; the track is null if there is none. Parameter:
 * `session_id`.
 */
export const firstPlayRows = rowsOf(`= ${FIRST}`).atStart()

/** A JSON list of the ids of the next tracks. `start` is the first place, which is null if the list does not have the track `from`. */
const next = (tables: string, inScope: string, place: string, start: string) =>
  `(select json_group_array(id) from (select tracks.id from ${tables} where ${inScope} and ${IS_LISTED}
    and ${place} >= iif(:from is null, -1e9, (${start})) order by ${place} limit :views))`

const NEXT = byScope(
  `json_array(sessions.resource_id)`,
  next(
    'tracks',
    'tracks.collection_id = sessions.resource_id',
    'tracks."order"',
    'select "order" from tracks where id = :from and collection_id = sessions.resource_id',
  ),
  next(
    PLACES,
    'places.playlist_id = sessions.resource_id',
    'places.position',
    'select min(+position) from playlist_tracks where track_id = :from and playlist_id = sessions.resource_id',
  ),
)

/** A condition for the ids of the first track and of the next tracks in the list. */
export const IS_NEXT = `in (select value from json_each(json_insert(${NEXT}, '$[#]', ${FIRST})))`

/**
 * Selects the same, and the rows of the play views of the next tracks in the list. Parameters: `session_id`, the number of tracks `views`, and the id
 * `from` of the first one, null for the first of the list.
 */
export const nextPlayRows = rowsOf(IS_NEXT)
