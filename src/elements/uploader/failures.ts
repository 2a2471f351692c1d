import { isPassing } from '../../client/failure.ts'
import type { Failure } from '../../client/types.ts'
import type { TRACK_ERRORS } from '../../contract/errors.ts'
import type { SERVICE_ERRORS } from '../../contract/job.ts'

/**
 * What a failure means for the file that met it: `passing` may be gone at the next attempt, `stale` needs a new URL, `halt` concerns
 * every file (the key, the origin, the session), `final` is the file's own.
 */
export type Meaning = 'passing' | 'stale' | 'halt' | 'final'

/** Of a call to the service. */
export function meaningOfCall(failure: Failure): Meaning {
  if (isPassing(failure)) return 'passing'
  return [401, 403, 404, 410].includes(failure.status) ? 'halt' : 'final'
}

/** Of the storage's answer to the bytes: 403 is how S3 refuses a URL that has expired. */
export function meaningOfUpload(failure: Failure): Meaning {
  if (isPassing(failure)) return 'passing'
  return failure.status === 403 ? 'stale' : 'final'
}

/**
 * Reasons for which the same file may succeed another time; all others are the file's own fault. The tables they are derived from bring
 * zod along, so only their types are here: a code that is missing or too many does not compile.
 */
const NOT_THE_FILE: Record<keyof typeof SERVICE_ERRORS | keyof typeof TRACK_ERRORS, 1> = {
  upload_expired: 1,
  transcoder_unavailable: 1,
  timed_out: 1,
  source_unavailable: 1,
  source_forbidden: 1,
  source_stalled: 1,
  source_too_slow: 1,
  upload_failed: 1,
  disk_full: 1,
  cancelled: 1,
  internal: 1,
}
export const mayHelpToRepeat = (code: string) => Object.hasOwn(NOT_THE_FILE, code)
