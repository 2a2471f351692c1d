import { and, sql } from 'drizzle-orm'

import { isPassing } from '../../adapters/database.ts'
import { readNdjson } from '../../adapters/ndjson.ts'
import { tracks } from '../../adapters/schema.ts'
import { callTranscoder, cancelJob, toTranscoder } from '../../adapters/transcoder.ts'
import { jobs } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import type { TrackErrorCode } from '../../contract/errors.ts'
import { JobEvent, JobEventType } from '../../contract/job.ts'
import { describeError, isFull } from '../../errors.ts'
import {
  backoff,
  done,
  end,
  isLeaseHolder,
  type LeasedJob,
  type Job,
  LEASE,
  load,
  MAX_ATTEMPTS,
  type Outcome,
  release,
  sendJob,
  ifLeaseHeld,
} from '../jobs.ts'
import { nudgeFor } from '../webhook.ts'
import { writeEarly } from './early.ts'
import { dispatch } from './line.ts'
import { jobRequest, loadTask, type TranscodeTask } from './request.ts'
import { failTranscode, finishTranscode } from './result.ts'
import { trackOf } from './track_job.ts'

/** Milliseconds between two renewals of the lease, a third of its duration. */
const RENEW_EVERY = LEASE / 3
/** Progress is written together with the lease, when both this time has passed and it moved by `STEP`: each write costs two rows. */
const PROGRESS_EVERY = 10_000
const PROGRESS_STEP = 0.1
/** The least progress of a running job: 0 means that the job is waiting. */
const STARTED = 0.001

/** Consecutive failures that are not caused by the file, about six hours' worth. */
const MAX_TRIES = 360
/** The same for an ffmpeg that the system kills: each time all previous work is lost. */
const MAX_KILLED = 10
/** Milliseconds of silence after which a transcoder counts as lost: it sends an event every ten seconds (src/contract/job.ts). */
const SILENCE_TIMEOUT = 60_000
/** Longest pause between attempts, in seconds. */
const MAX_PAUSE = 60
/** The state of a job after a run: still leased, ended, or requeued because it could not be started. */
export type RunOutcome = 'held' | 'ended' | 'unbegun'

/** The transcoder of a job's slot. */
export interface JobTranscoder {
  /** Sends a request; throws when the transcoder cannot be reached. */
  call: (path: string, init: RequestInit) => Promise<Response>
  /** Cancels the job's processes; returns false when it is not certain that they ended. */
  cancel: () => Promise<boolean>
}
/** Functions that a `TranscodeFollower` needs. */
export interface TranscoderPort {
  /** Follows a leased job until `signal`. Never throws. */
  follow: (job: LeasedJob, at: JobTranscoder, signal: AbortSignal) => Promise<RunOutcome>
  /** Dispatches the queue, because a slot is free. */
  next: () => Promise<void>
  /** Sends a request to the transcoder behind this container, or at `TRANSCODER_URL`; throws when it cannot be reached. */
  call: (container: Container | undefined, path: string, init: RequestInit) => Promise<Response>
  /** Cancels a job's processes there; returns false when it is not certain that they ended. */
  cancel: (container: Container | undefined, job_id: string) => Promise<boolean>
}
export const createTranscoderPort = (system: System): TranscoderPort => ({
  follow: (job, at, signal) => runTranscode(system, job, at, signal),
  next: () => dispatch(system),
  call: (container, path, init) => callTranscoder(system.env, container, path, init),
  cancel: (container, job_id) => cancelJob(system.env, container, job_id),
})

/** How following a job ended; `held`: the lease continues, and a later run goes on. */
type FollowOutcome = Outcome | { end: 'held' }

