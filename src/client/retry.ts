import type { ExceededQuota } from '../contract/common.ts'
import type { Effect } from '../contract/effect.ts'
import type { ErrorCode } from '../contract/error_status.ts'

/** Failures, delays, retries and polling, for all modules of the client. */

/**
 * A failed call: the service's error envelope; or the code `network` or `aborted`, if there was no response of the service; or `not_json`, if a successful
 * response is not JSON. `upload_refused` is only for `uploadFile`: the storage answered, but did not accept the file.
 */
export interface Failure {
  ok: false
  message: string
  code: ErrorCode | 'network' | 'not_json' | 'aborted' | 'upload_refused'
  /** The HTTP status; 0 if there was no response. */
  status: number
  api_request_id?: string
  /** The URL of the paragraph about the code in the documentation of the service. */
  docs_url?: string
  errors?: { path: string; message: string }[]
  /** The reason of the storage, which has no `code` of the service, such as `SignatureDoesNotMatch`; only for uploads. */
  storage_code?: string
  /** The effects that the `may` of the server key lacks; only with the code `insufficient_scope`. */
  missing?: Effect[]
  /** The quota that an upload would exceed; only with the code `quota_exceeded`. */
  quota?: ExceededQuota
  /** Why a listening report was refused, as in the statistics (docs/counting.md#what-can-be-forged). */
  reason?: string
  /** The resource as it is now; only with the code `version_mismatch`. */
  current?: { id: string; version: number }
}

/** Returns the failure of a call without a response: `aborted` if the caller aborted it, otherwise `network`. */
export function noResponse(aborted: boolean, message = 'The service cannot be reached'): Failure {
  return { ok: false, message: aborted ? 'Cancelled' : message, code: aborted ? 'aborted' : 'network', status: 0 }
}

/**
 * Returns the failure in a response: the error envelope of the service, or a message with the status if the response is from a proxy or a
 * bucket.
 */
export function readFailure(status: number, answer: unknown): Failure {
  const envelope = answer as Failure | null | undefined
  if (envelope?.message !== undefined) return { ...envelope, ok: false, status }
  return {
    ok: false,
    message: `The service sent no JSON (${status})`,
    code: status < 300 ? 'not_json' : 'network',
    status,
  }
}

/**
 * Whether a failure is transient: there was no response of the service, it is overloaded or failing, or the same request is still in flight. 408
 * is transient because the request arrived too slowly and was not executed (RFC 9110, §15.5.9). 507 is not: it lasts until something is deleted.
 */
export const isTransient = ({ status, code }: Failure) =>
  status < 300 || status === 408 || status === 429 || (status >= 500 && status !== 507) || code === 'request_in_flight'

interface SleepOptions {
  /** Signal that ends the sleep early. If `online` is set, the browser's `online` event ends it as well. */
  wake?: AbortSignal | undefined
  online?: boolean
}

/** Maximum milliseconds of a timer, 24.8 days. A longer timer ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Waits for a time, at most 24.8 days, or until a signal aborts. Resolves to false if `signal` is aborted, so that the caller does not continue. */
export function sleep(milliseconds: number, signal?: AbortSignal, { wake, online }: SleepOptions = {}) {
  return new Promise<boolean>((resolve) => {
    const ended = new AbortController()
    const listening = { signal: ended.signal }
    const done = () => {
      clearTimeout(timer)
      ended.abort()
      resolve(signal?.aborted !== true)
    }
    const timer = setTimeout(done, Math.min(LONGEST_TIMER, milliseconds))
    // Node has no global `addEventListener`.
    if (online) globalThis.addEventListener?.('online', done, listening)
    for (const source of [signal, wake]) {
      source?.addEventListener('abort', done, listening)
      if (source?.aborted) done()
    }
  })
}

/**
 * Returns a signal that aborts with the caller's signal or after a timeout. The timeout is necessary because a dead connection is not
 * always closed.
 */
