import * as z from 'zod'

import { Id, named, ok, RequiredText, Timestamp } from './common.ts'
import { MAX_PART_URLS, MAX_PARTS } from './facts.ts'
import { UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Track } from './track.ts'
import { UploadHints } from './track_create.ts'

/** Uploads in parts. They can be resumed after a lost connection, a reload or a crash (docs/decisions/0041). */

/** Place of the part in the file: 1, 2, 3, … */
const PartNumber = z.int().min(1).max(MAX_PARTS)

/** A part that was uploaded, with the ETag that the storage returned for its `PUT`. */
const StoredPart = z.strictObject({
  part_number: PartNumber,
  /** The header `ETag` of the response to the `PUT` of the part. */
  etag: z.string().regex(/^"?[\x21\x23-\x7e]{1,512}"?$/, 'must be the ETag that the storage answered'),
})

/** Where to send one part with `PUT`. The storage refuses any other number of bytes. */
export const PartUpload = UploadHandle.extend({
  /** Place of the part in the file: 1, 2, 3, … */
  part_number: z.int(),
  /** Exact number of bytes to send. */
  size: z.int(),
}).meta({ id: 'PartUpload' })
export type PartUpload = z.infer<typeof PartUpload>

/** An upload of one audio file in parts, which can be resumed. All parts have the same size, except that the last one may be smaller. */
export const MultipartUpload = named('MultipartUpload', {
  /** Identifies the upload in paths. */
  id: z.uuid(),
  /** The track that gets the file. */
  track_id: z.uuid(),
  /** Bytes of the whole file. */
  file_size: z.int(),
  /** Bytes of each part except the last one; larger for large files. */
  part_size: z.int(),
  /** Number of parts that must be sent. */
  part_count: z.int(),
  /** The parts whose upload the client has reported. */
  parts: z.array(
    z.object({
      /** Place of the part in the file: 1, 2, 3, … */
      part_number: z.int(),
      /** As reported by the client. */
      etag: z.string(),
    }),
  ),
  /** `complete` after the parts have been joined. */
  state: z.enum(['open', 'complete']),
  /** When the upload ends and its parts are deleted, 24 hours after its start. */
  expires_at: Timestamp,
})
export type MultipartUpload = z.infer<typeof MultipartUpload>

const track = z.object({
  /** As returned when the track was created. */
  track_id: Id,
})
const sessionTrack = z.object({
  /** As returned when the session was created. */
  upload_session_id: Id,
  /** A track that was created in this session. */
  track_id: Id,
})
const id = {
  /** As returned when the upload was started. */
  multipart_upload_id: Id,
}

const start = z.strictObject({
  /** Name of the track after this file has replaced the previous one. By default, it keeps its name. */
  file_name: RequiredText.optional(),
  /** Exact size of the whole file. Quotas reserve it. */
  file_size: z.int().min(1).meta({ 'x-unit': 'bytes' }),
  content_type: UploadHints.content_type,
  /** Any text that identifies the file, such as a hash. A request with that of an open upload returns this upload with its parts. */
  fingerprint: RequiredText.optional(),
})
/** Parts that have been sent since the last report. Up to 500 fit into one request. */
const done = z.array(StoredPart).max(500).default([])
/** The numbers of the parts whose URLs should be returned. */
const next = z.array(PartNumber).max(MAX_PART_URLS).default([])

const uploadResponse = ok({ multipart_upload: MultipartUpload })
const partsResponse = uploadResponse.extend({
  /** Where to send the requested parts; at the start, the first ones that are missing. */
  parts: z.array(PartUpload),
})
const completedResponse = uploadResponse.extend({
  /** The track, which is being processed now. */
  track: Track.pick({ id: true, track_status_id: true, status: true }),
})

const common = { tag: 'Multipart uploads', guide: 'upload', access: ['server'] } as const
const inSession = { ...common, access: ['server', 'uploader'] } as const

