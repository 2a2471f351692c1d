import * as z from 'zod'

import { Id, named, ok, RequiredText, Timestamp } from './common.ts'
import { MAX_PART_URLS, MAX_PARTS } from './facts.ts'
import { UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Track, UploadHints } from './track.ts'

/** Uploads in parts. They can be resumed after a lost connection, a reload or a crash (docs/decisions/0041). */

const PartNumber = z.int().min(1).max(MAX_PARTS)

/** A part that was uploaded, with the ETag that the storage returned for its `PUT`. */
const StoredPart = z.strictObject({
  part_number: PartNumber,
  etag: z.string().regex(/^"?[\x21\x23-\x7e]{1,512}"?$/, 'must be the ETag that the storage answered'),
})

/** The URL to which a part is uploaded with `PUT`, and the size of the part in bytes. The storage refuses a part of any other size. */
export const PartUpload = UploadHandle.extend({ part_number: z.int(), size: z.int() }).meta({ id: 'PartUpload' })
export type PartUpload = z.infer<typeof PartUpload>

/** An upload of one audio file in parts. All parts have the same size, except that the last one may be smaller. */
export const MultipartUpload = named('MultipartUpload', {
  id: z.uuid(),
  track_id: z.uuid(),
  file_size: z.int(),
  part_size: z.int(),
  part_count: z.int(),
  /** The parts whose upload the client has reported. */
  parts: z.array(z.object({ part_number: z.int(), etag: z.string() })),
  state: z.enum(['open', 'complete']),
  expires_at: Timestamp,
})
export type MultipartUpload = z.infer<typeof MultipartUpload>

const track = z.object({ track_id: Id })
const sessionTrack = z.object({ upload_session_id: Id, track_id: Id })
const id = { multipart_upload_id: Id }

const start = z.strictObject({
  /** The name of the track after this file has replaced the previous one. If it is omitted, the name does not change. */
  file_name: RequiredText.optional(),
  file_size: z.int().min(1).meta({ 'x-unit': 'bytes' }),
  content_type: UploadHints.content_type,
  /**
   * A fingerprint of the file, which the client can compute in any way. A request with the fingerprint of an open upload returns that upload with its
   * parts.
   */
  fingerprint: RequiredText.optional(),
})
/** A body can have at most 64 KB, so a client needs several requests to report more parts. */
const done = z.array(StoredPart).max(500).default([])
const next = z.array(PartNumber).max(MAX_PART_URLS).default([])

const uploadResponse = ok({ multipart_upload: MultipartUpload })
const partsResponse = uploadResponse.extend({ parts: z.array(PartUpload) })
const completedResponse = uploadResponse.extend({
  track: Track.pick({ id: true, track_status_id: true, status: true }),
})

const common = { tag: 'Multipart uploads', access: ['server'] } as const
const inSession = { tag: 'Multipart uploads', access: ['server', 'uploader'] } as const

export const multipartOperations = defineOperations({
  createTrackMultipart: {
    ...common,
    method: 'post',
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
    method: 'post',
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
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}',
    summary: 'Get what has arrived of an upload in parts',
    params: track.extend(id),
    response: uploadResponse,
  },
  completeTrackMultipart: {
    ...common,
    method: 'post',
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
    method: 'delete',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}',
    summary: 'Give up an upload in parts, and delete what has arrived of it',
    params: track.extend(id),
    response: ok({ deleted_multipart_upload: MultipartUpload }),
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
  createSessionMultipart: {
    ...inSession,
    method: 'post',
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
    method: 'post',
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
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}',
    summary: "Get what has arrived of a session track's upload in parts; also after the session has ended",
    params: sessionTrack.extend(id),
    response: uploadResponse,
  },
  completeSessionMultipart: {
    ...inSession,
    method: 'post',
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
    method: 'delete',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}',
    summary:
      "Give up a session track's upload in parts, and delete what has arrived of it; also after the session has ended",
    params: sessionTrack.extend(id),
    response: ok({ deleted_multipart_upload: MultipartUpload }),
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
})
