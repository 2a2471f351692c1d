import type { Handlers } from '../context.ts'
import type { OperationTable } from '../contract/index.ts'
import { chapterHandlers } from './edit/chapters.ts'
import { trackBatchHandlers } from './edit/track_batch.ts'
import { apiKeyHandlers } from './keys/api_key.ts'
import { collectionHandlers } from './library/collection.ts'
import { coverHandlers } from './library/cover.ts'
import { organizationHandlers } from './library/organization.ts'
import { playlistHandlers } from './library/playlist.ts'
import { reprocessHandlers } from './library/reprocess.ts'
import { trackHandlers } from './library/track.ts'
import { trackVariantHandlers } from './library/track_variant.ts'
import { trashHandlers } from './library/trash.ts'
import { variantHandlers } from './library/variant.ts'
import { limitHandlers } from './operator/limit.ts'
import { systemHandlers } from './operator/system.ts'
import { usageHandlers } from './operator/usage.ts'
import { listenerHandlers } from './play/listener.ts'
import { playHandlers } from './play/play.ts'
import { statsHandlers } from './play/stats.ts'
import { zipHandlers } from './play/zip_selection.ts'
import { feedHandlers } from './share/feed_check.ts'
import { shareHandlers } from './share/share.ts'
import { shareBatchHandlers } from './share/share_batch.ts'
import { multipartHandlers } from './upload/multipart.ts'
import { uploadHandlers } from './upload/upload.ts'
import { eventHandlers } from './webhooks/event_feed.ts'
import { webhookHandlers } from './webhooks/webhook.ts'

/** The handlers of all operations except listening reports. The type makes the compiler report a missing handler. */
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
  ...chapterHandlers,
  ...zipHandlers,
  ...trackVariantHandlers,
  ...reprocessHandlers,
  ...multipartHandlers,
  ...shareHandlers,
  ...shareBatchHandlers,
  ...feedHandlers,
  ...trashHandlers,
  ...webhookHandlers,
  ...limitHandlers,
  ...usageHandlers,
  ...statsHandlers,
  ...listenerHandlers,
  ...eventHandlers,
  ...systemHandlers,
}
