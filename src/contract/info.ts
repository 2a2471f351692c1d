import * as z from 'zod'

import { MAX_STRING } from './facts.ts'
import type { WarningCode } from './track_errors.ts'

/** Information about a track's source. The transcoder writes it, the API returns it, and players and the studio read it. */

/** Loudness as defined by EBU R 128, and the gains that players derive from it. A value is null if the audio is silent or too short. */
export const Loudness = z.object({
  /** Integrated loudness in LUFS, gated as defined by ITU-R BS.1770. */
  integrated_lufs: z.number().nullable(),
  /** Loudness range in LU, as defined by EBU Tech 3342. */
  loudness_range: z.number().nullable(),
  /** True peak in dBTP, measured with fourfold oversampling. It may be greater than 0. */
  true_peak_dbtp: z.number().nullable(),
  /** Highest sample in dBFS; 0 is full scale. */
  sample_peak_dbfs: z.number().nullable(),
  /** Gain in dB that results in -18 LUFS, as defined by ReplayGain 2.0. */
  replaygain_track_gain: z.number().nullable(),
  /** True peak on a linear scale, on which 1 is full scale. */
  replaygain_track_peak: z.number().nullable(),
  /** Gain that results in -23 LUFS, as a Q7.8 number: in steps of 1/256 dB, as defined by RFC 7845. */
  r128_track_gain: z.number().nullable(),
  /** Whether the whole file is silence, so that nothing can be measured. */
  is_silent: z.boolean(),
})
export type Loudness = z.infer<typeof Loudness>

/** A possible defect. A newer transcoder may send codes that this version does not know. */
export const Warning = z.object({
  /** One of the codes in docs/errors.md; others may be added. */
  code: z.string(),
  /** The defect, for people. */
  message: z.string(),
})
export type Warning = z.infer<typeof Warning> & { code: WarningCode }

const text = z.string().max(MAX_STRING)

/** Credits from a file (docs/tags.md). Each is one line of plain text, up to 255 characters. Those that could not be read are absent. */
export const Tags = z
  .object({
    /** Name of the recording. */
    title: text,
    /** Performer of this recording. */
    artist: text,
    /** Name of the release. */
    album: text,
    /** Performer of the whole release. */
    album_artist: text,
    /** Author of the music. */
    composer: text,
    /** Style of the music, in the words of the file. */
    genre: text,
    /** The date as precisely as the file has it: `1959`, `1959-08` or `1959-08-17`. */
    date: z.string().max(10),
    /** The year of `date`. */
    year: z.int(),
    /** Place on the disc, from 1. */
    track_number: z.int(),
    /** How many the disc has. */
    track_count: z.int(),
    /** Place in the set, from 1. */
    disc_number: z.int(),
    /** How many the set has. */
    disc_count: z.int(),
  })
  .partial()
  .meta({ id: 'Tags' })
export type Tags = z.infer<typeof Tags>

/** Facts about the source. Sizes are in bytes, sample rates in Hz, bitrates in kbit/s, times in seconds. */
export const SourceInfo = z.looseObject({
  /** File format as ffmpeg names it, such as `wav` or `mov`. */
  container: z.string(),
  /** Audio codec as ffmpeg names it, such as `mp3` or `pcm_s24le`. */
  codec: z.string(),
  /** Variant of the codec, such as `LC` for AAC; null if it has none. */
  profile: z.string().nullable(),
  /** Samples per second, in Hz. */
  sample_rate: z.number(),
  /** 1 for mono, 2 for stereo. */
  channels: z.int(),
  /** Arrangement of the speakers, such as `stereo` or `5.1`. */
  channel_layout: z.string(),
  /** Bits per sample; null if the source is lossy. */
  bit_depth: z.number().nullable(),
  /** Average in kbit/s; null if unknown. */
  bitrate: z.number().nullable(),
  /** Whether the codec keeps every sample exactly. */
  lossless: z.boolean(),
  /** Bytes of the uploaded file. */
  size: z.number(),
  /** All tags by the file's own names for them: at most 64, each with up to 1,024 characters. */
  tags: z.record(z.string(), z.string()),
  /** The first chapters in the file. */
  chapters: z.array(
    z.object({
      /** Seconds from the start of the audio. */
      start: z.number(),
      /** Null if the file has none. */
      title: z.string().nullable(),
    }),
  ),
  /** How many chapters the file has; `chapters` may have fewer. */
  chapter_count: z.int(),
  /** Whether the file contains a picture. */
  has_cover: z.boolean(),
  /** Measured loudness and peaks, for volume normalization. */
  loudness: Loudness,
  /** Seconds below -60 dBFS at both ends. */
  silence: z.object({
    /** Seconds before the first sound. */
    start: z.number(),
    /** Seconds after the last sound. */
    end: z.number(),
  }),
  /** `strict` if the whole file was decoded without an error, otherwise `tolerant`. */
  pass: z.enum(['strict', 'tolerant']),
  /** The version of ffmpeg that processed the file. */
  ffmpeg: z.string(),
})
export type SourceInfo = z.infer<typeof SourceInfo>

/** The contents of the variant `analysis`: loudness, and other facts that players can use. */
export const Analysis = Loudness.extend({
  /** Length of the decoded audio in seconds. */
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

export const FailedVariant = z.object({
  /** As in `GET /v1/variant`. */
  index: z.string(),
  /** Why it could not be made, for people. */
  message: z.string(),
})
export const SkippedVariant = z.object({
  /** As in `GET /v1/variant`. */
  index: z.string(),
  /** Why the source does not have it, for people. */
  reason: z.string(),
})
export const ReplacedUpload = z.object({
  /** `file_name` of the request for the upload URL, on one line and without folders; by default, that of the track then. */
  file_name: z.string(),
  /** Bytes that had arrived. */
  size: z.int(),
})
export const TrackError = z.object({
  /** One of the codes in docs/errors.md#failed-tracks. */
  code: z.string(),
  /** The reason in a sentence for people. */
  message: z.string(),
  /** Number of attempts to process the file. */
  attempt: z.int(),
})

/** The facts about the source as soon as they are known, and the state of the processing. Fields may be added at any time. */
export const TrackInfo = SourceInfo.partial()
  .extend({
    /**
     * Fraction of the processing that is done, from 0 to 1; 0 while the track waits in the queue. While the file is fetched from a `source_url` (the status is
     * `initializing`), the fraction that has arrived.
     */
    progress: z.number().optional(),
    /** Only while the track waits in the queue. */
    waiting: z
      .object({
        /** Number of files that come first. */
        before: z.int(),
        /** Estimated time until processing starts. */
        seconds: z.int(),
      })
      .optional(),
    /** Why the track failed, or why a new file did not replace the old one. */
    error: TrackError.optional(),
    /** Losses of a damaged file, which can still be played. */
    warnings: z.array(Warning).optional(),
    /** Complete uploads that a newer upload replaced before they were processed. */
    replaced_uploads: z.array(ReplacedUpload).optional(),
    /** Variants that could not be made; the track is then `incomplete`. */
    failed_variants: z.array(FailedVariant).optional(),
    /** Variants that make no sense for this source, such as FLAC of a lossy file. */
    skipped_variants: z.array(SkippedVariant).optional(),
  })
  .meta({ id: 'TrackInfo' })
export type TrackInfo = z.infer<typeof TrackInfo>
