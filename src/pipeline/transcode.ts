import { and, sql } from 'drizzle-orm'

import { readNdjson } from '../adapters/ndjson.ts'
import { tracks } from '../adapters/schema.ts'
import { callTranscoder } from '../adapters/transcoder.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { JobEvent, JobEventType } from '../contract/job.ts'
import { describeError } from '../errors.ts'
import { jobRequest, loadWork, type Work } from './ask.ts'
import { writeEarly } from './early.ts'
import { failTranscode, finishTranscode, trackOf } from './finish.ts'
import { holds, type Job, LEASE, renewLease } from './job.ts'
import { backoff, done, MAX_ATTEMPTS, type Outcome } from './outcome.ts'

/** A queue consumer lives 15 minutes (docs/architecture.md#queues); before that, a new message re-attaches to the job. */
const ATTACHED_FOR = 12 * 60_000
/** How long a full transcoder is waited for, in milliseconds, before that counts as a fault. */
const BUSY_FOR = 6 * 3600_000
/** Milliseconds between two renewals of the lease, which is three times as long. */
const RENEW_EVERY = 10_000
/** Milliseconds between two writes of the progress, except for a step that a person notices. */
const PROGRESS_EVERY = 5_000
const STEP = 0.2
/** The least progress of a job that runs: 0 is that of one that waits in a queue. */
const STARTED = 0.001

/** Runs one transcode job: hands it to the transcoder, follows it, writes down what came of it. */
export async function transcode(system: System, job: Job): Promise<Outcome> {
  const work = await loadWork(system, job)
  if (!work) {
    await system.db.update(jobs).set({ state: 'done' }).where(holds(job))
    return done
  }
  if (job.attempt > MAX_ATTEMPTS) {
    return giveUp(system, job, 'The transcoder stopped again and again while it worked on this file')
  }
  let response: Response
  try {
    response = await callTranscoder(system.env, job.id, `/jobs/${job.id}`, await jobRequest(system.env, work))
  } catch (error) {
    console.error(JSON.stringify({ event: 'transcoder_unreachable', job_id: job.id, error: describeError(error) }))
    return { end: 'retry', delay: 5, counts: false }
  }
  if (response.status === 503 && system.now - job.created_at < BUSY_FOR) {
    await response.body?.cancel()
    return { end: 'again', delay: Number(response.headers.get('retry-after')) || 15 }
  }
  if (!response.ok || !response.body) {
    const refusal = { status: response.status, body: (await response.text()).slice(0, 1000) }
    console.error(JSON.stringify({ event: 'transcoder_refused', job_id: job.id, ...refusal }))
    // Not the file's fault: the dead-letter queue ends this, should it last.
    return { end: 'retry', delay: 5, counts: false }
  }
  return follow(system, work, response.body)
}

async function follow(system: System, work: Work, body: ReadableStream<Uint8Array>): Promise<Outcome> {
  const { job } = work
  const until = Date.now() + ATTACHED_FOR
  let renewed = job.lease_until - LEASE
  let written = { at: 0, fraction: 0 }
  for await (const event of jobEvents(job, body)) {
    if (event.type === 'result') {
      await finishTranscode(system, work, event.result)
      return done
    }
    if (event.type === 'error') {
      if (event.error.code === 'cancelled') return { end: 'retry', delay: 5, counts: false }
      if (event.error.retryable && job.attempt < MAX_ATTEMPTS) {
        return { end: 'retry', delay: backoff(job.attempt), counts: true }
      }
      await failTranscode(system, job, event.error.code, event.error.message)
      return done
    }
    if (event.type === 'fallback') {
      await fallBack(system, job)
      written = { at: 0, fraction: 0 }
      continue
    }
    if (event.type === 'early') {
      await writeEarly(system, work, event.file)
      continue
    }
    const now = Date.now()
    if (now - renewed >= RENEW_EVERY) {
      renewed = now
      if (!(await renewLease(system, job))) return done
    }
    if (event.type === 'progress') {
      const { fraction } = event
      if (now - written.at >= PROGRESS_EVERY || fraction - written.fraction >= STEP) {
        written = { at: now, fraction }
        if (!(await writeProgress(system, job, fraction)) && !(await renewLease(system, job))) return done
      }
    }
    if (now > until) return { end: 'again', delay: 1 }
  }
  // The stream ended without an answer: the transcoder died. The second time, perhaps of this file.
  if (job.attempt >= MAX_ATTEMPTS) return giveUp(system, job, 'The transcoder stopped while it worked on this file')
  if (job.attempt >= 2) await fallBack(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** The events of a job, up to where the stream breaks or says something that is none. */
async function* jobEvents(job: Job, body: ReadableStream<Uint8Array>): AsyncGenerator<JobEvent> {
  const lines = readNdjson(body)
  for (;;) {
    let event: JobEvent
    try {
      const { value, done: ended } = await lines.next()
      if (ended) return
      // A newer transcoder may say more than this Worker knows.
      if (!JobEventType.safeParse(value).success) continue
      event = JobEvent.parse(value)
    } catch (error) {
      const lost = { job_id: job.id, attempt: job.attempt, error: describeError(error) }
      console.error(JSON.stringify({ event: 'transcoder_lost', ...lost }))
      return
    }
    yield event
  }
}

const giveUp = async (system: System, job: Job, message: string): Promise<Outcome> => {
  await failTranscode(system, job, 'internal', message)
  return done
}

const ofJob = (job: Job) => and(trackOf(job), sql`exists (select 1 from jobs where ${holds(job)})`)

/** From here on the tolerant pass works on the file, also if the job is taken again; its progress begins anew. */
async function fallBack({ db }: System, job: Job): Promise<void> {
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
 * Never less than before: a transcoder that begins again after a fault catches up first. False when the job was lost, or the track is
 * another's by now.
 */
async function writeProgress({ db }: System, job: Job, progress: number): Promise<boolean> {
  const written = await db
    .update(tracks)
    .set({ progress: sql`max(coalesce(progress, 0), ${Math.max(STARTED, Math.round(progress * 1000) / 1000)})` })
    .where(ofJob(job))
    .returning({ id: tracks.id })
  return written.length > 0
}
