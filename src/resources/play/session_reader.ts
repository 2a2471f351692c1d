import { isIssuedId } from '../../adapters/crypto/id.ts'
import { type EmbedRow, embedRows } from '../../adapters/db/play/embed_rows.ts'
import { firstPlayRows, nextPlayRows } from '../../adapters/db/play/first_play_rows.ts'
import { type PlayRow, playRows } from '../../adapters/db/play/play_rows.ts'
import { type ListKey, ownerOf, sessionLists } from '../../adapters/db/play/session_list.ts'
import type { Client } from '../../adapters/db/query.ts'
import { checkSessionId } from '../../adapters/db/session_id.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../core/errors.ts'

type Rows = Record<string, unknown>[]

/** The play views that a caller wants with the view of a session: how many, and the track with which they begin; null for the first of the list. */
export interface Wanted {
  views: number
  from: string | null
}

/** Reads a play session: a row of the database, or a signed one (docs/signed_sessions.md). A batch of its statements is one trip. */
export interface SessionReader {
  /** Reads the session and one of its tracks. */
  readTrack: (db: Client, track_id: string) => Promise<PlayRow | undefined>
  /** Returns the statement that reads the session with its first track and the wanted ones, whose rows `decodeView` decodes. */
  bindView: (db: Client, wanted: Wanted | null) => D1PreparedStatement
  decodeView: (rows: Rows) => Promise<PlayRow[]>
  /** Returns the statement that reads the data of a page, whose rows `decodeEmbed` decodes. */
  bindEmbed: (db: Client) => D1PreparedStatement
  decodeEmbed: (rows: Rows) => Promise<EmbedRow | undefined>
  /** Returns the statements that read the list of tracks. At most one of them returns rows. */
  bindLists: (db: Client, limit: number) => D1PreparedStatement[]
}

/** Returns the statements that read the list of a session's row or of a share. At most one of them returns rows. */
export const bindLists = (db: Client, key: ListKey, limit: number) =>
  Object.values(sessionLists[ownerOf(key)]).map((list) => list.bind(db, { ...key, limit }))

/** Decodes the rows of a play view whose session has a row. */
export const decodeView = async (rows: Rows): Promise<PlayRow[]> => firstPlayRows.decode(rows)

/** Returns the reader of a session that has a row. */
export const rowReader = (session_id: string): SessionReader => ({
  readTrack: (db, track_id) => playRows.get(db, { session_id, track_id }),
  bindView: (db, wanted) =>
    wanted ? nextPlayRows.bind(db, { session_id, ...wanted }) : firstPlayRows.bind(db, { session_id }),
  decodeView,
  bindEmbed: (db) => embedRows.play_sessions.bind(db, { play_session_id: session_id }),
  decodeEmbed: async (rows) => embedRows.play_sessions.decode(rows)[0],
  bindLists: (db, limit) => bindLists(db, { play_session_id: session_id }, limit),
})

/** Whether an id is that of a signed session: ids of rows have no dots. `readSigned` checks its form. */
export const isSigned = (id: string) => id.includes('.')

/**
 * Returns the reader of a session. `id` is an id in lower case, or a token. Throws without a query: 404 for an id that cannot exist, and the
 * errors of `verifySessionToken` for a token.
 */
export async function readerOf({ env, now }: Context<Client>, id: string): Promise<SessionReader> {
  if (isSigned(id)) return (await import('./signed_session.ts')).readSigned(env, id, now)
  if (!isIssuedId(id)) throw notFound('play session')
  checkSessionId(id, now)
  return rowReader(id)
}
