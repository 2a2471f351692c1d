import type { JobErrorCode } from './job.ts'

/**
 * Every code of the error envelope: the status it is answered with, and what it means. The answers, the OpenAPI document and
 * docs/errors.md are made from this table. A code keeps its meaning for ever; the texts may change.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    meaning: 'A field, parameter or header is missing or wrong; `errors` names each one.',
  },
  invalid_json: { status: 400, meaning: 'The body is not valid JSON.' },
  unknown_field: { status: 400, meaning: 'The body has fields that do not exist; `errors` names each one.' },
  unknown_variant: { status: 400, meaning: 'No variant has this `index`; the message lists those that exist.' },
  unsupported_image: {
    status: 400,
    meaning: 'The cover is not a JPEG, PNG, WebP, GIF or AVIF image, or it is damaged.',
  },
  unauthorized: { status: 401, meaning: 'The API key is missing, wrong, expired or revoked.' },
  insufficient_scope: { status: 403, meaning: 'The type of the key, its resource or its variants do not allow this.' },
  origin_not_allowed: { status: 403, meaning: 'The page that calls is not among the `allowed_origins` of the key.' },
  download_not_allowed: { status: 403, meaning: 'The play session was created without `is_downloadable`.' },
  upload_link_invalid: { status: 403, meaning: 'This is not an upload URL that the service made.' },
  upload_link_expired: { status: 403, meaning: 'The upload URL has expired; ask for a new one.' },
  not_found: { status: 404, meaning: 'It does not exist, belongs to another organization, or the id is malformed.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method; `Allow` lists those it has.',
  },
  track_not_ready: { status: 409, meaning: 'The track cannot be played yet, or could not be processed.' },
  track_not_uploaded: { status: 409, meaning: 'The track has no file yet that could be processed again.' },
  last_server_key: {
    status: 409,
    meaning: 'The last server key that never expires cannot be revoked or given `expires_at`.',
  },
  playlist_full: { status: 409, meaning: 'The playlist would have too many tracks.' },
  request_in_flight: { status: 409, meaning: 'The first request with this `Idempotency-Key` is still running.' },
  variant_exists: { status: 409, meaning: 'Another variant has this `index` already.' },
  variants_full: { status: 409, meaning: 'The organization has as many variants of its own as it may have.' },
  default_variant: { status: 409, meaning: 'A default variant can be neither changed nor deleted.' },
  session_expired: { status: 410, meaning: 'The session ended less than a day ago; later it is `not_found`.' },
  version_mismatch: { status: 412, meaning: 'The playlist has changed since the version in `If-Match`.' },
  payload_too_large: { status: 413, meaning: 'The JSON body is too large.' },
  file_too_large: { status: 413, meaning: '`file_size` is more than an audio file may have.' },
  image_too_large: { status: 413, meaning: 'The cover has too many bytes or pixels.' },
  unsupported_media_type: { status: 415, meaning: 'The body must be sent with `Content-Type: application/json`.' },
  idempotency_key_reused: { status: 422, meaning: 'This `Idempotency-Key` was used with another request.' },
  rate_limited: { status: 429, meaning: 'Too many requests; `Retry-After` says how many seconds to wait.' },
  internal: { status: 500, meaning: 'A fault of the service. Its log has the `api_request_id`.' },
  unavailable: { status: 503, meaning: 'Something that the service needs does not answer; try again later.' },
} as const

/** Why a track failed before or beside its transcode job; all other codes of `info.error` are in job.ts. */
export const TRACK_ERRORS = {
  upload_expired: 'no file arrived before the upload URL expired',
  transcoder_unavailable: 'the transcoder could not be reached for a long time',
} as const
export type TrackErrorCode = JobErrorCode | keyof typeof TRACK_ERRORS
