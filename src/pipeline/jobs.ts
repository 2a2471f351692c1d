import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteInsertValue } from 'drizzle-orm/sqlite-core'

import { among, insertFrom } from '../adapters/database.ts'
import { newId } from '../adapters/id.ts'
import { type JobPayload, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { describeError } from '../errors.ts'

/**
 * Jobs: the row is the truth, the queue's message only a nudge. A worker claims a job, which writes its name and a lease into the row,
 * renews the lease, and writes what came of it only while the job is its own. Whoever dies loses the lease, and the sweep nudges again.
 * Every statement may be repeated: an answer that was lost after the commit changes nothing the second time.
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
  /** Finished, failed for good, or no longer wanted. */
  | { end: 'done' }
  /** Try again after `delay` seconds; `counts` when the transcoder had begun on it, `tries` how often in a row it had not. */
  | { end: 'retry'; delay: number; counts: boolean; tries?: number }
  /** Nothing is wrong: go on in a new message after `delay` seconds. */
  | { end: 'again'; delay: number }

export const done: Outcome = { end: 'done' }

/** Attempts that begin and do not end, before a job is given up. */
export const MAX_ATTEMPTS = 4

/** Seconds to wait after the n-th failure: 5, 10, 20, … at most 10 minutes. */
export const backoff = (n: number) => Math.min(600, 5 * 2 ** Math.max(0, n - 1))

/** Milliseconds a worker may be silent before another one takes over. */
export const LEASE = 120_000
/** How long the sweep waits for a message to be delivered before it sends another one. */
const NUDGE_AFTER = 20_000
const NUDGE_AGAIN_AFTER = 60_000

/** Seconds for which files stay that signed URLs may still lead to: those live an hour at most. */
export const AFTER_URLS = 2 * 3600
/** Seconds after which nothing can write to a deleted track's places any more: upload URLs and a running job's end before. */
export const AFTER_WRITES = 7 * 3600

const newRow = ({ now }: System, organization_id: string, payload: JobPayload, delaySeconds: number) => {
  const from = now + delaySeconds * 1000
  const nudge_at = delaySeconds > 0 ? from : from + NUDGE_AFTER
  return { id: newId(), organization_id, payload, lease_until: from, nudge_at, created_at: now }
}

type Line = Partial<Pick<SQLiteInsertValue<typeof jobs>, 'turn' | 'size_class' | 'is_background' | 'nudge_at'>>

/** The statement that writes a new job, to go into the batch that makes it necessary; send it with `sendJob` afterwards. */
export function insertJob(
  system: System,
  organization_id: string,
  payload: JobPayload,
  delaySeconds = 0,
  line: Line = {},
) {
  const row = newRow(system, organization_id, payload, delaySeconds)
  return {
    id: row.id,
    payload,
    insert: system.db
      .insert(jobs)
      .values({ ...row, ...line })
      .onConflictDoNothing(),
  }
}

/** The same for a payload that SQL computes, of the row of a source (`tracks where …`); for several rows SQL computes their ids too. */
export function insertJobFrom(
  system: System,
  organization_id: string,
  payload: { kind: JobKind; json: SQL },
  source: SQL,
  delaySeconds: number,
  line: Line & { id?: SQL } = {},
) {
  const row = newRow(system, organization_id, { kind: payload.kind } as JobPayload, delaySeconds)
  return insertFrom(system.db, jobs, { ...row, payload: payload.json, ...line }, source).onConflictDoNothing()
}

/** Nudges the consumer. When the queue refuses, the sweep comes later. */
export async function sendJob(
  { env }: Pick<System, 'env'>,
  job: { id: string; payload: { kind: JobKind } },
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

/**
 * Nobody holds it, or who held it has been silent for too long. A lease that ends later than any that is given is of a clock that was
 * wrong.
 */
export const isFree = () =>
  sql`(lease_until <= ${Date.now()} or (holder is not null and lease_until > ${Date.now() + 2 * LEASE}))`

/** The columns of a claim: whoever vanished with the job has cost a try and no attempt; the same claim repeated costs nothing. */
export const claimedBy = (holder: string) => ({
  lease_until: Date.now() + LEASE,
  holder,
  attempt: sql`attempt + (holder is null)`,
  tries: sql`tries + (holder is not null and holder <> ${holder})`,
})

/** Takes a job that does not stand in line, or answers null when it is done, gone, or in somebody else's hands. */
export async function claim({ db }: System, id: string): Promise<Job | null> {
  const holder = newId()
  const mine = sql`holder is ${holder}`
  const [job] = await db
    .update(jobs)
    .set({ ...claimedBy(holder), ...lease() })
    .where(and(eq(jobs.id, id), eq(jobs.state, 'open'), isNull(jobs.turn), sql`(${isFree()} or ${mine})`))
    .returning()
  return (job as Job | undefined) ?? null
}

/** Enough to write as whoever holds a job. */
export type Held = Pick<Job, 'id' | 'holder'>
const isOf = ({ id, holder }: Held, state: Job['state']) =>
  and(eq(jobs.id, id), eq(jobs.state, state), sql`${jobs.holder} is ${holder}`)!

/** True for the worker that still holds the job. */
export const holds = (job: Held) => isOf(job, 'open')
/** The same for a statement about another table. */
export const whileHeld = (job: Held) => sql`exists (select 1 from jobs where ${holds(job)})`
/** True in the batch in which this worker ended the job, also when that is repeated; never when its answer comes too late. */
export const whenEnded = (job: Held, state: 'done' | 'failed') =>
  sql`exists (select 1 from jobs where ${isOf(job, state)})`

/** A job as its row says now; undefined when it is no longer this holder's. */
export const load = async ({ db }: System, job: Held): Promise<Job | undefined> =>
  (await db.select().from(jobs).where(holds(job)).get()) as Job | undefined

/** Keeps a job; false when it was lost meanwhile. */
export async function renew({ db }: System, job: Held): Promise<boolean> {
  const renewed = await db.update(jobs).set(lease()).where(holds(job)).returning({ id: jobs.id })
  return renewed.length > 0
}

/** Gives a job back; its message comes after `delay` seconds. A transcode stands in line again, and is not taken before that. */
export async function release({ db }: System, job: Job, delay: number, counts: boolean, tries = 0): Promise<void> {
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
        : { lease_until: now, nudge_at: after + NUDGE_AFTER }),
      attempt: job.attempt - (counts ? 0 : 1),
    })
    .where(holds(job))
}

/** The statement that ends a job, for the batch that writes what came of it. */
export const end = ({ db }: System, job: Held, state: 'done' | 'failed' = 'done', error?: Job['error']) =>
  db
    .update(jobs)
    .set({ state, slot: null, ...(error && { error }) })
    .where(holds(job))

/** Open jobs that nobody works on and no message is under way for. */
export async function forgottenJobs({ db, now }: System, limit: number): Promise<Job[]> {
  const due = sql`state = 'open' and nudge_at <= ${now}`
  const found = await db.select().from(jobs).where(due).orderBy(jobs.nudge_at).limit(limit)
  if (found.length > 0) {
    await db
      .update(jobs)
      .set({ nudge_at: now + NUDGE_AGAIN_AFTER })
      .where(sql`id in ${among(found.map((job) => job.id))} and ${due}`)
  }
  return found as Job[]
}
