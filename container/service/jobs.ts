import type { JobEvent, JobResult, TranscodeJob } from '../../src/contract/job.ts'
import { diskError } from '../disk.ts'
import { JobError } from '../job_error.ts'
import { log } from '../log.ts'

type Listener = (event: JobEvent) => void
type Failure = Extract<JobEvent, { type: 'error' }>['error']
type Transcode = (job: TranscodeJob, signal: AbortSignal, emit: Listener) => Promise<JobResult>

type Job = {
  request: TranscodeJob
  state: 'queued' | 'running' | 'done'
  controller: AbortController
  listeners: Set<Listener>
  fallback: JobEvent | null
  early: JobEvent | null
  progress: JobEvent | null
  end: JobEvent | null
  endedAt: number
}

const QUEUE = 4
const KEPT_RESULTS = 100
const KEPT_MS = 15 * 60 * 1000

/** The jobs of this instance: one runs, a few wait, results stay for a while so that a consumer can come back for them. */
export function createJobs(transcode: Transcode) {
  const jobs = new Map<string, Job>()
  const waiting: Job[] = []
  let current: Promise<void> | null = null
  let closed = false

  function forgetOld() {
    const done = [...jobs].filter(([, job]) => job.state === 'done')
    const tooMany = done.length - KEPT_RESULTS
    done.forEach(([id, job], i) => {
      if (i < tooMany || Date.now() - job.endedAt > KEPT_MS) jobs.delete(id)
    })
  }

  function publish(job: Job, event: JobEvent) {
    if (event.type === 'progress') job.progress = event
    if (event.type === 'early') job.early = event
    if (event.type === 'fallback') {
      job.fallback = event
      job.progress = null
    }
    for (const listener of job.listeners) listener(event)
  }

  function end(job: Job, event: JobEvent) {
    const id = job.request.job_id
    job.state = 'done'
    job.end = event
    job.endedAt = Date.now()
    // Re-inserted, so that the map is in the order of endings; a failed job starts anew the next time.
    jobs.delete(id)
    if (event.type === 'result') jobs.set(id, job)
    publish(job, event)
    job.listeners.clear()
    forgetOld()
  }

  async function runOne(job: Job) {
    const started = Date.now()
    const { job_id } = job.request
    job.state = 'running'
    log('job_started', { job_id, pass: job.request.pass, size: job.request.source.size })
    try {
      const result = await transcode(job.request, job.controller.signal, (event) => publish(job, event))
      const facts = { duration: result.duration, variants: result.variants.length, failed: result.failed.length }
      log('job_done', { job_id, seconds: (Date.now() - started) / 1000, fallback: job.fallback !== null, ...facts })
      end(job, { type: 'result', result })
    } catch (thrown) {
      const error = job.controller.signal.aborted ? cancelled() : toFailure(thrown)
      log('job_failed', { job_id, seconds: (Date.now() - started) / 1000, ...error, detail: detailOf(thrown) })
      end(job, { type: 'error', error })
    }
  }

  function next() {
    const job = closed ? undefined : waiting.shift()
    current = job ? runOne(job).finally(next) : null
  }

  function cancel(job: Job) {
    job.controller.abort()
    const place = waiting.indexOf(job)
    if (place < 0) return
    waiting.splice(place, 1)
    end(job, { type: 'error', error: cancelled() })
  }

  return {
    /** Whether there is room for a job, or it is here already. */
    takes({ job_id }: TranscodeJob): boolean {
      forgetOld()
      return jobs.has(job_id) || (!closed && waiting.length < QUEUE)
    },
    /** Starts a job that there is room for, or joins it. The listener hears at once what it missed. Answers how to leave. */
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
      if (!current) next()
      return () => joined.listeners.delete(listener)
    },
    /** Cancels a job that has not ended, false when there is none. */
    cancel(id: string): boolean {
      const job = jobs.get(id)
      if (!job || job.state === 'done') return false
      cancel(job)
      return true
    },
    counts: () => ({ running: current ? 1 : 0, queued: waiting.length }),
    /** Takes no more jobs and ends the waiting ones; resolves when the running one has ended. */
    async close(): Promise<void> {
      closed = true
      while (waiting[0]) cancel(waiting[0])
      await current
    },
    cancelAll(): void {
      for (const job of jobs.values()) if (job.state !== 'done') cancel(job)
    },
  }
}

function newJob(request: TranscodeJob): Job {
  const controller = new AbortController()
  return {
    request,
    state: 'queued',
    controller,
    listeners: new Set(),
    fallback: null,
    early: null,
    progress: null,
    end: null,
    endedAt: 0,
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
