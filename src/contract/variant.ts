import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle } from './common.ts'
import { CODECS, MAX_BITRATE, MAX_PREVIEW, MAX_PREVIEW_START, MAX_VARIANT_INDEX } from './facts.ts'
import { AudioCodec } from './job.ts'
import { defineOperations } from './operation.ts'

/**
 * A kind of rendition (specification §2, Variant). `bitrate` in kbit/s, 0 where it has no meaning. The last four fields are additive: null where they
 * have no meaning; `channels` is also null if the source decides.
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
  /** Seconds; for previews only. */
  start: z.number().nullable(),
  length: z.number().nullable(),
})
export type Variant = z.infer<typeof Variant>

/** Fields that can be changed later. `index` and `type` cannot, because sessions and keys refer to them. */
export const VariantUpdate = z.strictObject({
  name: RequiredTitle.optional(),
  codec: AudioCodec.optional(),
  /** Kbit/s; the valid values depend on the codec. FLAC has none. */
  bitrate: z.int().min(0).max(MAX_BITRATE).optional(),
  /** `null` keeps the source's channels, at most two in a lossy codec. */
  channels: z.literal([1, 2]).nullable().optional(),
  start: z.number().min(0).max(MAX_PREVIEW_START).optional(),
  length: z.number().min(1).max(MAX_PREVIEW).optional(),
})
export type VariantUpdate = z.infer<typeof VariantUpdate>

export const VariantCreate = VariantUpdate.extend({
  name: RequiredTitle,
  codec: AudioCodec,
  type: z.enum(['transcode', 'preview']).default('transcode'),
  /** Derived from the name if omitted. */
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
