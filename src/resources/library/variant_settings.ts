import type { variants } from '../../adapters/db/schema/library.ts'
import { type AudioCodec, codecOf } from '../../contract/facts.ts'
import type { VariantUpdate } from '../../contract/variant.ts'
import { invalid } from '../../core/errors.ts'

type VariantRow = typeof variants.$inferSelect
type Settings = Pick<VariantRow, 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'>

const DEFAULT_LENGTH = 30

/** Returns why a bitrate is invalid for a codec; null if it is valid. */
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

/** Returns the settings of a new or changed variant. Throws 400 if their combination is invalid. */
export function variantSettings(
  previous: Pick<VariantRow, 'type'> & Partial<Settings>,
  changes: Omit<VariantUpdate, 'name'>,
): Settings {
  const { type } = previous
  const codec = changes.codec ?? previous.codec
  if (!codec) throw invalid('codec', 'is required')
  // FLAC has no bitrate, so the previous bitrate is only kept for a codec that has one.
  const bitrate = changes.bitrate ?? (codecOf(codec).bitrates ? previous.bitrate || undefined : 0)
  if (bitrate === undefined) throw invalid('bitrate', `is required for ${codec}`)
  const {
    channels = previous.channels ?? null,
    start = previous.start ?? 0,
    length = previous.length ?? DEFAULT_LENGTH,
  } = changes
  const fault = bitrateFault(codec, bitrate, channels)
  if (fault) throw invalid('bitrate', fault)
  if (type === 'preview') return { type, codec, bitrate, channels, start, length }
  for (const field of ['start', 'length'] as const) {
    if (changes[field] !== undefined) throw invalid(field, 'can be set for variants of the type preview only')
  }
  return { type, codec, bitrate, channels, start: null, length: null }
}
