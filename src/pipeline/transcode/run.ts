import { and, sql } from 'drizzle-orm'

import { isPassing } from '../../adapters/database.ts'
import { readNdjson } from '../../adapters/ndjson.ts'
import { tracks } from '../../adapters/schema.ts'
import { toTranscoder } from '../../adapters/transcoder.ts'
import { jobs } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import type { TrackErrorCode } from '../../contract/errors.ts'
import { JobEvent, JobEventType } from '../../contract/job.ts'
import { describeError } from '../../errors.ts'
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
import { writeEarly } from './early.ts'
import { dispatch } from './line.ts'
import { jobRequest, loadTask, type TranscodeTask } from './request.ts'
import { failTranscode, finishTranscode } from './result.ts'
import { trackOf } from './track_job.ts'

/** Milliseconds between two renewals of the lease, which is three times as long. */
const RENEW_EVERY = LEASE / 3
/** Progress is written when both have passed, with the lease: each time costs two rows. */
const PROGRESS_EVERY = 10_000
const STEP = 0.1
/** The least progress of a job that runs: 0 is that of one that waits. */
const STARTED = 0.001

/** How often in a row a job may fail to begin: for the better part of an hour. */
const MAX_TRIES = 60
/** Seconds. */
const LONGEST_PAUSE = 60
/** Codes that are no fault of the file: another attempt costs nothing. */
const UNCOUNTED = new Set<string>(['cancelled', 'killed'])

/** Calls the transcoder of a job's place; throws when it cannot be reached. */
export type Call = (path: string, init: RequestInit) => Promise<Response>
/** What a follower takes. */
export interface Work {
  env: Env
  /** Follows a held job until `signal`; true when it is still held. Never throws. */
  follow: (job: Held, call: Call, signal: AbortSignal) => Promise<boolean>
  /** Has the line looked at, because a place is free. */
  next: () => Promise<void>
}
export const following = (system: System): Work => ({
  env: system.env,
  follow: (job, call, signal) => followTranscode(system, job, call, signal),
  next: () => dispatch(system),
})

/** How following a job ended: whoever goes on later still holds it. */
type Followed = Outcome | { end: 'held' }

/** Begins a held job or attaches to it, follows it until `signal`, and writes down what came of it. */
async function followTranscode(system: System, held: Held, call: Call, signal: AbortSignal): Promise<boolean> {
  let job: Job<'transcode'> | undefined
  try {
    job = (await load(system, held)) as Job<'transcode'> | undefined
    if (!job) return false
    const outcome = await transcode(system, job, call, signal)
    if (outcome.end === 'held') return true
    if (outcome.end === 'retry') await giveBack(system, job, outcome)
  } catch (error) {
    const passing = isPassing(error)
    console.error(JSON.stringify({ event: 'transcode_failed', job_id: held.id, passing, error: describeError(error) }))
    // Where this fails too, the lease runs out.
    const outcome = { end: 'retry' as const, delay: backoff(job?.attempt ?? 1), counts: !passing }
    if (job) await giveBack(system, job, outcome).catch(() => undefined)
  }
  if (job) system.forget(job.organization_id)
  return false
}

/** Puts a job back in line, and has the line looked at when it is due again. */
async function giveBack(system: System, job: Job<'transcode'>, outcome: Extract<Outcome, { end: 'retry' }>) {
  await release(system, job, outcome.delay, outcome.counts, outcome.tries)
  await sendJob(system, job, outcome.delay)
}

async function transcode(system: System, job: Job<'transcode'>, call: Call, signal: AbortSignal): Promise<Followed> {
  const task = await loadTask(system, job)
  if (!task) {
    await end(system, job)
    return done
  }
  if (job.attempt > MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped again and again while it worked on this file')
  }
  let response: Response
  try {
    const request = await jobRequest(system.env, task)
    response = await call(`/jobs/${job.id}`, toTranscoder(system.env, 'POST', request, signal))
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

/** Not the file's fault, so it costs no attempt; but not for ever either. */
async function tryLater(system: System, job: Job<'transcode'>, delay: number): Promise<Outcome> {
  const tries = job.tries + 1
  if (tries > MAX_TRIES) {
    const message =
      'The transcoder could not be reached for a long time; the upload is kept, process the track again later'
    return giveUp(system, job, 'transcoder_unavailable', message)
  }
  return { end: 'retry', delay: Math.max(delay, Math.min(LONGEST_PAUSE, backoff(tries))), counts: false, tries }
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
    if (event.type === 'result') {
      await finishTranscode(system, task, event.result)
      return done
    }
    if (event.type === 'error') {
      if (UNCOUNTED.has(event.error.code)) return tryLater(system, job, 5)
      if (event.error.retryable && job.attempt < MAX_ATTEMPTS) {
        return { end: 'retry', delay: backoff(job.attempt), counts: true }
      }
      return giveUp(system, job, event.error.code, event.error.message)
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
  // The stream ended without an answer: the transcoder died. Further than ever before, so it was hardly of this file.
  if (reached >= task.progress + STEP) return { end: 'retry', delay: 2, counts: false }
  if (job.attempt >= MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped while it worked on this file')
  }
  // The second time, perhaps of this file.
  if (job.attempt >= 2) await fallBack(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** The events of a job, up to `signal`, or to where the stream breaks or says something that is none. */
async function* jobEvents(
  job: Job<'transcode'>,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<JobEvent> {
  const lines = readNdjson(body)
  const left = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
  for (;;) {
    let event: JobEvent
    try {
      const next = lines.next()
      const read = signal.aborted ? null : await Promise.race([next, left])
      if (!read) {
        // The transcoder goes on with the job.
        next.catch(() => undefined)
        void lines.return(undefined).catch(() => undefined)
        return
      }
      if (read.done) return
      // A newer transcoder may say more than this Worker knows.
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

/** From here on the tolerant pass works on the file, also if the job is taken again; its progress begins anew. */
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
 * Keeps the job, and tells how far it is: never less than before, because a transcoder that begins again after a fault catches up first.
 * False when the job was lost; null when the database does not answer, and the next time will do: the lease is long enough.
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
