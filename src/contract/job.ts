import * as z from 'zod'

import { ImageColor } from './color.ts'
import { FILE_ERRORS, SERVICE_ERRORS } from './errors.ts'
import { CODECS, MAX_BITRATE } from './facts.ts'
import { FailedVariant, SkippedVariant, SourceInfo, Tags, Warning } from './info.ts'

/**
 * The protocol between the Worker and the transcoder (docs/architecture.md#how-audio-flows):
 *
 * - `POST /jobs/{job_id}` with a `TranscodeJob` starts the job or re-attaches to it and streams `JobEvent`s as NDJSON. The last line is a
 *   `result` or an `error`; it is kept until a client has fetched it. 503 with a `Refusal` and `Retry-After`: try again later.
 * - `DELETE /jobs/{job_id}` stops a job and responds when none of its processes runs any more.
 * - `POST /covers` with a `CoverJob` returns one `CoverAnswer`.
 * - `GET /health` returns `TranscoderHealth`.
 *
 * The job carries every URL and every setting: the transcoder holds no credentials and knows neither the catalog nor the database. Worker
 * and container are deployed at different times, so fields may be added here but never renamed.
 */

const codesOf = <const T extends object>(table: T) => z.enum(Object.keys(table) as (keyof T & string)[])

const JobErrorCode = codesOf({ ...FILE_ERRORS, ...SERVICE_ERRORS })

export const JobError = z.object({
  // A newer transcoder may send codes that this version does not know.
  code: JobErrorCode.catch('internal'),
  /** One sentence for users. */
  message: z.string(),
  /** True if the same job may succeed later, because the file was not the cause. */
  retryable: z.boolean(),
})
export type JobError = z.infer<typeof JobError>

export const AudioCodec = codesOf(CODECS)

/** Channels of a variant if it should have fewer than its source. Lossy variants never have more than two. */
const channels = z.int().min(1).max(2).optional()

/** A presigned URL. HTTP only, because fetch also accepts `data:` and other schemes. */
const signedUrl = z.url({ protocol: /^https?$/ })

const output = { index: z.string().regex(/^[a-z0-9-]{1,40}$/), url: signedUrl, content_type: z.string() }

/** One file to make, and the signed `PUT` URL to upload it to. Units: kbit/s, seconds. */
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

/** Signed `PUT` URLs for the three squares of a cover (specification §2, Cover image), and for a larger one. */
export const CoverOutputs = z.object({
  icon: signedUrl,
  small: signedUrl,
  regular: signedUrl,
  large: signedUrl.optional(),
})
export type CoverOutputs = z.infer<typeof CoverOutputs>

/** URL for a first playable file that is uploaded while the job runs, if the source lasts at least `from_duration` seconds. */
export const EarlyOutput = z.object({ url: signedUrl, from_duration: z.number().min(0) })
export type EarlyOutput = z.infer<typeof EarlyOutput>

/** Tags for the files: `overrides` has the values that users set, `defaults` the defaults for tags that the source lacks. */
export const JobTags = z.object({
  /** Whether the source's own tags are used. */
  from_source: z.boolean(),
  overrides: Tags,
  defaults: Tags,
})
export type JobTags = z.infer<typeof JobTags>

/** The cover for the files, a JPEG made by the service; null for none. `wins` ignores the picture inside the source. */
export const JobPicture = z.object({ url: signedUrl.nullable(), wins: z.boolean() })
export type JobPicture = z.infer<typeof JobPicture>

export const JobSource = z.object({ url: signedUrl, size: z.int().min(0) })

// The index is the file's name.
const haveUniqueIndexes = (all: JobVariant[]) => new Set(all.map((variant) => variant.index)).size === all.length

