/**
 * Errors that the file itself causes, so that a retry cannot succeed: `info.error.code` of a failed track. docs/errors.md is generated from this
 * table.
 */
export const FILE_ERRORS = {
  empty_file: '0 bytes',
  file_too_large: "more bytes than allowed, or than the transcoder's disk takes",
  quota_exceeded: 'more bytes than a quota allowed when the file arrived',
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

/** Errors of a track whose file is fetched from a `source_url`. The first two are tried again before the track fails. */
export const SOURCE_ERRORS = {
  source_unreachable: 'its server was not reached, cut every connection, or answered 408, 425, 429 or 5xx',
  source_timeout: 'its server was silent or too slow (only silence is tried again)',
  source_refused: 'it, or a redirect, is no public https URL on port 443 or 8443, or leads to a private address',
  source_not_found: 'its server answered 404 or 410',
  source_denied: 'its server answered another status without a file, such as 401 or 403',
  source_too_large: 'more bytes than allowed, or than `file_size`',
  source_not_audio: 'text, such as a web page',
} as const

/** The code of an error that a file or its job can cause. */
export type JobErrorCode = keyof typeof FILE_ERRORS | keyof typeof SERVICE_ERRORS | keyof typeof SOURCE_ERRORS

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
