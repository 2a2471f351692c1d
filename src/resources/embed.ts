import { and, eq, or } from 'drizzle-orm'

import { playSessions, sessionsIn } from '../adapters/play_sessions.ts'
import { viewSigner } from '../adapters/presign.ts'
import { collections, organizations, playlists, tracks } from '../adapters/schema.ts'
import type { Context } from '../context.ts'
import { PLAYBACK_TTL } from '../contract/facts.ts'
import type { CoverImage } from '../contract/media.ts'
import type { PlayScope } from '../contract/play.ts'
import { notFound } from '../errors.ts'
import { type Appearances, coverPath, lettering } from './appearance.ts'
import { coverImage } from './cover_image.ts'
import { checkExpiry, sessionTableOf } from './session.ts'

/** What a page that embeds a play session says of it. */
export interface Embed {
  scope: PlayScope
  resource_id: string
  title: string
  subtitle: string
  cover_image: CoverImage
  /** Whether that is more than the neutral picture. */
  has_cover: boolean
  /** Seconds until the session or the cover's links end. */
  seconds_left: number
}

const lookOf = (levels: Appearances) => ({ ...lettering(levels), cover_path: coverPath(levels) })

/** What a session plays, in one statement. Public: its id is the secret (specification §5). */
export async function findEmbed(context: Context, play_session_id: string): Promise<Embed> {
  const { env, db, now, base_url } = context
  const { scope, resource_id } = playSessions
  const row = await db
    .select({
      session: playSessions,
      track: tracks,
      collection: collections,
      playlist: playlists,
      organization: organizations,
    })
    .from(sessionsIn[sessionTableOf(play_session_id, now)])
    .leftJoin(tracks, and(eq(scope, 'track'), eq(tracks.id, resource_id)))
    .leftJoin(
      collections,
      or(and(eq(scope, 'collection'), eq(collections.id, resource_id)), eq(collections.id, tracks.collection_id)),
    )
    .leftJoin(playlists, and(eq(scope, 'playlist'), eq(playlists.id, resource_id)))
    .leftJoin(organizations, eq(organizations.id, playSessions.organization_id))
    .where(eq(playSessions.id, play_session_id))
    .get()
  const session = checkExpiry('play session', row?.session, now)
  const { track, collection, playlist, organization } = row ?? {}
  const list = session.scope === 'playlist' ? playlist : collection
  if (!organization || !list || (session.scope === 'track' && !track)) throw notFound('play session')
  const look =
    track && collection
      ? lookOf({ organization, collection, playlist: null, track })
      : {
          player_title: list.title,
          player_subtitle: list.player_subtitle ?? organization.player_subtitle,
          cover_path: list.cover_path,
        }
  const seconds_left = Math.min(PLAYBACK_TTL, Math.floor((session.expires_at - now) / 1000))
  return {
    scope: session.scope,
    resource_id: session.resource_id,
    title: look.player_title,
    subtitle: look.player_subtitle ?? '',
    cover_image: await coverImage(base_url, look.cover_path, await viewSigner(env, now, session.expires_at)),
    has_cover: look.cover_path !== null,
    seconds_left,
  }
}
