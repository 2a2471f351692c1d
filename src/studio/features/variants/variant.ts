import { CATALOG } from '../../../contract/catalog.ts'
import { CODECS } from '../../../contract/facts.ts'
import type { Variant } from '../../base/api.ts'
import { t, text } from '../../base/text.ts'

const FORMATS: Record<string, string> = {
  ...Object.fromEntries(Object.values(CODECS).map(({ format, label }) => [format, label])),
  json: 'JSON',
  source: text('as uploaded'),
}

/** Returns the name of a format. */
export const formatOf = (format: string | undefined) => (format ? t(FORMATS[format] ?? format) : '–')

export const isDefault = ({ id }: Variant) => CATALOG.some((variant) => variant.id === id)

/** Returns the bytes per minute without those of the container; null if they depend on the sound. */
export const minuteOf = ({ bitrate }: Variant) => (bitrate > 0 ? (bitrate * 1000 * 60) / 8 : null)

const USES: Record<Variant['type'], string> = {
  transcode: text('Playback'),
  preview: text('Preview'),
  waveform: text('Waveform'),
  analysis: text('Analysis'),
  original: text('Original'),
}

/** Returns the purpose of a variant, and the part of the track that a preview contains. */
export const purposeOf = ({ type, start, length }: Variant) =>
  type === 'preview' && length ? t('Preview, {length} s from {start} s', { length, start: start ?? 0 }) : t(USES[type])
