import type { EmbedRow } from '../../adapters/db/play/embed_rows.ts'
import type { PlayedSession, PlayRow } from '../../adapters/db/play/play_rows.ts'
import { type ListedRow, sessionLists } from '../../adapters/db/play/session_list.ts'
import { batch, type Client } from '../../adapters/db/query.ts'
import type { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import type { Context } from '../../context.ts'
import { MAX_SESSION_TRACKS, PLAY_CACHE_SECONDS } from '../../contract/facts.ts'
import type { PlaySession, SessionTrack, ViewsQuery } from '../../contract/play.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { labelsOf } from '../library/appearance.ts'
import { type Embed, toEmbed } from '../share/embed.ts'
import { allowsEarly, bestQuality } from './early_quality.ts'
import { heardToken } from './heard_token.ts'
import {
  allowCaching,
  findPlayback,
  listOf,
  toPlaybackParts,
  toPlayView,
  playable,
  playback,
  usable,
} from './playback.ts'
import { readerOf, type SessionReader, type Wanted } from './session_reader.ts'

/** Returns a play session as the API shows it to its creator. */
export const toPlaySession = (row: Omit<typeof playSessions.$inferSelect, 'share_id'>): PlaySession => ({
  ...row,
  organization_index: row.organization_index ?? '',
  expires_at: timestamp(row.expires_at),
})

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
export async function readList(context: Context<Client>, play_session_id: string, limit: number) {
  const { db } = context
  const reader = await readerOf(context, play_session_id)
  const [first, ...lists] = await batch(db, [reader.bindEmbed(db), ...reader.bindLists(db, limit)])
  const row = await reader.decodeEmbed(first!)
  return { row, tracks: row && toTracks(lists, row) }
}

/** Reads the embed data of a session. No API key is needed, because the session's id is the secret (specification §5). */
export async function findEmbed(context: Context<Client>, play_session_id: string): Promise<Embed> {
  const { db } = context
  const reader = await readerOf(context, play_session_id)
  const [rows] = await batch(db, [reader.bindEmbed(db)])
  return toEmbed(context, await reader.decodeEmbed(rows!))
}

/** Reads the embed data of a session, with its view, in one trip to the database. */
export async function readEmbed(context: Context<Client>, play_session_id: string) {
  const { db } = context
  const reader = await readerOf(context, play_session_id)
  const [embedded, ...rows] = await batch(db, [reader.bindEmbed(db), ...bindView(db, reader)])
  const embed = await toEmbed(context, await reader.decodeEmbed(embedded!))
  return { embed, view: (await toView(context, reader, rows)).view }
}

/** Returns the number of tracks that the statements of `bindLists` list. */
export const countTracks = async (db: Client, lists: D1PreparedStatement[]) => toRows(await batch(db, lists)).length

/** Returns the statements that read a session's view, for one batch. */
export const bindView = (db: Client, reader: SessionReader, wanted: Wanted | null = null) => [
  reader.bindView(db, wanted),
  ...reader.bindLists(db, MAX_SESSION_TRACKS),
]

/**
 * Builds the view from the rows that the statements of `bindView` return: the session as its listeners see it, its tracks, the first track that can
 * already be played, and the play views that are `wanted`. Every field is listed explicitly, in the order of the schema. `isFinal` is false if a track that
 * is played now or soon is still being processed. Throws 404 or 410 if there is no such session or not any more, and 404 if it does not list `from`.
 */
export async function toView(
  context: Context<Client>,
  { decodeView }: Pick<SessionReader, 'decodeView'>,
  [first, ...lists]: Record<string, unknown>[][],
  wanted?: Wanted | null,
) {
  const played = await decodeView(first!)
  const [found] = played
  const session = usable(context, found?.session)
  const { id, scope, variants, is_downloadable, expires_at } = session
  const owners = ownersOf(found!)
  const rows = toRows(lists)
  const ids = wanted ? nextIds(rows, wanted) : []
  const next = await Promise.all(ids.map((track_id) => playbackOf(context, id, track_id, played)))
  const track_id = await firstPlayable(context, session, rows)
  const view = {
    play_session_id: id,
    play_session: { id, variants, is_downloadable, expires_at: timestamp(expires_at) },
    list: listOf(scope, owners),
    tracks: withLabels(rows, owners).map(toSessionTrack),
    first_track:
      track_id === null
        ? null
        : (next.find((playback) => playback?.track_id === track_id) ??
          (await playbackOf(context, id, track_id, played))),
    heard_token: await heardToken(context.env, session, found!.organization!.listening_shards),
    ...(wanted && { views: next.flatMap((playback) => (playback ? [toPlayView(session, playback)] : [])) }),
  }
  const isFinal = [view.first_track, ...next].every((playback) => playback?.track.is_preliminary === false)
  return { session, view, isFinal }
}

/** Returns the ids of the tracks whose play views are wanted, each once. */
function nextIds(rows: ListedRow[], { views, from }: Wanted): string[] {
  const start = from === null ? 0 : rows.findIndex(({ id }) => id === from)
  if (start < 0) throw notFound('track')
  return [...new Set(rows.slice(start, start + views).map(({ id }) => id))]
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
export async function readView(context: Context<Client>, play_session_id: string, wanted: Wanted | null) {
  const { db } = context
  const reader = await readerOf(context, play_session_id)
  return toView(context, reader, await batch(db, bindView(db, reader, wanted)), wanted)
}

/** The handler of the operation of the same name. Like `playTrack`, it runs before the table of operations is loaded. */
export async function playSession(
  { params: { play_session_id }, query }: { params: { play_session_id: string }; query: ViewsQuery },
  context: Context<Client>,
) {
  // The session's id is the secret: a caller that knows it may read the session on behalf of the organization.
  const { views, from } = query
  const wanted = views === undefined ? null : { views: Number(views), from: from ?? null }
  const { session, view, isFinal } = await readView(context, play_session_id, wanted)
  // The response is only cached once final files can be played: until then, players poll for them.
  if (isFinal) allowCaching(context, session, context.now + PLAY_CACHE_SECONDS * 1000)
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
 * Returns the playback of a track from the rows that were read; null when the track was deleted in the meantime or cannot be played. The row of a first
 * track with an early file is read separately.
 */
async function playbackOf(context: Context<Client>, play_session_id: string, track_id: string, rows: PlayRow[]) {
  const row = rows.find(({ track }) => track?.id === track_id)
  try {
    return await playback(
      context,
      row
        ? await playable(context, toPlaybackParts(row, context.now))
        : await findPlayback(context, play_session_id, track_id),
    )
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
