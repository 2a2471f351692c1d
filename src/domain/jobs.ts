import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteInsertValue } from 'drizzle-orm/sqlite-core'

import { newId } from '../adapters/crypto/id.ts'
import { inJsonList, insertFrom } from '../adapters/db/database.ts'
import { type JobPayload, jobs } from '../adapters/db/schema/work.ts'
import type { System } from '../context.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'

/**
 * Jobs. The row of a job is authoritative; a message in the queue only wakes the consumer. A worker claims a job by writing its own id and a lease
 * into the row, renews the lease, and writes the outcome only while it still holds the job. If the worker crashes, the lease expires and the sweep
 * wakes the job again. Every statement is idempotent: a commit whose response was lost can be repeated.
 */

export type JobKind = JobPayload['kind']
type Payload<K extends JobKind> = Extract<JobPayload, { kind: K }>
export type Job<K extends JobKind = JobKind> = K extends JobKind
  ? Omit<typeof jobs.$inferSelect, 'payload'> & { payload: Payload<K> }
  : never
/** The kinds of jobs that a transcoder runs. They wait in its queue, and a Durable Object follows them (src/background/transcode/follower.ts). */
export type QueuedJob = Job<'transcode' | 'import'>
export interface JobMessage {
  job_id: string
}

/** How a run of a job ended. */
export type Outcome =
  /** The job finished, failed permanently, or is no longer wanted. */
  | { end: 'done' }
  /**
   * The job is retried after `delay` seconds. `counts`: whether the transcoder had started, in which case the run is counted as an attempt. `tries`:
   * number of consecutive runs that could not start. `moved` is set if the job continues in another size class.
   */
  | { end: 'retry'; delay: number; counts: boolean; tries?: number; moved?: MovedColumns }
  /** Nothing failed; the job continues in a new message after `delay` seconds. */
  | { end: 'again'; delay: number }

export const DONE: Outcome = { end: 'done' }
/** The job waits for something that takes days. It continues after the maximum delay of a message (Queues, Limits). */
export const LATER: Outcome = { end: 'again', delay: 12 * 3600 }

/** Maximum number of attempts that start and do not finish. After that, the job is given up. */
export const MAX_ATTEMPTS = 4

/** Returns the seconds to wait after the n-th failure: 5, 10, 20, …, at most 10 minutes. */
export const backoff = (n: number) => Math.min(600, 5 * 2 ** Math.max(0, n - 1))

/** Milliseconds without a renewal after which another worker may take over a job. */
export const LEASE = 120_000
/** Milliseconds after which the sweep sends a second message for a job, in case the first one was lost. */
const WAKE_AFTER = 20_000
const WAKE_AGAIN_AFTER = 60_000

/** Seconds after which replaced files are deleted: signed URLs to these files are valid for at most an hour. */
export const AFTER_URLS = 2 * 3600
/** Seconds after which nothing can write to the paths of a deleted track anymore: upload URLs have expired, and running jobs have ended. */
export const AFTER_WRITES = 7 * 3600

const newRow = ({ now }: System, organization_id: string, payload: JobPayload, delaySeconds: number) => {
  const from = now + delaySeconds * 1000
  const wake_at = delaySeconds > 0 ? from : from + WAKE_AFTER
  return { id: newId(), organization_id, payload, lease_until: from, wake_at, created_at: now }
}

type QueueColumns = Partial<Pick<SQLiteInsertValue<typeof jobs>, 'rank' | 'size_class' | 'is_background' | 'wake_at'>>
/** The columns of a job that are changed when it is queued again in another size class. */
export interface MovedColumns {
  size_class: number
  rank?: SQL
  payload: SQL
}

/** Returns the statement that inserts a job. It belongs in the batch that makes the job necessary; call `sendJob` after that batch. */
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

/**
 * Like `insertJob`, but SQL computes the payload from the rows of a source (`tracks where …`). If the source has several rows, SQL has to compute the
 * ids as well.
 */
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

