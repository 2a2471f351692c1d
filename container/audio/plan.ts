import { type AudioCodec, codecOf, MP3_BITRATES } from '../../src/contract/facts.ts'
import type { JobVariant } from '../../src/contract/job.ts'
import type { Source } from './source/probe.ts'

/** One audio file that ffmpeg writes. `bitrate` is in kbit/s (0 for FLAC), `rate` is in Hz, and `bits` applies only to FLAC. */
export type Encode = {
  index: string
  codec: AudioCodec
  bitrate: number
  rate: number
  channels: number
  bits: 16 | 24
  file: string
  /** The part of the audio that a preview contains, in seconds; null for the full length. Previews are faded in and out. */
  cut: { start: number; length: number } | null
}

export type Plan = { encodes: Encode[]; skipped: { index: string; reason: string }[] }

type AudioVariant = Extract<JobVariant, { kind: 'audio' | 'preview' }>

/**
 * Decides which files to encode. An output never has more channels than the source. If the source is lossy, its bitrate limits that of the
 * output.
 */
export function plan(variants: JobVariant[], source: Source): Plan {
  const audioVariants = variants.filter((variant) => variant.kind === 'audio' || variant.kind === 'preview')
  const encodes: Encode[] = []
  const skipped: Plan['skipped'] = []
  for (const variant of audioVariants) {
    // No other case skips a variant, because a variant that a session requests must exist. For sources with a low bitrate, the bitrate is
    // reduced instead.
    if (codecOf(variant.codec).lossless && !source.lossless) {
      skipped.push({ index: variant.index, reason: `The source is ${source.codec}, which is lossy.` })
    } else encodes.push(encodeOf(variant, source))
  }
  return { encodes, skipped }
}

function encodeOf(variant: AudioVariant, source: Source): Encode {
  const { bitrates, channels, extension } = codecOf(variant.codec)
  return {
    index: variant.index,
    codec: variant.codec,
    bitrate: bitrates ? bitrateFor(variant.bitrate, source, variant.channels) : 0,
    rate: rateFor(variant.codec, source.sampleRate),
    channels: Math.min(source.channels, variant.channels ?? channels),
    bits: (source.bitDepth ?? 16) > 16 ? 24 : 16,
    file: `${variant.index}.${extension}`,
    cut: variant.kind === 'preview' ? cut(variant.start, variant.length, source.duration) : null,
  }
}

// Moves a preview toward the start if the source is too short for its position.
function cut(start: number, length: number, duration: number | null) {
  if (duration === null) return { start, length }
  const clampedStart = Math.max(0, Math.min(start, duration - length))
  return { start: clampedStart, length: Math.min(length, duration - clampedStart) }
}

/**
 * Returns the bitrate in kbit/s for a nominal bitrate. Mono sources get half of it, unless the variant has `channels: 1`. For a lossy
 * source, the maximum is the lowest MP3 bitrate that is not below its own (docs/architecture.md#variants).
 */
export function bitrateFor(bitrate: number, source: Source, channels?: number): number {
  const mono = source.channels === 1
  const target = mono && channels !== 1 ? Math.min(bitrate, Math.max(48, bitrate / 2)) : bitrate
  if (source.lossless || !source.bitrate || source.bitrate >= target) return target
  const step = MP3_BITRATES.find((candidate) => candidate >= source.bitrate!) ?? target
  return Math.min(target, Math.max(step, mono ? 32 : 48))
}

/**
 * Returns the sample rate in Hz for a codec: the source's rate if the codec supports it, otherwise the next higher rate. If the source's
 * rate is above the maximum of the codec, returns the base rate of its family (44.1 or 48 kHz).
 */
export function rateFor(codec: AudioCodec, rate: number): number {
  const { rates } = codecOf(codec)
  if (!rates) return rate
  const base = rate % 44_100 === 0 && rates.includes(44_100) ? 44_100 : rates.at(-1)!
  return rates.find((candidate) => candidate >= rate) ?? base
}
