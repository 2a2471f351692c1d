import { isIssuedId } from '../../adapters/crypto/id.ts'
import { type EmbedRow, embedRows } from '../../adapters/db/embed_rows.ts'
import { firstPlayRows } from '../../adapters/db/first_play_rows.ts'
import type { PlayedSession, PlayRow } from '../../adapters/db/play_rows.ts'
import { batch, type Client } from '../../adapters/db/query.ts'
import type { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import { checkSessionId } from '../../adapters/db/session_id.ts'
import { type ListedRow, type ListKey, ownerOf, sessionLists } from '../../adapters/db/session_list.ts'
import type { Context } from '../../context.ts'
import { MAX_SESSION_TRACKS, PLAY_CACHE_SECONDS } from '../../contract/facts.ts'
import type { PlaySession, SessionTrack } from '../../contract/play.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { checkExpiry, timestamp } from '../../core/time.ts'
import { labelsOf } from '../library/appearance.ts'
import { toEmbed } from '../share/embed.ts'
import { allowsEarly, bestQuality } from './early_quality.ts'
import { findPlayback, listOf, toPlaybackParts, playable, playback } from './playback.ts'

/** Returns a play session as the API shows it to its creator. */
export const toPlaySession = (row: typeof playSessions.$inferSelect): PlaySession => ({
  ...row,
  organization_index: row.organization_index ?? '',
  expires_at: timestamp(row.expires_at),
})

/** Returns the statements that read the list of a session or share. At most one of them returns rows. */
export const bindLists = (db: Client, key: ListKey, limit: number) =>
  Object.values(sessionLists[ownerOf(key)]).map((list) => list.bind(db, { ...key, limit }))

const toRows = (lists: Record<string, unknown>[][]) =>
  JSON.parse(
    `[${sessionLists.play_sessions.track
      .decode(lists.flat())
      .map((row) => row.list?.entry)
      .join(',')}]`,
  ) as ListedRow[]

type Owners = Pick<EmbedRow | PlayRow, 'collection' | 'playlist' | 'organization'>

/** Returns the rows from which the tracks of a list inherit their titles, subtitles and colors. */
function ownersOf({ organization, collection, playlist }: Owners) {
  if (!organization) throw notFound('organization')
  return { organization, collection, playlist }
}

const withLabels = (rows: ListedRow[], { organization, playlist }: ReturnType<typeof ownersOf>) =>
  rows.map((track) => ({ ...track, ...labelsOf({ track, collection: track.collection, playlist, organization }) }))

/** Returns the tracks in the rows of `bindLists`, each with its effective title, subtitle and color. */
export const toTracks = (lists: Record<string, unknown>[][], owners: Owners) =>
  withLabels(toRows(lists), ownersOf(owners))

/** Reads the embed row of a session, and its tracks up to a limit. Both are undefined if there is no such session. */
export async function readList({ db }: Context<Client>, play_session_id: string, limit: number) {
  const key = { play_session_id }
  const [first, ...lists] = await batch(db, [embedRows.play_sessions.bind(db, key), ...bindLists(db, key, limit)])
  const [row] = embedRows.play_sessions.decode(first!)
  return { row, tracks: row && toTracks(lists, row) }
}

/** Reads the embed data of a session, with its view, in one trip to the database. */
export async function readEmbed(context: Context<Client>, play_session_id: string) {
  const { db, now } = context
  checkSessionId(play_session_id, now)
  const statements = [embedRows.play_sessions.bind(db, { play_session_id }), ...bindView(db, play_session_id)]
  const [embedded, ...rows] = await batch(db, statements)
  const embed = await toEmbed(context, embedRows.play_sessions.decode(embedded!)[0])
  return { embed, view: (await toView(context, rows)).view }
}

/** Returns the number of tracks that a session or share lists, up to a limit. */
export const countTracks = async ({ db }: Context<Client>, key: ListKey, limit: number) =>
  toRows(await batch(db, bindLists(db, key, limit))).length

/** Returns the statements that read a session's view, for one batch. */
export const bindView = (db: Client, play_session_id: string) => [
  firstPlayRows.bind(db, { session_id: play_session_id }),
  ...bindLists(db, { play_session_id }, MAX_SESSION_TRACKS),
]

/**
 * Builds the view from the rows that the statements of `bindView` return: the session as its listeners see it, its tracks, and the first track that
 * can already be played. Every field is listed explicitly, in the order of the schema. Throws 404 or 410 if there is no such session or not any more.
 */
export async function toView(context: Context<Client>, [first, ...lists]: Record<string, unknown>[][]) {
  const [found] = firstPlayRows.decode(first!)
  const session = checkExpiry('play session', found?.session ?? undefined, context.now)
  const { id, scope, variants, is_downloadable, expires_at } = session
  const owners = ownersOf(found!)
  const rows = toRows(lists)
  const track_id = await firstPlayable(context, session, rows)
  const view = {
    play_session_id: id,
    play_session: { id, variants, is_downloadable, expires_at: timestamp(expires_at) },
    list: listOf(scope, owners),
    tracks: withLabels(rows, owners).map(toSessionTrack),
    first_track: track_id === null ? null : await viewOf(context, session, track_id, found),
  }
  return { session, view }
}

const toSessionTrack = ({ id, index, duration, order, player_title, player_subtitle, player_color }: SessionTrack) => ({
  id,
  index,
  duration,
  order,
  player_title,
  player_subtitle,
  player_color,
})

/** Reads the view of a session in one trip to the database. */
export const readView = async (context: Context<Client>, session_id: string) =>
  toView(context, await batch(context.db, bindView(context.db, session_id)))

/** The handler of the operation of the same name. Like `playTrack`, it runs before the table of operations is loaded. */
export async function playSession(
  { params: { play_session_id } }: { params: { play_session_id: string } },
  context: Context<Client>,
) {
  if (!isIssuedId(play_session_id)) throw notFound('play session')
  checkSessionId(play_session_id, context.now)
  // The session's id is the secret: a caller that knows it may read the session on behalf of the organization.
  const { session, view } = await readView(context, play_session_id)
  const until = Math.min(session.expires_at, context.now + PLAY_CACHE_SECONDS * 1000)
  // The response is only cached once a final file can be played: until then, players poll for this file.
  if (view.first_track?.track.is_preliminary === false) context.allowCaching(session.organization_id, until)
  return view
}

/** Returns the id of the first track that can be played in this session, or null. */
async function firstPlayable(context: Context<Client>, session: PlayedSession, rows: ListedRow[]) {
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
async function viewOf(context: Context<Client>, session: PlayedSession, track_id: string, found: PlayRow | undefined) {
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
