import { IMPORT_SLOTS, JOB_SLOTS } from '../../src/contract/facts.ts'
import type { HandBack, TranscoderHealth } from '../../src/contract/job.ts'
import type { DiskSpace } from '../disk.ts'
import { failpoint } from '../failpoint.ts'
import { SlotTooSmall } from '../job_error.ts'
import { log } from '../log.ts'
import { canceled, detailOf, Job, type JobRequest, type Listener, type Outcome, type Result, toFailure } from './job.ts'

/** Runs a job to its last event. */
type Run<Request> = (
  job: Request,
  options: { signal: AbortSignal; emit: Listener; nice: number; maxSeconds: number },
) => Promise<Result>
/** Returns whether a job fits on the disk in addition to the running jobs. */
type FindRoom<Request> = (job: Request, running: Request[]) => DiskSpace
type Slot = { max_size: number; max_seconds: number; nice: number }
/** The reason why a job is refused. */
export type RefusalReason = 'busy' | 'disk_full' | 'stopping'

/**
 * Niceness of each slot. Shorter jobs get a higher priority: ffmpeg has one thread per output file, and with these values, all threads of a
 * long job together get about as much CPU time as one thread of a short job. With an even lower priority, long jobs would starve on a
 * machine where other programs keep every core busy.
 */
const NICE = [9, 5, 1]
/**
 * One slot for jobs of any size and two for shorter ones, so that short jobs need not wait for a long one. `max_size` is the maximum size
 * of a source in bytes: 2 MB are a minute or two of audio, and 20 MB are a song. `max_seconds` is the maximum length of its audio, because
 * hours of silence can have a few megabytes.
 */
export const transcodeSlots = (seconds: number[]): Slot[] =>
  JOB_SLOTS.map((max_size, slot) => ({ max_size, max_seconds: seconds[slot]!, nice: NICE[slot]! }))
/** The slots of imports, which wait for other servers and use little CPU. */
export const importSlots = (): Slot[] =>
  Array.from({ length: IMPORT_SLOTS }, () => ({ max_size: Infinity, max_seconds: Infinity, nice: 0 }))
/** Maximum number of jobs that wait for a slot. */
const QUEUE_LIMIT = 4
/** Maximum number of finished jobs that are kept, whether their outcome was fetched or not. A result has a few KB. */
const KEPT_JOBS = 200
/** Milliseconds for which an outcome is kept if it is not fetched: as long as the URLs of its job are valid. */
const UNFETCHED_MS = 6 * 3600_000
/** Milliseconds for which an outcome is kept after it was fetched, because the response may have been lost. */
const FETCHED_MS = 15 * 60_000

/** The queued, running and finished jobs of one kind. */
export class Jobs<Request extends JobRequest> {
  readonly #runJob: Run<Request>
  readonly #findRoom: FindRoom<Request>
  readonly #jobs = new Map<string, Job<Request>>()
  readonly #queue: Job<Request>[] = []
  /** The job of each slot; null if the slot is free. */
  readonly #slots: (Job<Request> | null)[]
  readonly #limits: Slot[]
  #stopping = false
  #onSettled = () => {}

  constructor(run: Run<Request>, findRoom: FindRoom<Request>, slots: Slot[]) {
    this.#runJob = run
    this.#findRoom = findRoom
    this.#limits = slots
    this.#slots = this.#limits.map(() => null)
  }

