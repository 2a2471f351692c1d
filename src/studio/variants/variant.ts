import { CATALOG } from '../../contract/catalog.ts'
import { CODECS } from '../../contract/facts.ts'
import type { Variant } from '../api.ts'

const FORMATS: Record<string, string> = {
  ...Object.fromEntries(Object.values(CODECS).map(({ format, label }) => [format, label])),
  json: 'JSON',
  source: 'as uploaded',
}

/** A format as people know it. */
export const formatOf = (format: string | undefined) => (format ? (FORMATS[format] ?? format) : '–')

export const isDefault = ({ id }: Variant) => CATALOG.some((variant) => variant.id === id)

/** Bytes of a minute of sound, without the few of the container; null where they depend on the sound. */
export const minuteOf = ({ bitrate }: Variant) => (bitrate > 0 ? (bitrate * 1000 * 60) / 8 : null)

const USES: Record<Variant['type'], string> = {
  transcode: 'Listening',
  preview: 'Preview',
  waveform: 'Waveform',
  analysis: 'Analysis',
  original: 'Original',
}

/** What a variant is for, with the part of the track that a preview has. */
export const purposeOf = ({ type, start, length }: Variant) =>
  type === 'preview' && length ? `${USES[type]}, ${length} s from ${start ?? 0} s` : USES[type]
