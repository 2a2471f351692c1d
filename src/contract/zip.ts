import * as z from 'zod'

import { Id, ok, RequiredTitle, Timestamp, unique } from './common.ts'
import { MAX_VARIANT_INDEX, MAX_ZIP_SELECTION } from './facts.ts'
import { defineOperations } from './operation.ts'

export const ZipCreate = z.strictObject({
  /** Tracks of any collections, in the order in which the files are numbered. */
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
    effect: 'write',
    guide: 'lists',
    recordsNoEvent: 'nothing changes',
    body: ZipCreate,
    response: ok({
      /** Address that needs no key. */
      url: z.url(),
      /** When the address stops working, 15 minutes after the request. */
      expires_at: Timestamp,
      /** Number of files in the ZIP. */
      files: z.int(),
      /** Sum of the files' sizes in bytes; the ZIP is slightly larger. */
      size: z.int(),
    }),
    invisibleToListeners: true,
    errors: ['not_found', 'track_not_ready', 'zip_too_large'],
  },
})
