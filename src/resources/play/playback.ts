import { mediaUrls } from '../../adapters/bucket/media_url.ts'
import { filesOf } from '../../adapters/bucket/track_files.ts'
import type { CachedTrack } from '../../adapters/cache/isolate_cache.ts'
import { isIssuedId } from '../../adapters/crypto/id.ts'
import { hexLevels } from '../../adapters/db/hex_levels.ts'
import type { PlayedSession, PlayRow } from '../../adapters/db/play/play_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { PLAY_CACHE_SECONDS } from '../../contract/facts.ts'
import type { Playback, PlayScope, PlayView } from '../../contract/play.ts'
import { notFound, notReady } from '../../core/errors.ts'
import { checkExpiry, timestamp } from '../../core/time.ts'
import { appearance } from '../library/appearance.ts'
import { coverDesign, coverImage, coverOrFirst } from '../library/cover_image.ts'
import { allowsEarly, bestQuality } from './early_quality.ts'
import { heardToken } from './heard_token.ts'
import { readerOf } from './session_reader.ts'

/** A session and a track that it plays. Each is undefined if it was not found. */
interface PlaybackParts {
  session?: PlayedSession
  played?: CachedTrack
}

/**
 * Returns the cache key of a track. In a playlist, the appearance of a track depends on the playlist; in other scopes, the track's id is sufficient.
 */
const cacheKeyOf = ({ scope, resource_id }: PlayedSession, track_id: string) =>
  scope === 'playlist' ? `${resource_id}/${track_id}` : track_id

const plays = ({ organization_id, scope, resource_id }: PlayedSession, { track }: CachedTrack) =>
  track.organization_id === organization_id &&
  (scope === 'playlist' || resource_id === (scope === 'track' ? track.id : track.collection_id))

/** Converts a row to the form in which it is cached. */
export function toPlaybackParts(row: PlayRow | undefined, now: number): PlaybackParts {
  if (!row?.session) return {}
  const { session, track, playlist, organization } = row
  // A cover of the playlist is preferred to a cover that the collection borrows from its first track.
  const collection = row.collection && coverOrFirst(row.collection, playlist?.cover_path ? null : row.collection.first)
  if (!track || !collection || !organization) return { session }
  const levels = hexLevels(track.levels)
  const until = now + PLAY_CACHE_SECONDS * 1000
  const urls = new Map<string, string>()
  const files = filesOf(track)
  return { session, played: { track, collection, playlist, organization, files, levels, urls, until } }
}

/** Returns until when a session may be used without reading it again, in milliseconds since 1970. */
const knownUntil = ({ expires_at, signed }: PlayedSession) => Math.min(expires_at, signed?.until ?? Infinity)

/** Returns the session and the track from the isolate's cache, or reads them with one statement. A token in the cache is not verified again. */
async function findParts(context: Context<Client>, session_id: string, track_id: string): Promise<PlaybackParts> {
  const { env, db, cache, now } = context
  const cachedSession = cache.sessions.get(session_id, now)
  if (cachedSession && !isIssuedId(track_id)) return { session: cachedSession }
  const cachedTrack = cachedSession && cache.tracks.get(cacheKeyOf(cachedSession, track_id), now)
  if (cachedSession && cachedTrack && plays(cachedSession, cachedTrack))
    return { session: cachedSession, played: cachedTrack }
  const reader = await readerOf(context, session_id)
  const { changes } = cache
  const row = await reader.readTrack(db, track_id)
  const parts = toPlaybackParts(row, now)
  const { session, played } = parts
  if (env.REUSE_ANSWERS !== 'true' || !session) return parts
  const { organization_id, signed } = session
  // The key of a signed session may have been revoked while it was read.
  if (!signed || changes === cache.changes) {
    const bytes = 2000 + 2 * session_id.length
    cache.sessions.set(session_id, session, { organization_id, bytes, until: knownUntil(session) })
  }
  // A track that cannot be played yet, or only from an early file, is not cached.
  if (played && changes === cache.changes && played.files[0]?.is_early === 0) {
    // The size includes space for the signed URLs.
    const bytes = 4 * JSON.stringify(row).length + 20_000
    cache.tracks.set(cacheKeyOf(session, track_id), played, { organization_id, bytes, until: played.until })
  }
  return parts
}

/** Returns a session that has not ended. */
export async function findSession(context: Context<Client>, play_session_id: string): Promise<PlayedSession> {
  const { session } = await findParts(context, play_session_id, '')
  return usable(context, session)
}

/** Returns the session if it has not ended and the web page that sends the request may use it. */
export function usable(context: Context<Client>, found: PlayedSession | null | undefined): PlayedSession {
  const session = checkExpiry('play session', found ?? undefined, context.now)
  session.signed?.checkSite(context)
  return session
}

