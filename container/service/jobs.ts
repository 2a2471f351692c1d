import { JOB_SLOTS } from '../../src/contract/facts.ts'
import type { JobEvent, JobResult, TranscodeJob, TranscoderHealth } from '../../src/contract/job.ts'
import { diskError, type Room } from '../disk.ts'
import { failpoint } from '../failpoint.ts'
import { JobError } from '../job_error.ts'
import { log } from '../log.ts'

type Listener = (event: JobEvent) => void
type End = Extract<JobEvent, { type: 'result' | 'error' }>
type Failure = Extract<JobEvent, { type: 'error' }>['error']
type Transcode = (
  job: TranscodeJob,
  options: { signal: AbortSignal; emit: Listener; nice: number },
) => Promise<JobResult>
/** Whether the job would fit on the disk with the running ones. */
type FindRoom = (job: TranscodeJob, running: TranscodeJob[]) => Room
/** The reason for refusing a job. */
export type RefusalReason = 'busy' | 'disk_full' | 'stopping'

type Job = {
  request: TranscodeJob
  state: 'queued' | 'running' | 'done'
  /** Index in `SLOTS` of the slot that the job runs in. */
  slot: number
  controller: AbortController
  listeners: Set<Listener>
  fallback: JobEvent | null
  early: JobEvent | null
  progress: JobEvent | null
  end: End | null
  endedAt: number
  fetchedAt: number | null
  /** Resolves when the job has ended. */
  gone: PromiseWithResolvers<void>
}

/**
 * The slots: one for jobs of any size and two for shorter ones, so that short jobs need not wait for a long one. `max_size` is the
 * largest source in bytes: 2 MB are a minute or two, 20 MB a song. Shorter jobs get a higher priority: an ffmpeg has one thread per
 * output file, and with this niceness all threads of a long job together weigh about as much as one of a short job. A lower priority
 * would starve long jobs on a machine where other programs keep every core busy.
 */
const NICE = [9, 5, 1]
const SLOTS = JOB_SLOTS.map((max_size, slot) => ({ max_size, nice: NICE[slot]! }))
/** Jobs that may be queued for a slot. */
const QUEUE = 4
/** Outcomes that are kept, fetched or not; a result takes some KB. */
const KEPT = 200
/** An unfetched outcome is kept while the URLs of its job are valid. */
const KEPT_MS = 6 * 3600_000
/** A fetched outcome is also kept, because the response may have been lost. */
const FETCHED_MS = 15 * 60_000

