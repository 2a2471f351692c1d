import type { TrackStatus } from '../../contract/track.ts'
import type { FileView, Problem } from './item.ts'

/** Every event of the element, without its prefix `tonearm-uploader-`, and what its `detail` holds. */
export interface EventDetails {
  'file-added': FileView
  rejected: FileView & Problem
  'upload-start': FileView
  'upload-progress': FileView & { loaded: number; total: number }
  retrying: FileView & Problem & { retry_at: string | null }
  paused: FileView
  resumed: FileView
  'upload-complete': FileView
  processing: FileView & { status: TrackStatus; progress: number | null }
  ready: FileView & { duration: number }
  failed: FileView & Problem
  cancelled: FileView
  /** Its processing can no longer be followed. */
  unfollowed: FileView & Problem
  'cover-start': FileView & { cover: File }
  'cover-complete': FileView & { cover: File }
  'cover-failed': FileView & Problem & { cover: File }
  /** Something that stops every file: the key, the origin, the session. */
  error: Problem
  /** Nothing is left to do. */
  complete: { ready: number; failed: number }
}

/** For typed listeners: `TonearmUploaderEventMap['tonearm-uploader-ready']` is a `CustomEvent` with that detail. */
export type TonearmUploaderEventMap = {
  [K in keyof EventDetails as `tonearm-uploader-${K}`]: CustomEvent<EventDetails[K]>
}