  /** Returns the reason why a job is refused, or null if it is accepted or already exists. */
  refusal(request: Request): RefusalReason | null {
    this.#dropOld()
    if (this.#find(request)) return null
    if (this.#stopping) return 'stopping'
    if (this.#findRoom(request, this.#runningRequests()) === 'not') return 'disk_full'
    return this.#queue.length < QUEUE_LIMIT || this.#canStart(request) ? null : 'busy'
  }

  /**
   * Queues an accepted job if it does not exist yet. Sends the events so far to the listener immediately, and then all new events. Returns
   * a function that detaches the listener.
   */
  attach(request: Request, listener: Listener): () => void {
    let job = this.#find(request)
    if (!job) {
      job = new Job(request)
      this.#jobs.set(job.id, job)
      this.#queue.push(job)
    }
    const detach = job.attach(listener)
    this.#startQueued()
    return detach
  }

  /** Records that the outcome of a job was sent to a client. A failed job is forgotten, so that the next request starts it again. */
  fetched(id: string): void {
    const job = this.#jobs.get(id)
    if (job?.state !== 'done') return
    job.fetchedAt ??= Date.now()
    failpoint('result_fetched')
    if (job.outcome?.type === 'error') this.#jobs.delete(id)
    this.#notifyIfSettled()
  }

  /** Cancels a job and drops its outcome. Resolves when the job has stopped, to false if it does not exist. */
  async cancel(id: string): Promise<boolean> {
    const job = this.#jobs.get(id)
    if (!job) return false
    if (job.state !== 'done') await this.#abort(job)
    if (this.#jobs.get(id) === job) this.#jobs.delete(id)
    this.#notifyIfSettled()
    return true
  }

  cancelAll(): void {
    for (const job of this.#jobs.values()) if (job.state !== 'done') void this.#abort(job)
  }

  /** Returns the current load for health checks. */
  state(): Omit<TranscoderHealth, 'ok'> {
    return {
      stopping: this.#stopping,
      running: this.#running().length,
      queued: this.#queue.length,
      slots: this.#limits.map(({ max_size, max_seconds }, slot) => ({
        max_size: Number.isFinite(max_size) ? max_size : null,
        max_seconds: Number.isFinite(max_seconds) ? max_seconds : null,
        is_free: this.#slots[slot] === null,
      })),
    }
  }

  /**
   * Refuses new jobs and cancels queued jobs. Resolves when the running jobs have ended and all outcomes have been fetched, or after
   * `lingerMs`.
   */
  async drain(lingerMs: number): Promise<void> {
    this.#stopping = true
    while (this.#queue[0]) void this.#abort(this.#queue[0])
    await Promise.all(this.#running().map((job) => job.ended))
    if (this.#isSettled()) return
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve
      setTimeout(resolve, lingerMs)
    })
  }

  #running(): Job<Request>[] {
    return this.#slots.filter((job) => job !== null)
  }

  #runningRequests(): Request[] {
    return this.#running().map((job) => job.request)
  }

  /**
   * Returns the job of a request, if it exists. A job that was handed back is dropped when it is requested for its larger slot, because
   * `fetched` may not have been called yet.
   */
  #find({ job_id, known_seconds = 0 }: Request): Job<Request> | undefined {
    const job = this.#jobs.get(job_id)
    const handBack = job?.outcome?.type === 'error' ? job.outcome.hand_back : undefined
    if (!handBack || known_seconds < handBack.seconds) return job
    this.#jobs.delete(job_id)
    return undefined
  }