/** Allows the response to be cached until its session or something else of it must be read again, in milliseconds since 1970. */
export const allowCaching = (context: Context<Client>, session: PlayedSession, until: number) =>
  context.allowCaching(session.organization_id, Math.min(knownUntil(session), until), session.signed?.allowed_origins)

/** Returns what a session plays of a track. No API key is needed, because the two ids are the secret. */
export const findPlayback = async (context: Context<Client>, play_session_id: string, track_id: string) =>
  playable(context, await findParts(context, play_session_id, track_id))

/** Like `findPlayback`, but for rows that have already been read. */
export async function playable(context: Context<Client>, parts: PlaybackParts) {
  const session = usable(context, parts.session)
  if (!parts.played) throw notFound('track')
  const { track, files: made, levels, urls, until } = parts.played
  const [file] = made
  if (!file) throw notReady(track.status)
  // An early file is always the only file of its track.
  const is_preliminary = file.is_early === 1
  if (is_preliminary && !allowsEarly(session, file, await bestQuality(context, session))) throw notReady(track.status)
  return {
    session,
    track,
    levels,
    /** Empty if the organization does not use tags. */
    tags: (parts.played.organization.uses_tags && track.tags) || {},
    list: listOf(session.scope, parts.played),
    urls,
    appearance: appearance(parts.played),
    album: parts.played.collection.title,
    listening_shards: parts.played.organization.listening_shards,
    /** Those of the session's variants that this track has, in the session's order. A preliminary track has only its early file. */
    files: is_preliminary ? made : session.variants.flatMap((index) => made.filter((file) => file.index === index)),
    is_preliminary,
    /** The time until which the track may be cached. */
    until,
  }
}

interface ListLabels {
  title: string
  player_subtitle: string | null
}
interface ListSources {
  collection: ListLabels | null | undefined
  playlist: ListLabels | null | undefined
  organization: { player_subtitle: string | null }
}

/** Returns the title and the subtitle of the list from which tracks are played. */
export function listOf(scope: PlayScope, { collection, playlist, organization }: ListSources): Playback['list'] {
  const list = scope === 'playlist' ? playlist : collection
  if (scope === 'track' || !list) return null
  return { scope, title: list.title, subtitle: list.player_subtitle ?? organization.player_subtitle }
}

/**
 * Returns everything that a player needs for one track. Every field is listed explicitly, so that no private column is exposed. Signed URLs expire at
 * the latest with the session.
 */
export async function playback(
  context: Context<Client>,
  found: Awaited<ReturnType<typeof findPlayback>>,
): Promise<Playback> {
  const { session, track, tags, list, levels, is_preliminary, album } = found
  const { cover_path, image_colors, is_dark, ...letters } = found.appearance
  const design = cover_path === null ? coverDesign(letters.player_title, track.levels, album) : null
  const mediaUrl = await mediaUrls(context.env, context.now, session.expires_at, found.urls)
  const [cover_image, ...variants] = await Promise.all([
    coverImage(context.base_url, { cover_path, design }, mediaUrl),
    ...found.files.map(async ({ index, path, size }) => ({
      path,
      url: await mediaUrl(path, size),
      variant: { index },
    })),
  ])
  return {
    track_id: track.id,
    list,
    chapters: track.chapters.map(({ start, title }) => ({ start, title })),
    cover_image,
    track: {
      id: track.id,
      organization_id: track.organization_id,
      collection_id: track.collection_id,
      index: track.index,
      duration: track.duration,
      file_name: track.file_name,
      order: track.order,
      metadata: track.metadata,
      is_cover_overridable: track.is_cover_overridable,
      is_theme_overridable: track.is_theme_overridable,
      ...letters,
      image_colors,
      track_status_id: track.status,
      status: track.status,
      tags,
      is_dark,
      is_preliminary,
    },
    levels: { levels },
    variants,
  }
}

/** Returns the play view of a track: its playback with the session as its listeners see it. */
export const toPlayView = (
  { id, variants, is_downloadable, expires_at }: PlayedSession,
  playback: Playback,
): PlayView => ({
  play_session_id: id,
  ...playback,
  play_session: { id, variants, is_downloadable, expires_at: timestamp(expires_at) },
})

/**
 * The handler of the operation of the same name. It runs before the table of operations is loaded, and its result has exactly the fields in the
 * operation's schema.
 */
export async function playTrack(
  { params: { play_session_id, play_track_id } }: { params: { play_session_id: string; play_track_id: string } },
  context: Context<Client>,
) {
  const found = await findPlayback(context, play_session_id, play_track_id)
  const { session, is_preliminary, until } = found
  if (!is_preliminary) allowCaching(context, session, until)
  return {
    ...toPlayView(session, await playback(context, found)),
    heard_token: await heardToken(context.env, session, found.listening_shards),
  }
}
