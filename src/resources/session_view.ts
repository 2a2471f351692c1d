import { and, asc, eq, notInArray, or, sql } from 'drizzle-orm'

import { collections, playlists, playlistTracks, type playSessions, tracks } from '../adapters/schema.ts'
import type { Context } from '../context.ts'
import { MAX_SESSION_TRACKS } from '../contract/facts.ts'
import type { PlaySession } from '../contract/play.ts'
import { ApiError } from '../errors.ts'
import { appearance, type Appearances } from './appearance.ts'
import { allowsEarly, bestQuality, type EarlyFile } from './early.ts'
import { findOrganization } from './organization.ts'
import { findPlayback, playable, playback } from './playback.ts'
import { timestamp } from './session.ts'

type Row = typeof playSessions.$inferSelect

/** A play session as the API shows it. */
export const toPlaySession = (row: Row): PlaySession => ({
  ...row,
  organization_index: row.organization_index ?? '',
  expires_at: timestamp(row.expires_at),
})

/** What `appearance` reads, and no more: these rows are read a thousand at a time, and metadata may be big. */
const look = (table: typeof tracks | typeof collections | typeof playlists) => ({
  player_color: table.player_color,
  player_subtitle: table.player_subtitle,
  cover_path: table.cover_path,
  cover_colors: table.cover_colors,
})
const overridable = (table: typeof tracks | typeof collections) => ({
  is_theme_overridable: table.is_theme_overridable,
  is_cover_overridable: table.is_cover_overridable,
})
const columns = {
  track: {
    id: tracks.id,
    index: tracks.index,
    duration: tracks.duration,
    order: tracks.order,
    file_name: tracks.file_name,
    player_title: tracks.player_title,
    ...look(tracks),
    ...overridable(tracks),
  },
  collection: { theme: collections.theme, ...look(collections), ...overridable(collections) },
  /** One of its files tells enough: an early one never stands beside others. */
  file: sql<string | null>`(
    select json_object('index', "index", 'bitrate', bitrate, 'is_early', is_early)
    from track_variants where track_id = ${tracks.id} limit 1
  )`.as('file'),
}
/** What plays, or will: neither what failed nor what nobody has sent a file for. */
const listable = or(notInArray(tracks.status, ['failed', 'initializing']), playable)

/** The tracks of a session in playing order; of a playlist, `order` counts its places. */
export async function sessionTracks(
  { db }: Context,
  { scope, resource_id }: Pick<Row, 'scope' | 'resource_id'>,
  limit = MAX_SESSION_TRACKS,
) {
  if (scope === 'playlist') {
    const playlist = { theme: playlists.theme, ...look(playlists) }
    const rows = await db
      .select({ ...columns, place: playlistTracks.position, playlist })
      .from(playlistTracks)
      .innerJoin(playlists, eq(playlists.id, playlistTracks.playlist_id))
      .innerJoin(tracks, eq(tracks.id, playlistTracks.track_id))
      .innerJoin(collections, eq(collections.id, tracks.collection_id))
      .where(and(eq(playlistTracks.playlist_id, resource_id), listable))
      .orderBy(asc(playlistTracks.position))
      .limit(limit)
    return rows.map(({ track, place, ...row }) => ({ ...row, track: { ...track, order: place + 1 } }))
  }
  const inScope = scope === 'track' ? eq(tracks.id, resource_id) : eq(tracks.collection_id, resource_id)
  const rows = await db
    .select(columns)
    .from(tracks)
    .innerJoin(collections, eq(collections.id, tracks.collection_id))
    .where(and(inScope, listable))
    .orderBy(asc(tracks.order))
    .limit(limit)
  return rows.map((row) => ({ ...row, playlist: null }))
}

/** The session's tracks as listeners see them, and the first that plays already. */
export async function sessionView(context: Context, session: Row) {
  const organization = await findOrganization(context)
  const rows = await sessionTracks(context, session)
  const first = await firstPlayable(context, session, rows)
  return {
    play_session_id: session.id,
    play_session: toPlaySession(session),
    tracks: rows.map(({ track, collection, playlist }) => ({
      ...track,
      ...seen({ track, collection, playlist, organization }),
    })),
    first_track: first === null ? null : await viewOf(context, session, first),
  }
}

/** The first track that plays in this session. */
async function firstPlayable(context: Context, session: Row, rows: { file: string | null; track: { id: string } }[]) {
  let best: number | undefined
  for (const { file, track } of rows) {
    if (file === null) continue
    const { is_early, ...early } = JSON.parse(file) as EarlyFile & { is_early: 0 | 1 }
    if (!is_early) return track.id
    best ??= await bestQuality(context, session)
    if (allowsEarly(session, early, best)) return track.id
  }
  return null
}

/** Its play view; null when it was deleted in this moment, or cannot be finished. */
async function viewOf(context: Context, session: Row, track_id: string) {
  try {
    return await playback(context, await findPlayback(context, session.id, track_id))
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

const seen = (levels: Appearances) => {
  const { player_title, player_subtitle, player_color } = appearance(levels)
  return { player_title, player_subtitle, player_color }
}
