import { and, eq, or, sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { collections, organizations, playlists, playSessions, tracks } from './schema.ts'
import { statement } from './statement.ts'
import { fileList } from './track_files.ts'

/** What a play view shows, and no more, from all the tables that it comes from, in one statement. */

const overridable = (table: typeof tracks | typeof collections | typeof organizations) => ({
  is_theme_overridable: table.is_theme_overridable,
  is_cover_overridable: table.is_cover_overridable,
})

const fieldsOf = (sessions: typeof playSessions) => ({
  session: {
    id: sessions.id,
    organization_id: sessions.organization_id,
    scope: sessions.scope,
    resource_id: sessions.resource_id,
    variants: sessions.variants,
    is_downloadable: sessions.is_downloadable,
    expires_at: sessions.expires_at,
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
    files: sql<string>`coalesce(${tracks.files}, ${fileList})`.as('files'),
  },
  collection: {
    theme: collections.theme,
    player_color: collections.player_color,
    player_subtitle: collections.player_subtitle,
    cover_path: collections.cover_path,
    cover_colors: collections.cover_colors,
    ...overridable(collections),
  },
  playlist: {
    theme: playlists.theme,
    player_color: playlists.player_color,
    player_subtitle: playlists.player_subtitle,
    cover_path: playlists.cover_path,
    cover_colors: playlists.cover_colors,
  },
  organization: {
    theme: organizations.theme,
    player_color: organizations.player_color,
    player_subtitle: organizations.player_subtitle,
    ...overridable(organizations),
  },
})

const rowsIn = (sessions: typeof playSessions) =>
  statement(fieldsOf(sessions), (select) => {
    const { scope, resource_id } = sessions
    const inPlaylist = sql`exists (
      select 1 from playlist_tracks where track_id = ${tracks.id} and playlist_id = ${resource_id}
    )`
    const belongs = or(
      and(eq(scope, 'track'), eq(tracks.id, resource_id)),
      and(eq(scope, 'collection'), eq(tracks.collection_id, resource_id)),
      and(eq(scope, 'playlist'), inPlaylist),
    )
    const track = eq(tracks.id, sql.placeholder('track_id'))
    return select
      .from(sessions)
      .leftJoin(tracks, and(track, eq(tracks.organization_id, sessions.organization_id), belongs))
      .leftJoin(collections, eq(collections.id, tracks.collection_id))
      .leftJoin(playlists, and(eq(scope, 'playlist'), eq(playlists.id, resource_id)))
      .leftJoin(organizations, eq(organizations.id, sessions.organization_id))
      .where(eq(sessions.id, sql.placeholder('session_id')))
  })
const find = rowsIn(playSessions)

/** Session and track, and all that the track inherits from; a part that is not there, or does not belong to the rest, is null. */
export const findPlayRows = (db: Database, session_id: string, track_id: string) => find(db, { session_id, track_id })

type Found = NonNullable<Awaited<ReturnType<typeof find>>>
export type PlayedSession = NonNullable<Found['session']>
export type PlayedTrack = NonNullable<Found['track']>
export type PlayedIn = { [K in 'collection' | 'organization']: NonNullable<Found[K]> } & Pick<Found, 'playlist'>