  #isLargeEnough(slot: number, { source, known_seconds = 0 }: Request): boolean {
    const { max_size, max_seconds } = this.#limits[slot]!
    return (source?.size ?? 0) <= max_size && known_seconds <= max_seconds
  }

  /** Returns the index of the smallest slot that fits a job, free or not. */
  #smallestSlot(request: Request): number {
    return this.#slots.findLastIndex((_, slot) => this.#isLargeEnough(slot, request))
  }

  /** Returns the index of the smallest free slot that fits a job, or -1. */
  #freeSlot(request: Request): number {
    return this.#slots.findLastIndex((job, slot) => !job && this.#isLargeEnough(slot, request))
  }

  /**
   * Returns the maximum length of a job's audio. It depends on the job's smallest slot and not on the slot in which it runs, because the
   * rank of the job in the Worker's queue was derived from the same limit.
   */
  #maxSeconds(request: Request): number {
    return request.known_seconds === undefined ? Infinity : this.#limits[this.#smallestSlot(request)]!.max_seconds
  }

  #canStart(request: Request): boolean {
    const others = this.#runningRequests()
    // If the disk is too small for the job even without the other jobs, the job starts anyway, and fails with that error.
    return this.#freeSlot(request) >= 0 && (others.length === 0 || this.#findRoom(request, others) !== 'later')
  }

  /**
   * Starts every job that can start, in the order of the queue. A short job overtakes a long one when only a slot for short jobs is free.
   */
  #startQueued(): void {
    for (;;) {
      const job = this.#queue.find(({ request }) => this.#canStart(request))
      if (!job) return
      this.#dequeue(job)
      job.slot = this.#freeSlot(job.request)
      job.state = 'running'
      this.#slots[job.slot] = job
      void this.#run(job)
    }
  }

  #dequeue(job: Job<Request>): void {
    this.#queue.splice(this.#queue.indexOf(job), 1)
  }

  async #run(job: Job<Request>): Promise<void> {
    const started = Date.now()
    const { id: job_id, slot, controller, request } = job
    log('job_started', { job_id, pass: request.pass, size: request.source?.size, slot })
    const { signal } = controller
    const seconds = () => (Date.now() - started) / 1000
    try {
      const emit: Listener = (event) => job.publish(event)
      const maxSeconds = this.#maxSeconds(request)
      const outcome = await this.#runJob(request, { signal, emit, nice: this.#limits[slot]!.nice, maxSeconds })
      failpoint('result_ready')
      log('job_done', { job_id, seconds: seconds(), fallback: job.hasFallenBack, ...factsOf(outcome) })
      this.#slots[slot] = null
      this.#end(job, outcome)
    } catch (thrown) {
      const error = signal.aborted ? canceled() : toFailure(thrown)
      const hand_back = !signal.aborted && thrown instanceof SlotTooSmall ? this.#handBack(request, thrown) : undefined
      if (hand_back) log('job_handed_back', { job_id, seconds: seconds(), hand_back })
      else log('job_failed', { job_id, seconds: seconds(), ...error, detail: detailOf(thrown) })
      this.#slots[slot] = null
      this.#end(job, { type: 'error', error, ...(hand_back && { hand_back }) })
    }
    this.#startQueued()
  }

  #handBack(request: Request, { seconds }: SlotTooSmall): HandBack {
    failpoint('handed_back')
    return { seconds, slot: this.#smallestSlot({ ...request, known_seconds: seconds }) }
  }

  #abort(job: Job<Request>): Promise<void> {
    job.controller.abort()
    if (job.state === 'queued') {
      this.#dequeue(job)
      this.#end(job, { type: 'error', error: canceled() })
    }
    return job.ended
  }

  #end(job: Job<Request>, outcome: Outcome): void {
    // No client will fetch the outcome of a canceled job without listeners.
    const isCanceled = outcome.type === 'error' && outcome.error.code === 'cancelled' && !outcome.hand_back
    if (isCanceled && !job.hasListeners) this.#jobs.delete(job.id)
    job.end(outcome)
    this.#dropOld()
    this.#notifyIfSettled()
  }

  #dropOld(): void {
    const done = [...this.#jobs.values()].filter((job) => job.state === 'done')
    const oldestFirst = done.toSorted((a, b) => keepPriority(a) - keepPriority(b))
    const excess = new Set(oldestFirst.slice(0, Math.max(0, done.length - KEPT_JOBS)))
    for (const job of done) {
      const expiresAt = job.fetchedAt === null ? job.endedAt + UNFETCHED_MS : job.fetchedAt + FETCHED_MS
      if (excess.has(job) || Date.now() > expiresAt) this.#jobs.delete(job.id)
    }
  }

  /** Whether no job is running and every outcome has been fetched. */
  #isSettled(): boolean {
    const isUnfetched = [...this.#jobs.values()].some((job) => job.state === 'done' && job.fetchedAt === null)
    return this.#running().length === 0 && !isUnfetched
  }

  #notifyIfSettled(): void {
    if (this.#isSettled()) this.#onSettled()
  }
}

/** Returns the sort key for dropping outcomes. Fetched outcomes are dropped first, and then the oldest. */
const keepPriority = (job: Pick<Job, 'endedAt' | 'fetchedAt'>) =>
  job.endedAt - (job.fetchedAt === null ? 0 : UNFETCHED_MS)

/** Returns the facts about an outcome that are logged. */
function factsOf(outcome: Result) {
  if (outcome.type === 'imported') return { size: outcome.size }
  const { duration, variants, failed } = outcome.result
  return { duration, variants: variants.length, failed: failed.length }
}
