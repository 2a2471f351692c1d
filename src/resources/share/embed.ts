import { and, eq, getTableColumns, or, sql } from 'drizzle-orm'

import { viewSigner } from '../../adapters/bucket/presign.ts'
import type { Database } from '../../adapters/db/database.ts'
import { collections, organizations, playlists, tracks } from '../../adapters/db/schema/library.ts'
import { playSessions } from '../../adapters/db/schema/play_sessions.ts'
import { shares } from '../../adapters/db/schema/shares.ts'
import { checkSessionId } from '../../adapters/db/session_id.ts'
import type { Context } from '../../context.ts'
import { PLAYBACK_TTL } from '../../contract/facts.ts'
import type { CoverImage } from '../../contract/media.ts'
import type { PlayScope } from '../../contract/play.ts'
import { notFound } from '../../core/errors.ts'
import { checkExpiry } from '../../core/time.ts'
import { effectiveCover, labelsOf } from '../library/appearance.ts'
import { coverImage, coverOrFirst, largeCover } from '../library/cover_image.ts'
import { firstCover } from '../library/first_cover.ts'
import { trackColumns } from '../library/list_items.ts'

/** The data of a page that embeds a play session. */
export interface Embed {
  scope: PlayScope
  resource_id: string
  title: string
  subtitle: string
  cover_image: CoverImage
  /** The largest available square of the cover. */
  card_image: { url: string; width: number; height: number }
  /** Whether the image is a cover and not the neutral picture. */
  has_cover: boolean
  /** Seconds until the session expires or, if this is earlier, the links to its cover. */
  seconds_left: number
}

/** Reads the embed data of a session in one statement. No API key is needed, because the session's id is the secret (specification §5). */
export async function findEmbed(context: Context, play_session_id: string) {
  checkSessionId(play_session_id, context.now)
  return readEmbed(context, play_session_id, playSessions)
}

/** A subquery that shows shares as sessions, so that both can be read in the same way. */
export const sharesAsSessions = (db: Database) =>
  db
    .select({
      ...getTableColumns(shares),
      creator_id: sql`null`.as('creator_id'),
      organization_index: sql`null`.as('organization_index'),
      metadata: sql`'{}'`.as('metadata'),
      variants: sql`'[]'`.as('variants'),
      expires_at: sql`coalesce(expires_at, 9e15)`.as('expires_at'),
    })
    .from(shares)
    .as('play_sessions') as unknown as typeof playSessions

/** Reads the embed data of a session, or of a share that is shown as one. */
export async function readEmbed(context: Context, id: string, from: typeof playSessions): Promise<Embed> {
  const { env, db, now, base_url } = context
  const { scope, resource_id } = playSessions
  const row = await db
    .select({
      session: playSessions,
      // The tables are nested objects, because a result has at most 100 columns (D1, Limits).
      track: trackColumns,
      collection: collections,
      playlist: playlists,
      organization: organizations,
      first: firstCover,
    })
    .from(from)
    .leftJoin(tracks, and(eq(scope, 'track'), eq(tracks.id, resource_id)))
    .leftJoin(
      collections,
      or(and(eq(scope, 'collection'), eq(collections.id, resource_id)), eq(collections.id, tracks.collection_id)),
    )
    .leftJoin(playlists, and(eq(scope, 'playlist'), eq(playlists.id, resource_id)))
    .leftJoin(organizations, eq(organizations.id, playSessions.organization_id))
    .where(eq(playSessions.id, id))
    .get()
  const session = checkExpiry('play session', row?.session, now)
  const { track, playlist, organization } = row ?? {}
  const collection = row?.collection && coverOrFirst(row.collection, row.first)
  const list = session.scope === 'playlist' ? playlist : collection
  if (!organization || !list || (session.scope === 'track' && !track)) throw notFound('play session')
  const levels = track && collection && { organization, collection, playlist: null, track }
  const { player_title: title, player_subtitle } = levels
    ? labelsOf(levels)
    : { player_title: list.title, player_subtitle: list.player_subtitle ?? organization.player_subtitle }
  const { cover_path, cover_size = null } = levels ? effectiveCover(levels) : list
  const sign = await viewSigner(env, now, session.expires_at)
  const cover_image = await coverImage(base_url, cover_path, sign)
  const seconds_left = Math.min(PLAYBACK_TTL, Math.floor((session.expires_at - now) / 1000))
  return {
    scope: session.scope,
    resource_id: session.resource_id,
    title,
    subtitle: player_subtitle ?? '',
    cover_image,
    card_image: (await largeCover({ cover_path, cover_size }, sign)) ?? cover_image.regular,
    has_cover: cover_path !== null,
    seconds_left,
  }
}
