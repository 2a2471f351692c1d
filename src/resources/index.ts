import type { Handlers } from '../context.ts'
import type { OperationTable } from '../contract/index.ts'
import { apiKeyHandlers } from './api_key.ts'
import { collectionHandlers } from './collection.ts'
import { coverHandlers } from './cover.ts'
import { eventHandlers } from './event.ts'
import { limitHandlers } from './limit.ts'
import { multipartHandlers } from './multipart.ts'
import { organizationHandlers } from './organization.ts'
import { playHandlers } from './play.ts'
import { playlistHandlers } from './playlist.ts'
import { reprocessHandlers } from './reprocess.ts'
import { shareHandlers } from './share.ts'
import { systemHandlers } from './system.ts'
import { trackHandlers } from './track.ts'
import { trackBatchHandlers } from './track_batch.ts'
import { trackVariantHandlers } from './track_variant.ts'
import { trashHandlers } from './trash.ts'
import { uploadHandlers } from './upload.ts'
import { usageHandlers } from './usage.ts'
import { variantHandlers } from './variant.ts'
import { webhookHandlers } from './webhook.ts'

/** Handlers of all operations; the type makes the compiler report a missing one. */
export const handlers: Handlers<OperationTable> = {
  ...organizationHandlers,
  ...collectionHandlers,
  ...trackHandlers,
  ...coverHandlers,
  ...uploadHandlers,
  ...playHandlers,
  ...variantHandlers,
  ...playlistHandlers,
  ...apiKeyHandlers,
  ...trackBatchHandlers,
  ...trackVariantHandlers,
  ...reprocessHandlers,
  ...multipartHandlers,
  ...shareHandlers,
  ...trashHandlers,
  ...webhookHandlers,
  ...limitHandlers,
  ...usageHandlers,
  ...eventHandlers,
  ...systemHandlers,
}