/** Starts a leased job or reconnects to it, follows it until `signal`, and writes the outcome. */
async function runTranscode(
  system: System,
  leasedJob: LeasedJob,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<RunOutcome> {
  let result: RunOutcome = 'ended'
  let job: Job<'transcode'> | undefined
  try {
    job = (await load(system, leasedJob)) as Job<'transcode'> | undefined
    if (!job) return 'ended'
    const outcome = await startOrAttach(system, job, transcoder, signal)
    if (outcome.end === 'held') return 'held'
    if (outcome.end === 'retry') await requeue(system, job, outcome)
    if (outcome.end === 'retry' && outcome.tries) result = 'unbegun'
  } catch (error) {
    const isTransient = isPassing(error)
    console.error(
      JSON.stringify({
        event: 'transcode_failed',
        job_id: leasedJob.id,
        passing: isTransient,
        error: describeError(error),
      }),
    )
    // The transcoder continues and keeps the result, which the next run fetches.
    if (isTransient || !job) return 'held'
    // If this fails as well, the lease runs out.
    const outcome = { end: 'retry' as const, delay: backoff(job.attempt), counts: !isFull(error) }
    await requeue(system, job, outcome).catch(() => undefined)
  }
  system.forget(job.organization_id)
  await nudgeFor(system, job.organization_id)
  return result
}

/** Puts a job back into the queue, and wakes the queue when the job is due again. */
async function requeue(system: System, job: Job<'transcode'>, outcome: Extract<Outcome, { end: 'retry' }>) {
  await release(system, job, outcome.delay, outcome.counts, outcome.tries)
  await sendJob(system, job, outcome.delay)
}

async function startOrAttach(
  system: System,
  job: Job<'transcode'>,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  const task = await loadTask(system, job)
  if (!task) {
    // An earlier run may still be active.
    await transcoder.cancel()
    await end(system, job)
    return done
  }
  if (job.tries > MAX_TRIES) return giveUpUnreachable(system, job)
  if (job.attempt > MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped again and again while it worked on this file')
  }
  let response: Response
  try {
    const request = await jobRequest(system.env, task)
    response = await transcoder.call(`/jobs/${job.id}`, toTranscoder(system.env, 'POST', request, signal))
  } catch (error) {
    if (signal.aborted) return { end: 'held' }
    console.error(JSON.stringify({ event: 'transcoder_unreachable', job_id: job.id, error: describeError(error) }))
    return retryLater(system, job, 5)
  }
  if (response.ok && response.body) return followEvents(system, task, response.body, signal)
  const refusal = { status: response.status, body: (await response.text()).slice(0, 1000) }
  console.error(JSON.stringify({ event: 'transcoder_refused', job_id: job.id, ...refusal }))
  return retryLater(system, job, Number(response.headers.get('retry-after')) || 5)
}

/** The file is not the cause, so this costs no attempt; still, the number of tries is limited. */
async function retryLater(system: System, job: Job<'transcode'>, delay: number): Promise<Outcome> {
  const tries = job.tries + 1
  if (tries > MAX_TRIES) return giveUpUnreachable(system, job)
  return { end: 'retry', delay: Math.max(delay, Math.min(MAX_PAUSE, backoff(tries))), counts: false, tries }
}

const giveUpUnreachable = (system: System, job: Job<'transcode'>) => {
  const message = 'The transcoder could not be reached for hours; the upload is kept, process the track again later'
  return giveUp(system, job, 'transcoder_unavailable', message)
}

async function followEvents(
  system: System,
  task: TranscodeTask,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  const { job } = task
  let renewedAt = job.lease_until - LEASE
  let writtenProgress: { at: number; fraction: number } | null = null
  let reachedFraction = 0
  for await (const event of jobEvents(job, body, signal)) {
    if (event.type === 'silence') return retryLater(system, job, 5)
    if (event.type === 'result') {
      await finishTranscode(system, task, event.result)
      return done
    }
    if (event.type === 'error') {
      const { code, message } = event.error
      if (code === 'killed' && job.tries >= MAX_KILLED) return giveUp(system, job, code, message)
      if (code === 'killed' || code === 'cancelled') return retryLater(system, job, 5)
      if (event.error.retryable && job.attempt < MAX_ATTEMPTS) {
        return { end: 'retry', delay: backoff(job.attempt), counts: true }
      }
      return giveUp(system, job, code, message)
    }
    if (event.type === 'fallback') {
      await switchToTolerantPass(system, job)
      writtenProgress = null
      reachedFraction = 0
      continue
    }
    if (event.type === 'early') {
      await writeEarly(system, task, event.file)
      continue
    }
    const now = Date.now()
    const fraction = event.type === 'progress' ? event.fraction : null
    reachedFraction = Math.max(reachedFraction, fraction ?? 0)
    const hasAdvanced =
      fraction !== null &&
      (!writtenProgress ||
        (now - writtenProgress.at >= PROGRESS_EVERY && fraction - writtenProgress.fraction >= PROGRESS_STEP))
    if (hasAdvanced || now - renewedAt >= RENEW_EVERY) {
      const isRenewed = await renewLease(system, job, hasAdvanced ? fraction : null)
      if (isRenewed === false) return done
      if (isRenewed) renewedAt = now
      if (isRenewed && hasAdvanced) writtenProgress = { at: now, fraction }
    }
  }
  if (signal.aborted) return { end: 'held' }
  // The stream ended without an answer, so the transcoder died. It got further than any earlier attempt, so the file is probably not the
  // cause.
  if (reachedFraction > (writtenProgress?.fraction ?? 0)) await renewLease(system, job, reachedFraction)
  if (reachedFraction >= task.progress + PROGRESS_STEP) return { end: 'retry', delay: 2, counts: false }
  if (job.attempt >= MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped while it worked on this file')
  }
  // A second crash: the file may be the cause.
  if (job.attempt >= 2) await switchToTolerantPass(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** The events of a job, until `signal`, or until the stream breaks, falls silent or sends something that is not an event. */
async function* jobEvents(
  job: Job<'transcode'>,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | { type: 'silence' }> {
  const lines = readNdjson(body)
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
  for (;;) {
    let event: JobEvent
    try {
      const next = lines.next()
      const received = new AbortController()
      const silence = scheduler.wait(SILENCE_TIMEOUT, { signal: received.signal }).then(
        () => 'silence' as const,
        () => null,
      )
      const read = signal.aborted ? null : await Promise.race([next, aborted, silence])
      received.abort()
      if (read === null || read === 'silence') {
        // The transcoder may continue with the job.
        next.catch(() => undefined)
        void lines.return(undefined).catch(() => undefined)
        if (read) yield { type: 'silence' }
        return
      }
      if (read.done) return
      // A newer transcoder may send event types that this Worker does not know.
      if (!JobEventType.safeParse(read.value).success) continue
      event = JobEvent.parse(read.value)
    } catch (error) {
      if (signal.aborted) return
      const details = { job_id: job.id, attempt: job.attempt, error: describeError(error) }
      console.error(JSON.stringify({ event: 'transcoder_lost', ...details }))
      return
    }
    yield event
  }
}

const giveUp = async (
  system: System,
  job: Job<'transcode'>,
  code: TrackErrorCode,
  message: string,
): Promise<Outcome> => {
  await failTranscode(system, job, code, message)
  return done
}

/** Switches to the tolerant pass, which later attempts also use. Progress restarts at zero. */
async function switchToTolerantPass({ db }: System, job: Job<'transcode'>): Promise<void> {
  const strict = sql`exists (select 1 from jobs where ${isLeaseHolder(job)} and pass = 'strict')`
  await db.batch([
    db
      .update(tracks)
      .set({ status: 'fallback_processing', progress: STARTED })
      .where(and(trackOf(job), strict)),
    db.update(jobs).set({ pass: 'tolerant' }).where(isLeaseHolder(job)),
  ])
}

/**
 * Renews the lease and writes progress, which never decreases: after a fault, a restarted transcoder first catches up. Returns false when the
 * lease was lost; null when the database does not answer, which is harmless because the lease outlasts several renewals.
 */
async function renewLease(system: System, job: Job<'transcode'>, progress: number | null): Promise<boolean | null> {
  const { db } = system
  try {
    const renewal = db
      .update(jobs)
      .set({ lease_until: Date.now() + LEASE })
      .where(isLeaseHolder(job))
      .returning({ id: jobs.id })
    if (progress === null) return (await renewal).length > 0
    const least = Math.max(STARTED, Math.round(progress * 1000) / 1000)
    const [renewed] = await db.batch([
      renewal,
      db
        .update(tracks)
        .set({ progress: sql`max(coalesce(progress, 0), ${least})` })
        .where(and(trackOf(job), ifLeaseHeld(job))),
    ])
    return renewed.length > 0
  } catch (error) {
    if (!isPassing(error)) throw error
    console.error(JSON.stringify({ event: 'progress_lost', job_id: job.id, error: describeError(error) }))
    return null
  }
}
