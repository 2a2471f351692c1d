import * as z from 'zod'

import { ImageColor } from './color.ts'
import { FILE_ERRORS, SERVICE_ERRORS } from './errors.ts'
import { CODECS, MAX_BITRATE } from './facts.ts'
import { FailedVariant, SkippedVariant, SourceInfo, Tags, Warning } from './info.ts'

/**
 * What a follower asks of the transcoder, and what the transcoder answers (docs/architecture.md#how-audio-flows).
 *
 * `POST /jobs/{job_id}` with a `TranscodeJob` starts the job or re-attaches to it and streams `JobEvent`s as NDJSON; the last
 * line is a `result` or an `error`, and it is kept for whoever attaches later until somebody has fetched it. 503 with a `Refusal`
 * and `Retry-After` means: not now. `DELETE /jobs/{job_id}` ends a job, and answers when nothing of it runs any more.
 * `POST /covers` with a `CoverJob` answers one `CoverAnswer`. `GET /health` answers `TranscoderHealth`. The job carries every URL
 * and every setting: the transcoder holds no credentials and knows neither the catalogue nor the database. Worker and container
 * are deployed at different moments, so a field is only ever added here, never renamed.
 */

const codesOf = <const T extends object>(table: T) => z.enum(Object.keys(table) as (keyof T & string)[])

const JobErrorCode = codesOf({ ...FILE_ERRORS, ...SERVICE_ERRORS })

export const JobError = z.object({
  // A transcoder that was deployed later may know more codes.
  code: JobErrorCode.catch('internal'),
  /** One sentence that a person understands. */
  message: z.string(),
  /** True when the same job may succeed later: the fault was not the file's. */
  retryable: z.boolean(),
})
export type JobError = z.infer<typeof JobError>

export const AudioCodec = codesOf(CODECS)

/** Most channels of a variant, where it shall have fewer than its source; lossy variants never have more than two. */
const channels = z.int().min(1).max(2).optional()

/** A presigned URL. Nothing else than HTTP: `data:` and the like are fetched too. */
const signedUrl = z.url({ protocol: /^https?$/ })

const output = { index: z.string().regex(/^[a-z0-9-]{1,40}$/), url: signedUrl, content_type: z.string() }

/** One file to make, and the signed `PUT` URL it goes to. Units: kbit/s, seconds. */
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

/** Where a first playable file of a long source goes while the rest is still being made, and from how many seconds on. */
export const EarlyOutput = z.object({ url: signedUrl, from_duration: z.number().min(0) })
export type EarlyOutput = z.infer<typeof EarlyOutput>

/** What the files shall say of themselves: `over` is what people have set, `under` what holds where the source says nothing. */
export const JobTags = z.object({
  /** Whether the source's own tags count. */
  own: z.boolean(),
  over: Tags,
  under: Tags,
})
export type JobTags = z.infer<typeof JobTags>

/** The picture that the files shall have, a JPEG of ours, or none; `wins` says that the one inside the source counts for nothing. */
export const JobPicture = z.object({ url: signedUrl.nullable(), wins: z.boolean() })
export type JobPicture = z.infer<typeof JobPicture>

export const JobSource = z.object({ url: signedUrl, size: z.int().min(0) })

// The index is the name of the file.
const haveOwnIndexes = (all: JobVariant[]) => new Set(all.map((variant) => variant.index)).size === all.length

export const TranscodeJob = z.object({
  version: z.literal(1),
  job_id: z.uuid(),
  /** `strict` fails at the first decoding error and then goes on by itself with `tolerant`; see the `fallback` event. */
  pass: z.enum(['strict', 'tolerant']),
  source: JobSource,
  /** Seconds of decoded audio. */
  max_duration: z.number().positive(),
  variants: z.array(JobVariant).max(40).refine(haveOwnIndexes, 'Two variants have the same index.'),
  /** Where the squares of an embedded cover go; null when the track has a cover already. */
  cover: CoverOutputs.nullable(),
  /** Null when the track plays already, or shall not before it is done. */
  early: EarlyOutput.nullable().default(null),
  /** Null for files without any. */
  tags: JobTags.nullable().default(null),
  picture: JobPicture.nullable().default(null),
})
export type TranscodeJob = z.infer<typeof TranscodeJob>

export const CoverJob = z.object({ version: z.literal(1), source: JobSource, outputs: CoverOutputs })
export type CoverJob = z.infer<typeof CoverJob>

export const CoverResult = z.object({
  image_colors: z.array(ImageColor).max(6),
  /** Pixels of the edge of the large square; absent when there is none, because the picture is too small. */
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
  /** Variants that do not exist for this source (FLAC of a lossy one): neither made nor an error. */
  skipped: z.array(SkippedVariant),
  failed: z.array(FailedVariant),
  /** What the file says of itself; absent from transcoders that do not read it. */
  tags: Tags.optional(),
  /** The embedded cover, when the job asked for it and the file has one that can be read. */
  cover: CoverResult.nullable(),
})
export type JobResult = z.infer<typeof JobResult>

export const JobEvent = z.discriminatedUnion('type', [
  /** Nothing new, but alive; at least every 10 s. */
  z.object({ type: z.literal('ping') }),
  /** `fraction` of the whole job, 0–1, never falling within a pass. */
  z.object({ type: z.literal('progress'), fraction: z.number().min(0).max(1) }),
  /** The strict pass gave up; the tolerant one starts now. */
  z.object({ type: z.literal('fallback'), reason: z.string() }),
  /**
   * A first file plays already: `early` is the source's own audio stream without its tags, at the URL of the job's `early`; any other
   * index is a variant in its final form. Sent again to a consumer that re-attaches. What the result lists replaces it.
   */
  z.object({ type: z.literal('early'), file: MadeVariant }),
  z.object({ type: z.literal('result'), result: JobResult }),
  z.object({ type: z.literal('error'), error: JobError }),
])
export type JobEvent = z.infer<typeof JobEvent>

/** Why a job is not taken: `busy` when every place is taken, `unavailable` when it is stopping or its disk is full. */
export const Refusal = z.object({ ok: z.literal(false), code: z.enum(['busy', 'unavailable']), message: z.string() })
export type Refusal = z.infer<typeof Refusal>

export const TranscoderHealth = z.object({
  ok: z.literal(true),
  /** It takes no new jobs, but answers for those that it has until their results are fetched. */
  stopping: z.boolean(),
  /** Jobs that run, and that wait for a slot. */
  running: z.int().min(0),
  queued: z.int().min(0),
  /** Where jobs run: for a source of at most `max_size` bytes, or of any size (`null`). A job takes the free one with the least `max_size`. */
  slots: z.array(z.object({ max_size: z.int().nullable(), is_free: z.boolean() })),
})
export type TranscoderHealth = z.infer<typeof TranscoderHealth>

/** Whether a line is of a kind that is known here. */
export const JobEventType = z.object({ type: z.enum(['ping', 'progress', 'fallback', 'early', 'result', 'error']) })