/** Wakes the consumer. When the queue refuses the message, the sweep sends another one later. */
export async function sendJob(
  { env }: Pick<System, 'env'>,
  job: { id: string; payload: { kind: JobKind } },
  delaySeconds = 0,
): Promise<void> {
  const { kind } = job.payload
  const queue = kind === 'transcode' || kind === 'import' ? env.TRANSCODE_QUEUE : env.TASK_QUEUE
  try {
    await queue.send({ job_id: job.id } satisfies JobMessage, { delaySeconds })
  } catch (error) {
    log('error', 'wake_failed', { job_id: job.id, error: describeError(error) })
  }
}

const lease = () => ({ lease_until: Date.now() + LEASE, wake_at: Date.now() + LEASE + 1000 })

/**
 * Whether no worker holds the job, or its lease has expired. A lease longer than the maximum is ignored: the clock of the worker that wrote it was
 * wrong.
 */
export const leaseExpired = () =>
  sql`(lease_until <= ${Date.now()} or (holder is not null and lease_until > ${Date.now() + 2 * LEASE}))`

/**
 * The columns that a claim sets. If the previous holder disappeared, its run is counted as a try and not as an attempt. Repeating a claim changes
 * neither count.
 */
export const claimColumns = (holder: string) => ({
  lease_until: Date.now() + LEASE,
  holder,
  attempt: sql`attempt + (holder is null)`,
  tries: sql`tries + (holder is not null and holder <> ${holder})`,
})

/** Claims a job of any kind except a queued transcode. Returns null when the job has ended, is deleted, or is held by another worker. */
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
/** `isLeaseHolder` as a condition for statements on another table. */
export const ifLeaseHeld = (job: LeasedJob) => sql`exists (select 1 from jobs where ${isLeaseHolder(job)})`
/** Whether this worker ended the job in the same batch, or in an earlier run of that batch. False when the worker had lost the lease. */
export const ifJustEnded = (job: LeasedJob, state: 'done' | 'failed') =>
  sql`exists (select 1 from jobs where ${hasHolderAndState(job, state)})`

/** Reads a job. Returns undefined when this worker no longer holds it. */
export const loadLeased = async ({ db }: System, job: LeasedJob): Promise<Job | undefined> =>
  (await db.select().from(jobs).where(isLeaseHolder(job)).get()) as Job | undefined

/** Renews the lease. Returns false when this worker has lost it. */
export async function renew({ db }: System, job: LeasedJob): Promise<boolean> {
  const renewed = await db.update(jobs).set(lease()).where(isLeaseHolder(job)).returning({ id: jobs.id })
  return renewed.length > 0
}

/**
 * Releases a job: its message arrives after `delay` seconds. A transcode or import goes back into the queue, and cannot be claimed before that time.
 */
export async function releaseLease(
  { db }: System,
  job: Job,
  delay: number,
  counts: boolean,
  tries = 0,
  moved?: MovedColumns,
): Promise<void> {
  const now = Date.now()
  const after = now + delay * 1000
  await db
    .update(jobs)
    .set({
      ...moved,
      holder: null,
      slot: null,
      tries,
      ...(job.rank !== null ? { lease_until: after } : { lease_until: now, wake_at: after + WAKE_AFTER }),
      attempt: job.attempt - (counts ? 0 : 1),
    })
    .where(isLeaseHolder(job))
}

/** Returns the statement that ends a job, for the batch that writes its outcome. */
export const endJob = (
  { db }: System,
  job: LeasedJob,
  state: 'done' | 'failed' = 'done',
  error?: Job['error'],
  condition?: SQL,
) =>
  db
    .update(jobs)
    .set({ state, slot: null, ...(error && { error }) })
    .where(and(isLeaseHolder(job), condition))

/** Returns open jobs that no worker holds and for which no message is expected. */
export async function forgottenJobs({ db, now }: System, limit: number): Promise<Job[]> {
  const isDue = sql`state = 'open' and wake_at <= ${now}`
  const forgotten = await db.select().from(jobs).where(isDue).orderBy(jobs.wake_at).limit(limit)
  if (forgotten.length > 0) {
    await db
      .update(jobs)
      .set({ wake_at: now + WAKE_AGAIN_AFTER })
      .where(sql`id in ${inJsonList(forgotten.map((job) => job.id))} and ${isDue}`)
  }
  return forgotten as Job[]
}
