import * as z from 'zod'

import { Id, Metadata, named, ok, Text, Timestamp } from './common.ts'
import {
  MAX_SESSION_TOKEN,
  MAX_SESSION_TTL,
  MAX_SESSION_VARIANTS,
  MAX_VIEWS,
  PLAY_CACHE_SECONDS,
  SESSION_TOKEN,
} from './facts.ts'
import { SourceInfo } from './info.ts'
import { Listener } from './listener.ts'
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { BriefTrack, Levels, Track } from './track.ts'

export const PlayScope = z.enum(['collection', 'track', 'playlist'])
export type PlayScope = z.infer<typeof PlayScope>

/** Identifies a play session: the id of one that was created, or a token that was signed (docs/signed_sessions.md). Only ids are converted to lower case. */
export const PlaySessionId = z
  .string()
  .max(MAX_SESSION_TOKEN)
  .regex(new RegExp(`^([\\da-fA-F]{8}(-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}|${SESSION_TOKEN})$`))
  .overwrite((id) => (id.includes('.') ? id : id.toLowerCase()))
  .meta({ id: 'PlaySessionId' })

/** A session for playing one resource for a limited time (specification §2, PlaySession). It never changes. */
export const PlaySession = named('PlaySession', {
  id: PlaySessionId,
  creator_id: z.uuid().nullable(),
  organization_index: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  variants: z.array(z.string()),
  is_downloadable: z.boolean(),
  expires_at: Timestamp,
})
export type PlaySession = z.infer<typeof PlaySession>

/** A play session as listeners get it. They know only its id (specification §4, Play sessions). */
const ListenersSession = PlaySession.pick({ id: true, variants: true, is_downloadable: true, expires_at: true })

/** A track in the list of a session. The specification allows no other fields (§2, Track). */
export const SessionTrack = Track.pick({
  id: true,
  index: true,
  duration: true,
  order: true,
  player_title: true,
  player_subtitle: true,
  player_color: true,
}).meta({ id: 'SessionTrack' })
export type SessionTrack = z.infer<typeof SessionTrack>

/**
 * A track as listeners get it, with its effective title, subtitle, color and image colors (docs/architecture.md#inheritance). It has the fields of a
 * track in a list, so everyone who has the id of a play session can see `metadata`.
 */
export const PlayedTrack = BriefTrack.omit({ created_at: true, updated_at: true, version: true })
  .extend({
    /** Whether the effective `player_color` is so dark that white text is easier to read on it (WCAG 2.2 relative luminance). */
    is_dark: z.boolean(),
    /** True if the track is still being processed and only a first file can be played, which the final variants will replace. */
    is_preliminary: z.boolean(),
  })
  .meta({ id: 'PlayedTrack' })

/** One file that can be played (specification §2, Playback variant). The specification allows no other fields. */
export const PlaybackVariant = named('PlaybackVariant', {
  path: z.string(),
  url: z.url(),
  variant: z.object({ index: z.string() }),
})

/** The collection or playlist of a session, as listeners see it. */
export const PlayedList = named('PlayedList', {
  scope: z.enum(['collection', 'playlist']),
  title: z.string(),
  subtitle: z.string().nullable(),
})

/** All data that a player needs to show and play one track. */
const playback = {
  track_id: z.uuid(),
  /** Null if the session is for a single track. */
  list: PlayedList.nullable(),
  /** The chapters that a person has set, otherwise those of the uploaded file. `start` is in seconds. */
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
  /** Seconds until the session expires. */
  expires_in: z.number().min(60).max(MAX_SESSION_TTL).meta({ unit: 'seconds' }).default(3600),
  creator_id: Id.nullable().optional(),
  organization_index: Text.nullable().optional(),
  metadata: Metadata.optional(),
  /** Your pseudonym for the listener, whose progress is then kept. It is stored only as an HMAC. Only server keys may set it. */
  listener: Listener.optional(),
  /** How many play views the response contains, from the first track on. */
  views: z.int().min(1).max(MAX_VIEWS).meta({ unit: 'play views' }).optional(),
})

/**
 * The query of a session's public view: how many play views the response contains, and the track of the list with which they begin, instead of the first.
 * A query without `views` is ignored. It is parsed by src/http/listen/views_query.ts, before zod is loaded.
 */
export const ViewsQuery = z.strictObject({
  // One to MAX_VIEWS, written out so that TypeScript knows the values.
  views: z.enum(['1', '2', '3', '4', '5']).optional(),
  from: Id.optional(),
})
export type ViewsQuery = z.infer<typeof ViewsQuery>