export function deadline(milliseconds: number, signal?: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer = setTimeout(abort, milliseconds)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: controller.signal,
    /** Restarts the timeout with this length, after a sign of progress. */
    extend(milliseconds: number) {
      clearTimeout(timer)
      timer = setTimeout(abort, milliseconds)
    },
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** Delays between attempts, which grow from `first` by `factor` up to `longest`, in milliseconds. */
export interface Backoff {
  first: number
  factor: number
  longest: number
  /** Jitter: the largest random change of a delay, as a fraction, so that clients do not all retry at the same time. */
  jitter?: number
}

/** Returns the delay in milliseconds after an attempt. Attempts are counted from 0. */
export const backoff = (attempt: number, { first, factor, longest, jitter = 0 }: Backoff) =>
  Math.min(longest, first * factor ** attempt) * (1 - jitter + 2 * jitter * Math.random())

/**
 * Calls `act` until `delayAfter` returns null for its result or the signal aborts, and returns the last result. If another attempt follows,
 * `delayAfter` returns the milliseconds until then. Attempts are counted from 0.
 */
export async function retry<T>(
  act: (attempt: number) => Promise<T>,
  delayAfter: (answer: T, attempt: number) => number | null,
  signal?: AbortSignal,
  options?: SleepOptions,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const answer = await act(attempt)
    const delay = delayAfter(answer, attempt)
    if (delay === null || !(await sleep(delay, signal, options))) return answer
  }
}

export interface PollOptions {
  signal?: AbortSignal | undefined
  /** Delays after successful responses. */
  pace?: Backoff
  /** Delays after consecutive failures. */
  recovery?: Backoff
  /** Returns the current minimum delay, so that concurrent polls can share a maximum rate. */
  minDelay?: () => number
  /** Maximum number of consecutive transient failures before polling ends. The default tolerates failures for about half a minute. */
  maxFailures?: number
}

const PACE: Backoff = { first: 500, factor: 1.3, longest: 4000 }

/** Polls until `isLast` returns true for a response or a call fails. Transient failures are tolerated until there are too many in a row. */
export async function poll<T extends { ok: true }>(
  request: () => Promise<T | Failure>,
  isLast: (answer: T) => boolean,
  { signal, pace = PACE, recovery = pace, minDelay = () => 0, maxFailures = 10 }: PollOptions = {},
): Promise<T | Failure> {
  let failures = 0
  let isOver = false
  const last = await retry(
    request,
    (answer, attempt) => {
      if (answer.ok) {
        failures = 0
        isOver = isLast(answer)
        return isOver ? null : Math.max(minDelay(), backoff(attempt, pace))
      }
      if (answer.code === 'aborted' || !isTransient(answer) || ++failures > maxFailures) return null
      return Math.max(minDelay(), backoff(failures - 1, recovery))
    },
    signal,
    { online: true },
  )
  return signal?.aborted && !isOver ? noResponse(true) : last
}

/** Named timers. Starting a timer replaces a running timer with the same name. The signal stops all timers. */
export class Timers {
  readonly #signal: AbortSignal
  readonly #running = new Map<string, AbortController>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.clear(), { once: true })
  }

  /** Calls `act` after a delay, or with `online` as soon as the machine is back on the network. */
  after(name: string, milliseconds: number, act: () => void, online = false): void {
    this.stop(name)
    if (this.#signal.aborted) return
    const ended = new AbortController()
    this.#running.set(name, ended)
    void this.#act(name, act, sleep(milliseconds, ended.signal, { online }))
  }

  async #act(name: string, act: () => void, delay: Promise<boolean>): Promise<void> {
    if (!(await delay)) return
    this.#running.delete(name)
    act()
  }

  stop(name: string): void {
    this.#running.get(name)?.abort()
    this.#running.delete(name)
  }

  isRunning(name: string): boolean {
    return this.#running.has(name)
  }

  clear(): void {
    for (const name of this.#running.keys()) this.stop(name)
  }
}

/** Returns whether the operation that received this function is still the latest one. */
export type IsCurrent = () => boolean

/**
 * Detects late results of earlier operations: each call of `next` makes the previous operation stale, and the signal makes all operations stale.
 */
export class Latest {
  readonly #signal: AbortSignal
  #count = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  current(): IsCurrent {
    const count = this.#count
    return () => count === this.#count && !this.#signal.aborted
  }

  next(): IsCurrent {
    this.#count++
    return this.current()
  }
}
