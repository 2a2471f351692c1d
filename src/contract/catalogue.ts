import { type AudioCodec, CODECS } from './facts.ts'
import type { JobVariant } from './job.ts'
import type { Variant } from './variant.ts'

/** A variant together with the file that it becomes: what the API shows, and what the transcoder is told to make. */
export interface Rendition extends Variant {
  extension: string
  content_type: string
}

type Described = Pick<Rendition, 'id' | 'index' | 'name' | 'type'>

const fileOf = (codec: AudioCodec) => {
  const { format, extension, content_type } = CODECS[codec]
  return { format, extension, content_type }
}
const none = { codec: null, channels: null, start: null, length: null }
const audio = (described: Described, codec: AudioCodec, bitrate: number, cut: object = {}): Rendition => ({
  ...none,
  ...fileOf(codec),
  ...described,
  codec,
  bitrate,
  ...cut,
})
const data = (described: Described): Rendition => ({
  ...none,
  ...described,
  format: 'json',
  bitrate: 0,
  extension: 'json',
  content_type: 'application/json',
})

/**
 * The default variants, in the order in which players should try them: AAC plays everywhere and is sample-accurate, Opus is never
 * first because older Safaris lack it (docs/architecture.md#audio-in-browsers). Ids are fixed for ever.
 */
export const CATALOGUE: readonly Rendition[] = [
  audio(
    { id: '00000000-0000-4000-8000-000000000160', index: 'aac-160', name: 'AAC 160', type: 'transcode' },
    'aac',
    160,
  ),
  audio(
    { id: '00000000-0000-4000-8000-000000000128', index: 'mp3-128', name: 'MP3 128', type: 'transcode' },
    'mp3',
    128,
  ),
  audio(
    { id: '00000000-0000-4000-8000-000000000096', index: 'opus-96', name: 'Opus 96', type: 'transcode' },
    'opus',
    96,
  ),
  audio(
    { id: '00000000-0000-4000-8000-00000000f1ac', index: 'lossless', name: 'Lossless FLAC', type: 'transcode' },
    'flac',
    0,
  ),
  audio(
    { id: '00000000-0000-4000-8000-000000000030', index: 'preview', name: 'Preview 30 s', type: 'preview' },
    'mp3',
    128,
    { start: 0, length: 30 },
  ),
  data({ id: '00000000-0000-4000-8000-000000000002', index: 'waveform', name: 'Waveform data', type: 'waveform' }),
  data({ id: '00000000-0000-4000-8000-000000000003', index: 'analysis', name: 'Analysis', type: 'analysis' }),
  {
    ...none,
    id: '00000000-0000-4000-8000-000000000001',
    index: 'original',
    name: 'Original file',
    type: 'original',
    format: 'source',
    bitrate: 0,
    extension: '',
    content_type: 'application/octet-stream',
  },
]

/** An organization's variant as the file that it becomes. */
export function toRendition(variant: Omit<Variant, 'format'> & { codec: AudioCodec }): Rendition {
  return { ...variant, ...fileOf(variant.codec) }
}

/** A variant as the transcoder is told it, with the URL that its file is put to. */
export function toJobVariant(rendition: Rendition, url: string): JobVariant {
  const output = { index: rendition.index, url, content_type: rendition.content_type }
  const { type, codec, bitrate, channels, start, length } = rendition
  if (type === 'waveform' || type === 'analysis') return { ...output, kind: type }
  if (!codec) throw new Error(`variant ${rendition.index} has no codec`)
  const audio = { ...output, codec, bitrate, ...(channels && { channels }) }
  if (type === 'preview') return { ...audio, kind: 'preview', start: start ?? 0, length: length ?? 30 }
  return { ...audio, kind: 'audio' }
}
