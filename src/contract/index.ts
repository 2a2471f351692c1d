import { apiKeyOperations } from './api_key.ts'
import { chapterOperations } from './chapters.ts'
import { collectionOperations } from './collection.ts'
import { coverOperations } from './cover.ts'
import { eventOperations } from './event.ts'
import { feedOperations } from './feed.ts'
import { heardOperations } from './heard.ts'
import { limitOperations } from './limit.ts'
import { listenerOperations } from './listener.ts'
import { multipartOperations } from './multipart.ts'
import { organizationOperations } from './organization.ts'
import { playOperations } from './play.ts'
import { playlistOperations } from './playlist.ts'
import { reprocessOperations } from './reprocess.ts'
import { shareOperations } from './share.ts'
import { shareBatchOperations } from './share_batch.ts'
import { statsOperations } from './stats.ts'
import { systemOperations } from './system.ts'
import { trackOperations } from './track.ts'
import { trackBatchOperations } from './track_batch.ts'
import { trackListOperations } from './track_list.ts'
import { trackVariantOperations } from './track_variant.ts'
import { trashOperations } from './trash.ts'
import { uploadOperations } from './upload.ts'
import { usageOperations } from './usage.ts'
import { variantOperations } from './variant.ts'
import { webhookOperations } from './webhook.ts'
import { zipOperations } from './zip.ts'

/** All operations: first those of the specification (§4) in its order, then additional ones. */
export const operations = {
  ...organizationOperations,
  ...collectionOperations,
  ...trackListOperations,
  ...trackOperations,
  ...coverOperations,
  ...uploadOperations,
  ...playOperations,
  ...variantOperations,
  ...playlistOperations,
  ...apiKeyOperations,
  ...trackBatchOperations,
  ...chapterOperations,
  ...zipOperations,
  ...heardOperations,
  ...trackVariantOperations,
  ...reprocessOperations,
  ...multipartOperations,
  ...shareOperations,
  ...shareBatchOperations,
  ...feedOperations,
  ...trashOperations,
  ...webhookOperations,
  ...limitOperations,
  ...usageOperations,
  ...statsOperations,
  ...listenerOperations,
  ...eventOperations,
  ...systemOperations,
}
export type OperationTable = typeof operations
export type OperationName = keyof OperationTable
