import { isPassing } from '../../client/failure.ts'
import type { Failure } from '../../client/types.ts'

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

/** Reasons of the transcoder for which the same file may succeed another time (contract/job.ts); the rest are the file's fault. */
const NOT_THE_FILE =
  /^(upload_expired|transcoder_unavailable|timed_out|source_\w+|upload_failed|disk_full|cancelled|internal)$/
export const mayHelpToRepeat = (code: string) => NOT_THE_FILE.test(code)
