import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteInsertValue } from 'drizzle-orm/sqlite-core'

import { newId } from '../adapters/crypto/id.ts'
import { inJsonList, insertFrom } from '../adapters/db/database.ts'
import { type JobPayload, jobs } from '../adapters/db/schema/work.ts'
import type { System } from '../context.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'

/**
 * Jobs: the row is the truth, and the queue's message only wakes the consumer. A worker claims a job by writing its own id and a lease into
 * the row, renews the lease, and writes the outcome only while it still holds the job. If it dies, the lease expires and the sweep wakes the
 * job again. Every statement is idempotent: a commit whose response was lost can be repeated.
 */

export type JobKind = JobPayload['kind']
type Payload<K extends JobKind> = Extract<JobPayload, { kind: K }>
export type Job<K extends JobKind = JobKind> = K extends JobKind
  ? Omit<typeof jobs.$inferSelect, 'payload'> & { payload: Payload<K> }
  : never
export interface JobMessage {
  job_id: string
}

/** How a run of a job ended. */
export type Outcome =
  /** Finished, failed permanently, or no longer wanted. */
  | { end: 'done' }
  /**
   * Retry after `delay` seconds. `counts`: the transcoder had started, so this costs an attempt. `tries`: consecutive runs that could not
   * start.
   */
  | { end: 'retry'; delay: number; counts: boolean; tries?: number }
  /** Continue in a new message after `delay` seconds; nothing failed. */
  | { end: 'again'; delay: number }

export const DONE: Outcome = { end: 'done' }

/** Attempts that start and do not finish before a job is given up. */
export const MAX_ATTEMPTS = 4

/** Backoff in seconds after the n-th failure: 5, 10, 20, … at most 10 minutes. */
export const backoff = (n: number) => Math.min(600, 5 * 2 ** Math.max(0, n - 1))

/** Milliseconds that a worker may be silent before another one takes over. */
export const LEASE = 120_000
/** Milliseconds after which the sweep sends another message for a job, if the previous one was not delivered. */
const NUDGE_AFTER = 20_000
const NUDGE_AGAIN_AFTER = 60_000

/** Seconds until files are deleted that signed URLs may still point to: those live for an hour at most. */
export const AFTER_URLS = 2 * 3600
/** Seconds after which nothing can write to a deleted track's paths: upload URLs and running jobs end earlier. */
export const AFTER_WRITES = 7 * 3600

const newRow = ({ now }: System, organization_id: string, payload: JobPayload, delaySeconds: number) => {
  const from = now + delaySeconds * 1000
  const wake_at = delaySeconds > 0 ? from : from + NUDGE_AFTER
  return { id: newId(), organization_id, payload, lease_until: from, wake_at, created_at: now }
}

type QueueColumns = Partial<Pick<SQLiteInsertValue<typeof jobs>, 'rank' | 'size_class' | 'is_background' | 'wake_at'>>

/** Returns the statement that inserts a job, for the batch that makes it necessary; afterwards call `sendJob`. */
export function insertJob(
  system: System,
  organization_id: string,
  payload: JobPayload,
  delaySeconds = 0,
  queueColumns: QueueColumns = {},
) {
  const row = newRow(system, organization_id, payload, delaySeconds)
  return {
    id: row.id,
    payload,
    insert: system.db
      .insert(jobs)
      .values({ ...row, ...queueColumns })
      .onConflictDoNothing(),
  }
}

/** The same for a payload that SQL computes from the rows of a source (`tracks where …`). For several rows, SQL computes the ids as well. */
export function insertJobFrom(
  system: System,
  organization_id: string,
  payload: { kind: JobKind; json: SQL },
  source: SQL,
  delaySeconds: number,
  queueColumns: QueueColumns & { id?: SQL } = {},
) {
  const row = newRow(system, organization_id, { kind: payload.kind } as JobPayload, delaySeconds)
  return insertFrom(system.db, jobs, { ...row, payload: payload.json, ...queueColumns }, source).onConflictDoNothing()
}

/** Wakes the consumer. When the queue refuses the message, the sweep does it later. */
export async function sendJob(
  { env }: Pick<System, 'env'>,
  job: { id: string; payload: { kind: JobKind } },
  delaySeconds = 0,
): Promise<void> {
  const queue = job.payload.kind === 'transcode' ? env.TRANSCODE_QUEUE : env.TASK_QUEUE
  try {
    await queue.send({ job_id: job.id } satisfies JobMessage, { delaySeconds })
  } catch (error) {
    log('error', 'nudge_failed', { job_id: job.id, error: describeError(error) })
  }
}

