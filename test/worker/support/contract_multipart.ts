import { ENVELOPE, TRACK } from './contract_keys.ts'
import type { Workspace } from './contract_workspace.ts'

const MULTIPART = 'id track_id file_size part_size part_count parts state expires_at'
const PART_UPLOAD = 'method upload_url ttl expires_at part_number size'

const create = {
  body: () => ({ file_size: 10 }),
  keys: { '': `${ENVELOPE} multipart_upload parts`, multipart_upload: MULTIPART, 'parts.0': PART_UPLOAD },
}
const sign = {
  body: () => ({ next: [1] }),
  keys: {
    '': `${ENVELOPE} multipart_upload parts`,
    multipart_upload: MULTIPART,
    'multipart_upload.parts.0': 'part_number etag',
    'parts.0': PART_UPLOAD,
  },
}
const get = { keys: { '': `${ENVELOPE} multipart_upload`, multipart_upload: MULTIPART } }
const complete = {
  body: () => ({}),
  keys: { '': `${ENVELOPE} multipart_upload track`, multipart_upload: MULTIPART, track: 'id track_status_id status' },
}
const giveUp = { keys: { '': `${ENVELOPE} deleted_multipart_upload`, deleted_multipart_upload: MULTIPART } }

/** Calls to the operations for uploads. Those for uploads in parts are the same five for a track and for a track of an upload session. */
export const multipartCases = {
  completeTrackUpload: {
    keys: {
      '': `${ENVELOPE} track_id track upload`,
      track: TRACK,
      upload: 'received_size expected_size expires_at hint',
    },
  },
  createTrackMultipart: create,
  signTrackParts: sign,
  getTrackMultipart: get,
  completeTrackMultipart: complete,
  deleteTrackMultipart: giveUp,
  // Uses a track of the session that has no file yet.
  createSessionMultipart: {
    ...create,
    names: ({ waiting_track_id }: Workspace) => ({ track_id: waiting_track_id }),
  },
  signSessionParts: sign,
  getSessionMultipart: get,
  completeSessionMultipart: complete,
  deleteSessionMultipart: giveUp,
}
