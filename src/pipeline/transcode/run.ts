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
  holds,
  type Held,
  type Job,
  LEASE,
  load,
  MAX_ATTEMPTS,
  type Outcome,
  release,
  sendJob,
  whileHeld,
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
const STEP = 0.1
/** The least progress of a running job: 0 means that the job is waiting. */
const STARTED = 0.001

/** Consecutive failures that are not caused by the file, about six hours' worth. */
const MAX_TRIES = 360
/** The same for an ffmpeg that the system kills: each time all previous work is lost. */
const MAX_KILLED = 10
/** Milliseconds of silence after which a transcoder counts as lost: it sends an event every ten seconds (src/contract/job.ts). */
const SILENCE = 60_000
/** Longest pause between attempts, in seconds. */
const LONGEST_PAUSE = 60
/** The state of a job after a run: still leased, ended, or requeued because it could not be started. */
export type Left = 'held' | 'ended' | 'unbegun'

/** The transcoder of a job's slot. */
export interface Place {
  /** Sends a request; throws when the transcoder cannot be reached. */
  call: (path: string, init: RequestInit) => Promise<Response>
  /** Cancels the job's processes; returns false when it is not certain that they ended. */
  cancel: () => Promise<boolean>
}
/** Functions that a `TranscodeFollower` needs. */
export interface Work {
  /** Follows a leased job until `signal`. Never throws. */
  follow: (job: Held, at: Place, signal: AbortSignal) => Promise<Left>
  /** Dispatches the queue, because a slot is free. */
  next: () => Promise<void>
  /** Sends a request to the transcoder behind this container, or at `TRANSCODER_URL`; throws when it cannot be reached. */
  call: (container: Container | undefined, path: string, init: RequestInit) => Promise<Response>
  /** Cancels a job's processes there; returns false when it is not certain that they ended. */
  cancel: (container: Container | undefined, job_id: string) => Promise<boolean>
}
export const following = (system: System): Work => ({
  follow: (job, at, signal) => followTranscode(system, job, at, signal),
  next: () => dispatch(system),
  call: (container, path, init) => callTranscoder(system.env, container, path, init),
  cancel: (container, job_id) => cancelJob(system.env, container, job_id),
})

/** How following a job ended; `held`: the lease continues, and a later run goes on. */
type Followed = Outcome | { end: 'held' }

/** Starts a leased job or reconnects to it, follows it until `signal`, and writes the outcome. */
async function followTranscode(system: System, held: Held, at: Place, signal: AbortSignal): Promise<Left> {
  let left: Left = 'ended'
  let job: Job<'transcode'> | undefined
  try {
    job = (await load(system, held)) as Job<'transcode'> | undefined
    if (!job) return 'ended'
    const outcome = await transcode(system, job, at, signal)
    if (outcome.end === 'held') return 'held'
    if (outcome.end === 'retry') await giveBack(system, job, outcome)
    if (outcome.end === 'retry' && outcome.tries) left = 'unbegun'
  } catch (error) {
    const passing = isPassing(error)
    console.error(JSON.stringify({ event: 'transcode_failed', job_id: held.id, passing, error: describeError(error) }))
    // The transcoder continues and keeps the result, which the next run fetches.
    if (passing || !job) return 'held'
    // If this fails as well, the lease runs out.
    const outcome = { end: 'retry' as const, delay: backoff(job.attempt), counts: !isFull(error) }
    await giveBack(system, job, outcome).catch(() => undefined)
  }
  system.forget(job.organization_id)
  await nudgeFor(system, job.organization_id)
  return left
}

/** Puts a job back into the queue, and wakes the queue when the job is due again. */
async function giveBack(system: System, job: Job<'transcode'>, outcome: Extract<Outcome, { end: 'retry' }>) {
  await release(system, job, outcome.delay, outcome.counts, outcome.tries)
  await sendJob(system, job, outcome.delay)
}

async function transcode(system: System, job: Job<'transcode'>, at: Place, signal: AbortSignal): Promise<Followed> {
  const task = await loadTask(system, job)
  if (!task) {
    // An earlier run may still be active.
    await at.cancel()
    await end(system, job)
    return done
  }
  if (job.tries > MAX_TRIES) return giveUpLater(system, job)
  if (job.attempt > MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped again and again while it worked on this file')
  }
  let response: Response
  try {
    const request = await jobRequest(system.env, task)
    response = await at.call(`/jobs/${job.id}`, toTranscoder(system.env, 'POST', request, signal))
  } catch (error) {
    if (signal.aborted) return { end: 'held' }
    console.error(JSON.stringify({ event: 'transcoder_unreachable', job_id: job.id, error: describeError(error) }))
    return tryLater(system, job, 5)
  }
  if (response.ok && response.body) return follow(system, task, response.body, signal)
  const refusal = { status: response.status, body: (await response.text()).slice(0, 1000) }
  console.error(JSON.stringify({ event: 'transcoder_refused', job_id: job.id, ...refusal }))
  return tryLater(system, job, Number(response.headers.get('retry-after')) || 5)
}

