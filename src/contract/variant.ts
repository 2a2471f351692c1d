import * as z from 'zod'

import { Id, named, ok, Page, RequiredTitle } from './common.ts'
import { CODECS, MAX_BITRATE, MAX_PREVIEW, MAX_PREVIEW_START, MAX_VARIANT_INDEX } from './facts.ts'
import { AudioCodec } from './job.ts'
import { defineOperations } from './operation.ts'

/** A form in which tracks can be played or downloaded (docs/variants.md). */
export const Variant = named('Variant', {
  /** Identifies the variant in paths; that of a default variant is the same everywhere. */
  id: z.uuid(),
  /** Display name, such as `AAC 160`. */
  name: z.string(),
  /** Kind of file: audio (`transcode`, `preview`), data about it (`waveform`, `analysis`), or the upload (`original`). */
  type: z.enum(['transcode', 'preview', 'waveform', 'analysis', 'original']),
  /** Type of the file; `source` is that of the upload. */
  format: z.enum([...Object.values(CODECS).map(({ format }) => format), 'json', 'source']),
  /** Media type of the files, such as `audio/mpeg`; null for the upload, whose type differs. */
  content_type: z.string().nullable(),
  /** Nominal value in kbit/s; 0 if it has none. */
  bitrate: z.int(),
  /** Short name in play sessions, play views and download paths. */
  index: z.string(),
  /** Audio codec; null for data and the original file. */
  codec: AudioCodec.nullable(),
  /** 1 for mono, 2 for stereo; null if the source determines it. */
  channels: z.int().nullable(),
  /** First second of a preview; null for all others. */
  start: z.number().nullable(),
  /** Seconds of a preview; null for all others. */
  length: z.number().nullable(),
})
export type Variant = z.infer<typeof Variant>

/** Omitted fields keep their values. `index` and `type` cannot change, because sessions and keys refer to them. */
export const VariantUpdate = z.strictObject({
  /** Display name, on one line. */
  name: RequiredTitle.optional(),
  /** Audio codec of the files. */
  codec: AudioCodec.optional(),
  /** Bitrate in kbit/s. The valid values depend on the codec; FLAC has no bitrate. */
  bitrate: z.int().min(0).max(MAX_BITRATE).meta({ 'x-unit': 'kbit/s' }).optional(),
  /** `null` keeps the channels of the source, but at most two with a lossy codec. */
  channels: z.literal([1, 2]).nullable().optional(),
  /** First second of the preview, up to 12 hours; only for previews. */
  start: z.number().min(0).max(MAX_PREVIEW_START).meta({ 'x-unit': 'seconds' }).optional(),
  /** Seconds from the first one, with fades; only for previews. */
  length: z.number().min(1).max(MAX_PREVIEW).meta({ 'x-unit': 'seconds' }).optional(),
})
export type VariantUpdate = z.infer<typeof VariantUpdate>

export const VariantCreate = VariantUpdate.extend({
  /** Display name, on one line. */
  name: RequiredTitle,
  /** Audio codec of the files. */
  codec: AudioCodec,
  /** A whole track, or a preview of it. */
  type: z.enum(['transcode', 'preview']).default('transcode'),
  /** If the index is omitted, it is derived from the name. */
  index: z
    .string()
    .max(MAX_VARIANT_INDEX)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be words of a–z and 0–9 with hyphens between them, like mp3-320')
    .optional(),
})

const tag = 'Variants'
const params = z.object({
  /** A default variant, or one that your organization has defined. */
  variant_id: Id,
})
const variantResponse = ok({
  /** The same as `variant.id`. */
  variant_id: z.uuid(),
  variant: Variant,
})

export const variantOperations = defineOperations({
  listVariants: {
    method: 'get',
    path: '/v1/variant',
    summary:
      "List the variants that tracks are transcoded into: the organization's own, newest first, then the default ones",
    tag,
    access: ['server', 'player'],
    effect: 'read',
    guide: 'variants',
    query: Page,
    response: ok({
      /** Number of variants on all pages together. */
      count: z.int(),
      /** The organization's own, the newest first, then the default ones. */
      variants: z.array(Variant),
    }),
  },
  createVariant: {
    method: 'post',
    path: '/v1/variant',
    grows: 'content',
    summary: 'Define a variant of your own; tracks that are processed from now on get it',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'variants',
    limits: ['variants', 'preview_length'],
    recordsNoEvent: 'receivers do not mirror settings',
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
    effect: 'read',
    guide: 'variants',
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
    effect: 'write',
    guide: 'variants',
    limits: ['preview_length'],
    recordsNoEvent: 'receivers do not mirror settings',
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
    effect: 'delete',
    guide: 'variants',
    recordsNoEvent: 'receivers do not mirror settings',
    params,
    response: ok({
      /** The same as `deleted_variant.id`. */
      variant_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_variant: Variant,
    }),
    errors: ['default_variant'],
  },
})
