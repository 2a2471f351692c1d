import * as z from 'zod'

import type { WarningCode } from './errors.ts'
import { MAX_STRING } from './facts.ts'

/** Information about a track's source: written by the transcoder, returned by the API, read by players and the studio. */

/** Loudness as defined by EBU R 128, and the gains that players derive from it; null for a value that does not exist (silent or too short). */
export const Loudness = z.object({
  /** LUFS, ITU-R BS.1770 gated. */
  integrated_lufs: z.number().nullable(),
  /** LU, EBU Tech 3342. */
  loudness_range: z.number().nullable(),
  /** dBTP, four times oversampled; may be above 0. */
  true_peak_dbtp: z.number().nullable(),
  sample_peak_dbfs: z.number().nullable(),
  /** dB to -18 LUFS, ReplayGain 2.0. */
  replaygain_track_gain: z.number().nullable(),
  /** Linear, 1 is full scale. */
  replaygain_track_peak: z.number().nullable(),
  /** Q7.8 steps of 1/256 dB to -23 LUFS, RFC 7845. */
  r128_track_gain: z.number().nullable(),
  is_silent: z.boolean(),
})
export type Loudness = z.infer<typeof Loudness>

/** A possible defect. A newer transcoder may send codes that this version does not know. */
export const Warning = z.object({ code: z.string(), message: z.string() })
export type Warning = z.infer<typeof Warning> & { code: WarningCode }

const text = z.string().max(MAX_STRING)

/** Credits from a file's tags: one line of text each, never markup, and only tags that could be read (docs/tags.md). */
export const Tags = z
  .object({
    title: text,
    artist: text,
    album: text,
    album_artist: text,
    composer: text,
    genre: text,
    /** As precise as in the file: `1959`, `1959-08` or `1959-08-17`. */
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

/** Bytes, Hz, kbit/s, seconds. */
export const SourceInfo = z.looseObject({
  container: z.string(),
  codec: z.string(),
  profile: z.string().nullable(),
  sample_rate: z.number(),
  channels: z.int(),
  channel_layout: z.string(),
  /** For a lossless source; else null. */
  bit_depth: z.number().nullable(),
  bitrate: z.number().nullable(),
  lossless: z.boolean(),
  size: z.number(),
  tags: z.record(z.string(), z.string()),
  chapters: z.array(z.object({ start: z.number(), title: z.string().nullable() })),
  chapter_count: z.int(),
  has_cover: z.boolean(),
  loudness: Loudness,
  /** Seconds below -60 dBFS before the first sound and after the last. */
  silence: z.object({ start: z.number(), end: z.number() }),
  pass: z.enum(['strict', 'tolerant']),
  /** The version of ffmpeg. */
  ffmpeg: z.string(),
})
export type SourceInfo = z.infer<typeof SourceInfo>

/** The variant `analysis`: loudness and the related facts for players. */
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

/** `track.info`: facts of the source once known, and the state of processing. Fields may be added. */
export const TrackInfo = SourceInfo.partial()
  .extend({
    /** 0–1 while it is processed; 0 while it waits. */
    progress: z.number().optional(),
    /** While the track is queued: the number of files ahead of it, and an estimate in seconds. */
    waiting: z.object({ before: z.int(), seconds: z.int() }).optional(),
    error: TrackError.optional(),
    warnings: z.array(Warning).optional(),
    /** Complete uploads that a newer one replaced before they were processed; `size` in bytes. */
    replaced_uploads: z.array(ReplacedUpload).optional(),
    failed_variants: z.array(FailedVariant).optional(),
    skipped_variants: z.array(SkippedVariant).optional(),
  })
  .meta({ id: 'TrackInfo' })
export type TrackInfo = z.infer<typeof TrackInfo>
