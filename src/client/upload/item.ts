import type { UploadHandle } from '../../contract/media.ts'
import type { TrackStatus } from '../../contract/track.ts'
import type { Client } from '../client.ts'

/**
 * What a file goes through. `waiting` is the time before another attempt; `uploaded` means that it is there, but that its processing
 * can no longer be followed; `rejected` files never leave the page.
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

/** Why something did not work: a code, and what the service or the storage said about it, in English; empty when the code says it all. */
export interface Problem {
  code: string
  message: string
  /** Of `too_large`: the bytes that a file may have. */
  limit?: number
}

/** What the page says of a file besides its name; both are kept with the track (specification §4, Upload sessions). */
export interface Description {
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
  /** With the key that made it: the page's own may have become one that does not see this track. */
  client: Client
  upload_session_id: string
  track_id: string
  track_upload: UploadHandle
  track_cover_upload: UploadHandle
  /** When it arrived here, by this machine's clock, which may differ from the service's. */
  received: number
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
  readonly file: File
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
  target: Target | null = null
  request: TrackRequest | null = null
  cover: Cover | null = null
  /** Ends what happens to the file now. */
  controller = new AbortController()
  /** Ends the time before the next attempt. */
  wake = new AbortController()

  constructor(file: File) {
    this.file = file
  }

  /** Of the bytes, 0–1. */
  get fraction(): number {
    return this.file.size > 0 ? this.sent / this.file.size : 0
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
  const counted = items.filter(({ state }) => state !== 'rejected' && state !== 'cancelled')
  const total = counted.reduce((sum, { file }) => sum + file.size, 0)
  return total > 0 ? counted.reduce((sum, { sent }) => sum + sent, 0) / total : 0
}
