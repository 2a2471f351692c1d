import * as z from 'zod'

import { Chapter } from './chapter.ts'
import { HexColor, ImageColor } from './color.ts'
import { Deletion, Id, named, ok, RequiredText, Timestamp, Title, Version, VersionHeaders } from './common.ts'
import { Episode } from './feed.ts'
import { Tags, TrackInfo } from './info.ts'
import { UploadHandle, UploadState } from './media.ts'
import { defineOperations } from './operation.ts'
import { TagsUpdate } from './tags.ts'
import { TrackCreate, trackSettings, UploadHints } from './track_create.ts'

/**
 * `initializing`: no file yet. `processing`, `fallback_processing` (the file is damaged): variants are being made. `ready`: all variants exist.
 * `incomplete`: some could not be made. `failed`: nothing plays (docs/architecture.md#statuses).
 */
export const TrackStatus = z
  .enum(['initializing', 'processing', 'fallback_processing', 'ready', 'incomplete', 'failed'])
  .meta({ id: 'TrackStatus' })
export type TrackStatus = z.infer<typeof TrackStatus>

/** One audio file in a collection, and everything that is made from it. Its own settings are null where values are inherited. */
export const Track = named('Track', {
  /** Identifies the track in paths, play sessions and events. */
  id: z.uuid(),
  /** The owner. */
  organization_id: z.uuid(),
  /** Where the track is. It can be moved. */
  collection_id: z.uuid(),
  /** A user of your application, by an id that you choose; null if none is set. */
  creator_id: z.uuid().nullable(),
  /** 12 random letters and digits, which never change. */
  index: z.string(),
  /** Length of the decoded audio in seconds, with three decimals; 0 before it is known. */
  duration: z.number(),
  /** Name of the uploaded file on one line, without folders. Downloads have this name, with the extension of their type. */
  file_name: z.string(),
  /** The same exactly as it was sent. */
  file_name_original: z.string().nullable(),
  /** Facts about the source, progress and errors of the processing. */
  info: TrackInfo,
  /** Your own identifier of the track; null if none is set. */
  organization_index: z.string().nullable(),
  /** Position in the collection, ascending. Positions may have gaps. */
  order: z.number(),
  /** Your own data. Everyone who has a play session of the track can see it. */
  metadata: z.record(z.string(), z.unknown()),
  /** Stored as you send it; it changes nothing, because nothing inherits from a track. */
  is_cover_overridable: z.boolean(),
  /** Stored as you send it; it changes nothing, because nothing inherits from a track. */
  is_theme_overridable: z.boolean(),
  /** Title that was set by a request; null if listeners see that of the tags or the file name. */
  player_title: z.string().nullable(),
  /** Second line in players; null if it is inherited. */
  player_subtitle: z.string().nullable(),
  /** Color of the player; null if it is inherited. */
  player_color: HexColor.nullable(),
  /** Up to six colors for players, ordered by area: those of the theme, otherwise the palette of the cover. */
  image_colors: z.array(ImageColor),
  /** The same as `status`. */
  track_status_id: TrackStatus,
  /** How far the file has been processed. */
  status: TrackStatus,
  /** The tags of the file, with the values that people have set instead. */
  tags: Tags,
  /** The tags of the file alone. */
  file_tags: Tags,
  /** The names of the tags that people have set. */
  edited_tags: z.array(z.string()),
  /** The chapters that a person has set, which replace `info.chapters`; null if there are none. */
  chapters: z.array(Chapter).nullable(),
  /** Facts that only podcast feeds show, such as season and notes; null if nothing was set. */
  episode: Episode.nullable(),
  /** When the track was added. */
  created_at: Timestamp,
  /** The time of the last change by a request. Processing changes `status`, but not this time. */
  updated_at: Timestamp,
  /** Changes together with `updated_at`. */
  version: Version,
})
export type Track = z.infer<typeof Track>

/** The fields that lists and play views have (specification §2, Track). */
export const BriefTrack = Track.omit({
  chapters: true,
  episode: true,
  file_tags: true,
  edited_tags: true,
  creator_id: true,
  file_name_original: true,
  info: true,
  organization_index: true,
})