export const TranscodeJob = z.object({
  version: z.literal(1),
  job_id: z.uuid(),
  /** `strict` fails at the first decoding error, then continues as `tolerant`; see the `fallback` event. */
  pass: z.enum(['strict', 'tolerant']),
  source: JobSource,
  /** Most seconds of decoded audio. */
  max_duration: z.number().positive(),
  variants: z.array(JobVariant).max(40).refine(haveUniqueIndexes, 'Two variants have the same index.'),
  /** URLs for the squares of an embedded cover; null if the track has a cover. */
  cover: CoverOutputs.nullable(),
  /** Null if the track already plays, or must not play before the job is done. */
  early: EarlyOutput.nullable().default(null),
  /** Null for files without tags. */
  tags: JobTags.nullable().default(null),
  picture: JobPicture.nullable().default(null),
})
export type TranscodeJob = z.infer<typeof TranscodeJob>

export const CoverJob = z.object({ version: z.literal(1), source: JobSource, outputs: CoverOutputs })
export type CoverJob = z.infer<typeof CoverJob>

export const CoverResult = z.object({
  image_colors: z.array(ImageColor).max(6),
  /** Edge of the large square in pixels; absent if the picture is too small for one. */
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

/** A file that was made and uploaded. `bitrate` in kbit/s as encoded (0 where it has no meaning), `size` in bytes. */
export const MadeVariant = z.object({
  index: z.string(),
  size: z.int().min(0),
  bitrate: z.int().min(0),
  duration: z.number().min(0),
})
export type MadeVariant = z.infer<typeof MadeVariant>

export const JobResult = z.object({
  /** Seconds, from decoded samples. */
  duration: z.number().positive(),
  /** 320 numbers 0–1: RMS per bucket over the loudest bucket's, 3 decimals; all 0 for silence. */
  levels: z.array(z.number().min(0).max(1)).length(320),
  info: SourceInfo.partial(),
  warnings: z.array(Warning),
  variants: z.array(MadeVariant),
  /** Variants that do not exist for this source (FLAC from a lossy source). They do not count as failed. */
  skipped: z.array(SkippedVariant),
  failed: z.array(FailedVariant),
  /** The file's tags; absent from transcoders that do not read them. */
  tags: Tags.optional(),
  /** The embedded cover, if the job requested it and the file has one that can be read. */
  cover: CoverResult.nullable(),
})
export type JobResult = z.infer<typeof JobResult>

export const JobEvent = z.discriminatedUnion('type', [
  /** A keep-alive, at least every 10 s. */
  z.object({ type: z.literal('ping') }),
  /** `fraction` of the whole job, 0–1; never decreases within a pass. */
  z.object({ type: z.literal('progress'), fraction: z.number().min(0).max(1) }),
  /** The strict pass gave up; the tolerant one starts now. */
  z.object({ type: z.literal('fallback'), reason: z.string() }),
  /**
   * A first file can be played: `early` is the source's own audio stream without its tags, uploaded to the job's `early` URL; any other index is a
   * variant in its final form. Sent again to a client that re-attaches. The files of the result replace it.
   */
  z.object({ type: z.literal('early'), file: MadeVariant }),
  z.object({ type: z.literal('result'), result: JobResult }),
  z.object({ type: z.literal('error'), error: JobError }),
])
export type JobEvent = z.infer<typeof JobEvent>

/** The refusal of a job: `busy` if every slot is taken, `unavailable` if the transcoder is stopping or its disk is full. */
export const Refusal = z.object({ ok: z.literal(false), code: z.enum(['busy', 'unavailable']), message: z.string() })
export type Refusal = z.infer<typeof Refusal>

export const TranscoderHealth = z.object({
  ok: z.literal(true),
  /** Takes no new jobs, but serves its current ones until their results are fetched. */
  stopping: z.boolean(),
  /** Running jobs, and jobs that wait for a slot. */
  running: z.int().min(0),
  queued: z.int().min(0),
  /**
   * The slots: each for sources of at most `max_size` bytes, or of any size (`null`). A job takes the free slot with the smallest sufficient
   * `max_size`.
   */
  slots: z.array(z.object({ max_size: z.int().nullable(), is_free: z.boolean() })),
})
export type TranscoderHealth = z.infer<typeof TranscoderHealth>

/** Accepts a line whose event type this version knows. */
export const JobEventType = z.object({ type: z.enum(['ping', 'progress', 'fallback', 'early', 'result', 'error']) })
