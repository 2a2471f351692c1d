import * as z from 'zod'

import { HexColor, ImageColor } from './color.ts'
import {
  counted,
  Deletion,
  Id,
  including,
  ListPage,
  Metadata,
  named,
  ok,
  Query,
  RequiredText,
  someOf,
  sortedBy,
  Text,
  Timestamp,
  Title,
  urlOf,
  Version,
  VersionHeaders,
} from './common.ts'
import { MAX_CHAPTER_START, MAX_CHAPTER_URL, MAX_TAG_NUMBER } from './facts.ts'
import { Loudness, Tags, TrackError, TrackInfo } from './info.ts'
import { CoverImage, UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'

/** The states of a track. The transitions between them are in `src/domain` and `src/background` (docs/architecture.md#statuses). */
export const TrackStatus = z.enum([
  'initializing',
  'processing',
  'fallback_processing',
  'ready',
  'incomplete',
  'failed',
])
export type TrackStatus = z.infer<typeof TrackStatus>

/** Seconds from the start of the audio, rounded to milliseconds. */
const Seconds = z
  .number()
  .min(0)
  .max(MAX_CHAPTER_START)
  .overwrite((seconds) => Math.round(seconds * 1000) / 1000)
  .meta({ unit: 'seconds' })
const WebAddress = urlOf(/^https?$/, 'https: or http:', MAX_CHAPTER_URL)

/** A chapter in the format JSON Chapters 1.2. */
export const Chapter = named('Chapter', {
  startTime: Seconds,
  endTime: Seconds.optional(),
  title: z.string().optional(),
  img: WebAddress.optional(),
  url: WebAddress.optional(),
  /** False for a chapter that players do not list. */
  toc: z.boolean().optional(),
})
export type Chapter = z.infer<typeof Chapter>

/** One audio file in a collection (specification §2, Track). `duration` is the length of the decoded audio in seconds, or 0 before it is known. */
export const Track = named('Track', {
  id: z.uuid(),
  organization_id: z.uuid(),
  collection_id: z.uuid(),
  creator_id: z.uuid().nullable(),
  index: z.string(),
  duration: z.number(),
  file_name: z.string(),
  file_name_original: z.string().nullable(),
  info: TrackInfo,
  organization_index: z.string().nullable(),
  order: z.number(),
  metadata: z.record(z.string(), z.unknown()),
  is_cover_overridable: z.boolean(),
  is_theme_overridable: z.boolean(),
  player_title: z.string().nullable(),
  player_subtitle: z.string().nullable(),
  player_color: HexColor.nullable(),
  image_colors: z.array(ImageColor),
  track_status_id: TrackStatus,
  status: TrackStatus,
  /** The tags of the file, with the values that people have set instead. */
  tags: Tags,
  /** The tags of the file alone. */
  file_tags: Tags,
  /** The names of the tags that people have set. */
  edited_tags: z.array(z.string()),
  /** The chapters that a person has set, which replace `info.chapters`; null if there are none. */
  chapters: z.array(Chapter).nullable(),
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
  file_tags: true,
  edited_tags: true,
  creator_id: true,
  file_name_original: true,
  info: true,
  organization_index: true,
})

/** 320 numbers from 0 to 1: the RMS of each section of the audio, relative to the loudest section. The list is empty before they are known. */
export const Levels = named('Levels', { levels: z.array(z.number()) })

/** The parts of `info` that a list shows. `warnings` also counts the variants that failed. */
export const TrackState = named('TrackState', {
  /** The fraction of the job that is done, 0–1; 0 while the track is queued. */
  progress: z.number(),
  error: TrackError.nullable(),
  warnings: z.int(),
})
export type TrackState = z.infer<typeof TrackState>

/** The optional parts of the tracks in a list. With them, a client needs only one request per page. */
export const include = including('levels', 'loudness', 'artwork', 'collection', 'state')
export const ListedTrack = BriefTrack.extend({
  levels: Levels.optional(),
  /** Null before it is known. */
  loudness: Loudness.nullable().optional(),
  /** The effective cover: the track's own or the inherited one. */
  artwork: CoverImage.optional(),
  state: TrackState.optional(),
  collection: z.object({ id: z.uuid(), title: z.string() }).optional(),
}).meta({ id: 'ListedTrack' })
export type ListedTrack = z.infer<typeof ListedTrack>

/** Query parameters, without `sort`, that are common to all lists of tracks. */
export const trackFilters = {
  q: Query,
  /** One or more statuses, separated by commas. */
  status: someOf(TrackStatus.options),
  creator_id: Id.optional(),
  organization_index: RequiredText.optional(),
  include,
}

/** `file_size` (in bytes) and `content_type` are not in the specification. The upload URL is signed with those that are given. */
export const UploadHints = {
  file_size: z.int().min(1).meta({ unit: 'bytes' }).optional(),
  content_type: Text.regex(/^[\w.+-]+\/[\w.+-]+(;[ \w.+=-]*)?$/, 'must be a media type like audio/mpeg').optional(),
}

/** `null` returns to the value of the file, and an empty text hides it. */
const tagText = Title.nullable().optional()
/** `null` returns to the value of the file, and 0 hides it. */
const tagNumber = z.int().min(0).max(MAX_TAG_NUMBER).nullable().optional()
/** The tags that people can set. The title is `player_title`. Omitted tags stay as they are. */
export const TagsUpdate = z.strictObject({
  artist: tagText,
  album: tagText,
  album_artist: tagText,
  composer: tagText,
  genre: tagText,
  /** `1959`, `1959-08` or `1959-08-17`; it also sets `year`. */
  date: z
    .string()
    .regex(
      /^(\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?$/,
      'must be a date such as 1959, 1959-08 or 1959-08-17',
    )
    .nullable()
    .optional(),
  track_number: tagNumber,
  disc_number: tagNumber,
})
export type TagsUpdate = z.infer<typeof TagsUpdate>

const settings = {
  creator_id: Id.nullable().optional(),
  organization_index: Text.nullable().optional(),
  metadata: Metadata.optional(),
  is_cover_overridable: z.boolean().optional(),
  is_theme_overridable: z.boolean().optional(),
  player_title: Title.nullable().optional(),
  player_subtitle: Title.nullable().optional(),
  player_color: HexColor.nullable().optional(),
}

export const TrackCreate = z.strictObject({ collection_id: Id, file_name: RequiredText, ...settings, ...UploadHints })

/** `title` sets `player_title`, unless the request also contains `player_title`. */
export const TrackUpdate = z.strictObject({
  title: Title.nullable().optional(),
  ...settings,
  tags: TagsUpdate.optional(),
})
export type TrackUpdate = z.infer<typeof TrackUpdate>

/** The upload to the newest upload URL of a track. Sizes are in bytes. */
export const UploadState = named('UploadState', {
  /** The size of the uploaded file that waits to be processed; null if no file is waiting. */
  received_size: z.int().nullable(),
  /** The `file_size` of the request for the URL; null if the request had none, or if nothing is expected. */
  expected_size: z.int().nullable(),
  expires_at: Timestamp,
  /** Instructions for a caller whose file has not arrived; null if nothing is expected. */
  hint: z.string().nullable(),
})

const tag = 'Tracks'
const params = z.object({ track_id: Id })
const trackResponse = ok({ track_id: z.uuid(), track: Track })

export const trackOperations = defineOperations({
  listTracks: {
    method: 'get',
    path: '/v1/track',
    summary: 'List or search the tracks of all collections, newest first unless sorted',
    tag,
    access: ['server'],
    query: ListPage.extend({ ...trackFilters, sort: sortedBy('title', 'created_at', 'updated_at', 'duration') }),
    response: ok({ ...counted, tracks: z.array(ListedTrack) }),
  },
  createTrack: {
    method: 'post',
    path: '/v1/track',
    grows: 'content',
    summary: 'Create a track and get the URLs to upload its audio and cover to',
    tag,
    access: ['server'],
    body: TrackCreate,
    response: trackResponse.extend({ track_upload: UploadHandle, track_cover_upload: UploadHandle }),
    errors: ['not_found', 'file_too_large', 'quota_exceeded'],
  },
  getTrack: {
    method: 'get',
    path: '/v1/track/{track_id}',
    summary: 'Get a track with its status',
    tag,
    access: ['server'],
    params,
    response: trackResponse,
  },
  updateTrack: {
    method: 'put',
    path: '/v1/track/{track_id}',
    grows: false,
    summary: 'Update a track; fields left out stay as they are',
    tag,
    access: ['server'],
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
    params,
    query: Deletion,
    response: ok({ track_id: z.uuid(), deleted_track: Track }),
  },
  completeTrackUpload: {
    method: 'post',
    path: '/v1/track/{track_id}/upload_complete',
    grows: false,
    summary: 'Say that the upload is done, so that processing starts at once (optional, may be repeated)',
    tag,
    access: ['server'],
    params,
    response: trackResponse.extend({ upload: UploadState }),
  },
  renewTrackUpload: {
    method: 'post',
    path: '/v1/track/{track_id}/upload',
    grows: false,
    summary: "Get a new upload URL: for a track whose URL expired, or to replace a track's audio",
    tag,
    access: ['server'],
    params,
    body: z.strictObject({ file_name: RequiredText.optional(), ...UploadHints }),
    response: trackResponse.extend({ track_upload: UploadHandle }),
    errors: ['file_too_large', 'quota_exceeded'],
  },
  reprocessTrack: {
    method: 'post',
    path: '/v1/track/{track_id}/reprocess',
    grows: false,
    summary: "Make a track's variants again from the uploaded file; it stays playable meanwhile",
    tag,
    access: ['server'],
    params,
    response: trackResponse,
    errors: ['track_not_uploaded'],
  },
})
