import { isPassing } from '../../client/failure.ts'
import type { Failure } from '../../client/types.ts'
import { SERVICE_ERRORS, TRACK_ERRORS } from '../../contract/errors.ts'

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

/** Whether the same file may succeed another time; all other reasons are its own fault. */
export const mayHelpToRepeat = (code: string) => Object.hasOwn({ ...SERVICE_ERRORS, ...TRACK_ERRORS }, code)
