import type * as z from 'zod'

import { apiKeyOperations } from './api_key.ts'
import { collectionOperations } from './collection.ts'
import { coverOperations } from './cover.ts'
import { eventOperations } from './event.ts'
import { limitOperations } from './limit.ts'
import { multipartOperations } from './multipart.ts'
import { organizationOperations } from './organization.ts'
import { playOperations } from './play.ts'
import { playlistOperations } from './playlist.ts'
import { reprocessOperations } from './reprocess.ts'
import { shareOperations } from './share.ts'
import { systemOperations } from './system.ts'
import { trackOperations } from './track.ts'
import { trackBatchOperations } from './track_batch.ts'
import { trackVariantOperations } from './track_variant.ts'
import { trashOperations } from './trash.ts'
import { uploadOperations } from './upload.ts'
import { usageOperations } from './usage.ts'
import { variantOperations } from './variant.ts'
import { webhookOperations } from './webhook.ts'

/** The whole interface: every operation of the specification (§4) in its order, then our own. */
export const operations = {
  ...organizationOperations,
  ...collectionOperations,
  ...trackOperations,
  ...coverOperations,
  ...uploadOperations,
  ...playOperations,
  ...variantOperations,
  ...playlistOperations,
  ...apiKeyOperations,
  ...trackBatchOperations,
  ...trackVariantOperations,
  ...reprocessOperations,
  ...multipartOperations,
  ...shareOperations,
  ...trashOperations,
  ...webhookOperations,
  ...limitOperations,
  ...usageOperations,
  ...eventOperations,
  ...systemOperations,
}
export type OperationTable = typeof operations
export type OperationName = keyof OperationTable

type Given<T, K extends string> = T extends { [P in K]: infer S extends z.ZodType } ? { [P in K]: z.input<S> } : unknown
/** Of one operation: what a caller gives and gets, without zod. */
type CallOf<T> = T extends { method: infer M; path: infer P; response: infer R extends z.ZodType }
  ? { method: M; path: P; response: z.output<R> } & Given<T, 'params'> &
      Given<T, 'query'> &
      Given<T, 'headers'> &
      Given<T, 'body'>
  : never
/** The table as its callers see it. The packed client has the same, written out (scripts/pack/calls.ts). */
export type Calls = { [N in OperationName]: CallOf<OperationTable[N]> }
