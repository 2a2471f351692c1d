import type { TrackStatus } from '../../contract/track.ts'
import type { Description, Problem, UploadItem } from './item.ts'

/** What a queue tells, and what it says of it besides the file. */
export interface UploadEvents {
  'file-added': object
  'file-rejected': Problem
  /** It came to nothing. */
  'file-failed': Problem
  /** Its track is made. */
  'upload-start': object
  'upload-progress': { loaded: number; total: number }
  'upload-retry': Problem & { retryAt: string | null }
  'upload-pause': object
  'upload-resume': object
  'upload-cancel': object
  /** Its bytes are there. */
  'upload-complete': object
  'track-processing': { status: TrackStatus; progress: number | null }
  'track-ready': { duration: number }
  /** Its processing can no longer be followed. */
  'track-unfollowed': Problem
  'cover-start': { cover: File }
  'cover-complete': { cover: File }
  'cover-failed': Problem & { cover: File }
}

/** What concerns no single file. */
export interface QueueEvents {
  /** Something stops every file: the key, the origin, the session. */
  'upload-error': Problem
  /** Nothing is left to do. */
  'queue-complete': { ready: number; failed: number }
}

export interface UploadOptions {
  baseUrl: string
  apiKey: string
  /** Sessions are opened for it as they are needed, unless there is an `uploadSessionId`. */
  collectionId?: string
  uploadSessionId?: string
  /** As of `<input type="file">`. */
  accept?: string
  /** Bytes of a file; null without a limit. */
  maxSize?: number | null
  /** Files whose bytes travel at the same time. */
  concurrency?: number
  /** Files wait for `start()`. */
  manual?: boolean
  describe?: (file: File) => Description
}

/** Who listens to a queue. */
export interface UploadListener {
  onEvent?: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  onQueueEvent?: <K extends keyof QueueEvents>(type: K, detail: QueueEvents[K]) => void
  /** A file, or (without one) the list, is not as it was. */
  onChange?: (item?: UploadItem) => void
}
