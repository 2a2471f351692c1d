import { type AudioCodec, CODECS, contentTypeOf, DEFAULT_VARIANTS } from './facts.ts'
import type { JobVariant, OutputParts } from './job.ts'
import type { Variant } from './variant.ts'

/** A variant with its file type. The API lists it, and the jobs of the transcoder are built from it. */
export interface Rendition extends Variant {
  extension: string
}

type VariantIdentity = Pick<Rendition, 'id' | 'index' | 'name' | 'type'>

const fileOf = (codec: AudioCodec) => {
  const { format, extension, content_type } = CODECS[codec]
  return { format, extension, content_type }
}
const noAudioFields = { codec: null, channels: null, start: null, length: null }
const audio = (identity: VariantIdentity, codec: AudioCodec, bitrate: number, cut: object = {}): Rendition => ({
  ...noAudioFields,
  ...fileOf(codec),
  ...identity,
  codec,
  bitrate,
  ...cut,
})
const jsonFile = (identity: VariantIdentity): Rendition => ({
  ...noAudioFields,
  ...identity,
  format: 'json',
  bitrate: 0,
  extension: 'json',
  content_type: contentTypeOf('json'),
})

const [AAC, MP3, OPUS, LOSSLESS] = DEFAULT_VARIANTS

/** The variants of every organization: first the default transcodes, then the others. The ids never change. */
export const CATALOG: readonly Rendition[] = [
  audio({ id: '00000000-0000-4000-8000-000000000160', index: AAC, name: 'AAC 160', type: 'transcode' }, 'aac', 160),
  audio({ id: '00000000-0000-4000-8000-000000000128', index: MP3, name: 'MP3 128', type: 'transcode' }, 'mp3', 128),
  audio({ id: '00000000-0000-4000-8000-000000000096', index: OPUS, name: 'Opus 96', type: 'transcode' }, 'opus', 96),
  audio(
    { id: '00000000-0000-4000-8000-00000000f1ac', index: LOSSLESS, name: 'Lossless FLAC', type: 'transcode' },
    'flac',
    0,
  ),
  audio(
    { id: '00000000-0000-4000-8000-000000000030', index: 'preview', name: 'Preview 30 s', type: 'preview' },
    'mp3',
    128,
    { start: 0, length: 30 },
  ),
  jsonFile({ id: '00000000-0000-4000-8000-000000000002', index: 'waveform', name: 'Waveform data', type: 'waveform' }),
  jsonFile({ id: '00000000-0000-4000-8000-000000000003', index: 'analysis', name: 'Analysis', type: 'analysis' }),
  {
    ...noAudioFields,
    id: '00000000-0000-4000-8000-000000000001',
    index: 'original',
    name: 'Original file',
    type: 'original',
    format: 'source',
    bitrate: 0,
    extension: '',
    content_type: null,
  },
]

/** Adds the file type to a variant that an organization has defined. */
export function toRendition(variant: Omit<Variant, 'format' | 'content_type'> & { codec: AudioCodec }): Rendition {
  return { ...variant, ...fileOf(variant.codec) }
}

/** Returns a variant in the form that a transcode job has. Its file is uploaded to `url`, or to the URLs of its parts. */
export function toJobVariant(rendition: Rendition, url: string, parts?: OutputParts): JobVariant {
  const { index, extension, type, codec, bitrate, channels, start, length } = rendition
  const output = { index, url, content_type: contentTypeOf(extension), ...(parts && { parts }) }
  if (type === 'waveform' || type === 'analysis') return { ...output, kind: type }
  if (!codec) throw new Error(`variant ${index} has no codec`)
  const audio = { ...output, codec, bitrate, ...(channels && { channels }) }
  if (type === 'preview') return { ...audio, kind: 'preview', start: start ?? 0, length: length ?? 30 }
  return { ...audio, kind: 'audio' }
}
