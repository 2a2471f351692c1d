import { SERVICE_ERRORS, TRACK_ERRORS } from '../../contract/errors.ts'
import { isPassing } from '../failure.ts'
import type { Backoff } from '../retry.ts'
import type { Failure } from '../types.ts'
import type { Problem } from './item.ts'

/** What happens after a failure. */

/**
 * `retry`: the same may succeed later. `renew`: it needs another URL. `stop`: it concerns every file (the key, the origin, the
 * session). `fail`: the file's own fault.
 */
export type Verdict = 'retry' | 'renew' | 'stop' | 'fail'

/** How a step of an upload ended. */
export type Step = { ok: true } | { ok: false; verdict: Verdict; problem: Problem }

export const stepOf = ({ code, message }: Problem, verdict: Verdict): Step => ({
  ok: false,
  verdict,
  problem: { code, message },
})

/** After a call to the service. */
export function afterCall(failure: Failure): Verdict {
  if (isPassing(failure)) return 'retry'
  return [401, 403, 404, 410].includes(failure.status) ? 'stop' : 'fail'
}

/** After the storage's answer to the bytes: 403 is how S3 refuses a URL that has expired. */
export function afterUpload(failure: Failure): Verdict {
  if (isPassing(failure)) return 'retry'
  return failure.status === 403 ? 'renew' : 'fail'
}

/** The storage's answer as a problem; without an answer, the connection's. */
export const problemOfUpload = ({ status, code, message }: Failure): Problem => ({
  code: status > 0 ? `storage_${status}` : code,
  message,
})

/** Whether the same file may succeed another time; all other reasons are its own fault. */
export const mayHelpToRepeat = (code: string) => Object.hasOwn({ ...SERVICE_ERRORS, ...TRACK_ERRORS }, code)

/** Attempts in a row before something is given up; with the delays between them about two minutes. */
export const MAX_ATTEMPTS = 8
export const DELAYS: Backoff = { first: 1000, factor: 2, longest: 30_000, jitter: 0.25 }

/** Some machines call themselves offline and are not; so they ask again, if rarely. */
export const OFFLINE_DELAY = 30_000
/** Node knows no network of its own. */
export const isOffline = () => (globalThis.navigator as { onLine?: boolean } | undefined)?.onLine === false
