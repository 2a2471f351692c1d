import type { UploadHandle } from '../../contract/media.ts'
import type { TrackStatus } from '../../contract/track.ts'
import type { Client } from '../client.ts'

/** Bytes. Larger files are sent in parts: a lost connection costs only the parts in flight, and a pause costs nothing. */
export const MULTIPART_THRESHOLD = 32_000_000

/**
 * The states of a file. `waiting`: before another attempt. `uploaded`: it has arrived, but its processing can no longer be followed.
 * `rejected`: it is never sent. `interrupted`: it continues when the user chooses it again, or when the other tab that uploads it has
 * closed.
 */
export type UploadState =
  | 'queued'
  | 'uploading'
  | 'waiting'
  | 'paused'
  | 'processing'
  | 'ready'
  | 'uploaded'
  | 'failed'
  | 'rejected'
  | 'cancelled'
  | 'interrupted'

/** An error: a code, and the English message of the service or the storage, which is empty if the code says everything. */
export interface Problem {
  code: string
  message: string
  /** With `too_large`: the maximum size of a file in bytes. */
  limit?: number
}

/** Fields that the page provides for a file; they are stored with the track (specification §4, Upload sessions). */
export interface Description {
  /** Title for listeners; by default the title from the file's tags, or its name. */
  title?: string
  organizationIndex?: string
  metadata?: Record<string, unknown>
}

/** The request that creates a file's track. It is repeated unchanged until there is a response, so that a lost one causes no second track. */
export interface TrackRequest {
  upload_session_id: string
  idempotencyKey: string
  description: Description
}

/** The track of a file, and its upload URLs. */
export interface Target {
  /** Client with the key that created the track. Missing after `ledger` restored the track, until its first call. */
  client?: Client
  upload_session_id: string
  track_id: string
  track_upload: UploadHandle
  track_cover_upload: UploadHandle
  /** When the response arrived, in milliseconds since 1970 by this machine's clock, which may differ from the service's. */
  received: number
}

/** A multipart upload; can be stored and restored. */
export interface Parts {
  id: string
  part_size: number
  part_count: number
  /** Milliseconds since 1970, by this machine's clock. */
  endsAt: number
  /** The ETags of the stored parts, by part number. */
  etags: Record<number, string>
}

export interface Cover {
  file: File
  state: 'queued' | 'uploading' | 'ready' | 'failed'
  problem: Problem | null
  controller: AbortController
}

let itemCount = 0

/** One file of the list, with the state of its upload. */
export class UploadItem {
  readonly id = `file-${++itemCount}`
  name: string
  /** Bytes. */
  size: number
  /** Null if the upload was interrupted by leaving the page: the user must choose the file again. */
  file: File | null
  /** Title that the user typed; if empty, the one from `describe` is used. */
  title = ''
  /** Whether the content was checked; nothing is sent before. */
  checked = false
  state: UploadState = 'queued'
  /** Bytes that are stored or in flight. */
  sent = 0
  /** Status of the track, once the file has arrived. */
  status: TrackStatus | null = null
  /** Progress of the processing, 0–1. */
  progress: number | null = null
  /** Duration in seconds; 0 until known. */
  duration = 0
  problem: Problem | null = null
  /** Whether another attempt can help. */
  retriable = true
  /** Time of the next attempt, in milliseconds since 1970; null while the browser is offline. */
  retryAt: number | null = null
  /** Whether a run is active, including that of a paused file whose last parts still arrive. */
  isActive = false
  target: Target | null = null
  request: TrackRequest | null = null
  cover: Cover | null = null
  /** Aborts the current operation on the file. */
  controller = new AbortController()
  /** Ends the wait before the next attempt. */
  wake = new AbortController()

  /** Identifies a large file after a reload. */
  fingerprint: string | null = null
  /** Key of the entry in `ledger`, while this tab holds the lock. */
  key: string | null = null
  parts: Parts | null = null

  constructor(file: File | null, { name, size }: { name: string; size: number }) {
    this.file = file
    this.name = name
    this.size = size
  }

  /** Bytes in stored parts, which are not sent again. */
  get stored(): number {
    if (!this.parts) return 0
    const { part_size, part_count, etags } = this.parts
    const last = this.size - part_size * (part_count - 1)
    return Object.keys(etags).reduce((sum, n) => sum + (Number(n) === part_count ? last : part_size), 0)
  }

  /** Fraction of the bytes that are sent, 0–1. */
  get fraction(): number {
    return this.size > 0 ? this.sent / this.size : 0
  }

  /** Whether the upload is still incomplete, so that leaving the page would lose it. */
  get isUnsent(): boolean {
    return ['queued', 'uploading', 'waiting', 'paused'].includes(this.state)
  }

  /** Whether the item no longer changes without a user action. */
  get isSettled(): boolean {
    return !this.isUnsent && this.state !== 'processing'
  }
}

/** Returns the progress over the bytes of all files that were or will be sent, 0–1. */
export function totalFraction(items: readonly UploadItem[]): number {
  const counted = items.filter(({ state }) => !['rejected', 'cancelled', 'interrupted'].includes(state))
  const total = counted.reduce((sum, { size }) => sum + size, 0)
  return total > 0 ? counted.reduce((sum, { sent }) => sum + sent, 0) / total : 0
}

/** Events about a file, with their details. */
export interface UploadEvents {
  'file-added': object
  'file-rejected': Problem
  /** The upload or the processing failed. */
  'file-failed': Problem
  /** The track was created. */
  'upload-start': object
  'upload-progress': { loaded: number; total: number }
  'upload-retry': Problem & { retryAt: string | null }
  'upload-pause': object
  'upload-resume': object
  'upload-cancel': object
  /** All bytes have arrived. */
  'upload-complete': object
  'track-processing': { status: TrackStatus; progress: number | null }
  'track-ready': { duration: number }
  /** The processing can no longer be followed. */
  'track-unfollowed': Problem
  'cover-start': { cover: File }
  'cover-complete': { cover: File }
  'cover-failed': Problem & { cover: File }
}

/** Events about the whole queue. */
export interface QueueEvents {
  /** A problem with the key, the origin or the session stops all files. */
  'upload-error': Problem
  /** All files are settled. */
  'queue-complete': { ready: number; failed: number }
}

export interface UploadOptions {
  baseUrl: string
  apiKey: string
  /** Collection for which upload sessions are opened as needed, unless there is an `uploadSessionId`. */
  collectionId?: string
  uploadSessionId?: string
  /** As the attribute of `<input type="file">`. */
  accept?: string
  /** Maximum size of a file in bytes; null for no limit. */
  maxSize?: number | null
  /** Number of files that are uploaded at the same time. */
  concurrency?: number
  /** Whether files wait for `start()`. */
  manual?: boolean
  /** Keeps a track when its file is removed or can no longer be read: the page shows the track and deletes it itself. */
  keepsTracks?: boolean
  describe?: (file: File) => Description
}

/** Callbacks of a queue. */
export interface UploadListener {
  onEvent?: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  onQueueEvent?: <K extends keyof QueueEvents>(type: K, detail: QueueEvents[K]) => void
  /** Called when a file or, without an item, the list has changed. */
  onChange?: (item?: UploadItem) => void
}
