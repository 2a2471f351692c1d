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

/**
 * Whether asking again may help: there was no answer, or the service is busy, at fault, or still at the same request. 408 is among
 * them, because such a request came too slowly and was not carried out (RFC 9110, §15.5.9).
 */
export const isPassing = ({ status, code }: Failure) =>
  status === 0 || status === 408 || status === 429 || status >= 500 || code === 'request_in_flight'
