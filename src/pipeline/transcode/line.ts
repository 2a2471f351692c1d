import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'

import { newId } from '../../adapters/id.ts'
import { tracks } from '../../adapters/schema.ts'
import { instanceOf, instances } from '../../adapters/transcoder.ts'
import { jobs } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import { JOB_SLOTS } from '../../contract/facts.ts'
import { describeError } from '../../errors.ts'
import { claimColumns, insertJob, insertJobFrom, leaseExpired, type Job, release, sendJob } from '../jobs.ts'

/**
 * The transcode queue and its slots (docs/decisions/0033). Each transcoder has one slot for jobs of any size, and further slots for shorter
 * jobs only.
 */

/** A job's class is the index of the first of these sizes that its source does not exceed; slots are numbered in the opposite order. */
const SIZE_CLASSES = JOB_SLOTS.toReversed()
const SLOTS = JOB_SLOTS.length
const sizeClassOf = (size: number) => SIZE_CLASSES.findIndex((most) => size <= most)
/** Whether a slot accepts jobs of a size class. */
const fits = (slotNumber: number, size_class: number) => size_class <= SLOTS - 1 - (slotNumber % SLOTS)

/** Fair-share rate in bytes per millisecond. It is slower than any transcoder, so the organization that has waited longest comes first. */
const BYTES_PER_MS = 16
/** Most milliseconds of fair share that one job costs. Otherwise a large file would delay the organization's next file for days. */
const MAX_COST = 3600_000
/** Milliseconds by which jobs of a collection's reprocess are ranked behind every upload. */
const BACKGROUND_DELAY = 365 * 24 * 3600_000

/** Transcodes are queued, never woken individually. */
const NEVER = Number.MAX_SAFE_INTEGER

type Transcode = Job<'transcode'>

/**
 * Returns the statement that queues a transcode. Jobs are ranked by fair share: a job's rank is the time at which its organization would have
 * used up its share, counted from now or from its last queued job. So many files of one organization do not delay another one's file.
 */
export function insertTranscode(system: System, organization_id: string, payload: Transcode['payload']) {
  const { source_size, reprocess_id } = payload
  const { now } = system
  return insertJob(system, organization_id, payload, 0, {
    is_background: reprocess_id !== undefined,
    size_class: sizeClassOf(source_size),
    nudge_at: NEVER,
    turn: reprocess_id ? now + BACKGROUND_DELAY : sql`${nextRank(system, organization_id)} + ${costOf(source_size)}`,
  })
}

/** Milliseconds of its organization's fair share that a transcode costs. */
const costOf = (source_size: number) => Math.min(MAX_COST, Math.ceil(source_size / BYTES_PER_MS))
const nextRank = ({ now }: System, organization_id: string) => sql`max(${now}, coalesce((
  select max(turn) from jobs where organization_id = ${organization_id}
    and state = 'open' and turn is not null and is_background = 0), 0))`

/** A source and the id of the job that transcodes it. */
export interface QueuedSource {
  job_id: string
  track_id: string
  source_path: string
  source_size: number
}

/** Queues many sources of one organization, for tracks that match `condition`. */
export function insertTranscodes(system: System, organization_id: string, sources: QueuedSource[], condition: SQL) {
  const queued = sources.map((source) => ({
    ...source,
    size_class: sizeClassOf(source.source_size),
    turn: costOf(source.source_size),
  }))
  const field = (name: string) => sql.raw(`source.value ->> '${name}'`)
  const payload = sql`json_object('kind', 'transcode', 'track_id', tracks.id, 'source_path', ${field('source_path')},
    'source_size', ${field('source_size')})`
  const source = sql`json_each(${JSON.stringify(queued)}) as source cross join tracks
    where tracks.id = ${field('track_id')} and +tracks.organization_id = ${organization_id} and tracks.source_path = ${field('source_path')} and ${condition}`
  return insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, source, 0, {
    id: field('job_id'),
    size_class: field('size_class'),
    nudge_at: NEVER,
    turn: sql`${nextRank(system, organization_id)} + sum(${field('turn')}) over (order by source.key)`,
  })
}

