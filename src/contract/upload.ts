import * as z from 'zod'

import { Id, Metadata, named, ok, RequiredText, Text, Timestamp, Title } from './common.ts'
import { TrackError } from './info.ts'
import { UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Quota, QuotaBytes, QuotaTracks } from './quota.ts'
import { Track, UploadHints } from './track.ts'

/** A session in which tracks can be created in one collection for a limited time (specification §2, UploadSession). */
export const UploadSession = named('UploadSession', {
  id: z.uuid(),
  creator_id: z.uuid().nullable(),
  collection_id: z.uuid(),
  organization_index: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  expires_at: Timestamp,
  /** The bytes and tracks that may be added in the session; null allows any number. */
  max_bytes: z.int().nullable(),
  max_tracks: z.int().nullable(),
})
export type UploadSession = z.infer<typeof UploadSession>

const tag = 'Upload sessions'
const params = z.object({ upload_session_id: Id })

export const uploadOperations = defineOperations({
  createUploadSession: {
    method: 'post',
    path: '/v1/upload_session',
    grows: 'content',
    summary: 'Create an upload session for a collection',
    tag,
    access: ['server', 'uploader'],
    body: z.strictObject({
      collection_id: Id,
      creator_id: Id.nullable().optional(),
      organization_index: Text.nullable().optional(),
      metadata: Metadata.optional(),
      max_bytes: QuotaBytes.optional(),
      max_tracks: QuotaTracks.optional(),
    }),
    response: ok({
      upload_session_id: z.uuid(),
      upload_session: UploadSession.pick({ id: true, collection_id: true, expires_at: true }),
      expires_at: Timestamp,
    }),
    errors: ['not_found'],
  },
  getUploadSession: {
    method: 'get',
    path: '/v1/upload_session/{upload_session_id}',
    summary: 'Get an upload session',
    tag,
    access: ['server', 'uploader'],
    params,
    /** `quota` has the bytes of the quota that leaves the fewest, and the same for tracks: of the session, its uploader key or the organization. */
    response: ok({ upload_session_id: z.uuid(), upload_session: UploadSession, quota: Quota }),
    errors: ['session_expired'],
  },
  createSessionTrack: {
    method: 'post',
    path: '/v1/upload/{upload_session_id}/track',
    grows: 'content',
    summary: 'Create a track in an upload session and get the URLs to upload to',
    tag,
    access: ['server', 'uploader'],
    params,
    body: z.strictObject({
      file_name: RequiredText,
      /** The title that listeners see. The default is the title in the file's tags, or the name of the file. */
      title: Title.nullable().optional(),
      organization_index: Text.nullable().optional(),
      metadata: Metadata.optional(),
      ...UploadHints,
    }),
    response: ok({
      upload_session_id: z.uuid(),
      track_id: z.uuid(),
      track: Track.pick({ id: true, index: true }).extend({
        /** The storage prefix of the track's files. */
        path: z.string(),
      }),
      track_upload: UploadHandle,
      track_cover_upload: UploadHandle,
    }),
    errors: ['session_expired', 'file_too_large', 'quota_exceeded'],
  },
  getSessionTrack: {
    method: 'get',
    path: '/v1/upload/{upload_session_id}/track/{track_id}',
    summary: 'Get the status of a track that was created in an upload session',
    tag,
    access: ['server', 'uploader'],
    params: params.extend({ track_id: Id }),
    response: ok({
      upload_session_id: z.uuid(),
      track_id: z.uuid(),
      track: Track.pick({
        id: true,
        index: true,
        duration: true,
        file_name: true,
        track_status_id: true,
        status: true,
      }).extend({
        /** The fraction of the job that is done, 0–1; null if the track is not being processed. */
        progress: z.number().nullable(),
        /** The reason why the track failed; null if it has not failed. */
        error: TrackError.omit({ attempt: true }).nullable(),
      }),
    }),
    errors: ['session_expired'],
  },
  deleteSessionTrack: {
    method: 'delete',
    path: '/v1/upload/{upload_session_id}/track/{track_id}',
    summary: 'Discard a track of an upload session that never got a file; also after the session has ended',
    tag,
    access: ['server', 'uploader'],
    params: params.extend({ track_id: Id }),
    response: ok({
      upload_session_id: z.uuid(),
      track_id: z.uuid(),
      deleted_track: Track.pick({ id: true, index: true, file_name: true }),
    }),
    errors: ['track_uploaded'],
  },
})
