import * as z from 'zod'

import { ImageColor } from './color.ts'
import { CODECS, MAX_BITRATE } from './facts.ts'
import { FailedVariant, SkippedVariant, SourceInfo, Tags, Warning } from './info.ts'
import { FILE_ERRORS, SERVICE_ERRORS, SOURCE_ERRORS } from './track_errors.ts'

/**
 * The protocol between the Worker and the transcoder (docs/architecture.md#how-audio-flows):
 *
 * - `POST /jobs/{job_id}` with a `TranscodeJob` starts the job, or re-attaches to it if it was started before. It streams `JobEvent`s as NDJSON. The
 *   last line is a `result` or an `error`; it is kept until a client has fetched it. If the response is 503 with a `Refusal` and `Retry-After`, the
 *   client should try again later.
 * - `POST /imports/{job_id}` with an `ImportJob` does the same for a file that is fetched from another server; its last line is `imported` or an `error`.
 * - `DELETE /jobs/{job_id}` stops a job of either kind. It responds after all processes of the job have ended.
 * - `POST /covers` with a `CoverJob` returns one `CoverAnswer`.
 * - `GET /health` returns `TranscoderHealth`, or only its `ok` if the request does not have the secret.
 *
 * The job contains all URLs and settings: the transcoder has no credentials and does not know the catalog or the database. The Worker and the
 * container are deployed at different times, so fields may be added here but never renamed.
 */

const codesOf = <const T extends object>(table: T) => z.enum(Object.keys(table) as (keyof T & string)[])

const JobErrorCode = codesOf({ ...FILE_ERRORS, ...SERVICE_ERRORS, ...SOURCE_ERRORS })

export const JobError = z.object({
  // A newer transcoder may send codes that this version does not know.
  code: JobErrorCode.catch('internal'),
  /** A sentence that users can understand. */
  message: z.string(),
  /** True if the same job may succeed later, because the file did not cause the error. */
  retryable: z.boolean(),
})
export type JobError = z.infer<typeof JobError>

export const AudioCodec = codesOf(CODECS)

/** The number of channels of a variant if it should have fewer than the source. Lossy variants have at most two channels. */
const channels = z.int().min(1).max(2).optional()

/** A presigned URL. Only HTTP URLs are valid, because fetch also accepts `data:` and other schemes. */
const signedUrl = z.url({ protocol: /^https?$/ })

/**
 * Header of generated files. They are immutable, because none is ever overwritten, and private, because a shared cache would not check the signature
 * of the URL.
 */
export const FILE_CACHE_CONTROL = 'private, max-age=31536000, immutable'

/**
 * Signed URLs for the parts of a file that may be large. They are used if the file is larger than one part and fits into all of them. Every part has
 * `size` bytes, except the last one.
 */
export const OutputParts = z.object({ size: z.int().positive(), urls: z.array(signedUrl).max(100) })
export type OutputParts = z.infer<typeof OutputParts>

const output = {
  index: z.string().regex(/^[a-z0-9-]{1,40}$/),
  url: signedUrl,
  content_type: z.string(),
  parts: OutputParts.optional(),
}

/** One file to generate, and the signed URL to which it is uploaded with `PUT`, as a whole or in parts. Bitrates are in kbit/s, times in seconds. */
export const JobVariant = z.discriminatedUnion('kind', [
  z.object({
    ...output,
    kind: z.literal('audio'),
    codec: AudioCodec,
    bitrate: z.int().min(0).max(MAX_BITRATE),
    channels,
  }),
  z.object({
    ...output,
    kind: z.literal('preview'),
    codec: AudioCodec,
    bitrate: z.int().min(0).max(MAX_BITRATE),
    channels,
    start: z.number().min(0),
    length: z.number().positive(),
  }),
  z.object({ ...output, kind: z.literal('waveform') }),
  z.object({ ...output, kind: z.literal('analysis') }),
])
export type JobVariant = z.infer<typeof JobVariant>

/** Signed `PUT` URLs for the three square images of a cover (specification §2, Cover image), and for a larger square image. */
export const CoverOutputs = z.object({
  icon: signedUrl,
  small: signedUrl,
  regular: signedUrl,
  large: signedUrl.optional(),
})
export type CoverOutputs = z.infer<typeof CoverOutputs>

