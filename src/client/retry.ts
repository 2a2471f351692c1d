import type { ErrorCode } from '../contract/errors.ts'

/** What fails, waiting, and asking again: the one place that knows how. */

/** What went wrong: the service's error envelope, or `network` and `aborted` when there was no answer to read. */
export interface Failure {
  ok: false
  message: string
  code: ErrorCode | 'network' | 'aborted'
  /** The HTTP status, 0 without an answer. */
  status: number
  api_request_id?: string
  errors?: { path: string; message: string }[]
}

/** The failure of a call that got no answer: `aborted` by the caller, else `network`. */
export function noAnswer(aborted: boolean, message = 'The service cannot be reached'): Failure {
  return aborted
    ? { ok: false, message: 'Cancelled', code: 'aborted', status: 0 }
    : { ok: false, message, code: 'network', status: 0 }
}

/** The failure in an answer: the error envelope, or a sentence with the status when a proxy or a bucket answered instead. */
export function readFailure(status: number, answer: unknown): Failure {
  const envelope = answer as Failure | null | undefined
  if (envelope?.message !== undefined) return { ...envelope, ok: false, status }
  return { ok: false, message: `The server answered ${status} without a reason`, code: 'network', status }
}

/**
 * Whether asking again may help: there was no answer, or the service is busy, at fault, or still at the same request. 408 is among
 * them, because such a request came too slowly and was not carried out (RFC 9110, §15.5.9).
 */
export const isPassing = ({ status, code }: Failure) =>
  status === 0 || status === 408 || status === 429 || status >= 500 || code === 'request_in_flight'

interface SleepOptions {
  /** Ends it early, as being back on the network does with `online`. */
  wake?: AbortSignal | undefined
  online?: boolean
}

/** Waits; ends early when a signal aborts. Whether to go on: false when `signal` is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal, { wake, online }: SleepOptions = {}) {
  return new Promise<boolean>((resolve) => {
    const ended = new AbortController()
    const once = { signal: ended.signal }
    const done = () => {
      clearTimeout(timer)
      ended.abort()
      resolve(signal?.aborted !== true)
    }
    const timer = setTimeout(done, milliseconds)
    // Not in Node, where there is no such event.
    if (online) globalThis.addEventListener?.('online', done, once)
    for (const source of [signal, wake]) {
      source?.addEventListener('abort', done, once)
      if (source?.aborted) done()
    }
  })
}

/** A signal that aborts with the caller's, and by itself after a time: a connection may be dead without having been closed. */
export function deadline(milliseconds: number, signal?: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer = setTimeout(abort, milliseconds)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: controller.signal,
    /** Something was heard: from now on it has so long. */
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

/** Delays that grow, in milliseconds. */
export interface Backoff {
  first: number
  factor: number
  longest: number
  /** A fraction by which each is longer or shorter at random, so that not everybody comes back at once. */
  jitter?: number
}

/** The delay after so many attempts, the first of them 0. */
export const backoff = (attempt: number, { first, factor, longest, jitter = 0 }: Backoff) =>
  Math.min(longest, first * factor ** attempt) * (1 - jitter + 2 * jitter * Math.random())

/**
 * Acts until `delayAfter` gives null for an answer, or the signal aborts, and answers the last answer. Else it acts again after the
 * milliseconds that `delayAfter` gives; attempts count from 0.
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
  /** Delays between answers. */
  pace?: Backoff
  /** Delays between failures in a row. */
  recovery?: Backoff
  /** The shortest delay now, for somebody who polls for many. */
  least?: () => number
  /** Failures in a row that are borne for want of a connection or for a fault of the service; about half a minute. */
  maxFailures?: number
}

const PACE: Backoff = { first: 500, factor: 1.3, longest: 4000 }

/** Asks until an answer is the last word, or a failure: one that may pass only after too many in a row. */
export async function poll<T extends { ok: true }>(
  ask: () => Promise<T | Failure>,
  isLast: (answer: T) => boolean,
  { signal, pace = PACE, recovery = pace, least = () => 0, maxFailures = 10 }: PollOptions = {},
): Promise<T | Failure> {
  let failures = 0
  let isOver = false
  const last = await retry(
    ask,
    (answer, attempt) => {
      if (answer.ok) {
        failures = 0
        isOver = isLast(answer)
        return isOver ? null : Math.max(least(), backoff(attempt, pace))
      }
      if (answer.code === 'aborted' || !isPassing(answer) || ++failures > maxFailures) return null
      return Math.max(least(), backoff(failures - 1, recovery))
    },
    signal,
    { online: true },
  )
  return signal?.aborted && !isOver ? noAnswer(true) : last
}

/** Named timers: one with the same name replaces the one before. They all end with a signal. */
export class Timers {
  readonly #signal: AbortSignal
  readonly #running = new Map<string, AbortController>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.clear(), { once: true })
  }

  /** Acts after a while; with `online` as soon as the machine is back on the network, if that is earlier. */
  after(name: string, milliseconds: number, act: () => void, online = false): void {
    this.stop(name)
    if (this.#signal.aborted) return
    const ended = new AbortController()
    this.#running.set(name, ended)
    void this.#act(name, act, sleep(milliseconds, ended.signal, { online }))
  }

  async #act(name: string, act: () => void, slept: Promise<boolean>): Promise<void> {
    if (!(await slept)) return
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

/** Whether what was begun is still wanted. */
export type IsCurrent = () => boolean

/** Tells a late answer to an earlier request from one to the latest: each `next` ends the one before, and the signal ends them all. */
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
