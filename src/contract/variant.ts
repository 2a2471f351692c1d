import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle } from './common.ts'
import { CODECS, MAX_BITRATE, MAX_PREVIEW, MAX_PREVIEW_START, MAX_VARIANT_INDEX } from './facts.ts'
import { AudioCodec } from './job.ts'
import { defineOperations } from './operation.ts'

/**
 * A form in which a track can be played (specification §2, Variant). `bitrate` is in kbit/s, or 0 if the variant has none. The last four fields are
 * not in the specification. They are null if they do not apply; `channels` is also null if the source determines it.
 */
export const Variant = named('Variant', {
  id: z.uuid(),
  name: z.string(),
  type: z.enum(['transcode', 'preview', 'waveform', 'analysis', 'original']),
  format: z.enum([...Object.values(CODECS).map(({ format }) => format), 'json', 'source']),
  bitrate: z.int(),
  index: z.string(),
  codec: AudioCodec.nullable(),
  channels: z.int().nullable(),
  /** Start and length in seconds; null for all variants that are not previews. */
  start: z.number().nullable(),
  length: z.number().nullable(),
})
export type Variant = z.infer<typeof Variant>

/** Fields that can be changed after the variant was created. `index` and `type` are not among them, because sessions and keys refer to them. */
export const VariantUpdate = z.strictObject({
  name: RequiredTitle.optional(),
  codec: AudioCodec.optional(),
  /** Bitrate in kbit/s. The valid values depend on the codec; FLAC has no bitrate. */
  bitrate: z.int().min(0).max(MAX_BITRATE).meta({ 'x-unit': 'kbit/s' }).optional(),
  /** `null` keeps the channels of the source, but at most two with a lossy codec. */
  channels: z.literal([1, 2]).nullable().optional(),
  start: z.number().min(0).max(MAX_PREVIEW_START).meta({ 'x-unit': 'seconds' }).optional(),
  length: z.number().min(1).max(MAX_PREVIEW).meta({ 'x-unit': 'seconds' }).optional(),
})
export type VariantUpdate = z.infer<typeof VariantUpdate>

export const VariantCreate = VariantUpdate.extend({
  name: RequiredTitle,
  codec: AudioCodec,
  type: z.enum(['transcode', 'preview']).default('transcode'),
  /** If the index is omitted, it is derived from the name. */
  index: z
    .string()
    .max(MAX_VARIANT_INDEX)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be words of a–z and 0–9 with hyphens between them, like mp3-320')
    .optional(),
})

const tag = 'Variants'
const params = z.object({ variant_id: Id })
const variantResponse = ok({ variant_id: z.uuid(), variant: Variant })

export const variantOperations = defineOperations({
  listVariants: {
    method: 'get',
    path: '/v1/variant',
    summary:
      "List the variants that tracks are transcoded into: the organization's own, newest first, then the default ones",
    tag,
    access: ['server', 'player'],
    query: Page,
    response: ok({ count: z.int(), variants: z.array(Variant) }),
  },
  createVariant: {
    method: 'post',
    path: '/v1/variant',
    grows: 'content',
    summary: 'Define a variant of your own; tracks that are processed from now on get it',
    tag,
    access: ['server'],
    body: VariantCreate,
    response: variantResponse,
    errors: ['variant_exists', 'variants_full'],
  },
  getVariant: {
    method: 'get',
    path: '/v1/variant/{variant_id}',
    summary: 'Get a variant',
    tag,
    access: ['server', 'player'],
    params,
    response: variantResponse,
  },
  updateVariant: {
    method: 'put',
    path: '/v1/variant/{variant_id}',
    grows: false,
    summary: 'Update a variant of your own; tracks keep the files that they have until they are processed again',
    tag,
    access: ['server'],
    params,
    body: VariantUpdate,
    response: variantResponse,
    errors: ['default_variant'],
  },
  deleteVariant: {
    method: 'delete',
    path: '/v1/variant/{variant_id}',
    summary: 'Delete a variant of your own and the files of it that tracks have',
    tag,
    access: ['server'],
    params,
    response: ok({ variant_id: z.uuid(), deleted_variant: Variant }),
    errors: ['default_variant'],
  },
})
