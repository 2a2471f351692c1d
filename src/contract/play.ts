import * as z from 'zod'

import { Id, Metadata, named, ok, Text, Timestamp } from './common.ts'
import { MAX_SESSION_TTL, MAX_SESSION_VARIANTS, PLAY_CACHE_SECONDS } from './facts.ts'
import { SourceInfo } from './info.ts'
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { Levels, ListedTrack, Track } from './track.ts'

export const PlayScope = z.enum(['collection', 'track', 'playlist'])
export type PlayScope = z.infer<typeof PlayScope>

/** A time-limited session for playing one resource (specification §2, PlaySession). It never changes. */
export const PlaySession = named('PlaySession', {
  id: z.uuid(),
  creator_id: z.uuid().nullable(),
  organization_index: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  variants: z.array(z.string()),
  is_downloadable: z.boolean(),
  expires_at: Timestamp,
})
export type PlaySession = z.infer<typeof PlaySession>

/** A play session for listeners, who have only its id (specification §4, Play sessions). */
const ListenersSession = PlaySession.pick({ id: true, variants: true, is_downloadable: true, expires_at: true })

/** A track in a session's list: exactly these keys (specification §2, Track). */
export const SessionTrack = Track.pick({
  id: true,
  index: true,
  duration: true,
  order: true,
  player_title: true,
  player_subtitle: true,
  player_color: true,
}).meta({ id: 'SessionTrack' })

/**
 * A track for listeners: effective title, subtitle, color and image colors (docs/architecture.md#inheritance). It has the fields of a listed track,
 * so `metadata` is visible to every holder of a play session.
 */
export const PlayedTrack = ListedTrack.omit({ created_at: true, updated_at: true })
  .extend({
    /** Whether the effective `player_color` is dark, so that white text reads better on it (WCAG 2.2 relative luminance). */
    is_dark: z.boolean(),
    /** The track is still being processed and plays from a first file; the final variants replace it. */
    is_preliminary: z.boolean(),
  })
  .meta({ id: 'PlayedTrack' })

/** One playable file (specification §2, Playback variant): exactly these keys. */
export const PlaybackVariant = named('PlaybackVariant', {
  path: z.string(),
  url: z.url(),
  variant: z.object({ index: z.string() }),
})

/** The session's collection or playlist, as listeners see it. */
export const PlayedList = named('PlayedList', {
  scope: z.enum(['collection', 'playlist']),
  title: z.string(),
  subtitle: z.string().nullable(),
})

/** Everything a player needs to render and play one track. */
const playback = {
  track_id: z.uuid(),
  /** Null in the session of a single track. */
  list: PlayedList.nullable(),
  /** Chapters of the uploaded file; `start` in seconds. */
  chapters: SourceInfo.shape.chapters,
  cover_image: CoverImage,
  track: PlayedTrack,
  levels: Levels,
  variants: z.array(PlaybackVariant),
}
export const Playback = z.object(playback).meta({ id: 'Playback' })
export type Playback = z.infer<typeof Playback>

export const PlaySessionCreate = z.strictObject({
  variants: z.array(z.string().max(64)).max(MAX_SESSION_VARIANTS).optional(),
  collection_id: Id.optional(),
  track_id: Id.optional(),
  playlist_id: Id.optional(),
  is_downloadable: z.boolean().optional(),
  /** Seconds. */
  expires_in: z.number().min(60).max(MAX_SESSION_TTL).default(3600),
  creator_id: Id.nullable().optional(),
  organization_index: Text.nullable().optional(),
  metadata: Metadata.optional(),
})

const tag = 'Play sessions'
const session = {
  play_session_id: z.uuid(),
  play_session: PlaySession,
  /** Null in the session of a single track. */
  list: PlayedList.nullable(),
  /** The tracks in playing order, at most 1,000, without those that failed or have no file yet. */
  tracks: z.array(SessionTrack),
  /** The first track that can already be played, or null. */
  first_track: Playback.nullable(),
}
const playParams = z.object({ play_session_id: Id, play_track_id: Id })
/** Public: the session's id grants access. */
const listeners = { access: [], secret: 'play_session_id', nouns: { play_track_id: 'track' } } as const

export const playOperations = defineOperations({
  createPlaySession: {
    method: 'post',
    path: '/v1/play_session/{scope}',
    summary: 'Create a play session for a collection, a track or a playlist',
    tag,
    access: ['server', 'player'],
    params: z.object({ scope: PlayScope }),
    body: PlaySessionCreate,
    response: ok({ ...session, expires_at: Timestamp }),
    invisibleToListeners: true,
    errors: ['unknown_variant'],
  },
  getPlaySession: {
    method: 'get',
    path: '/v1/play_session/{play_session_id}',
    summary: 'Get a play session',
    tag,
    access: ['server', 'player'],
    params: z.object({ play_session_id: Id }),
    response: ok(session),
    errors: ['session_expired'],
  },
  playSession: {
    method: 'get',
    path: '/v1/play/{play_session_id}',
    summary: 'Get what a play session plays: its tracks and the play view of the first (no key needed)',
    tag,
    ...listeners,
    params: z.object({ play_session_id: Id }),
    response: ok({ ...session, play_session: ListenersSession }),
    reuse: PLAY_CACHE_SECONDS,
    errors: ['session_expired'],
  },
  downloadAll: {
    method: 'get',
    path: '/v1/play/{play_session_id}/download',
    summary: 'Get a URL that downloads all tracks as a ZIP (no key needed)',
    tag,
    ...listeners,
    params: z.object({ play_session_id: Id }),
    query: z.strictObject({ variant: z.string().max(64).optional() }),
    response: ok({
      play_session_id: z.uuid(),
      /** `size`: bytes of all files, without the ZIP structure. */
      download: z.object({ variant: z.string(), url: z.url(), file_name: z.string(), files: z.int(), size: z.int() }),
    }),
    errors: ['download_not_allowed', 'track_not_ready', 'session_expired', 'zip_too_large'],
  },
  playTrack: {
    method: 'get',
    path: '/v1/play/{play_session_id}/{play_track_id}',
    summary: 'Get the play view of a track: signed URLs, levels, cover (no key needed)',
    tag,
    ...listeners,
    params: playParams,
    response: ok({
      play_session_id: z.uuid(),
      ...playback,
      play_session: ListenersSession,
    }),
    reuse: PLAY_CACHE_SECONDS,
    errors: ['track_not_ready', 'session_expired'],
  },
  downloadTrack: {
    method: 'get',
    path: '/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download',
    summary: 'Get a signed URL that downloads one variant as a file (no key needed)',
    tag,
    ...listeners,
    params: playParams.extend({ variant_index: z.string().max(64) }),
    response: ok({
      play_session_id: z.uuid(),
      track_id: z.uuid(),
      download: z.object({ variant: z.string(), url: z.url() }),
    }),
    errors: ['download_not_allowed', 'track_not_ready', 'session_expired'],
  },
})