/**
 * The URL for a first playable file. The transcoder uploads this file while the job runs, but only if the source is at least `from_duration` seconds
 * long.
 */
export const EarlyOutput = z.object({ url: signedUrl, from_duration: z.number().min(0) })
export type EarlyOutput = z.infer<typeof EarlyOutput>

/** The tags of the generated files. `overrides` replace the tags of the source; `defaults` are used for tags that the source does not have. */
export const JobTags = z.object({
  /** Whether the source's own tags are used. */
  from_source: z.boolean(),
  overrides: Tags,
  defaults: Tags,
})
export type JobTags = z.infer<typeof JobTags>

/** The cover in the generated files, a JPEG from the service; null for none. If `wins` is true, it replaces the picture in the source. */
export const JobPicture = z.object({ url: signedUrl.nullable(), wins: z.boolean() })
export type JobPicture = z.infer<typeof JobPicture>

export const JobSource = z.object({ url: signedUrl, size: z.int().min(0) })

// Indexes must be unique because they are used as file names.
const haveUniqueIndexes = (all: JobVariant[]) => new Set(all.map((variant) => variant.index)).size === all.length

export const TranscodeJob = z.object({
  version: z.literal(1),
  job_id: z.uuid(),
  /** A `strict` pass stops at the first decoding error, and the job continues with a `tolerant` pass; see the `fallback` event. */
  pass: z.enum(['strict', 'tolerant']),
  source: JobSource,
  /** Maximum duration of the decoded audio, in seconds. */
  max_duration: z.number().positive(),
  /**
   * The `seconds` of the last `HandBack`, or 0. They select the slot, together with the size of the source. Absent if the Worker does not accept a
   * `HandBack`; then the transcoder must not send one.
   */
  known_seconds: z.number().min(0).optional(),
  variants: z.array(JobVariant).max(40).refine(haveUniqueIndexes, 'Two variants have the same index.'),
  /** URLs for the square images of the cover that is embedded in the source; null if the track already has a cover. */
  cover: CoverOutputs.nullable(),
  /** Null if the track can already be played, or if it must not be played before the job is done. */
  early: EarlyOutput.nullable().default(null),
  /** Null if the files should have no tags. */
  tags: JobTags.nullable().default(null),
  picture: JobPicture.nullable().default(null),
})
export type TranscodeJob = z.infer<typeof TranscodeJob>

/** A file to fetch from a URL that a customer gave, and the parts in which it is stored (docs/decisions/0127). */
export const ImportJob = z.object({
  version: z.literal(1),
  job_id: z.uuid(),
  /** A secret. The transcoder checks it, and its redirects, before each connection. */
  source_url: z.string(),
  /** The hosts of the service, from which nothing is fetched (public_url.ts). */
  hosts: z.object({ own: z.array(z.string()), bucket: z.string().nullable() }),
  max_size: z.int().positive(),
  parts: OutputParts,
})
export type ImportJob = z.infer<typeof ImportJob>

export const CoverJob = z.object({ version: z.literal(1), source: JobSource, outputs: CoverOutputs })
export type CoverJob = z.infer<typeof CoverJob>

export const CoverResult = z.object({
  image_colors: z.array(ImageColor).max(6),
  /** Width and height of the large square image in pixels; absent if the picture is too small for one. */
  large: z.int().optional(),
})
export type CoverResult = z.infer<typeof CoverResult>

export const CoverAnswer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: CoverResult }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      code: z.enum(['unsupported_image', 'image_too_large', 'source_unavailable', 'upload_failed', 'internal']),
      message: z.string(),
      retryable: z.boolean(),
    }),
  }),
])
export type CoverAnswer = z.infer<typeof CoverAnswer>

/** A file that was generated and uploaded. `bitrate` is the actual bitrate in kbit/s (0 if the file has none), `size` is in bytes. */
export const MadeVariant = z.object({
  index: z.string(),
  size: z.int().min(0),
  bitrate: z.int().min(0),
  duration: z.number().min(0),
  /** The ETags of the parts, in their order, if the file was uploaded in parts. They must be joined before the file exists. */
  parts: z.array(z.string()).optional(),
})
export type MadeVariant = z.infer<typeof MadeVariant>

