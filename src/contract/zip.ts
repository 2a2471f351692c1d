import * as z from 'zod'

import { Id, ok, RequiredTitle, Timestamp, unique } from './common.ts'
import { MAX_VARIANT_INDEX, MAX_ZIP_SELECTION } from './facts.ts'
import { defineOperations } from './operation.ts'

export const ZipCreate = z.strictObject({
  /** The tracks in the order in which they are numbered. */
  track_ids: unique(z.array(Id).min(1).max(MAX_ZIP_SELECTION)),
  /** The variant of each track. A track without it, and every track by default, is included as it was uploaded. */
  variant: z.string().min(1).max(MAX_VARIANT_INDEX).optional(),
  /** The name of the ZIP, without extension. */
  title: RequiredTitle.optional(),
})
export type ZipCreate = z.infer<typeof ZipCreate>

export const zipOperations = defineOperations({
  createZip: {
    method: 'post',
    path: '/v1/zip',
    grows: false,
    summary: 'Get a URL that downloads tracks of any collections as one ZIP; it needs no key',
    tag: 'Tracks',
    access: ['server'],
    body: ZipCreate,
    response: ok({
      url: z.url(),
      expires_at: Timestamp,
      files: z.int(),
      /** The sum of the files' sizes in bytes. */
      size: z.int(),
    }),
    invisibleToListeners: true,
    errors: ['not_found', 'track_not_ready', 'zip_too_large'],
  },
})
