import { firstPlayRows } from '../../adapters/db/first_play_rows.ts'
import { type PlayRow } from '../../adapters/db/play_rows.ts'
import { batch, columnsOf, selectOf } from '../../adapters/db/query.ts'
import type { collections, organizations, playlists } from '../../adapters/db/schema/library.ts'
import type { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import { type ListedRow, sessionList } from '../../adapters/db/session_list.ts'
import type { Context } from '../../context.ts'
import { MAX_SESSION_TRACKS } from '../../contract/facts.ts'
import type { PlaySession } from '../../contract/play.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { labelsOf } from '../library/appearance.ts'
import { allowsEarly, bestQuality } from './early_quality.ts'
import { findPlayback, listOf, toPlaybackParts, playable, playback } from './playback.ts'

type SessionRow = typeof playSessions.$inferSelect

/** Returns a play session as the API shows it. */
const toPlaySession = (row: SessionRow): PlaySession => ({
  ...row,
  organization_index: row.organization_index ?? '',
  expires_at: timestamp(row.expires_at),
})

/** The columns of an organization and a playlist that the tracks of a list inherit. */
const labelColumns = { id: 'plain', player_color: 'plain', player_subtitle: 'plain' } as const
const owners = selectOf({
  organization: columnsOf<typeof organizations.$inferSelect>('organizations')({
    ...labelColumns,
    is_theme_overridable: 'flag',
    uses_tags: 'flag',
  }),
  collection: columnsOf<typeof collections.$inferSelect>('collections')({ title: 'plain', player_subtitle: 'plain' }),
  playlist: columnsOf<typeof playlists.$inferSelect>('playlists')({ ...labelColumns, title: 'plain' }),
})(`from organizations left join collections on collections.id = :resource_id
  left join playlists on playlists.id = :resource_id where organizations.id = :organization_id`)

const toRows = (list: { list: { entry: string } | null }[]) =>
  JSON.parse(`[${list.map((row) => row.list?.entry).join(',')}]`) as ListedRow[]

type SessionScope = Pick<SessionRow, 'scope' | 'resource_id' | 'organization_id'>

/** Returns the tracks that a session lists, up to a limit, each with its effective title, subtitle and color. */
export async function listedTracks(
  { db }: Context,
  { scope, resource_id, organization_id }: SessionScope,
  limit: number,
) {
  const [owner, list] = await batch(db, [
    owners.bind(db, { organization_id, resource_id }),
    sessionList[scope].bind(db, { resource_id, limit }),
  ])
  return withLabels(toRows(sessionList[scope].decode(list!)), levelsOf(owner!))
}

function levelsOf(rows: Record<string, unknown>[]) {
  const [levels] = owners.decode(rows)
  if (!levels?.organization) throw notFound('organization')
  return { ...levels, organization: levels.organization }
}

const withLabels = (rows: ListedRow[], { organization, playlist }: ReturnType<typeof levelsOf>) =>
  rows.map((track) => ({ ...track, ...labelsOf({ track, collection: track.collection, playlist, organization }) }))

/** Returns the number of tracks that a session lists, up to a limit. */
export async function countTracks(
  { db }: Context,
  { scope, resource_id }: Pick<SessionRow, 'scope' | 'resource_id'>,
  limit: number,
) {
  const [list] = await batch(db, [sessionList[scope].bind(db, { resource_id, limit })])
  return toRows(sessionList[scope].decode(list!)).length
}

/** Returns the statements that read a session's view, for one batch. */
export function bindView({ db }: Context, { id: session_id, scope, resource_id, organization_id }: SessionRow) {
  return [
    owners.bind(db, { organization_id, resource_id }),
    sessionList[scope].bind(db, { resource_id, limit: MAX_SESSION_TRACKS }),
    firstPlayRows[scope].bind(db, { session_id, resource_id }),
  ]
}

/**
 * Builds the view from the rows that the statements of `bindView` return: the session's tracks as listeners see them, and the first track that can
 * already be played.
 */
export async function toView(context: Context, session: SessionRow, [owner, list, first]: Record<string, unknown>[][]) {
  const { scope } = session
  const levels = levelsOf(owner!)
  const rows = toRows(sessionList[scope].decode(list!))
  const [found] = firstPlayRows[scope].decode(first!)
  const track_id = await firstPlayable(context, session, rows)
  return {
    play_session_id: session.id,
    play_session: toPlaySession(session),
    list: listOf(scope, levels),
    tracks: withLabels(rows, levels),
    first_track: track_id === null ? null : await viewOf(context, session, track_id, found),
  }
}

/** Returns the view of a session whose row has already been read. */
export const sessionView = async (context: Context, session: SessionRow) =>
  toView(context, session, await batch(context.db, bindView(context, session)))

/** Returns the id of the first track that can be played in this session, or null. */
async function firstPlayable(context: Context, session: SessionRow, rows: ListedRow[]) {
  let best: number | undefined
  for (const { file, id } of rows) {
    if (file === null) continue
    if (!file.is_early) return id
    best ??= await bestQuality(context, session)
    if (allowsEarly(session, file, best)) return id
  }
  return null
}

/**
 * Returns the play view of a track; null when the track was deleted in the meantime or cannot be played. The view of an early file is read
 * separately.
 */
async function viewOf(context: Context, session: SessionRow, track_id: string, found: PlayRow | undefined) {
  try {
    const isFound = found?.track?.id === track_id
    return await playback(
      context,
      isFound
        ? await playable(context, toPlaybackParts(found, context.now))
        : await findPlayback(context, session.id, track_id),
    )
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