/** The jobs of this instance: running, queued, and finished ones until their outcome is fetched. */
export function createJobs(transcode: Transcode, findRoom: FindRoom) {
  const jobs = new Map<string, Job>()
  const waiting: Job[] = []
  const running: (Job | null)[] = SLOTS.map(() => null)
  let closed = false
  let settled = () => {}

  const runningJobs = () => running.filter((job) => job !== null)
  /** The free slot for the smallest sources that this one fits; -1 if there is no free slot. */
  const freeSlot = ({ source }: TranscodeJob) =>
    running.findLastIndex((job, slot) => !job && source.size <= SLOTS[slot]!.max_size)

  function startsNow(request: TranscodeJob): boolean {
    const others = runningJobs().map((job) => job.request)
    // If the disk is too small even without the other jobs, the job starts and reports that itself.
    return freeSlot(request) >= 0 && (others.length === 0 || findRoom(request, others) !== 'later')
  }

  function forgetOld() {
    const done = [...jobs.values()].filter((job) => job.state === 'done')
    const tooMany = new Set(done.toSorted((a, b) => urgency(a) - urgency(b)).slice(0, Math.max(0, done.length - KEPT)))
    for (const job of done) {
      const until = job.fetchedAt === null ? job.endedAt + KEPT_MS : job.fetchedAt + FETCHED_MS
      if (tooMany.has(job) || Date.now() > until) jobs.delete(job.request.job_id)
    }
  }
  // Fetched outcomes are dropped first, then the oldest.
  const urgency = (job: Job) => job.endedAt - (job.fetchedAt === null ? 0 : KEPT_MS)

  function publish(job: Job, event: JobEvent) {
    if (event.type === 'progress') job.progress = event
    if (event.type === 'early') job.early = event
    if (event.type === 'fallback') {
      job.fallback = event
      job.progress = null
    }
    for (const listener of job.listeners) listener(event)
  }

  function end(job: Job, event: End) {
    job.state = 'done'
    job.end = event
    job.endedAt = Date.now()
    // A canceled job without listeners will not be fetched.
    const isWanted = job.listeners.size > 0 || event.type === 'result' || event.error.code !== 'cancelled'
    if (!isWanted) jobs.delete(job.request.job_id)
    publish(job, event)
    job.listeners.clear()
    job.gone.resolve()
    forgetOld()
    settle()
  }

  /** True when nothing runs and every outcome has been fetched. */
  function isSettled(): boolean {
    const unfetched = [...jobs.values()].some((job) => job.state === 'done' && job.fetchedAt === null)
    return runningJobs().length === 0 && !unfetched
  }
  const settle = () => isSettled() && settled()

  async function run(job: Job) {
    const started = Date.now()
    const { job_id, pass, source } = job.request
    log('job_started', { job_id, pass, size: source.size, slot: job.slot })
    const { signal } = job.controller
    const seconds = () => (Date.now() - started) / 1000
    try {
      const emit: Listener = (event) => publish(job, event)
      const result = await transcode(job.request, { signal, emit, nice: SLOTS[job.slot]!.nice })
      failpoint('result_ready')
      const { duration, variants, failed } = result
      const made = { duration, variants: variants.length, failed: failed.length }
      log('job_done', { job_id, seconds: seconds(), fallback: job.fallback !== null, ...made })
      running[job.slot] = null
      end(job, { type: 'result', result })
    } catch (thrown) {
      const error = signal.aborted ? cancelled() : toFailure(thrown)
      log('job_failed', { job_id, seconds: seconds(), ...error, detail: detailOf(thrown) })
      running[job.slot] = null
      end(job, { type: 'error', error })
    }
    startWaiting()
  }

  /** Starts every job that can start, in queue order; a short job skips ahead when a slot that fits only short ones is free. */
  function startWaiting() {
    for (;;) {
      const job = waiting.find(({ request }) => startsNow(request))
      if (!job) return
      waiting.splice(waiting.indexOf(job), 1)
      job.slot = freeSlot(job.request)
      job.state = 'running'
      running[job.slot] = job
      void run(job)
    }
  }

  function cancel(job: Job): Promise<void> {
    job.controller.abort()
    if (job.state === 'queued') {
      waiting.splice(waiting.indexOf(job), 1)
      end(job, { type: 'error', error: cancelled() })
    }
    return job.gone.promise
  }

  return {
    /** Returns why a job is refused; null if it is accepted or already exists. */
    refusal(request: TranscodeJob): RefusalReason | null {
      forgetOld()
      if (jobs.has(request.job_id)) return null
      if (closed) return 'stopping'
      const others = runningJobs().map((job) => job.request)
      if (findRoom(request, others) === 'not') return 'disk_full'
      return waiting.length < QUEUE || startsNow(request) ? null : 'busy'
    },
    /** Starts an accepted job or joins it. Replays the missed events to the listener at once. Returns a function that detaches it. */
    attach(request: TranscodeJob, listener: Listener): () => void {
      let job = jobs.get(request.job_id)
      if (!job) {
        job = newJob(request)
        jobs.set(request.job_id, job)
        waiting.push(job)
      }
      for (const event of [job.fallback, job.early, job.progress, job.end]) if (event) listener(event)
      const joined = job
      if (joined.state !== 'done') joined.listeners.add(listener)
      startWaiting()
      return () => joined.listeners.delete(listener)
    },
    /** Records that the outcome was sent to a client. A failed job starts again at the next request. */
    fetched(id: string): void {
      const job = jobs.get(id)
      if (job?.state !== 'done') return
      job.fetchedAt ??= Date.now()
      failpoint('result_fetched')
      if (job.end?.type === 'error') jobs.delete(id)
      settle()
    },
    /** Cancels a job and drops its outcome; returns false if the job does not exist. Resolves when the job has stopped. */
    async cancel(id: string): Promise<boolean> {
      const job = jobs.get(id)
      if (!job) return false
      if (job.state !== 'done') await cancel(job)
      if (jobs.get(id) === job) jobs.delete(id)
      settle()
      return true
    },
    /** The current load, for health checks. */
    state: (): Omit<TranscoderHealth, 'ok'> => ({
      stopping: closed,
      running: runningJobs().length,
      queued: waiting.length,
      slots: SLOTS.map(({ max_size }, slot) => ({
        max_size: Number.isFinite(max_size) ? max_size : null,
        is_free: running[slot] === null,
      })),
    }),
    /**
     * Refuses new jobs and cancels queued ones. Resolves when the running ones have ended and all outcomes are fetched, or `lingerMs`
     * later.
     */
    async drain(lingerMs: number): Promise<void> {
      closed = true
      while (waiting[0]) void cancel(waiting[0])
      await Promise.all(runningJobs().map((job) => job.gone.promise))
      if (isSettled()) return
      await new Promise<void>((resolve) => {
        settled = resolve
        setTimeout(resolve, lingerMs)
      })
    },
    cancelAll(): void {
      for (const job of jobs.values()) if (job.state !== 'done') void cancel(job)
    },
  }
}

function newJob(request: TranscodeJob): Job {
  return {
    request,
    state: 'queued',
    slot: -1,
    controller: new AbortController(),
    listeners: new Set(),
    fallback: null,
    early: null,
    progress: null,
    end: null,
    endedAt: 0,
    fetchedAt: null,
    gone: Promise.withResolvers<void>(),
  }
}

function cancelled(): Failure {
  return { code: 'cancelled', message: 'The job was cancelled.', retryable: true }
}

function toFailure(thrown: unknown): Failure {
  const error = thrown instanceof JobError ? thrown : diskError(thrown)
  if (error) return { code: error.code as Failure['code'], message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'The transcoder failed.', retryable: true }
}

// Only for unexpected errors, and without the message, which could contain a signed URL.
function detailOf(thrown: unknown): string | undefined {
  if (thrown instanceof JobError || !(thrown instanceof Error)) return undefined
  return [
    thrown.name,
    ...(thrown.stack ?? '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 4),
  ].join(' ')
}
