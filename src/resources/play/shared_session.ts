import { embedRows } from '../../adapters/db/play/embed_rows.ts'
import { batch, type Client } from '../../adapters/db/query.ts'
import { shareRows } from '../../adapters/db/share_rows.ts'
import type { Context } from '../../context.ts'
import { MAX_SESSION_TRACKS } from '../../contract/facts.ts'
import { ApiError } from '../../core/errors.ts'
import { toEmbed } from '../share/embed.ts'
import { toShare, withTitle } from '../share/share_view.ts'
import { bindLists, type SessionReader } from './session_reader.ts'
import { toTracks, toView } from './session_view.ts'

interface Wanted {
  slug: string
  /** The hash of the password that the visitor entered. Null if the visitor entered none. */
  password_hash: string | null
  /** Maximum number of tracks to list; 0 for none. */
  limit: number
  /** Whether to sign a session for the page's player. Its view is part of the result. */
  isPlayed: boolean
}

/**
 * Reads a share for its page in one trip to the database. `embed` and `view` are null if the share has another password. Throws 404 for an
 * unknown share, and 410 for one that has ended.
 */
export async function readShare(context: Context<Client>, { slug, password_hash, limit, isPlayed }: Wanted) {
  const { env, db, now } = context
  const key = { slug, password_hash }
  const max = isPlayed ? MAX_SESSION_TRACKS : limit
  // A new isolate loads this with the first page that a browser shows.
  const signed = isPlayed ? await import('./opened_share.ts') : null
  const played = signed ? [signed.bindOpened(db, key, now)] : []
  const results = await batch(db, [
    ...played,
    shareRows.bind(db, { slug }),
    embedRows.shares.bind(db, key),
    ...(max > 0 ? bindLists(db, key, max) : []),
  ])
  const [shared, embedded, ...lists] = results.slice(played.length)
  const share = toShare(shareRows.decode(shared!)[0], now)
  const [row] = embedRows.shares.decode(embedded!)
  if (!row || share.password_hash !== password_hash)
    return { share, embed: null, tracks: [], isComplete: true, view: null }
  const embed = withTitle(await toEmbed(context, row), share)
  const tracks = toTracks(lists, row)
  const view = signed
    ? await viewOf(context, (rows) => signed.decodeOpened(env, rows, now), [results[0]!, ...lists])
    : null
  return { share, embed, tracks, isComplete: tracks.length < max, view }
}

/** Returns the view of the session; null if the share ends within this second. */
async function viewOf(
  context: Context<Client>,
  decodeView: SessionReader['decodeView'],
  rows: Record<string, unknown>[][],
) {
  try {
    return (await toView(context, { decodeView }, rows)).view
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
