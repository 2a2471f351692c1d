import type { Problem, QueueEvents, UploadEvents, UploadItem, UploadState } from '../../client/upload/item.ts'
import type { TrackStatus } from '../../contract/track.ts'
import { type Language, sentenceOf } from '../shared/upload_status.ts'

/** What pages are told of a file; a snapshot. Sentences are in the language of the element. */
export interface FileView {
  id: string
  /** Null of an interrupted one, until it is chosen again. */
  file: File | null
  name: string
  /** Bytes. */
  size: number
  state: UploadState
  /** Of the bytes, 0–1. */
  fraction: number
  trackId: string | null
  uploadSessionId: string | null
  status: TrackStatus | null
  /** Of the processing, 0–1. */
  progress: number | null
  problem: { code: string; message: string } | null
}

/** What the `detail` of each event holds, by its name without `tonearm-`. */
export type EventDetails = { [K in keyof UploadEvents]: FileView & UploadEvents[K] } & QueueEvents

/** For typed listeners: `UploaderEventMap['tonearm-track-ready']` is a `CustomEvent` with that detail. */
export type UploaderEventMap = { [K in keyof EventDetails as `tonearm-${K}`]: CustomEvent<EventDetails[K]> }

export const viewOf = (item: UploadItem, language: Language): FileView =>
  withOldNames({
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
    problem: item.problem && inWords(item.problem, language, item),
  })

/** The detail of an event about a file. */
export function detailOf<K extends keyof UploadEvents>(
  detail: UploadEvents[K],
  item: UploadItem,
  language: Language,
): FileView & UploadEvents[K] {
  const isAboutCover = 'cover' in detail
  const problem = 'code' in detail ? inWords(detail, language, isAboutCover ? undefined : item) : {}
  return withOldNames({ ...viewOf(item, language), ...detail, ...problem })
}

export const inWords = (problem: Problem, language: Language, item?: UploadItem) => ({
  code: problem.code,
  message: sentenceOf(problem, language, item),
})

/**
 * From here on: the names of 0.1, which go on working for one release: events `tonearm-uploader-…`, and keys in snake_case. Each says
 * once in the console what it is called now.
 */
const OLD_EVENTS: Record<string, string> = {
  'file-added': 'file-added',
  'file-rejected': 'rejected',
  'file-failed': 'failed',
  'upload-start': 'upload-start',
  'upload-progress': 'upload-progress',
  'upload-retry': 'retrying',
  'upload-pause': 'paused',
  'upload-resume': 'resumed',
  'upload-cancel': 'cancelled',
  'upload-complete': 'upload-complete',
  'upload-error': 'error',
  'track-processing': 'processing',
  'track-ready': 'ready',
  'track-unfollowed': 'unfollowed',
  'cover-start': 'cover-start',
  'cover-complete': 'cover-complete',
  'cover-failed': 'cover-failed',
  'queue-complete': 'complete',
}
const PREFIX = 'tonearm-uploader-'

/** What an event was called; its name now is `tonearm-` and the key. */
export const oldEvent = (type: string) => `${PREFIX}${OLD_EVENTS[type]}`

const warned = new Set<string>()
function warn(old: string, now: string): void {
  if (warned.has(old)) return
  warned.add(old)
  console.warn(`<tonearm-uploader>: ${old} is now ${now}, and will be gone in the next release.`)
}

/** Says of an element which listeners it gets for events by their old names. */
export function warnOfOldEvents(host: EventTarget): void {
  const listen = host.addEventListener.bind(host)
  host.addEventListener = (type, ...rest) => {
    const now = type.startsWith(PREFIX) && Object.keys(OLD_EVENTS).find((name) => oldEvent(name) === type)
    if (now) warn(type, `tonearm-${now}`)
    listen(type, ...rest)
  }
}

const OLD_KEYS = { trackId: 'track_id', uploadSessionId: 'upload_session_id', retryAt: 'retry_at' }

/** Lets the old keys of a detail be read, too. */
function withOldNames<T extends object>(detail: T): T {
  for (const [key, old] of Object.entries(OLD_KEYS)) {
    if (!(key in detail)) continue
    const get = () => {
      warn(old, key)
      return Reflect.get(detail, key) as unknown
    }
    Object.defineProperty(detail, old, { get, enumerable: false, configurable: true })
  }
  return detail
}

/** What a page's `describe` gives, also by the old key. */
export function readDescription<T extends { organizationIndex?: string }>(
  given: T & { organization_index?: string },
): T {
  const { organization_index, ...description } = given
  if (organization_index === undefined) return given
  warn('organization_index', 'organizationIndex')
  return { organizationIndex: organization_index, ...description } as unknown as T
}
