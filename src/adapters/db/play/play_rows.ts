import type { SourceInfo } from '../../../contract/info.ts'
import { FIRST_COVER, type FirstCover } from '../first_cover.ts'
import { columnsOf, selectOf } from '../query.ts'
import type { collections, organizations, playlists, tracks } from '../schema/library.ts'
import type { playSessions } from '../schema/play_sessions.ts'

/** Selects the rows of a play view from all tables in one statement. */

const appearance = { theme: 'json', player_color: 'plain', player_subtitle: 'plain' } as const
const cover = { cover_path: 'plain', cover_colors: 'json' } as const
const overridable = { is_cover_overridable: 'flag', is_theme_overridable: 'flag' } as const

/**
 * The chapters that a person has set, or those in `info` (track_info.ts), in SQL. A newer file may be shorter than the one for which the chapters were set.
 * The SQL is plain text because a new isolate loads this file when it starts.
 */
export const CHAPTERS = `iif(tracks.chapters is null, coalesce(tracks.info -> '$.facts[11]', tracks.info -> '$.chapters', '[]'),
  (select json_group_array(json(value)) from json_each(tracks.chapters)
    where value ->> 'start' < tracks.duration and value ->> 'toc' is not 0))`

// `metadata` is not read, because an isolate caches thousands of sessions.
const session = columnsOf<typeof playSessions.$inferSelect>('sessions')({
  id: 'plain',
  organization_id: 'plain',
  scope: 'plain',
  resource_id: 'plain',
  variants: 'json',
  is_downloadable: 'flag',
  expires_at: 'plain',
  created_at: 'plain',
  share_id: 'plain',
  listener: 'plain',
})

/** The columns of a play view, except those of its session. */
export const VIEW_COLUMNS = {
  track: columnsOf<
    Omit<typeof tracks.$inferSelect, 'levels' | 'chapters'> & {
      levels: string | null
      chapters: SourceInfo['chapters']
    }
  >('tracks')(
    {
      id: 'plain',
      organization_id: 'plain',
      collection_id: 'plain',
      folder_id: 'plain',
      index: 'plain',
      duration: 'plain',
      file_name: 'plain',
      order: 'plain',
      metadata: 'json',
      ...overridable,
      player_title: 'plain',
      player_subtitle: 'plain',
      player_color: 'plain',
      ...cover,
      status: 'plain',
      levels: 'plain',
      chapters: 'json',
      files: 'json',
      tags: 'json',
    },
    { levels: 'hex(tracks.levels)', chapters: CHAPTERS },
  ),
  collection: columnsOf<typeof collections.$inferSelect & { first: FirstCover | null }>('collections')(
    { title: 'plain', ...appearance, ...cover, ...overridable, first: 'json' },
    { first: `case when tracks.cover_path is null then ${FIRST_COVER} end` },
  ),
  playlist: columnsOf<typeof playlists.$inferSelect>('playlists')({ title: 'plain', ...appearance, ...cover }),
  organization: columnsOf<typeof organizations.$inferSelect>('organizations')({
    ...appearance,
    ...overridable,
    uses_tags: 'flag',
    listening_shards: 'plain',
  }),
}

/** Returns SQL with a value for each scope. SQLite evaluates only the one of the session's scope. */
export const byScope = (track: string, collection: string, playlist: string) =>
  `case sessions.scope when 'track' then ${track} when 'collection' then ${collection} else ${playlist} end`

/**
 * Returns the tables of play views. `source` is a table or subquery with the session. `isTrack` is an SQL condition for the ids of the tracks, such as `= :track_id`. The `+` keeps
 * SQLite from finding the tracks of `in (…)` by their organization: it would read all of its tracks, and evaluate the list for each of them.
 */
export const viewTables = (isTrack: string, source: string) =>
  `from ${source} as sessions
    left join tracks on tracks.id ${isTrack} and +tracks.organization_id = sessions.organization_id and ${byScope(
      'tracks.id = sessions.resource_id',
      'tracks.collection_id = sessions.resource_id',
      'exists (select 1 from playlist_tracks where track_id = tracks.id and playlist_id = sessions.resource_id)',
    )}
    left join collections on collections.id = iif(sessions.scope = 'collection', sessions.resource_id, tracks.collection_id)
    left join playlists on sessions.scope = 'playlist' and playlists.id = sessions.resource_id
    left join organizations on organizations.id = sessions.organization_id`

/** Returns a statement that selects the rows of play views in a session. */
export const rowsOf = (isTrack: string) =>
  selectOf({ session, ...VIEW_COLUMNS })(`${viewTables(isTrack, 'play_sessions')} where sessions.id = :session_id`)

/**
 * Selects a session, one of its tracks, and the rows from which the track inherits. Rows that do not exist are null. Parameters: `session_id` and
 * `track_id`.
 */
export const playRows = rowsOf('= :track_id')

/** The facts of a session that only a signed one has. */
export interface Signed {
  api_key_id: string
  /** The id of the session in listening reports. */
  session_uuid: string
  /** When the key must be read again, in milliseconds since 1970. */
  until: number
  /** The web pages of which sites may read the session; null for all. */
  allowed_origins: string[] | null
  /** Throws 403 for a request from a web page of another site. */
  checkSite: (request: { origin: string | null; base_url: string }) => void
}
type SelectedRow = NonNullable<Awaited<ReturnType<(typeof playRows)['get']>>>
/** `id` is the text that the caller sent: that of a row, or a signed token. */
export type PlayedSession = NonNullable<SelectedRow['session']> & { signed?: Signed }
export type PlayRow = Omit<SelectedRow, 'session'> & { session: PlayedSession | null }
export type PlayedTrack = NonNullable<PlayRow['track']>
export type PlayedIn = { [K in 'collection' | 'organization']: NonNullable<PlayRow[K]> } & Pick<PlayRow, 'playlist'>
