import { and, eq, or, type SQL, sql } from 'drizzle-orm'

import type { PlayScope } from '../contract/play.ts'
import { formerSessions, playSessions } from './play_sessions.ts'
import { collections, organizations, playlists, tracks } from './schema.ts'
import { statement } from './statement.ts'
import { fileList } from './track_files.ts'

/** What a play view shows, from all the tables that it comes from, in one statement. */

const look = ({
  theme,
  player_color,
  player_subtitle,
}: typeof collections | typeof playlists | typeof organizations) => ({
  theme,
  player_color,
  player_subtitle,
})
const overridable = ({
  is_theme_overridable,
  is_cover_overridable,
}: typeof tracks | typeof collections | typeof organizations) => ({
  is_theme_overridable,
  is_cover_overridable,
})
const cover = ({ cover_path, cover_colors }: typeof collections | typeof playlists) => ({
  cover_path,
  cover_colors,
})

const fields = {
  // Without what its creator noted: thousands of sessions are remembered.
  session: {
    id: playSessions.id,
    organization_id: playSessions.organization_id,
    scope: playSessions.scope,
    resource_id: playSessions.resource_id,
    variants: playSessions.variants,
    is_downloadable: playSessions.is_downloadable,
    expires_at: playSessions.expires_at,
  },
  track: {
    id: tracks.id,
    organization_id: tracks.organization_id,
    collection_id: tracks.collection_id,
    index: tracks.index,
    duration: tracks.duration,
    file_name: tracks.file_name,
    order: tracks.order,
    metadata: tracks.metadata,
    ...overridable(tracks),
    player_title: tracks.player_title,
    player_subtitle: tracks.player_subtitle,
    player_color: tracks.player_color,
    cover_path: tracks.cover_path,
    cover_colors: tracks.cover_colors,
    status: tracks.status,
    levels: tracks.levels,
    chapters: sql<string>`coalesce(${tracks.info} -> '$.chapters', '[]')`.as('chapters'),
    files: sql<string>`coalesce(${tracks.files}, ${fileList})`.as('files'),
  },
  collection: { title: collections.title, ...look(collections), ...cover(collections), ...overridable(collections) },
  playlist: { title: playlists.title, ...look(playlists), ...cover(playlists) },
  organization: { ...look(organizations), ...overridable(organizations) },
}

const inPlaylist = sql`exists (
  select 1 from playlist_tracks where track_id = ${tracks.id} and playlist_id = ${playSessions.resource_id}
)`

const select = (table: typeof playSessions, track_id: SQL) =>
  statement(fields, (from) =>
    from
      .from(table)
      .leftJoin(
        tracks,
        and(
          eq(tracks.id, track_id),
          eq(tracks.organization_id, playSessions.organization_id),
          or(
            and(eq(playSessions.scope, 'track'), eq(tracks.id, playSessions.resource_id)),
            and(eq(playSessions.scope, 'collection'), eq(tracks.collection_id, playSessions.resource_id)),
            and(eq(playSessions.scope, 'playlist'), inPlaylist),
          ),
        ),
      )
      .leftJoin(collections, eq(collections.id, tracks.collection_id))
      .leftJoin(playlists, and(eq(playSessions.scope, 'playlist'), eq(playlists.id, playSessions.resource_id)))
      .leftJoin(organizations, eq(organizations.id, playSessions.organization_id))
      .where(eq(playSessions.id, sql.placeholder('session_id'))),
  )

/** The same for the sessions of either table. */
const ofBoth = (track_id: SQL) => {
  const [now, former] = [select(playSessions, track_id), select(formerSessions, track_id)]
  return (table: typeof playSessions) => (table === formerSessions ? former : now)
}

/** Session, track (`session_id`, `track_id`) and all that the track inherits from. A part that is not there is null. */
export const playRows = ofBoth(sql`${sql.placeholder('track_id')}`)

const resource = sql.placeholder('resource_id')
/** The first track that has more than an early file. */
const finished = sql`exists (select 1 from track_variants where track_id = t.track_id and is_early = 0)`
const first = (places: SQL) => ofBoth(sql`(select track_id from ${places} where ${finished} order by place limit 1)`)

/** The same for the first track that plays finally (`session_id`, `resource_id`). */
export const firstPlayRows: Record<PlayScope, ReturnType<typeof first>> = {
  track: first(sql`(select id as track_id, 0 as place from tracks where id = ${resource}) as t`),
  collection: first(sql`(select id as track_id, "order" as place from tracks where collection_id = ${resource}) as t`),
  playlist: first(sql`(select track_id, position as place from playlist_tracks where playlist_id = ${resource}) as t`),
}

export type PlayRow = NonNullable<Awaited<ReturnType<ReturnType<typeof playRows>['get']>>>
export type PlayedSession = NonNullable<PlayRow['session']>
export type PlayedTrack = NonNullable<PlayRow['track']>
export type PlayedIn = { [K in 'collection' | 'organization']: NonNullable<PlayRow[K]> } & Pick<PlayRow, 'playlist'>
