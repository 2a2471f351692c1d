import * as z from 'zod'

import { Id, ok, Page } from './common.ts'
import type { AudioCodec } from './job.ts'
import { defineOperations } from './operation.ts'

/** A kind of rendition (specification §2, Variant). `bitrate` in kbit/s, 0 where it has no meaning. */
export const Variant = z.object({
  id: z.uuid(),
  name: z.string(),
  type: z.enum(['transcode', 'preview', 'waveform', 'analysis', 'original']),
  format: z.enum(['m4a', 'mp3', 'opus', 'flac', 'json', 'source']),
  bitrate: z.int(),
  index: z.string(),
})
export type Variant = z.infer<typeof Variant>

/** A variant of the catalogue: what the API shows, and what the transcoder is told to make. */
export interface CatalogueEntry extends Variant {
  codec?: AudioCodec
  extension: string
  content_type: string
  /** Seconds; only of previews. */
  start?: number
  length?: number
}

/**
 * The default variants, in the order in which players should try them: AAC plays everywhere and is sample-accurate, Opus is never
 * first because Safari before 18.4 lacks it (reference/audio.md §1.2, §1.3). Ids are fixed for ever.
 */
export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    id: '00000000-0000-4000-8000-000000000160',
    index: 'aac-160',
    name: 'AAC 160',
    type: 'transcode',
    format: 'm4a',
    bitrate: 160,
    codec: 'aac',
    extension: 'm4a',
    content_type: 'audio/mp4',
  },
  {
    id: '00000000-0000-4000-8000-000000000128',
    index: 'mp3-128',
    name: 'MP3 128',
    type: 'transcode',
    format: 'mp3',
    bitrate: 128,
    codec: 'mp3',
    extension: 'mp3',
    content_type: 'audio/mpeg',
  },
  {
    id: '00000000-0000-4000-8000-000000000096',
    index: 'opus-96',
    name: 'Opus 96',
    type: 'transcode',
    format: 'opus',
    bitrate: 96,
    codec: 'opus',
    extension: 'webm',
    content_type: 'audio/webm; codecs=opus',
  },
  {
    id: '00000000-0000-4000-8000-00000000f1ac',
    index: 'lossless',
    name: 'Lossless FLAC',
    type: 'transcode',
    format: 'flac',
    bitrate: 0,
    codec: 'flac',
    extension: 'flac',
    content_type: 'audio/flac',
  },
  {
    id: '00000000-0000-4000-8000-000000000030',
    index: 'preview',
    name: 'Preview 30 s',
    type: 'preview',
    format: 'mp3',
    bitrate: 128,
    codec: 'mp3',
    extension: 'mp3',
    content_type: 'audio/mpeg',
    start: 0,
    length: 30,
  },
  {
    id: '00000000-0000-4000-8000-000000000002',
    index: 'waveform',
    name: 'Waveform data',
    type: 'waveform',
    format: 'json',
    bitrate: 0,
    extension: 'json',
    content_type: 'application/json',
  },
  {
    id: '00000000-0000-4000-8000-000000000003',
    index: 'analysis',
    name: 'Analysis',
    type: 'analysis',
    format: 'json',
    bitrate: 0,
    extension: 'json',
    content_type: 'application/json',
  },
  {
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

const tag = 'Variants'

export const variantOperations = defineOperations({
  listVariants: {
    method: 'get',
    path: '/v1/variant',
    summary: 'List the variants that tracks are transcoded into',
    tag,
    access: ['server', 'player'],
    query: Page,
    response: ok({ count: z.int(), variants: z.array(Variant) }),
    errors: [400, 401, 403],
  },
  getVariant: {
    method: 'get',
    path: '/v1/variant/{variant_id}',
    summary: 'Get a variant',
    tag,
    access: ['server', 'player'],
    params: z.object({ variant_id: Id }),
    response: ok({ variant_id: z.uuid(), variant: Variant }),
    errors: [401, 403, 404],
  },
})
