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
import { CoverImage, LargeCover } from './media.ts'
import { defineOperations } from './operation.ts'
import { BriefTrack, Levels, Track } from './track.ts'
import { TrackVariant } from './track_variant.ts'

/** The kind of the resource. */
export const PlayScope = z.enum(['collection', 'track', 'playlist'])
export type PlayScope = z.infer<typeof PlayScope>

/** Identifies a play session: the id of one that was created, or a signed token (docs/signed_sessions.md). */
export const PlaySessionId = z
  .string()
  .max(MAX_SESSION_TOKEN)
  .regex(new RegExp(`^([\\da-fA-F]{8}(-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}|${SESSION_TOKEN})$`))
  // Upper and lower case of a token differ.
  .overwrite((id) => (id.includes('.') ? id : id.toLowerCase()))

/** A permission to play one collection, track or playlist for a limited time. It never changes. */
export const PlaySession = named('PlaySession', {
  /** The secret with which players get play views, without a key. */
  id: PlaySessionId,
  /** A user of your application, by an id that you choose; null if none is set. */
  creator_id: z.uuid().nullable(),
  /** Your own identifier of the session; empty if none is set. */
  organization_index: z.string(),
  /** Your own data, as you have sent it. Listeners do not see it. */
  metadata: z.record(z.string(), z.unknown()),
  /** Indexes of the variants to play, in the order in which players should try them. */
  variants: z.array(z.string()),
  /** Whether listeners may download the variants as files. */
  is_downloadable: z.boolean(),
  /** When the session ends. Requests with it then return 410, and 404 a day later. */
  expires_at: Timestamp,
})
export type PlaySession = z.infer<typeof PlaySession>

/** A play session as listeners get it. They know only its id (specification §4, Play sessions). */
const ListenersSession = PlaySession.pick({ id: true, variants: true, is_downloadable: true, expires_at: true })

const effective = {
  /** Title: the track's own, that of the tags, or the file name. */
  player_title: Track.shape.player_title,
  /** Second line: the track's own, the artist in the tags, or an inherited one. */
  player_subtitle: Track.shape.player_subtitle,
  /** Color of the player: the track's own or an inherited one. */
  player_color: Track.shape.player_color,
}

/** A track in the list of a session, with the title and color that listeners see. */
export const SessionTrack = Track.pick({
  id: true,
  index: true,
  duration: true,
  order: true,
})
  .extend(effective)
  .meta({ id: 'SessionTrack' })
export type SessionTrack = z.infer<typeof SessionTrack>

/**
 * A track as listeners get it, with its effective title, subtitle and colors (docs/architecture.md#inheritance). Everyone who has the id of a play
 * session can see it, also `metadata`.
 */
export const PlayedTrack = BriefTrack.omit({ created_at: true, updated_at: true, version: true })
  .extend({
    ...effective,
    /** Whether white text is easier to read on `player_color` than black text (WCAG 2.2). */
    is_dark: z.boolean(),
    /** Whether only a first file can be played until processing has finished. Request the play view again for the final variants. */
    is_preliminary: z.boolean(),
  })
  .meta({ id: 'PlayedTrack' })

/** One file that can be played. */
export const PlaybackVariant = named('PlaybackVariant', {
  /** Place of the file in the storage; it changes when the file does. */
  path: z.string(),
  /** Signed URL that supports range requests. It is valid for 40 to 60 minutes, and never longer than the session. */
  url: z.url(),
  /** Names the variant of the file. */
  variant: z.object({
    /** As in `GET /v1/variant`. */
    index: z.string(),
  }),
})

/** The collection or playlist of a session, as listeners see it. */
export const PlayedList = named('PlayedList', {
  /** Which of the two it is. */
  scope: z.enum(['collection', 'playlist']),
  /** As listeners see it. */
  title: z.string(),
  /** Second line; null if there is none. */
  subtitle: z.string().nullable(),
})

