import * as z from 'zod'

import { Id, named, ok, RequiredText, Timestamp } from './common.ts'
import { MAX_PART_URLS, MAX_PARTS } from './facts.ts'
import { UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Track, UploadHints } from './track.ts'

/** Uploads in parts, which resume after a lost connection, a reload or a crash (docs/decisions/0041). */

const PartNumber = z.int().min(1).max(MAX_PARTS)

/** An uploaded part, with the ETag from the storage's response to its `PUT`. */
const StoredPart = z.strictObject({
  part_number: PartNumber,
  etag: z.string().regex(/^"?[\x21\x23-\x7e]{1,512}"?$/, 'must be the ETag that the storage answered'),
})

/** The URL to `PUT` a part to, and its size in bytes. The storage refuses any other size. */
export const PartUpload = UploadHandle.extend({ part_number: z.int(), size: z.int() }).meta({ id: 'PartUpload' })
export type PartUpload = z.infer<typeof PartUpload>

/** One audio file that is uploaded in parts of equal size; the last one has the remainder. */
export const MultipartUpload = named('MultipartUpload', {
  id: z.uuid(),
  track_id: z.uuid(),
  file_size: z.int(),
  part_size: z.int(),
  part_count: z.int(),
  /** The uploaded parts that the client has reported. */
  parts: z.array(z.object({ part_number: z.int(), etag: z.string() })),
  state: z.enum(['open', 'complete']),
  expires_at: Timestamp,
})
export type MultipartUpload = z.infer<typeof MultipartUpload>

const track = z.object({ track_id: Id })
const sessionTrack = z.object({ upload_session_id: Id, track_id: Id })
const id = { multipart_upload_id: Id }

const start = z.strictObject({
  /** The track's name once this file has replaced the previous one; unchanged if omitted. */
  file_name: RequiredText.optional(),
  file_size: z.int().min(1),
  content_type: UploadHints.content_type,
  /** A fingerprint of the file, by any rule. A request with the same one returns the open upload with its parts. */
  fingerprint: RequiredText.optional(),
})
/** Bodies have at most 64 KB, so more parts take several calls. */
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
    summary: "Begin to upload a track's audio in parts, or find the upload that has the same fingerprint",
    params: track,
    body: start,
    response: partsResponse,
    errors: ['file_too_large'],
  },
  signTrackParts: {
    ...common,
    method: 'post',
    path: '/v1/track/{track_id}/multipart/{multipart_upload_id}/part',
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
    summary: "Begin to upload a session track's audio in parts, or find the upload that has the same fingerprint",
    params: sessionTrack,
    body: start,
    response: partsResponse,
    errors: ['session_expired', 'file_too_large', 'track_uploaded'],
  },
  signSessionParts: {
    ...inSession,
    method: 'post',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}/part',
    summary: 'Report parts that are in storage, and get the URLs of others; also after the session has ended',
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
    summary: 'Get what has arrived of an upload in parts; also after the session has ended',
    params: sessionTrack.extend(id),
    response: uploadResponse,
  },
  completeSessionMultipart: {
    ...inSession,
    method: 'post',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}/complete',
    summary: 'Put the parts together, so that processing starts (may be repeated); also after the session has ended',
    params: sessionTrack.extend(id),
    body: z.strictObject({ done }),
    response: completedResponse,
    errors: ['parts_missing', 'invalid_part', 'size_mismatch'],
  },
  deleteSessionMultipart: {
    ...inSession,
    method: 'delete',
    path: '/v1/upload/{upload_session_id}/track/{track_id}/multipart/{multipart_upload_id}',
    summary: 'Give up an upload in parts, and delete what has arrived of it; also after the session has ended',
    params: sessionTrack.extend(id),
    response: ok({ deleted_multipart_upload: MultipartUpload }),
    invisibleToListeners: true,
    errors: ['multipart_complete'],
  },
})