export const multipartOperations = defineOperations({
  createTrackMultipart: {
    ...common,
    limits: ['upload_size', 'duration', 'multipart_ttl', 'part_size', 'part_urls'],
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/track/{track_id}/multipart',
    grows: false,
    summary: "Begin to upload a track's audio in parts, or find the upload that has the same fingerprint",
    params: track,
    body: start,
    response: partsResponse,
    errors: ['file_too_large', 'quota_exceeded'],
  },
  signTrackParts: {
    ...common,
    limits: ['part_size', 'part_urls'],
    recordsNoEvent: 'the uploaded file has its event',
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}/part',
    grows: false,
    summary: 'Report parts that are in storage, and get the URLs of others',
    params: track.extend(id),
    body: z.strictObject({ done, next }),
    response: partsResponse,
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
  getTrackMultipart: {
    ...common,
    method: 'get',
    effect: 'read',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}',
    summary: 'Get what has arrived of an upload in parts',
    params: track.extend(id),
    response: uploadResponse,
  },
  completeTrackMultipart: {
    ...common,
    recordsNoEvent: 'the uploaded file has its event',
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}/complete',
    grows: false,
    summary: 'Put the parts together, so that processing starts (may be repeated)',
    params: track.extend(id),
    body: z.strictObject({ done }),
    response: completedResponse,
    errors: ['parts_missing', 'invalid_part', 'size_mismatch'],
  },
  deleteTrackMultipart: {
    ...common,
    recordsNoEvent: 'the uploaded file has its event',
    method: 'delete',
    effect: 'write',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}',
    summary: 'Give up an upload in parts, and delete what has arrived of it',
    params: track.extend(id),
    response: ok({
      /** Its state before the deletion. */
      deleted_multipart_upload: MultipartUpload,
    }),
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
  createSessionMultipart: {
    ...inSession,
    limits: ['upload_size', 'duration', 'multipart_ttl', 'part_size', 'part_urls'],
    recordsNoEvent: 'the uploaded file has its event',
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart',
    grows: false,
    summary: "Begin to upload a session track's audio in parts, or find the upload that has the same fingerprint",
    params: sessionTrack,
    body: start,
    response: partsResponse,
    errors: ['session_expired', 'file_too_large', 'track_uploaded', 'quota_exceeded'],
  },
  signSessionParts: {
    ...inSession,
    limits: ['part_size', 'part_urls'],
    recordsNoEvent: 'the uploaded file has its event',
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}/part',
    grows: false,
    summary:
      'Report parts of a session track that are in storage, and get the URLs of others; also after the session has ended',
    params: sessionTrack.extend(id),
    body: z.strictObject({ done, next }),
    response: partsResponse,
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
  getSessionMultipart: {
    ...inSession,
    method: 'get',
    effect: 'read',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}',
    summary: "Get what has arrived of a session track's upload in parts; also after the session has ended",
    params: sessionTrack.extend(id),
    response: uploadResponse,
  },
  completeSessionMultipart: {
    ...inSession,
    recordsNoEvent: 'the uploaded file has its event',
    method: 'post',
    effect: 'write',
    deletes: 'audio',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}/complete',
    grows: false,
    summary:
      'Put the parts of a session track together, so that processing starts (may be repeated); also after the session has ended',
    params: sessionTrack.extend(id),
    body: z.strictObject({ done }),
    response: completedResponse,
    errors: ['parts_missing', 'invalid_part', 'size_mismatch'],
  },
  deleteSessionMultipart: {
    ...inSession,
    recordsNoEvent: 'the uploaded file has its event',
    method: 'delete',
    effect: 'write',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}',
    summary:
      "Give up a session track's upload in parts, and delete what has arrived of it; also after the session has ended",
    params: sessionTrack.extend(id),
    response: ok({
      /** Its state before the deletion. */
      deleted_multipart_upload: MultipartUpload,
    }),
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
})
