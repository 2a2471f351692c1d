import type { Client } from '../../client/client.ts'
import type { UploadHandle } from '../../contract/media.ts'
import type { TrackStatus } from '../../contract/track.ts'

/**
 * What a file goes through. `waiting` is a pause before another attempt; `uploaded` means that it is there, but that its processing
 * cannot be followed any more; `rejected` files never leave the page.
 */
export type State =
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

/** Why something did not work: a code for programs, a sentence for people. */
export interface Problem {
  code: string
  message: string
}

/** What the page says of a file besides its name; both are kept with the track (specification §4, Upload sessions). */
export interface Description {
  organization_index?: string
  metadata?: Record<string, unknown>
}

/** How a file's track is asked for: word for word the same until there is an answer, so that a lost one leaves no second track. */
export interface Order {
  upload_session_id: string
  /** Its `Idempotency-Key`. */
  ticket: string
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

/** One file of the list. */
export interface Item {
  readonly id: string
  readonly file: File
  /** Whether it was looked into: nothing is sent before. */
  looked: boolean
  state: State
  /** Bytes sent in this attempt. */
  sent: number
  /** Of the track, once the file is there. */
  status: TrackStatus | null
  /** Of the processing, 0–1. */
  progress: number | null
  /** Seconds of sound, 0 until known. */
  duration: number
  problem: Problem | null
  /** Whether another attempt can help. */
  retriable: boolean
  /** When the next attempt begins, in milliseconds since 1970; null while the browser is offline. */
  retryAt: number | null
  target: Target | null
  order: Order | null
  cover: Cover | null
  /** Ends what happens to the file now. */
  controller: AbortController
  /** Ends the pause before the next attempt. */
  nudge: () => void
}

/** What pages are told of a file; a snapshot. */
export interface FileView {
  id: string
  file: File
  state: State
  /** Of the bytes, 0–1. */
  fraction: number
  track_id: string | null
  upload_session_id: string | null
  status: TrackStatus | null
  progress: number | null
  problem: Problem | null
}

let made = 0

export const newItem = (file: File): Item => ({
  id: `file-${++made}`,
  file,
  looked: false,
  state: 'queued',
  sent: 0,
  status: null,
  progress: null,
  duration: 0,
  problem: null,
  retriable: true,
  retryAt: null,
  target: null,
  order: null,
  cover: null,
  controller: new AbortController(),
  nudge: () => {},
})

export const fractionOf = ({ sent, file }: Item) => (file.size > 0 ? Math.min(1, sent / file.size) : 0)

export const viewOf = (item: Item): FileView => ({
  id: item.id,
  file: item.file,
  state: item.state,
  fraction: fractionOf(item),
  track_id: item.target?.track_id ?? null,
  upload_session_id: item.target?.upload_session_id ?? null,
  status: item.status,
  progress: item.progress,
  problem: item.problem && { ...item.problem },
})

/** Its bytes are not all there yet, but shall be: leaving the page would lose it. */
export const isUnsent = ({ state }: Item) => ['queued', 'uploading', 'waiting', 'paused'].includes(state)

/** Nothing more happens to it by itself. */
export const isSettled = ({ state }: Item) =>
  !['queued', 'uploading', 'waiting', 'paused', 'processing'].includes(state)
