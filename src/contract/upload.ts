import * as z from 'zod'

import { Id, Metadata, named, ok, RequiredText, Text, Timestamp, Title } from './common.ts'
import { TrackError } from './info.ts'
import { UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Quota, QuotaBytes, QuotaTracks } from './quota.ts'
import { Track } from './track.ts'
import { UploadHints } from './track_create.ts'

/** A permission to create tracks in one collection for an hour, which a browser or app can use. */
export const UploadSession = named('UploadSession', {
  /** Identifies the session in paths. */
  id: z.uuid(),
  /** A user of your application, which tracks of the session get; null if none is set. */
  creator_id: z.uuid().nullable(),
  /** Where the tracks are added. */
  collection_id: z.uuid(),
  /** Your own identifier of the session; empty if none is set. */
  organization_index: z.string(),
  /** Your own data, as you have sent it. */
  metadata: z.record(z.string(), z.unknown()),
  /** When no more tracks can be created. Uploads that have started may continue. */
  expires_at: Timestamp,
  /** Bytes that may be added in the session; null allows any number. */
  max_bytes: z.int().nullable(),
  /** Number of tracks that may be created; null allows any. */
  max_tracks: z.int().nullable(),
})
export type UploadSession = z.infer<typeof UploadSession>

const tag = 'Upload sessions'
const params = z.object({
  /** As returned when the session was created. */
  upload_session_id: Id,
})
const trackParams = params.extend({
  /** A track that was created in this session. */
  track_id: Id,
})

export const uploadOperations = defineOperations({
  createUploadSession: {
    method: 'post',
    path: '/v1/upload_session',
    grows: 'content',
    summary: 'Create an upload session for a collection',
    tag,
    access: ['server', 'uploader'],
    effect: 'write',
    guide: 'upload',
    limits: ['upload_ttl'],
    recordsNoEvent: 'sessions are too frequent',
    body: z.strictObject({
      /** Where the tracks are added. */
      collection_id: Id,
      /** A user of your application, by a UUID that you choose. Tracks of the session get it. */
      creator_id: Id.nullable().optional(),
      /** Your own identifier of the session. */
      organization_index: Text.nullable().optional(),
      /** Your own data: a JSON object of at most 16 KB, nested at most 5 levels deep. */
      metadata: Metadata.optional(),
      /** Bytes that may be added in the session; null, the default, allows as many as the key. */
      max_bytes: QuotaBytes.optional(),
      /** Number of tracks that may be created; null, the default, allows as many as the key. */
      max_tracks: QuotaTracks.optional(),
    }),
    response: ok({
      /** The same as `upload_session.id`. */
      upload_session_id: z.uuid(),
      /** The part that the client of the upload needs. */
      upload_session: UploadSession.pick({ id: true, collection_id: true, expires_at: true }),
      /** The same as `upload_session.expires_at`. */
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
    effect: 'read',
    guide: 'upload',
    params,
    response: ok({
      /** The same as `upload_session.id`. */
      upload_session_id: z.uuid(),
      upload_session: UploadSession,
      /** The quota that leaves the least: of the session, its uploader key or the organization, separately for bytes and tracks. */
      quota: Quota,
    }),
    errors: ['session_expired'],
  },
  createSessionTrack: {
    method: 'post',
    /** Storage prefix of all files of the track. */
    path: '/v1/upload/{upload_session_id}/track',
    grows: 'content',
    summary: 'Create a track in an upload session and get the URLs to upload to',
    tag,
    access: ['server', 'uploader'],
    effect: 'write',
    guide: 'upload',
    limits: ['upload_size', 'duration', 'upload_ttl'],
    params,
    body: z.strictObject({
      /** Name of the file that will be uploaded. The format is detected from the content, not from the name. */
      file_name: RequiredText,
      /** Title for listeners, on one line. The default is the title in the tags of the file, or its name. */
      title: Title.nullable().optional(),
      /** Your own identifier of the track. */
      organization_index: Text.nullable().optional(),
      /** Your own data: a JSON object of at most 16 KB, nested at most 5 levels deep. Everyone who has a play session can see it. */
      metadata: Metadata.optional(),
      ...UploadHints,
    }),
    response: ok({
      /** As in the path. */
      upload_session_id: z.uuid(),
      /** The same as `track.id`. */
      track_id: z.uuid(),
      /** The part that the client of the upload needs. */
      track: Track.pick({ id: true, index: true }).extend({
        /** The storage prefix of the track's files. */
        path: z.string(),
      }),
      /** Where to send the audio. */
      track_upload: UploadHandle,
      /** Where to send a cover, if the track should have its own. */
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
    effect: 'read',
    guide: 'upload',
    params: trackParams,
    response: ok({
      /** As in the path. */
      upload_session_id: z.uuid(),
      /** The same as `track.id`. */
      track_id: z.uuid(),
      /** The status, and little else: a key in a browser sees no settings. */
      track: Track.pick({
        id: true,
        index: true,
        duration: true,
        file_name: true,
        track_status_id: true,
        status: true,
      }).extend({
        /** Fraction of the processing that is done, from 0 to 1; null if the track is not being processed. */
        progress: z.number().nullable(),
        /** Why the track failed; null if it has not failed. */
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
    effect: 'write',
    guide: 'upload',
    params: trackParams,
    response: ok({
      /** As in the path. */
      upload_session_id: z.uuid(),
      /** The same as `deleted_track.id`. */
      track_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_track: Track.pick({ id: true, index: true, file_name: true }),
    }),
    errors: ['track_uploaded'],
  },
})
