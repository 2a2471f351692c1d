import type { Failure } from './types.ts'

/** The failure of a call that got no answer: `aborted` by the caller, else `network`. */
export function noAnswer(aborted: boolean, message = 'The service cannot be reached'): Failure {
  return aborted
    ? { ok: false, message: 'Cancelled', code: 'aborted', status: 0 }
    : { ok: false, message, code: 'network', status: 0 }
}

/** The failure in an answer: the error envelope, or a sentence with the status when a proxy or a bucket answered instead. */
export function readFailure(status: number, answer: unknown): Failure {
  const envelope = typeof answer === 'object' && answer !== null && 'message' in answer ? answer : undefined
  if (envelope) return { ...(envelope as Failure), ok: false, status }
  return { ok: false, message: `The server answered ${status} without a reason`, code: 'network', status }
}
