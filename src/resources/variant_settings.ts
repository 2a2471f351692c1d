import type { variants } from '../adapters/schema.ts'
import { type AudioCodec, codecOf } from '../contract/facts.ts'
import type { VariantUpdate } from '../contract/variant.ts'
import { invalid } from '../errors.ts'

type Row = typeof variants.$inferSelect
type Settings = Pick<Row, 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'>

const DEFAULT_LENGTH = 30

/** What is wrong with a bitrate of a codec; null when nothing is. */
function bitrateFault(codec: AudioCodec, bitrate: number, channels: number | null): string | null {
  const { bitrates } = codecOf(codec)
  if (!bitrates) return bitrate === 0 ? null : `must be left out for ${codec}, which has none`
  if ('length' in bitrates)
    return bitrates.includes(bitrate) ? null : `must be one of ${bitrates.join(', ')} for ${codec}`
  const { least } = bitrates
  const most = channels === 1 ? bitrates.most_mono : bitrates.most
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
  const bitrate = changes.bitrate ?? (codecOf(codec).bitrates ? before.bitrate || undefined : 0)
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
