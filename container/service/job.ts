import type { JobEvent } from '../../src/contract/job.ts'
import { diskError } from '../disk.ts'
import { JobError } from '../job_error.ts'

export type Listener = (event: JobEvent) => void
export type Result = Extract<JobEvent, { type: 'result' | 'imported' }>
export type Outcome = Result | Extract<JobEvent, { type: 'error' }>
type Failure = Extract<JobEvent, { type: 'error' }>['error']

/** The parts of a request that matter for its place among others. An import has no source of a known size. */
export type JobRequest = {
  job_id: string
  pass?: string
  source?: { size: number }
  known_seconds?: number | undefined
}

/** A job with its listeners, and with the events that are repeated to a listener that attaches later. */
export class Job<Request extends JobRequest = JobRequest> {
  readonly request: Request
  readonly controller = new AbortController()
  state: 'queued' | 'running' | 'done' = 'queued'
  /** Index of the slot that the job runs in; -1 before it runs. */
  slot = -1
  outcome: Outcome | null = null
  endedAt = 0
  fetchedAt: number | null = null
  readonly #listeners = new Set<Listener>()
  readonly #ended = Promise.withResolvers<void>()
  #fallback: JobEvent | null = null
  #early: JobEvent | null = null
  #progress: JobEvent | null = null

  constructor(request: Request) {
    this.request = request
  }

  get id(): string {
    return this.request.job_id
  }

  /** Resolves when the job has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  get hasFallenBack(): boolean {
    return this.#fallback !== null
  }

  /** Sends the latest event of each type to the listener, and then all new events. Returns a function that detaches the listener. */
  attach(listener: Listener): () => void {
    for (const event of [this.#fallback, this.#early, this.#progress, this.outcome]) if (event) listener(event)
    if (this.state !== 'done') this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  publish(event: JobEvent): void {
    if (event.type === 'progress') this.#progress = event
    if (event.type === 'early') this.#early = event
    if (event.type === 'fallback') {
      this.#fallback = event
      this.#progress = null
    }
    for (const listener of this.#listeners) listener(event)
  }

  /** Publishes the outcome as the last event. */
  end(outcome: Outcome): void {
    this.state = 'done'
    this.outcome = outcome
    this.endedAt = Date.now()
    this.publish(outcome)
    this.#listeners.clear()
    this.#ended.resolve()
  }
}

export const canceled = (): Failure => ({ code: 'cancelled', message: 'The job was cancelled.', retryable: true })

/** Converts a thrown value to the failure that clients receive. */
export function toFailure(thrown: unknown): Failure {
  const error = thrown instanceof JobError ? thrown : diskError(thrown)
  if (error) return { code: error.code as Failure['code'], message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'The transcoder failed.', retryable: true }
}

/** Returns the stack of an unexpected error for the log. It omits the message, which could contain a signed URL. */
export function detailOf(thrown: unknown): string | undefined {
  if (thrown instanceof JobError || !(thrown instanceof Error)) return undefined
  const frames = (thrown.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return [thrown.name, ...frames.slice(0, 4)].join(' ')
}
