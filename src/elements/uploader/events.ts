import type { Problem, QueueEvents, UploadEvents, UploadItem, UploadState } from '../../client/upload/item.ts'
import type { TrackStatus } from '../../contract/track.ts'
import { type Language, problemText } from '../shared/upload_status.ts'

/** A snapshot of a file, which the page receives. Its texts are in the language of the element. */
export interface FileView {
  id: string
  /** Null while the upload is interrupted, until the user chooses the file again. */
  file: File | null
  name: string
  /** Size of the file in bytes. */
  size: number
  state: UploadState
  /** Fraction of the file's bytes that were sent, 0–1. */
  fraction: number
  trackId: string | null
  uploadSessionId: string | null
  status: TrackStatus | null
  /** Progress of the processing, 0–1. */
  progress: number | null
  problem: { code: string; message: string } | null
}

/** The `detail` of each event, by the name of the event without `tonearm-`. */
export type EventDetails = { [K in keyof UploadEvents]: FileView & UploadEvents[K] } & QueueEvents

/** The events by name, for typed listeners: `UploaderEventMap['tonearm-track-ready']` is a `CustomEvent` with the matching detail. */
export type UploaderEventMap = { [K in keyof EventDetails as `tonearm-${K}`]: CustomEvent<EventDetails[K]> }

export const viewOf = (item: UploadItem, language: Language): FileView => ({
  id: item.id,
  file: item.file,
  name: item.name,
  size: item.size,
  state: item.state,
  fraction: item.fraction,
  trackId: item.target?.track_id ?? null,
  uploadSessionId: item.target?.upload_session_id ?? null,
  status: item.status,
  progress: item.progress,
  problem: item.problem && withMessage(item.problem, language, item),
})

/** Returns the `detail` of an event about a file. */
export function detailOf<K extends keyof UploadEvents>(
  detail: UploadEvents[K],
  item: UploadItem,
  language: Language,
): FileView & UploadEvents[K] {
  const isAboutCover = 'cover' in detail
  const problem = 'code' in detail ? withMessage(detail, language, isAboutCover ? undefined : item) : {}
  return { ...viewOf(item, language), ...detail, ...problem }
}

export const withMessage = (problem: Problem, language: Language, item?: UploadItem) => ({
  code: problem.code,
  message: problemText(problem, language, item),
})
