import { type AudioCodec, codecOf, MP3_BITRATES } from '../../src/contract/facts.ts'
import type { JobVariant } from '../../src/contract/job.ts'
import type { Source } from './probe.ts'

/** One audio file that ffmpeg shall write: `bitrate` in kbit/s (0 for FLAC), `rate` in Hz, `bits` for FLAC only. */
export type Encode = {
  index: string
  codec: AudioCodec
  bitrate: number
  rate: number
  channels: number
  bits: 16 | 24
  file: string
  /** Seconds; a cut with fades instead of the whole. */
  cut: { start: number; length: number } | null
}

export type Plan = { encodes: Encode[]; skipped: { index: string; reason: string }[] }

type AudioVariant = Extract<JobVariant, { kind: 'audio' | 'preview' }>

/** Decides what to encode for a source: never more channels, and never a higher bitrate than a lossy source has. */
export function plan(variants: JobVariant[], source: Source): Plan {
  const wanted = variants.filter((variant) => variant.kind === 'audio' || variant.kind === 'preview')
  const encodes: Encode[] = []
  const skipped: Plan['skipped'] = []
  for (const variant of wanted) {
    // Nothing else is ever left out: a session that names a variant must find it. The bitrate of a small source is clamped.
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

// A preview that would start behind the end of a short source moves forward.
function cut(start: number, length: number, duration: number | null) {
  if (duration === null) return { start, length }
  const begin = Math.max(0, Math.min(start, duration - length))
  return { start: begin, length: Math.min(length, duration - begin) }
}

/**
 * Kbit/s for a nominal bitrate. Mono takes half, unless the variant is `channels: 1` itself. A lossy source gets at most MP3's
 * next step above its own (docs/architecture.md#variants).
 */
export function bitrateFor(bitrate: number, source: Source, channels?: number): number {
  const mono = source.channels === 1
  const target = mono && channels !== 1 ? Math.min(bitrate, Math.max(48, bitrate / 2)) : bitrate
  if (source.lossless || !source.bitrate || source.bitrate >= target) return target
  const step = MP3_BITRATES.find((candidate) => candidate >= source.bitrate!) ?? target
  return Math.min(target, Math.max(step, mono ? 32 : 48))
}

/** Hz for a codec: the source's own where it takes that, else the next above; of higher ones, the base of the source's family. */
export function rateFor(codec: AudioCodec, rate: number): number {
  const { rates } = codecOf(codec)
  if (!rates) return rate
  const base = rate % 44_100 === 0 && rates.includes(44_100) ? 44_100 : rates.at(-1)!
  return rates.find((candidate) => candidate >= rate) ?? base
}
