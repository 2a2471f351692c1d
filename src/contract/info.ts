import * as z from 'zod'

import { MAX_STRING } from './facts.ts'
import type { WarningCode } from './track_errors.ts'

/** Information about a track's source. The transcoder writes it, the API returns it, and players and the studio read it. */

/**
 * Loudness as defined by EBU R 128, and the gains that players derive from it. A value is null if it cannot be measured, because the audio is silent
 * or too short.
 */
export const Loudness = z.object({
  /** Integrated loudness in LUFS, gated as defined by ITU-R BS.1770. */
  integrated_lufs: z.number().nullable(),
  /** Loudness range in LU, as defined by EBU Tech 3342. */
  loudness_range: z.number().nullable(),
  /** True peak in dBTP, measured with fourfold oversampling. It may be greater than 0. */
  true_peak_dbtp: z.number().nullable(),
  sample_peak_dbfs: z.number().nullable(),
  /** Gain in dB that results in -18 LUFS, as defined by ReplayGain 2.0. */
  replaygain_track_gain: z.number().nullable(),
  /** True peak on a linear scale, on which 1 is full scale. */
  replaygain_track_peak: z.number().nullable(),
  /** Gain that results in -23 LUFS, as a Q7.8 number: in steps of 1/256 dB, as defined by RFC 7845. */
  r128_track_gain: z.number().nullable(),
  is_silent: z.boolean(),
})
export type Loudness = z.infer<typeof Loudness>

/** A possible defect. A newer transcoder may send codes that this version does not know. */
export const Warning = z.object({ code: z.string(), message: z.string() })
export type Warning = z.infer<typeof Warning> & { code: WarningCode }

const text = z.string().max(MAX_STRING)

/** Credits from a file's tags (docs/tags.md). Each is one line of plain text. Tags that could not be read are absent. */
export const Tags = z
  .object({
    title: text,
    artist: text,
    album: text,
    album_artist: text,
    composer: text,
    genre: text,
    /** The date as precisely as the file has it: `1959`, `1959-08` or `1959-08-17`. */
    date: z.string().max(10),
    year: z.int(),
    track_number: z.int(),
    track_count: z.int(),
    disc_number: z.int(),
    disc_count: z.int(),
  })
  .partial()
  .meta({ id: 'Tags' })
export type Tags = z.infer<typeof Tags>

/** Facts about the source. Sizes are in bytes, sample rates in Hz, bitrates in kbit/s, times in seconds. */
export const SourceInfo = z.looseObject({
  container: z.string(),
  codec: z.string(),
  profile: z.string().nullable(),
  sample_rate: z.number(),
  channels: z.int(),
  channel_layout: z.string(),
  /** Null if the source is lossy. */
  bit_depth: z.number().nullable(),
  bitrate: z.number().nullable(),
  lossless: z.boolean(),
  size: z.number(),
  tags: z.record(z.string(), z.string()),
  chapters: z.array(z.object({ start: z.number(), title: z.string().nullable() })),
  chapter_count: z.int(),
  has_cover: z.boolean(),
  loudness: Loudness,
  /** Seconds of audio below -60 dBFS before the first sound and after the last one. */
  silence: z.object({ start: z.number(), end: z.number() }),
  pass: z.enum(['strict', 'tolerant']),
  /** The version of ffmpeg that processed the file. */
  ffmpeg: z.string(),
})
export type SourceInfo = z.infer<typeof SourceInfo>

/** The contents of the variant `analysis`: loudness, and other facts that players can use. */
export const Analysis = Loudness.extend({
  duration: z.number(),
  ...SourceInfo.pick({
    silence: true,
    codec: true,
    sample_rate: true,
    channels: true,
    channel_layout: true,
    bit_depth: true,
    bitrate: true,
  }).shape,
})
export type Analysis = z.infer<typeof Analysis>

export const FailedVariant = z.object({ index: z.string(), message: z.string() })
export const SkippedVariant = z.object({ index: z.string(), reason: z.string() })
export const ReplacedUpload = z.object({ file_name: z.string(), size: z.int() })
export const TrackError = z.object({ code: z.string(), message: z.string(), attempt: z.int() })

/** `track.info`: the facts about the source as soon as they are known, and the state of the processing. Fields may be added in the future. */
export const TrackInfo = SourceInfo.partial()
  .extend({
    /** The fraction of the job that is done, 0–1; 0 while the track is queued. */
    progress: z.number().optional(),
    /** Only while the track is queued: the number of files before it, and an estimate of the time in seconds. */
    waiting: z.object({ before: z.int(), seconds: z.int() }).optional(),
    error: TrackError.optional(),
    warnings: z.array(Warning).optional(),
    /** Complete uploads that a newer upload replaced before they were processed. `size` is in bytes. */
    replaced_uploads: z.array(ReplacedUpload).optional(),
    failed_variants: z.array(FailedVariant).optional(),
    skipped_variants: z.array(SkippedVariant).optional(),
  })
  .meta({ id: 'TrackInfo' })
export type TrackInfo = z.infer<typeof TrackInfo>
