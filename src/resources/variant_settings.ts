import type { variants } from '../adapters/schema.ts'
import type { AudioCodec } from '../contract/job.ts'
import type { VariantUpdate } from '../contract/variant.ts'
import { invalid } from '../errors.ts'

type Row = typeof variants.$inferSelect
type Settings = Pick<Row, 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'>

/** The bitrates of MPEG-1 layer III (ISO/IEC 11172-3 §2.4.2.3), kbit/s: an MP3 of constant bitrate has no other. */
export const MP3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
/** Kbit/s that the encoders make something good of; libopus takes at most 256 for each channel. */
export const RANGES = { aac: [32, 320], opus: [16, 320] } as const
const DEFAULT_LENGTH = 30

/** What is wrong with a bitrate of a codec; null when nothing is. */
function bitrateFault(codec: AudioCodec, bitrate: number, channels: number | null): string | null {
  if (codec === 'flac') return bitrate === 0 ? null : 'must be left out for flac, which has none'
  if (codec === 'mp3')
    return MP3_BITRATES.includes(bitrate) ? null : `must be one of ${MP3_BITRATES.join(', ')} for mp3`
  const [least, most] = channels === 1 && codec === 'opus' ? [16, 256] : RANGES[codec]
  const what = channels === 1 ? `${codec} of one channel` : codec
  return bitrate >= least && bitrate <= most ? null : `must be ${least} to ${most} for ${what}`
}

/** A variant's settings after a change, or those of a new one; 400 for what cannot be together. */
export function variantSettings(
  before: Pick<Row, 'type'> & Partial<Settings>,
  changes: Omit<VariantUpdate, 'name'>,
): Settings {
  const { type } = before
  const codec = changes.codec ?? before.codec
  if (!codec) throw invalid('codec', 'is required')
  // A lossy bitrate means nothing to FLAC, and FLAC's none means nothing to a lossy codec.
  const bitrate = changes.bitrate ?? (codec === 'flac' ? 0 : before.bitrate || undefined)
  if (bitrate === undefined) throw invalid('bitrate', `is required for ${codec}`)
  const {
    channels = before.channels ?? null,
    start = before.start ?? 0,
    length = before.length ?? DEFAULT_LENGTH,
  } = changes
  const fault = bitrateFault(codec, bitrate, channels)
  if (fault) throw invalid('bitrate', fault)
  if (type === 'preview') return { type, codec, bitrate, channels, start, length }
  for (const field of ['start', 'length'] as const) {
    if (changes[field] !== undefined) throw invalid(field, 'can be set for variants of the type preview only')
  }
  return { type, codec, bitrate, channels, start: null, length: null }
}
