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
  unauthorized:
    'The API key is missing, wrong, expired or revoked; or the signature of a signed play session is wrong.',
  insufficient_scope:
    'The type of the key, its resource or its variants do not allow this; or a server key may do less, and `missing` names what it lacks.',
  origin_not_allowed: 'The page that calls is not among the `allowed_origins` of the key.',
  download_not_allowed:
    'The play session was created without `is_downloadable`; or the share has no links to files, because it is not downloadable, or has a password or `allowed_origins`.',
  upload_link_invalid: 'This is not an upload URL that the service made.',
  upload_link_expired: 'The upload URL has expired; ask for a new one.',
  not_found: 'It does not exist, belongs to another organization, or the id is malformed.',
  method_not_allowed: 'The path exists, but not with this method; `Allow` lists those it has.',
  track_not_ready: 'The track cannot be played yet, or could not be processed.',
  track_not_uploaded: 'The track has no file yet that could be processed again.',
  last_server_key:
    'The last server key that may do everything and never expires cannot be revoked, narrowed or given `expires_at`.',
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
  restore_refused:
    'A backup cannot be restored here, or an export not imported: the service is not empty or has the organization, or its schema is another one. See the message.',
  collection_in_trash: 'Restore its collection first.',
  quota_exceeded:
    'A quota of the session, the API key or the organization does not allow this upload; `quota` says which.',
  session_expired:
    'The session, share, `heard_token` or URL of a ZIP has expired. A session is `not_found` a day later.',
  share_revoked: 'The share was revoked, or what it shared deleted.',
  version_mismatch: 'The resource has changed since the version in `If-Match`; `current` has it as it is now.',
  payload_too_large: 'The JSON body is too large.',
  file_too_large: '`file_size` is more than an audio file may have.',
  zip_too_large: 'The session or the selection has more than one ZIP may hold.',
  image_too_large: 'The cover has too many bytes or pixels.',
  unsupported_media_type: 'The body must be sent as `application/json` in UTF-8.',
  idempotency_key_reused: 'This `Idempotency-Key` was used with another request.',
  rate_limited: 'Too many requests; `Retry-After` says how many seconds to wait.',
  internal: 'A fault of the service. Its log has the `api_request_id`.',
  not_configured: 'The Worker lacks a secret, a table or a variable; the message names it.',
  unavailable: 'Something that the service needs does not answer; try again later.',
  storage_full: 'The database is nearly full: delete something and empty the trash, or tell the operator.',
}