const lease = () => ({ lease_until: Date.now() + LEASE, wake_at: Date.now() + LEASE + 1000 })

/**
 * Whether no worker holds the job, or its lease has expired. A lease longer than any valid one was written by a worker with a wrong clock.
 */
export const leaseExpired = () =>
  sql`(lease_until <= ${Date.now()} or (holder is not null and lease_until > ${Date.now() + 2 * LEASE}))`

/** The columns of a claim. A holder that disappeared counts as a try, not as an attempt; repeating the same claim counts as neither. */
export const claimColumns = (holder: string) => ({
  lease_until: Date.now() + LEASE,
  holder,
  attempt: sql`attempt + (holder is null)`,
  tries: sql`tries + (holder is not null and holder <> ${holder})`,
})

/** Claims a job that is not a queued transcode. Returns null when it is done, gone or held by another worker. */
export async function claim({ db }: System, id: string): Promise<Job | null> {
  const holder = newId()
  const isHolder = sql`holder is ${holder}`
  const [job] = await db
    .update(jobs)
    .set({ ...claimColumns(holder), ...lease() })
    .where(and(eq(jobs.id, id), eq(jobs.state, 'open'), isNull(jobs.rank), sql`(${leaseExpired()} or ${isHolder})`))
    .returning()
  return (job as Job | undefined) ?? null
}

/** The fields that identify the holder of a job. */
export type LeasedJob = Pick<Job, 'id' | 'holder'>
const hasHolderAndState = ({ id, holder }: LeasedJob, state: Job['state']) =>
  and(eq(jobs.id, id), eq(jobs.state, state), sql`${jobs.holder} is ${holder}`)!

/** Whether the worker still holds the job. */
export const isLeaseHolder = (job: LeasedJob) => hasHolderAndState(job, 'open')
/** The same for a statement about another table. */
export const ifLeaseHeld = (job: LeasedJob) => sql`exists (select 1 from jobs where ${isLeaseHolder(job)})`
/** True in the batch in which this worker ended the job, including a repetition of it; false when the worker had lost the lease. */
export const ifJustEnded = (job: LeasedJob, state: 'done' | 'failed') =>
  sql`exists (select 1 from jobs where ${hasHolderAndState(job, state)})`

/** Reads a job; undefined when this worker no longer holds it. */
export const loadLeased = async ({ db }: System, job: LeasedJob): Promise<Job | undefined> =>
  (await db.select().from(jobs).where(isLeaseHolder(job)).get()) as Job | undefined

/** Renews the lease; false when it was lost. */
export async function renew({ db }: System, job: LeasedJob): Promise<boolean> {
  const renewed = await db.update(jobs).set(lease()).where(isLeaseHolder(job)).returning({ id: jobs.id })
  return renewed.length > 0
}

/** Releases a job; its message arrives after `delay` seconds. A transcode goes back into the queue, and is not claimed before that. */
export async function releaseLease({ db }: System, job: Job, delay: number, counts: boolean, tries = 0): Promise<void> {
  const now = Date.now()
  const after = now + delay * 1000
  await db
    .update(jobs)
    .set({
      holder: null,
      slot: null,
      tries,
      ...(job.payload.kind === 'transcode'
        ? { lease_until: after }
        : { lease_until: now, wake_at: after + NUDGE_AFTER }),
      attempt: job.attempt - (counts ? 0 : 1),
    })
    .where(isLeaseHolder(job))
}

/** Returns the statement that ends a job, for the batch that writes its outcome. */
export const endJob = ({ db }: System, job: LeasedJob, state: 'done' | 'failed' = 'done', error?: Job['error']) =>
  db
    .update(jobs)
    .set({ state, slot: null, ...(error && { error }) })
    .where(isLeaseHolder(job))

/** Returns open jobs without a worker or a message. */
export async function forgottenJobs({ db, now }: System, limit: number): Promise<Job[]> {
  const isDue = sql`state = 'open' and wake_at <= ${now}`
  const forgotten = await db.select().from(jobs).where(isDue).orderBy(jobs.wake_at).limit(limit)
  if (forgotten.length > 0) {
    await db
      .update(jobs)
      .set({ wake_at: now + NUDGE_AGAIN_AFTER })
      .where(sql`id in ${inJsonList(forgotten.map((job) => job.id))} and ${isDue}`)
  }
  return forgotten as Job[]
}