const playback = {
  /** The same as `track.id`. */
  track_id: z.uuid(),
  /** Null if the session is for a single track. */
  list: PlayedList.nullable(),
  /** The chapters that a person has set, otherwise those of the uploaded file. */
  chapters: SourceInfo.shape.chapters,
  /** The chapters as files; null if there are none. The addresses need no key and are valid as long as the session. */
  chapter_files: z
    .object({
      /** JSON Chapters 1.2, with all fields of the chapters. */
      json: z.url(),
      /** WebVTT, for `<track kind="chapters">`. */
      vtt: z.url(),
    })
    .nullable(),
  /** The effective cover, which may be inherited or generated. */
  cover_image: CoverImage,
  /** The same cover with up to 1,400 pixels per side, for lock screens; null if it is generated, or if the uploaded picture has at most 400. */
  large_cover: LargeCover.nullable(),
  track: PlayedTrack,
  levels: Levels,
  /** The variants of the session that the track has, in the order in which players should try them. */
  variants: z.array(PlaybackVariant),
  /** Facts about the files of `variants`, in the same order. */
  files: z.array(TrackVariant),
}
/** All data that a player needs to show and play one track. */
export const Playback = z.object(playback).meta({ id: 'Playback' })
export type Playback = z.infer<typeof Playback>

export const PlaySessionCreate = z.strictObject({
  /** Indexes of the variants to play, in the order in which players should try them; by default AAC, MP3, Opus and FLAC. */
  variants: z.array(z.string().max(64)).max(MAX_SESSION_VARIANTS).optional(),
  /** Required if the scope is `collection`. */
  collection_id: Id.optional(),
  /** Required if the scope is `track`. */
  track_id: Id.optional(),
  /** Required if the scope is `playlist`. */
  playlist_id: Id.optional(),
  /** Whether listeners may download the variants as files; false by default. */
  is_downloadable: z.boolean().optional(),
  /** Seconds until the session ends. */
  expires_in: z.number().min(60).max(MAX_SESSION_TTL).meta({ 'x-unit': 'seconds' }).default(3600),
  /** A user of your application, by a UUID that you choose. */
  creator_id: Id.nullable().optional(),
  /** Your own identifier of the session. */
  organization_index: Text.nullable().optional(),
  /** Your own data: a JSON object of at most 16 KB, nested at most 5 levels deep. Listeners do not see it. */
  metadata: Metadata.optional(),
  /** Your pseudonym for the listener, whose progress is then kept. Only server keys may set it. */
  listener: Listener.optional(),
  /** Number of play views in the response, from the first track on. */
  views: z.int().min(1).max(MAX_VIEWS).meta({ 'x-unit': 'play views' }).optional(),
})

// A query without `views` is ignored. It is parsed by src/http/listen/views_query.ts, before zod is loaded.
export const ViewsQuery = z.strictObject({
  /** Number of play views in the response; none by default. Each counts as one request for the rate limit. */
  // One to MAX_VIEWS, written out so that TypeScript knows the values.
  views: z.enum(['1', '2', '3', '4', '5']).optional(),
  /** The track of the list with which the play views start; the first one by default. */
  from: Id.optional(),
})
export type ViewsQuery = z.infer<typeof ViewsQuery>

const playView = {
  /** As in the path of the request. */
  play_session_id: PlaySessionId,
  ...playback,
  /** The part of the session that listeners may see. */
  play_session: ListenersSession,
}
/** A play view: all data that a player needs for one track of a session. */
export const PlayView = named('PlayView', playView)
export type PlayView = z.infer<typeof PlayView>

