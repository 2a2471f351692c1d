/** The entry point `@tonearm/client/upload`: the engine of the uploader (docs/decisions/0021). */
export { UploadQueue } from '../../src/client/upload/queue.ts'
export { DEFAULT_ACCEPT, parseSize } from '../../src/client/upload/accept.ts'
export { totalFraction } from '../../src/client/upload/item.ts'
export type {
  Description,
  Problem,
  QueueEvents,
  UploadEvents,
  UploadItem,
  UploadListener,
  UploadOptions,
  UploadState,
} from '../../src/client/upload/item.ts'
