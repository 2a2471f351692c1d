/** How a job's run ended, for the consumer to tell the queue. */
export type Outcome =
  /** Finished, failed for good, or no longer wanted. */
  | { end: 'done' }
  /** Try again after `delay` seconds; `counts` when the transcoder had begun on it. */
  | { end: 'retry'; delay: number; counts: boolean }
  /** Nothing is wrong: go on in a new message after `delay` seconds. */
  | { end: 'again'; delay: number }

export const done: Outcome = { end: 'done' }

/** Attempts that begin and do not end, before a job is given up. */
export const MAX_ATTEMPTS = 4

/** Seconds to wait after the n-th fault: 5, 10, 20, … at most 10 minutes. */
export const backoff = (n: number) => Math.min(600, 5 * 2 ** Math.max(0, n - 1))
