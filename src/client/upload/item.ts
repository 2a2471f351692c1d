import type { ExceededQuota } from '../../contract/common.ts'
import type { UploadHandle } from '../../contract/media.ts'
import type { TrackStatus } from '../../contract/track.ts'
import type { Client } from '../client.ts'

/**
 * Size in bytes above which a file is sent in parts. Then only the parts in flight must be sent again after a lost connection, and none
 * after a pause.
 */
export const MULTIPART_THRESHOLD = 32_000_000

/**
 * The states of a file. `waiting`: the next attempt starts after a delay. `uploaded`: the file has arrived, but its processing can no
 * longer be observed. `rejected`: the file is never sent. `interrupted`: the upload continues when the user chooses the file again, or when
 * the other tab that was uploading it has released it.
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

/** An error: a code, and the English message of the service or the storage, which is empty if there is none. */
export interface Problem {
  code: string
  message: string
  /** Maximum size of a file in bytes. Set only if the code is `too_large`. */
  limit?: number
  /** The quota that the file would exceed. Set only if the service rejects it with `quota_exceeded`. */
  quota?: ExceededQuota | undefined
}

/** Fields that the page provides for a file; they are stored with the track (specification §4, Upload sessions). */
export interface Description {
  /** Title that listeners see; by default the title from the file's tags, or else the name of the file. */
  title?: string
  organizationIndex?: string
  metadata?: Record<string, unknown>
}

/**
 * The request that creates a file's track. It is repeated unchanged until there is a response, so that a lost response does not cause a
 * second track.
 */
export interface TrackRequest {
  upload_session_id: string
  idempotencyKey: string
  description: Description
}

/** The track of a file, and its upload URLs. */
export interface Target {
  /** The client with the key that created the track. After `ledger` has restored a track, it is missing until the first call for the track. */
  client?: Client
  upload_session_id: string
  track_id: string
  /** Missing if another visit or another tab has sent the file, like that of the cover. */
  track_upload?: UploadHandle
  track_cover_upload?: UploadHandle
  /** When the service's response arrived, in milliseconds since 1970. Measured by this machine's clock, which may differ from the service's. */
  received: number
}

/** A multipart upload. It can be stored, so that it continues after a reload. */
export interface Parts {
  id: string
  part_size: number
  part_count: number
  /** When the multipart upload ends, less a margin: milliseconds since 1970 by this machine's clock. */
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

/** Milliseconds between two measurements of the speed. After a longer break than `BREAK`, as in a pause, the measurement starts again. */
const MEASURE = 1000
const BREAK = 10_000

let itemCount = 0

/** One file of the list, with the state of its upload. */
export class UploadItem {
  readonly id = `file-${++itemCount}`
  name: string
  /** Size of the file in bytes. */
  size: number
  /** Null if the user left the page during the upload: the user must choose the file again. */
  file: File | null
  /** Title that the user has typed. If it is empty, the title from `describe` is used. */
  title = ''
  /** Whether the content of the file was checked. Nothing is sent before that. */
  checked = false
  state: UploadState = 'queued'
  /** Number of bytes that are stored, plus those that were sent of the parts in flight. */
  sent = 0
  /** Bytes per second in the last seconds; 0 until it is known. */
  speed = 0
  #measured = { at: 0, sent: 0 }
  /** Status of the track; null until the file has arrived. */
  status: TrackStatus | null = null
  /** Progress of the processing, 0–1. */
  progress: number | null = null
  /** Duration of the track in seconds; 0 until it is known. */
  duration = 0
  problem: Problem | null = null
  /** Whether another attempt may succeed. */
  retriable = true
  /** Time of the next attempt, in milliseconds since 1970; null while the browser is offline. */
  retryAt: number | null = null
  /** Whether the file is being delivered. Remains true until the last parts of a paused file have been sent. */
  isActive = false
  target: Target | null = null
  request: TrackRequest | null = null
  cover: Cover | null = null
  /** Aborts the current operation on the file. */
  controller = new AbortController()
  /** Ends the wait before the next attempt. */
  wake = new AbortController()