/** A waveform to draw: 320 numbers from 0 to 1, the RMS of each section of the audio relative to the loudest one. */
export const Levels = named('Levels', {
  /** From the start of the audio to its end; all 0 for silence, and empty before they are known. */
  levels: z.array(z.number()),
})

/** Omitted fields keep their values, and `null` clears a field. */
export const TrackUpdate = z.strictObject({
  /** Another name of `player_title`, which has priority if both are sent. */
  title: Title.nullable().optional(),
  ...trackSettings,
  /** Values to use instead of those of the file. */
  tags: TagsUpdate.optional(),
})
export type TrackUpdate = z.infer<typeof TrackUpdate>

const tag = 'Tracks'
const params = z.object({
  /** As returned when the track was created. */
  track_id: Id,
})
const trackResponse = ok({
  /** The same as `track.id`. */
  track_id: z.uuid(),
  track: Track,
})

export const trackOperations = defineOperations({
  createTrack: {
    method: 'post',
    path: '/v1/track',
    grows: 'content',
    summary: 'Create a track, and get the URLs to upload its audio and cover to or have the audio fetched from a URL',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'upload',
    limits: ['upload_size', 'duration', 'upload_ttl', 'source_url_length', 'source_redirects'],
    body: TrackCreate,
    response: trackResponse.extend({
      /** Where to send the audio, unless it is fetched from `source_url`. */
      track_upload: UploadHandle,
      /** Where to send a cover, if the track should have its own. */
      track_cover_upload: UploadHandle,
    }),
    errors: ['not_found', 'file_too_large', 'quota_exceeded'],
  },
  getTrack: {
    method: 'get',
    path: '/v1/track/{track_id}',
    summary: 'Get a track with its status',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'upload',
    params,
    response: trackResponse,
    etag: ({ track }: { track: Track }) => track.version,
  },
  updateTrack: {
    method: 'put',
    path: '/v1/track/{track_id}',
    grows: false,
    summary: 'Update a track; fields left out stay as they are',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'edit',
    params,
    headers: VersionHeaders,
    body: TrackUpdate,
    response: trackResponse,
    errors: ['version_mismatch'],
  },
  deleteTrack: {
    method: 'delete',
    path: '/v1/track/{track_id}',
    summary: 'Delete a track and its files; `trash=true` keeps them for seven days',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    limits: ['trash_ttl'],
    params,
    query: Deletion,
    response: ok({
      /** The same as `deleted_track.id`. */
      track_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_track: Track,
    }),
  },
  completeTrackUpload: {
    method: 'post',
    path: '/v1/track/{track_id}/upload_complete',
    grows: false,
    summary: 'Say that the upload is done, so that processing starts at once (optional, may be repeated)',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'upload',
    recordsNoEvent: 'the uploaded file has its event',
    params,
    response: trackResponse.extend({
      /** The bytes that have arrived. */
      upload: UploadState,
    }),
  },
  renewTrackUpload: {
    method: 'post',
    path: '/v1/track/{track_id}/upload',
    grows: false,
    summary: "Get a new upload URL: for a track whose URL expired, or to replace a track's audio",
    tag,
    access: ['server'],
    effect: 'write',
    deletes: 'audio',
    guide: 'upload',
    limits: ['upload_size', 'duration', 'upload_ttl'],
    params,
    body: z.strictObject({
      /** Name of the track after this file has replaced the previous one. By default, it keeps its name. */
      file_name: RequiredText.optional(),
      ...UploadHints,
    }),
    response: trackResponse.extend({
      /** Where to send the audio. Earlier URLs still work; the file at the newest one is used. */
      track_upload: UploadHandle,
    }),
    errors: ['file_too_large', 'quota_exceeded'],
  },
  reprocessTrack: {
    method: 'post',
    path: '/v1/track/{track_id}/reprocess',
    grows: false,
    summary: "Make a track's variants again from the uploaded file; it stays playable meanwhile",
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'variants',
    recordsNoEvent: 'the outcome has its event',
    params,
    response: trackResponse,
    errors: ['track_not_uploaded'],
  },
})