/** The id format of `newId`, in SQL: a new id for each row. */
const NEW_ID = `lower('000' || substr(hex(randomblob(3)), 2) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

/**
 * Statements that restart transcodes interrupted by trashing, for the batch that restores the tracks. The second one returns the jobs; wake
 * one of them. The ids are new, because the files of the previous jobs are deleted.
 */
export function insertRestoredTranscodes(system: System, organization_id: string, isRestored: SQL) {
  const payload = sql`json_object('kind', 'transcode', 'track_id', id, 'source_path', source_path, 'source_size', source_size)`
  const restoredTracks = sql`tracks where ${isRestored} and status = 'processing'`
  return [
    system.db
      .update(tracks)
      .set({ job_id: sql.raw(NEW_ID), status: 'processing', progress: 0 })
      .where(sql`${isRestored} and status in ('processing', 'fallback_processing')`),
    insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, restoredTracks, 0, {
      id: sql`job_id`,
      size_class: sql.join(
        SIZE_CLASSES.slice(0, -1).map((most) => sql`(source_size > ${most})`),
        sql` + `,
      ),
      nudge_at: NEVER,
      turn: sql`${nextRank(system, organization_id)}
        + sum(min(${MAX_COST}, (source_size + ${BYTES_PER_MS - 1}) / ${BYTES_PER_MS})) over (order by "order", id)`,
    }).returning({ id: jobs.id }),
  ] as const
}

/** Whether a job is waiting for a slot. */
export const isQueued = sql`state = 'open' and turn is not null and slot is null`
const { id, slot, turn, tries, state } = jobs

/** Assigns jobs to transcoders while there are free slots and waiting jobs: jobs whose lease ran out first, then by rank. */
export async function dispatch(system: System): Promise<void> {
  const broken = new Set<number>()
  for (;;) {
    const job = await claimNext(system, broken)
    if (!job) return
    const instance = Math.floor(job.slot! / SLOTS)
    try {
      await instanceOf(system.env, instance).follow({ id: job.id, holder: job.holder })
    } catch (error) {
      console.error(
        JSON.stringify({ event: 'hand_over_failed', job_id: job.id, instance, error: describeError(error) }),
      )
      broken.add(instance)
      await release(system, job, 5, false, job.tries + 1)
      await sendJob(system, job, 5)
    }
  }
}

async function claimNext(system: System, broken: Set<number>): Promise<Transcode | null> {
  const { db, env } = system
  for (;;) {
    const firstOfClass = (size_class: number) =>
      db
        .select({ id, turn, tries, attempt: jobs.attempt, size_class: jobs.size_class })
        .from(jobs)
        .where(and(isQueued, eq(jobs.size_class, size_class), leaseExpired()))
        .orderBy(turn)
        .limit(1)
    const [slotJobs, ...heads] = await db.batch([
      db
        .select({ id, slot, is_lost: sql<number>`(state = 'open' and ${leaseExpired()})`.as('is_lost') })
        .from(jobs)
        .where(isNotNull(slot)),
      ...SIZE_CLASSES.map((_, size_class) => firstOfClass(size_class)),
    ])
    const expiredJob = slotJobs.find((job) => job.is_lost === 1 && !broken.has(Math.floor(job.slot! / SLOTS)))
    const next =
      expiredJob ?? chooseSlot(instances(env), broken, new Set(slotJobs.map((job) => job.slot!)), heads.flat())
    if (!next) return null
    const job = await claimForSlot(system, next.id, next.slot!)
    if (job) return job
  }
}

type QueueHead = Pick<typeof jobs.$inferSelect, 'id' | 'turn' | 'tries' | 'attempt' | 'size_class'>

/**
 * Picks the first job by rank that fits a free slot, and the smallest such slot, preferably of a transcoder that is already running; after a
 * failed attempt a different slot. A job whose transcoder died goes to an idle transcoder if there is one: the job may be the cause, and its
 * next crash must not stop healthy jobs.
 */
function chooseSlot(instanceCount: number, broken: Set<number>, takenSlots: Set<number>, heads: QueueHead[]) {
  const transcoders = Array.from({ length: instanceCount }, (_, instance) => ({
    instance,
    all: JOB_SLOTS.map((_, at) => instance * SLOTS + at).toReversed(),
  }))
  const isIdle = ({ all }: { all: number[] }) => !all.some((place) => takenSlots.has(place))
  const healthy = transcoders.filter(({ instance }) => !broken.has(instance))
  const [idle, working] = [healthy.filter(isIdle), healthy.filter((transcoder) => !isIdle(transcoder))]
  for (const job of heads.toSorted((a, b) => a.turn! - b.turn!)) {
    const freeSlots = (job.attempt > 0 ? [...idle, ...working] : [...working, ...idle])
      .flatMap(({ all }) => all)
      .filter((slotNumber) => !takenSlots.has(slotNumber) && fits(slotNumber, job.size_class))
    if (freeSlots.length > 0) return { id: job.id, slot: freeSlots[job.tries % freeSlots.length]! }
  }
  return null
}

/** Claims a job for a slot; returns null when another worker has claimed either of them. */
async function claimForSlot({ db }: System, job_id: string, place: number): Promise<Transcode | null> {
  const holder = newId()
  const [job] = await db
    .update(jobs)
    .set({ ...claimColumns(holder), slot: place })
    .where(
      and(
        eq(id, job_id),
        eq(state, 'open'),
        sql`(holder is ${holder} or (${leaseExpired()} and not exists (
          select 1 from jobs as other where other.slot = ${place} and other.id <> ${job_id})))`,
      ),
    )
    .returning()
  return (job as Transcode | undefined) ?? null
}

/** Bytes that a transcoder processes per second, roughly: songs and speech, compressed and uncompressed. */
const BYTES_PER_SECOND = 1_000_000
/** Jobs counted per size class. */
const MAX_COUNTED = 200

/** Returns how many jobs are ahead of a job and about how many seconds it waits; null when it is not waiting. */
export async function queuePosition({ db, env }: System, job_id: string) {
  const [job] = await db
    .select({ turn, size_class: jobs.size_class })
    .from(jobs)
    .where(and(eq(id, job_id), isQueued))
  if (!job) return null
  const jobsAhead = (
    size_class: number,
  ) => sql`select * from (select 1 as is_before, payload ->> 'source_size' as bytes from jobs
    where ${isQueued} and size_class = ${size_class} and turn < ${job.turn} limit ${MAX_COUNTED})`
  // Larger jobs do not delay it, because they use other slots.
  const queuedAhead = sql.join(
    Array.from({ length: job.size_class + 1 }, (_, size_class) => jobsAhead(size_class)),
    sql` union all `,
  )
  const running = sql`select 0 as is_before, (payload ->> 'source_size') / 2 as bytes from jobs where slot is not null`
  const [ahead] = await db
    .select({
      before: sql<number>`coalesce(sum(is_before), 0)`.as('before'),
      bytes: sql<number>`total(bytes)`.as('bytes'),
    })
    .from(sql`(${queuedAhead} union all ${running})`)
  if (!ahead) return null
  return { before: ahead.before, seconds: Math.ceil(ahead.bytes / BYTES_PER_SECOND / instances(env)) }
}