  /** Whether an earlier visit has uploaded the file, which this one only lists. */
  isPast = false
  /** When the file was added, in milliseconds since 1970. Files that were added together differ by fractions. */
  addedAt = Date.now() + itemCount / 1000
  /** Identifies the file, so that its upload can continue after a reload. */
  fingerprint: string | null = null
  /** Key of the file's entry in `ledger`; null unless this tab holds the lock. */
  key: string | null = null
  /** Key of the file's entry in `ledger` after it was done; null if it has none. */
  doneKey: string | null = null
  parts: Parts | null = null

  constructor(file: File | null, { name, size }: { name: string; size: number }) {
    this.file = file
    this.name = name
    this.size = size
  }

  /** Number of bytes in the parts that are stored, which are not sent again. */
  get stored(): number {
    if (!this.parts) return 0
    const { part_size, part_count, etags } = this.parts
    const last = this.size - part_size * (part_count - 1)
    return Object.keys(etags).reduce((sum, n) => sum + (Number(n) === part_count ? last : part_size), 0)
  }

  /** Sets the number of bytes that were sent, and measures the speed. */
  advance(sent: number): void {
    const now = Date.now()
    const { at, sent: before } = this.#measured
    this.sent = sent
    const time = now - at
    if (time < MEASURE) return
    const speed = ((sent - before) * 1000) / time
    // The last measurement counts for a third, so that the estimate neither jumps nor lags.
    this.speed = time > BREAK || sent < before ? 0 : this.speed > 0 ? (this.speed * 2 + speed) / 3 : speed
    this.#measured = { at: now, sent }
  }

  /** Fraction of the file's bytes that were sent, 0–1. */
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

/** Returns the fraction of the bytes of all files that was sent, 0–1. Files that are never sent are not counted. */
export function totalFraction(items: readonly UploadItem[]): number {
  const counted = items.filter(({ state }) => !['rejected', 'cancelled', 'interrupted'].includes(state))
  const total = counted.reduce((sum, { size }) => sum + size, 0)
  return total > 0 ? counted.reduce((sum, { sent }) => sum + sent, 0) / total : 0
}

/** Returns how many files of this visit are ready and have failed; null while some are not done, and if there are none. */
export function resultOf(items: readonly UploadItem[]): QueueEvents['queue-complete'] | null {
  const added = items.filter(({ isPast }) => !isPast)
  // An interrupted item that has its file is not done: it waits for another tab.
  const isDone = (item: UploadItem) => item.isSettled && !(item.state === 'interrupted' && item.file)
  if (added.length === 0 || !added.every(isDone)) return null
  const count = (...states: UploadState[]) => added.filter(({ state }) => states.includes(state)).length
  return { ready: count('ready'), failed: count('failed', 'rejected') }
}

/** The details of the events about a file, by the name of the event. */
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
  /** The file has arrived, but its processing can no longer be observed. */
  'track-unfollowed': Problem
  'cover-start': { cover: File }
  'cover-complete': { cover: File }
  'cover-failed': Problem & { cover: File }
}

/** The details of the events about the whole queue, by the name of the event. */
export interface QueueEvents {
  /** All files were stopped, because of a problem with the key, the origin or the session. */
  'upload-error': Problem
  /** All files are settled. */
  'queue-complete': { ready: number; failed: number }
}

export interface UploadOptions {
  baseUrl: string
  apiKey: string
  /** Collection into which files are uploaded. Upload sessions for it are opened when they are needed, unless there is an `uploadSessionId`. */
  collectionId?: string
  uploadSessionId?: string
  /** The accepted files, as in the attribute `accept` of `<input type="file">`. */
  accept?: string
  /** Maximum size of a file in bytes; null for no limit. */
  maxSize?: number | null
  /** Maximum number of files that are uploaded at the same time. */
  concurrency?: number
  /** Whether files wait until `start()` is called. */
  manual?: boolean
  /**
   * Whether a track is kept when its file is removed from the list or can no longer be read. For pages that show the track and delete it
   * themselves.
   */
  keepsTracks?: boolean
  /** Whether the list is stored in the browser for a day, with finished files, so that it is still there after a reload. */
  remembers?: boolean
  describe?: (file: File) => Description
}

/** Callbacks of a queue. */
export interface UploadListener {
  onEvent?: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  onQueueEvent?: <K extends keyof QueueEvents>(type: K, detail: QueueEvents[K]) => void
  /** Called with a file that has changed, or without one if the list has changed. */
  onChange?: (item?: UploadItem) => void
}