const tag = 'Play sessions'
const heard_token = {
  /** The secret in the path of listening reports, `POST /v1/heard/{token}`. It can be used only for this. */
  heard_token: z.string(),
}
const session = {
  /** The same as `play_session.id`. */
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
const sessionParams = z.object({
  /** As returned when the session was created, or a session that your server has signed. It is the secret that grants access. */
  play_session_id: PlaySessionId,
})
const playParams = sessionParams.extend({
  /** A track of the session. */
  play_track_id: Id,
})
// The codes of errors that only signed sessions cause.
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
    effect: 'write',
    guide: 'play',
    limits: ['play_session_ttl', 'session_tracks', 'session_variants', 'listener_length'],
    recordsNoEvent: 'sessions are too frequent',
    params: z.object({
      /** The kind of the resource to play. The body has its id. */
      scope: PlayScope,
    }),
    nouns: { scope: null },
    body: PlaySessionCreate,
    response: ok({
      ...session,
      /** The same as `play_session.expires_at`. */
      expires_at: Timestamp,
      ...views,
    }),
    invisibleToListeners: true,
    errors: ['not_found', 'unknown_variant'],
  },
  getPlaySession: {
    method: 'get',
    path: '/v1/play_session/{play_session_id}',
    summary: 'Get a play session',
    tag,
    access: ['server', 'player'],
    effect: 'read',
    guide: 'play',
    params: sessionParams,
    response: ok(session),
    errors: ['session_expired', 'invalid_request', 'unknown_field'],
  },
  playSession: {
    method: 'get',
    path: '/v1/play/{play_session_id}',
    summary: 'Get what a play session plays: its tracks and the play view of the first (no key needed)',
    tag,
    ...listeners,
    effect: 'read',
    guide: 'play',
    limits: ['playback_ttl', 'session_views'],
    params: sessionParams,
    query: ViewsQuery,
    response: ok({
      ...session,
      /** The part of the session that listeners may see. */
      play_session: ListenersSession,
      ...views,
    }),
    reuse: PLAY_CACHE_SECONDS,
    errors: [...SIGNED, 'session_expired'],
  },
  downloadAll: {
    method: 'get',
    path: '/v1/play/{play_session_id}/download',
    summary: 'Get a URL that downloads all tracks as a ZIP (no key needed)',
    tag,
    ...listeners,
    effect: 'read',
    guide: 'play',
    limits: ['zip_files', 'zip_size'],
    params: sessionParams,
    query: z.strictObject({
      /** Index of one of the session's variants; by default, the first one. */
      variant: z.string().max(64).optional(),
    }),
    response: ok({
      /** As in the path. */
      play_session_id: PlaySessionId,
      /** The ZIP, which is made while it is downloaded. */
      download: z.object({
        /** Index of the variant that it contains. */
        variant: z.string(),
        /** Address that needs no key, as long as the session is valid. */
        url: z.url(),
        /** Name under which browsers save it. */
        file_name: z.string(),
        /** Number of tracks in it. */
        files: z.int(),
        /** Sum of their sizes in bytes; the ZIP is slightly larger. */
        size: z.int(),
      }),
    }),
    errors: [...SIGNED, 'download_not_allowed', 'track_not_ready', 'session_expired', 'zip_too_large'],
  },
  playTrack: {
    method: 'get',
    path: '/v1/play/{play_session_id}/{play_track_id}',
    summary: 'Get the play view of a track: signed URLs, levels, cover (no key needed)',
    tag,
    ...listeners,
    effect: 'read',
    guide: 'play',
    limits: ['playback_ttl'],
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
    effect: 'read',
    guide: 'play',
    limits: ['playback_ttl'],
    params: playParams.extend({
      /** One of the session's variants, such as `mp3-128`. */
      variant_index: z.string().max(64),
    }),
    response: ok({
      /** As in the path. */
      play_session_id: PlaySessionId,
      /** As in the path. */
      track_id: z.uuid(),
      /** The file, which browsers save under its own name. */
      download: z.object({
        /** As in the path. */
        variant: z.string(),
        /** Signed URL, valid for at most an hour. */
        url: z.url(),
      }),
    }),
    errors: [...SIGNED, 'download_not_allowed', 'track_not_ready', 'session_expired'],
  },
})
