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
/** How a job would fit on the disk beside those that run. */
type FindRoom = (job: TranscodeJob, running: TranscodeJob[]) => Room
/** Why a job is not taken. */
export type RefusalReason = 'busy' | 'disk_full' | 'stopping'

type Job = {
  request: TranscodeJob
  state: 'queued' | 'running' | 'done'
  /** Where it runs, an index of `SLOTS`. */
  slot: number
  controller: AbortController
  listeners: Set<Listener>
  fallback: JobEvent | null
  early: JobEvent | null
  progress: JobEvent | null
  end: End | null
  endedAt: number
  fetchedAt: number | null
  /** Resolves when nothing of it runs any more. */
  gone: PromiseWithResolvers<void>
}

/**
 * What runs at once: one job of any size, and beside it shorter ones, so that these need not wait for a long one to end. `max_size` is the
 * largest source, in bytes: 2 MB are a minute or two, 20 MB a song. The shorter a job, the sooner it gets a processor: an ffmpeg has a
 * thread for each file that it makes, and all of a long job's together weigh about as much as one of a short job's. No less than that:
 * beside other programs that keep every core busy, a long one is still to get on.
 */
const NICE = [9, 5, 1]
const SLOTS = JOB_SLOTS.map((max_size, slot) => ({ max_size, nice: NICE[slot]! }))
/** Jobs that may wait for a slot. */
const QUEUE = 4
/** Ends that are kept, fetched or not; a result is some KB. */
const KEPT = 200
/** An end that nobody has fetched is kept as long as the URLs of its job are good. */
const KEPT_MS = 6 * 3600_000
/** One that was fetched is kept too: the answer may have been lost on the way. */
const FETCHED_MS = 15 * 60_000

/** The jobs of this instance: some run, a few wait, and how they ended stays until somebody has come for it. */
export function createJobs(transcode: Transcode, findRoom: FindRoom) {
  const jobs = new Map<string, Job>()
  const waiting: Job[] = []
  const running: (Job | null)[] = SLOTS.map(() => null)
  let closed = false
  let settled = () => {}

  const runningJobs = () => running.filter((job) => job !== null)
  /** The free slot that a source fits into, the one for the shortest jobs first; -1 when there is none. */
  const freeSlot = ({ source }: TranscodeJob) =>
    running.findLastIndex((job, slot) => !job && source.size <= SLOTS[slot]!.max_size)

  function startsNow(request: TranscodeJob): boolean {
    const others = runningJobs().map((job) => job.request)
    // What waiting for others does not change, the job itself tells.
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
  // The fetched ones go first, then the oldest.
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
    // Nobody comes for a job that was cancelled.
    const isWanted = job.listeners.size > 0 || event.type === 'result' || event.error.code !== 'cancelled'
    if (!isWanted) jobs.delete(job.request.job_id)
    publish(job, event)
    job.listeners.clear()
    job.gone.resolve()
    forgetOld()
    settle()
  }

  /** Nothing runs, and nobody has to come for anything. */
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

  /** Starts all that can start: in their order, but a short one does not wait for a slot that it does not need. */
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
    /** Why a job is not taken; null when it is, or is here already. */
    refusal(request: TranscodeJob): RefusalReason | null {
      forgetOld()
      if (jobs.has(request.job_id)) return null
      if (closed) return 'stopping'
      const others = runningJobs().map((job) => job.request)
      if (findRoom(request, others) === 'not') return 'disk_full'
      return waiting.length < QUEUE || startsNow(request) ? null : 'busy'
    },
    /** Starts a job that is taken, or joins it. The listener hears at once what it missed. Answers how to leave. */
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
    /** The end of a job has left for whoever asked for it. One that failed starts anew when it is asked for again. */
    fetched(id: string): void {
      const job = jobs.get(id)
      if (job?.state !== 'done') return
      job.fetchedAt ??= Date.now()
      failpoint('result_fetched')
      if (job.end?.type === 'error') jobs.delete(id)
      settle()
    },
    /** Ends a job and forgets it, also how it ended; false when there is none. Resolves when nothing of it is left. */
    async cancel(id: string): Promise<boolean> {
      const job = jobs.get(id)
      if (!job) return false
      if (job.state !== 'done') await cancel(job)
      if (jobs.get(id) === job) jobs.delete(id)
      settle()
      return true
    },
    /** What it does at this moment. */
    state: (): Omit<TranscoderHealth, 'ok'> => ({
      stopping: closed,
      running: runningJobs().length,
      queued: waiting.length,
      slots: SLOTS.map(({ max_size }, slot) => ({
        max_size: Number.isFinite(max_size) ? max_size : null,
        is_free: running[slot] === null,
      })),
    }),
    /** Takes no more jobs and ends the waiting ones; resolves when the others have ended and `lingerMs` later, or once all is fetched. */
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

// Only of our own mistakes, and without the message: that could hold a signed URL.
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
