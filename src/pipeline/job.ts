import { and, eq, lte, sql } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { type JobPayload, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { describeError } from '../errors.ts'

/**
 * Jobs: the row is the truth, the queue's message only a nudge. A worker takes a job by moving its lease, keeps it by renewing, and
 * writes its answer only while the lease is its own. Whoever dies loses the lease, and the sweep nudges again.
 */

export type Job = typeof jobs.$inferSelect
export interface JobMessage {
  job_id: string
}

/** Milliseconds a worker may be silent before another one takes over. */
export const LEASE = 30_000
/** How long the sweep waits for a message to be delivered before it sends another one. */
const NUDGE_AFTER = 20_000
const NUDGE_AGAIN_AFTER = 300_000

/** The statement that writes a new job, to go into the batch that makes it necessary; send it with `sendJob` afterwards. */
export function insertJob({ db, now }: System, organization_id: string, payload: JobPayload, delaySeconds = 0) {
  const id = newId()
  const from = now + delaySeconds * 1000
  const insert = db.insert(jobs).values({
    id,
    organization_id,
    payload,
    lease_until: from,
    nudge_at: delaySeconds > 0 ? from : from + NUDGE_AFTER,
    created_at: now,
    is_background: payload.kind === 'transcode' && payload.reprocess_id !== undefined,
  })
  return { id, payload, insert }
}

/** Nudges the consumer. When the queue refuses, the sweep comes later. */
export async function sendJob(
  { env }: System,
  job: { id: string; payload: JobPayload },
  delaySeconds = 0,
): Promise<void> {
  const queue = job.payload.kind === 'transcode' ? env.TRANSCODE_QUEUE : env.TASK_QUEUE
  try {
    await queue.send({ job_id: job.id } satisfies JobMessage, { delaySeconds })
  } catch (error) {
    console.error(JSON.stringify({ event: 'nudge_failed', job_id: job.id, error: describeError(error) }))
  }
}

const lease = () => ({ lease_until: Date.now() + LEASE, nudge_at: Date.now() + LEASE + 1000 })

/** Takes a job, or answers null when it is done, gone, or in somebody else's hands. */
export async function claimJob({ db }: System, id: string): Promise<Job | null> {
  const [job] = await db
    .update(jobs)
    .set({ ...lease(), attempt: sql`attempt + 1` })
    .where(and(eq(jobs.id, id), eq(jobs.state, 'open'), lte(jobs.lease_until, Date.now())))
    .returning()
  return job ?? null
}

/** True for the worker that still holds the job. */
export const holds = (job: Job) => and(eq(jobs.id, job.id), eq(jobs.state, 'open'), eq(jobs.attempt, job.attempt))

/** Keeps a job; false when it was lost meanwhile. */
export async function renewLease({ db }: System, job: Job): Promise<boolean> {
  const renewed = await db.update(jobs).set(lease()).where(holds(job)).returning({ id: jobs.id })
  return renewed.length > 0
}

/**
 * Gives a job back; its message comes after `delay` seconds. Nobody holds it meanwhile, so that a dead letter can end it. An attempt
 * that never reached the transcoder does not count.
 */
export async function releaseJob({ db }: System, job: Job, delay: number, counts: boolean): Promise<void> {
  const now = Date.now()
  await db
    .update(jobs)
    .set({
      lease_until: now,
      nudge_at: now + delay * 1000 + NUDGE_AFTER,
      attempt: job.attempt - (counts ? 0 : 1),
    })
    .where(holds(job))
}

/** Open jobs that nobody works on and no message is under way for. */
export async function nudgeJobs(system: System, limit: number): Promise<void> {
  const { db, now } = system
  const forgotten = await db
    .update(jobs)
    .set({ nudge_at: now + NUDGE_AGAIN_AFTER })
    .where(
      sql`id in (select id from jobs where state = 'open' and nudge_at <= ${now} order by nudge_at limit ${limit})`,
    )
    .returning()
  for (const job of forgotten) await sendJob(system, job)
}