/** The file is not the cause, so this costs no attempt; still, the number of tries is limited. */
async function tryLater(system: System, job: Job<'transcode'>, delay: number): Promise<Outcome> {
  const tries = job.tries + 1
  if (tries > MAX_TRIES) return giveUpLater(system, job)
  return { end: 'retry', delay: Math.max(delay, Math.min(LONGEST_PAUSE, backoff(tries))), counts: false, tries }
}

const giveUpLater = (system: System, job: Job<'transcode'>) => {
  const message = 'The transcoder could not be reached for hours; the upload is kept, process the track again later'
  return giveUp(system, job, 'transcoder_unavailable', message)
}

async function follow(
  system: System,
  task: TranscodeTask,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<Followed> {
  const { job } = task
  let renewed = job.lease_until - LEASE
  let written: { at: number; fraction: number } | null = null
  let reached = 0
  for await (const event of jobEvents(job, body, signal)) {
    if (event.type === 'silence') return tryLater(system, job, 5)
    if (event.type === 'result') {
      await finishTranscode(system, task, event.result)
      return done
    }
    if (event.type === 'error') {
      const { code, message } = event.error
      if (code === 'killed' && job.tries >= MAX_KILLED) return giveUp(system, job, code, message)
      if (code === 'killed' || code === 'cancelled') return tryLater(system, job, 5)
      if (event.error.retryable && job.attempt < MAX_ATTEMPTS) {
        return { end: 'retry', delay: backoff(job.attempt), counts: true }
      }
      return giveUp(system, job, code, message)
    }
    if (event.type === 'fallback') {
      await fallBack(system, job)
      written = null
      reached = 0
      continue
    }
    if (event.type === 'early') {
      await writeEarly(system, task, event.file)
      continue
    }
    const now = Date.now()
    const fraction = event.type === 'progress' ? event.fraction : null
    reached = Math.max(reached, fraction ?? 0)
    const moved =
      fraction !== null && (!written || (now - written.at >= PROGRESS_EVERY && fraction - written.fraction >= STEP))
    if (moved || now - renewed >= RENEW_EVERY) {
      const kept = await keep(system, job, moved ? fraction : null)
      if (kept === false) return done
      if (kept) renewed = now
      if (kept && moved) written = { at: now, fraction }
    }
  }
  if (signal.aborted) return { end: 'held' }
  // The stream ended without an answer, so the transcoder died. It got further than any earlier attempt, so the file is probably not the
  // cause.
  if (reached > (written?.fraction ?? 0)) await keep(system, job, reached)
  if (reached >= task.progress + STEP) return { end: 'retry', delay: 2, counts: false }
  if (job.attempt >= MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped while it worked on this file')
  }
  // A second crash: the file may be the cause.
  if (job.attempt >= 2) await fallBack(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** The events of a job, until `signal`, or until the stream breaks, falls silent or sends something that is not an event. */
async function* jobEvents(
  job: Job<'transcode'>,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<JobEvent | { type: 'silence' }> {
  const lines = readNdjson(body)
  const left = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
  for (;;) {
    let event: JobEvent
    try {
      const next = lines.next()
      const heard = new AbortController()
      const silence = scheduler.wait(SILENCE, { signal: heard.signal }).then(
        () => 'silence' as const,
        () => null,
      )
      const read = signal.aborted ? null : await Promise.race([next, left, silence])
      heard.abort()
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
      const lost = { job_id: job.id, attempt: job.attempt, error: describeError(error) }
      console.error(JSON.stringify({ event: 'transcoder_lost', ...lost }))
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
async function fallBack({ db }: System, job: Job<'transcode'>): Promise<void> {
  const strict = sql`exists (select 1 from jobs where ${holds(job)} and pass = 'strict')`
  await db.batch([
    db
      .update(tracks)
      .set({ status: 'fallback_processing', progress: STARTED })
      .where(and(trackOf(job), strict)),
    db.update(jobs).set({ pass: 'tolerant' }).where(holds(job)),
  ])
}

/**
 * Renews the lease and writes progress, which never decreases: after a fault, a restarted transcoder first catches up. Returns false when the
 * lease was lost; null when the database does not answer, which is harmless because the lease outlasts several renewals.
 */
async function keep(system: System, job: Job<'transcode'>, progress: number | null): Promise<boolean | null> {
  const { db } = system
  try {
    const kept = db
      .update(jobs)
      .set({ lease_until: Date.now() + LEASE })
      .where(holds(job))
      .returning({ id: jobs.id })
    if (progress === null) return (await kept).length > 0
    const least = Math.max(STARTED, Math.round(progress * 1000) / 1000)
    const [held] = await db.batch([
      kept,
      db
        .update(tracks)
        .set({ progress: sql`max(coalesce(progress, 0), ${least})` })
        .where(and(trackOf(job), whileHeld(job))),
    ])
    return held.length > 0
  } catch (error) {
    if (!isPassing(error)) throw error
    console.error(JSON.stringify({ event: 'progress_lost', job_id: job.id, error: describeError(error) }))
    return null
  }
}
