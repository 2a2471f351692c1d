/**
 * The names of 0.1, which go on working for one release: events `tonearm-uploader-…`, and keys in snake_case. Each says once in the
 * console what it is called now.
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
export function withOldNames<T extends object>(detail: T): T {
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