/** A play view, as the response for its track contains it. */
const playView = { play_session_id: PlaySessionId, ...playback, play_session: ListenersSession }
export const PlayView = named('PlayView', playView)
export type PlayView = z.infer<typeof PlayView>

const tag = 'Play sessions'
/** The token for the listening reports of players: `POST /v1/heard/{token}`. */
const heard_token = { heard_token: z.string() }
const session = {
  play_session_id: PlaySessionId,
  play_session: PlaySession,
  /** Null if the session is for a single track. */
  list: PlayedList.nullable(),
  /** The tracks in playing order, 1,000 at most. Tracks that failed or that have no file yet are omitted. */
  tracks: z.array(SessionTrack),
  /** The first track that can be played; null if there is none yet. */
  first_track: Playback.nullable(),
  ...heard_token,
}
const views = {
  /** Only if the request has `views`: the play views of so many tracks of the list. Tracks that cannot be played yet are left out. */
  views: z.array(PlayView).optional(),
}
const playParams = z.object({ play_session_id: PlaySessionId, play_track_id: Id })
/** The codes of errors that only signed sessions cause. */
const SIGNED = ['invalid_request', 'unknown_field', 'unauthorized', 'insufficient_scope', 'origin_not_allowed'] as const
/** Settings of public operations, for which the id of the session grants access. */
const listeners = { access: [], secret: 'play_session_id', nouns: { play_track_id: 'track' } } as const

export const playOperations = defineOperations({
  createPlaySession: {
    method: 'post',
    path: '/v1/play_session/{scope}',
    grows: 'session',
    summary: 'Create a play session for a collection, a track or a playlist',
    tag,
    access: ['server', 'player'],
    params: z.object({ scope: PlayScope }),
    nouns: { scope: null },
    body: PlaySessionCreate,
    response: ok({ ...session, expires_at: Timestamp, ...views }),
    invisibleToListeners: true,
    errors: ['not_found', 'unknown_variant'],
  },
  getPlaySession: {
    method: 'get',
    path: '/v1/play_session/{play_session_id}',
    summary: 'Get a play session',
    tag,
    access: ['server', 'player'],
    params: z.object({ play_session_id: PlaySessionId }),
    response: ok(session),
    errors: ['session_expired', 'invalid_request', 'unknown_field'],
  },
  playSession: {
    method: 'get',
    path: '/v1/play/{play_session_id}',
    summary: 'Get what a play session plays: its tracks and the play view of the first (no key needed)',
    tag,
    ...listeners,
    params: z.object({ play_session_id: PlaySessionId }),
    query: ViewsQuery,
    response: ok({ ...session, play_session: ListenersSession, ...views }),
    reuse: PLAY_CACHE_SECONDS,
    errors: [...SIGNED, 'session_expired'],
  },
  downloadAll: {
    method: 'get',
    path: '/v1/play/{play_session_id}/download',
    summary: 'Get a URL that downloads all tracks as a ZIP (no key needed)',
    tag,
    ...listeners,
    params: z.object({ play_session_id: PlaySessionId }),
    query: z.strictObject({ variant: z.string().max(64).optional() }),
    response: ok({
      play_session_id: PlaySessionId,
      /** `size` is the total size of the files in bytes. The ZIP itself is slightly larger. */
      download: z.object({ variant: z.string(), url: z.url(), file_name: z.string(), files: z.int(), size: z.int() }),
    }),
    errors: [...SIGNED, 'download_not_allowed', 'track_not_ready', 'session_expired', 'zip_too_large'],
  },
  playTrack: {
    method: 'get',
    path: '/v1/play/{play_session_id}/{play_track_id}',
    summary: 'Get the play view of a track: signed URLs, levels, cover (no key needed)',
    tag,
    ...listeners,
    params: playParams,
    response: ok({ ...playView, ...heard_token }),
    reuse: PLAY_CACHE_SECONDS,
    errors: [...SIGNED, 'track_not_ready', 'session_expired'],
  },
  downloadTrack: {
    method: 'get',
    path: '/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download',
    summary: 'Get a signed URL that downloads one variant as a file (no key needed)',
    tag,
    ...listeners,
    params: playParams.extend({ variant_index: z.string().max(64) }),
    response: ok({
      play_session_id: PlaySessionId,
      track_id: z.uuid(),
      download: z.object({ variant: z.string(), url: z.url() }),
    }),
    errors: [...SIGNED, 'download_not_allowed', 'track_not_ready', 'session_expired'],
  },
})
