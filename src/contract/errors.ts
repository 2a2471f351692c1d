import type { ErrorCode } from './error_status.ts'

/**
 * The meanings of all codes of error responses. The OpenAPI document and docs/errors.md are generated from this table and `ERROR_STATUS`. The meaning of
 * a code never changes; its text may change.
 */
export const ERROR_MEANINGS: Record<ErrorCode, string> = {
  invalid_request: 'A field, parameter or header is missing or wrong; `errors` names each one.',
  invalid_json: 'The body is not JSON in UTF-8.',
  unknown_field: 'Fields or parameters do not exist; `errors` names each one.',
  unknown_variant: 'No variant has this `index`; the message lists those that exist.',
  unsupported_image: 'The cover is not a JPEG, PNG, WebP, GIF or AVIF image, or it is damaged.',
  unauthorized: 'The API key is missing, wrong, expired or revoked.',
  insufficient_scope: 'The type of the key, its resource or its variants do not allow this.',
  origin_not_allowed: 'The page that calls is not among the `allowed_origins` of the key.',
  download_not_allowed: 'The play session was created without `is_downloadable`.',
  upload_link_invalid: 'This is not an upload URL that the service made.',
  upload_link_expired: 'The upload URL has expired; ask for a new one.',
  not_found: 'It does not exist, belongs to another organization, or the id is malformed.',
  method_not_allowed: 'The path exists, but not with this method; `Allow` lists those it has.',
  track_not_ready: 'The track cannot be played yet, or could not be processed.',
  track_not_uploaded: 'The track has no file yet that could be processed again.',
  last_server_key: 'The last server key that never expires cannot be revoked or given `expires_at`.',
  playlist_full: 'The playlist would have too many tracks.',
  track_uploaded: 'The track has its file already; an uploader key replaces none.',
  multipart_complete: 'The parts of this upload have been put together already.',
  parts_missing: 'Not every part of the upload was reported; the message names the first.',
  invalid_part: 'The storage has no part with such an ETag; all parts must be sent again.',
  size_mismatch: 'The parts together are not `file_size` bytes long; the upload is gone.',
  request_in_flight: 'The first request with this `Idempotency-Key` is still running.',
  variant_exists: 'Another variant has this `index` already.',
  slug_taken: 'Another share has or had this `slug`.',
  variants_full: 'The organization has as many variants of its own as it may have.',
  webhook_endpoints_full: 'There are 20 endpoints already.',
  webhook_endpoint_inactive: 'The endpoint must be resumed first.',
  default_variant: 'A default variant can be neither changed nor deleted.',
  collection_in_trash: 'Restore its collection first.',
  session_expired: 'The session ended less than a day ago; later it is `not_found`.',
  share_revoked: 'The share was revoked, or what it shared deleted.',
  version_mismatch: 'The playlist has changed since the version in `If-Match`.',
  payload_too_large: 'The JSON body is too large.',
  file_too_large: '`file_size` is more than an audio file may have.',
  zip_too_large: 'The session plays more than one ZIP may hold.',
  image_too_large: 'The cover has too many bytes or pixels.',
  unsupported_media_type: 'The body must be sent as `application/json` in UTF-8.',
  idempotency_key_reused: 'This `Idempotency-Key` was used with another request.',
  rate_limited: 'Too many requests; `Retry-After` says how many seconds to wait.',
  internal: 'A fault of the service. Its log has the `api_request_id`.',
  unavailable: 'Something that the service needs does not answer; try again later.',
}

/**
 * Errors that the file itself causes, so that a retry cannot succeed: `info.error.code` of a failed track. docs/errors.md is generated from this
 * table.
 */
export const FILE_ERRORS = {
  empty_file: '0 bytes',
  file_too_large: "more bytes than allowed, or than the transcoder's disk takes",
  text_file: 'text of any kind: a web page, XML, a script',
  image_file: 'a picture',
  playlist_file: 'names other files and holds no audio itself: M3U, PLS, HLS, DASH, ffconcat, SDP',
  archive_file: 'ZIP, RAR and the like',
  document_file: 'PDF, an office document, a program',
  unsupported_format: 'nothing that we know, or that the ffmpeg here can decode',
  no_audio: 'a known container without an audio stream, such as a silent video',
  too_many_streams: 'more than 64 streams',
  unsupported_sample_rate: 'outside 1 to 768 kHz',
  unsupported_channels: 'more than 8 channels',
  no_samples: 'an audio stream that holds no audio at all',
  too_short: 'less than 50 ms',
  too_long: 'longer than allowed',
  decode_failed: 'neither pass gave a playable variant',
  source_length: 'the file is not as long as it was when it arrived',
} as const

/** Errors that the file does not cause. The job is retried before the track fails with one of these codes. */
export const SERVICE_ERRORS = {
  timed_out: 'decoding took longer than 120 s and twice the audio decoded so far, in both passes',
  source_unavailable: 'the file could not be read from the bucket (404 and 410 are not tried again)',
  source_forbidden: 'the bucket refused the signature',
  source_stalled: 'the bucket sent nothing for too long',
  source_too_slow: 'the file would not arrive in time',
  upload_failed: 'the bucket refused a file that was made',
  disk_full: 'the disk of the transcoder is full',
  cancelled: 'the transcoder was stopped; not counted as an attempt',
  killed: 'the machine ended the decoder, possibly out of memory; not counted as an attempt',
  internal: 'a fault of the transcoder',
} as const

/** The code of an error that a file or its job can cause. */
export type JobErrorCode = keyof typeof FILE_ERRORS | keyof typeof SERVICE_ERRORS

/** Failures that happen outside of the transcode job. All other codes of `info.error` are in the two tables above. */
export const TRACK_ERRORS = {
  upload_expired: 'no file arrived before the upload URL expired',
  transcoder_unavailable: 'the transcoder could not be reached for a long time',
} as const
export type TrackErrorCode = JobErrorCode | keyof typeof TRACK_ERRORS

/** Possible defects of a track that can still be played: the codes of `info.warnings`. */
export const WARNINGS = {
  truncated: 'the file ends before the end that its header promises',
  damaged: 'parts could not be decoded; the message says how many seconds are left',
  duration_mismatch: 'the header promises another length than could be decoded',
  second_pass: 'the strict pass crashed or took too long, the tolerant one did not',
  format_changed: 'the format changes within the file; the loudness is that of its last part',
  cover_failed: 'the picture inside the file could not be used',
} as const
export type WarningCode = keyof typeof WARNINGS
