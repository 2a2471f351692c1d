import type { UploadHandle } from '../../contract/media.ts'
import type { TrackStatus } from '../../contract/track.ts'
import type { Client } from '../client.ts'

/** Bytes. Larger files are sent in parts: a lost connection costs only the parts in flight, and a pause nothing. */
export const PARTS_FROM = 32_000_000

/**
 * What a file goes through. `waiting` is the time before another attempt; `uploaded` means that it is there, but that its processing
 * can no longer be followed; `rejected` files never leave the page. `interrupted` ones go on when they are chosen again, or when the other
 * tab that sends them has ended.
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

/** Why something did not work: a code, and what the service or the storage said about it, in English; empty when the code says it all. */
export interface Problem {
  code: string
  message: string
  /** Of `too_large`: the bytes that a file may have. */
  limit?: number
}

/** What the page says of a file besides its name; all is kept with the track (specification §4, Upload sessions). */
export interface Description {
  /** What listeners see; without it the title of the file's tags, or its name. */
  title?: string
  organizationIndex?: string
  metadata?: Record<string, unknown>
}

/** How a file's track is asked for: word for word the same until there is an answer, so that a lost one leaves no second track. */
export interface TrackRequest {
  upload_session_id: string
  idempotencyKey: string
  description: Description
}

/** The track that was made for a file, and where its bytes go. */
export interface Target {
  /** With the key that made the track. Missing until a track that the ledger knew is first asked for. */
  client?: Client
  upload_session_id: string
  track_id: string
  track_upload: UploadHandle
  track_cover_upload: UploadHandle
  /** When it arrived here, by this machine's clock, which may differ from the service's. */
  received: number
}

/** What is known of a file that travels in parts; it can be written down and read again. */
export interface Parts {
  id: string
  part_size: number
  part_count: number
  /** Milliseconds since 1970, by this machine's clock. */
  endsAt: number
  /** The ETags of the parts that are in storage, by their numbers. */
  etags: Record<number, string>
}

export interface Cover {
  file: File
  state: 'queued' | 'uploading' | 'ready' | 'failed'
  problem: Problem | null
  controller: AbortController
}

let made = 0

/** One file of the list, and all that is known of it. */
export class UploadItem {
  readonly id = `file-${++made}`
  name: string
  /** Bytes. */
  size: number
  /** Null of one that was on its way when the page was left: somebody must choose it again. */
  file: File | null
  /** As somebody wrote it here; without it, `describe` decides. */
  title = ''
  /** Whether it was looked into: nothing is sent before. */
  checked = false
  state: UploadState = 'queued'
  /** Bytes that are there, or on their way. */
  sent = 0
  /** Of the track, once the file is there. */
  status: TrackStatus | null = null
  /** Of the processing, 0–1. */
  progress: number | null = null
  /** Seconds of sound, 0 until known. */
  duration = 0
  problem: Problem | null = null
  /** Whether another attempt can help. */
  retriable = true
  /** When the next attempt begins, in milliseconds since 1970; null while the browser is offline. */
  retryAt: number | null = null
  /** A run is under way; also that of a paused file whose last parts still arrive. */
  isActive = false
  target: Target | null = null
  request: TrackRequest | null = null
  cover: Cover | null = null
  /** Ends what happens to the file now. */
  controller = new AbortController()
  /** Ends the time before the next attempt. */
  wake = new AbortController()

  /** Of a large file, that it is known by. */
  fingerprint: string | null = null
  /** How the ledger knows it, while no other tab may send it. */
  key: string | null = null
  parts: Parts | null = null

  constructor(file: File | null, { name, size }: { name: string; size: number }) {
    this.file = file
    this.name = name
    this.size = size
  }

  /** Bytes that are in storage for good, and are not sent again. */
  get stored(): number {
    if (!this.parts) return 0
    const { part_size, part_count, etags } = this.parts
    const last = this.size - part_size * (part_count - 1)
    return Object.keys(etags).reduce((sum, n) => sum + (Number(n) === part_count ? last : part_size), 0)
  }

  /** Of the bytes, 0–1. */
  get fraction(): number {
    return this.size > 0 ? this.sent / this.size : 0
  }

  /** Its bytes are not all there yet, but shall be: leaving the page would lose it. */
  get isUnsent(): boolean {
    return ['queued', 'uploading', 'waiting', 'paused'].includes(this.state)
  }

  /** Nothing more happens to it by itself. */
  get isSettled(): boolean {
    return !this.isUnsent && this.state !== 'processing'
  }
}

/** The bytes of all files that were or will be sent, 0–1. */
export function totalFraction(items: readonly UploadItem[]): number {
  const counted = items.filter(({ state }) => !['rejected', 'cancelled', 'interrupted'].includes(state))
  const total = counted.reduce((sum, { size }) => sum + size, 0)
  return total > 0 ? counted.reduce((sum, { sent }) => sum + sent, 0) / total : 0
}

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
  /** Tracks stay when their files are removed or have vanished: the page shows them, and deletes them itself. */
  keepsTracks?: boolean
  describe?: (file: File) => Description
}

/** Who listens to a queue. */
export interface UploadListener {
  onEvent?: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  onQueueEvent?: <K extends keyof QueueEvents>(type: K, detail: QueueEvents[K]) => void
  /** A file, or (without one) the list, is not as it was. */
  onChange?: (item?: UploadItem) => void
}