export const JobResult = z.object({
  /** The duration of the decoded audio in seconds. */
  duration: z.number().positive(),
  /**
   * 320 numbers from 0 to 1 with 3 decimals: the RMS of each section of the audio, relative to the loudest section. All are 0 if the audio is silent.
   */
  levels: z.array(z.number().min(0).max(1)).length(320),
  info: SourceInfo.partial(),
  warnings: z.array(Warning),
  variants: z.array(MadeVariant),
  /** Variants that are not possible for this source, such as FLAC from a lossy source. They do not count as failed. */
  skipped: z.array(SkippedVariant),
  failed: z.array(FailedVariant),
  /** The tags of the source; absent if the transcoder's version does not read tags. */
  tags: Tags.optional(),
  /** The result for the embedded cover; null if the job did not request it, or if the source has none that can be read. */
  cover: CoverResult.nullable(),
})
export type JobResult = z.infer<typeof JobResult>

/**
 * The reason why a job was stopped although nothing failed: its source decodes to more audio than its slot is for. The job should run again in a larger
 * slot. `seconds` is the length of the audio as far as it is known, in seconds of stereo at 48 kHz: audio with n times as many samples counts n times.
 * `slot` is the index of the smallest slot that accepts it.
 */
export const HandBack = z.object({ seconds: z.number().positive(), slot: z.int().min(0) })
export type HandBack = z.infer<typeof HandBack>

export const JobEvent = z.discriminatedUnion('type', [
  /** Keeps the connection open. A ping is sent at least every 10 s. */
  z.object({ type: z.literal('ping') }),
  /** `fraction` is the part of the whole job that is done, 0–1. It never decreases within a pass. */
  z.object({ type: z.literal('progress'), fraction: z.number().min(0).max(1) }),
  /** The strict pass has failed and the tolerant pass starts. */
  z.object({ type: z.literal('fallback'), reason: z.string() }),
  /**
   * A first file can be played. If its index is `early`, it is the source's own audio stream without the tags, uploaded to the job's `early` URL;
   * otherwise it is a variant in its final form. The event is sent again to a client that re-attaches. The files of the result replace this file.
   */
  z.object({ type: z.literal('early'), file: MadeVariant }),
  z.object({ type: z.literal('result'), result: JobResult }),
  /** The file of an `ImportJob` was fetched and uploaded. `parts` are the ETags, `file_name` is the name that the server gives it. */
  z.object({
    type: z.literal('imported'),
    size: z.int().positive(),
    parts: z.array(z.string()),
    file_name: z.string().nullable(),
  }),
  z.object({ type: z.literal('error'), error: JobError, hand_back: HandBack.optional() }),
])
export type JobEvent = z.infer<typeof JobEvent>

/**
 * The response to a job that the transcoder does not accept: `busy` if all slots are in use, `unavailable` if the transcoder is stopping or its disk
 * is full.
 */
export const Refusal = z.object({ ok: z.literal(false), code: z.enum(['busy', 'unavailable']), message: z.string() })
export type Refusal = z.infer<typeof Refusal>

export const TranscoderHealth = z.object({
  ok: z.literal(true),
  /** True if the transcoder accepts no new jobs. It keeps its current jobs until their results are fetched. */
  stopping: z.boolean(),
  /** The number of running jobs, and the number of jobs that wait for a slot. */
  running: z.int().min(0),
  queued: z.int().min(0),
  /**
   * Each slot is for sources of at most `max_size` bytes that decode to at most `max_seconds`, or of any size or length (`null`). A job uses the
   * smallest free slot that is sufficient.
   */
  slots: z.array(
    z.object({ max_size: z.int().nullable(), max_seconds: z.number().nullable().optional(), is_free: z.boolean() }),
  ),
})
export type TranscoderHealth = z.infer<typeof TranscoderHealth>

/** Matches a line whose event type is known to this version. */
export const JobEventType = z.object({
  type: z.enum(['ping', 'progress', 'fallback', 'early', 'result', 'imported', 'error']),
})
