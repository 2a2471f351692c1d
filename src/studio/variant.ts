import type { Variant } from './api.ts'

export const FORMATS: Record<string, string> = {
  m4a: 'AAC in M4A',
  mp3: 'MP3',
  opus: 'Opus in WebM',
  flac: 'FLAC',
  json: 'JSON',
  source: 'as uploaded',
}

/** A format as people know it. */
export const formatOf = (format: string | undefined) => (format ? (FORMATS[format] ?? format) : '–')

/** The default variants have fixed ids (contract/catalogue.ts), all alike but for their end. */
export const isDefault = ({ id }: Variant) => id.startsWith('00000000-0000-4000-8000-')

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
