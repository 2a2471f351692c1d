import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'

import { newId } from '../../adapters/id.ts'
import { tracks } from '../../adapters/schema.ts'
import { instanceOf, instances } from '../../adapters/transcoder.ts'
import { jobs } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import { JOB_SLOTS } from '../../contract/facts.ts'
import { describeError } from '../../errors.ts'
import { claimedBy, insertJob, insertJobFrom, isFree, type Job, release, sendJob } from '../jobs.ts'

/**
 * The transcode queue and its slots (docs/decisions/0033). Each transcoder has one slot for jobs of any size, and further slots for shorter
 * jobs only.
 */

/** A job's class is the index of the first of these sizes that its source does not exceed; slots are numbered in the opposite order. */
const CLASSES = JOB_SLOTS.toReversed()
const PLACES = JOB_SLOTS.length
const classOf = (size: number) => CLASSES.findIndex((most) => size <= most)
/** Whether a slot accepts jobs of a size class. */
const takes = (place: number, size_class: number) => size_class <= PLACES - 1 - (place % PLACES)

/** Fair-share rate in bytes per millisecond. It is slower than any transcoder, so the organization that has waited longest comes first. */
const BYTES_PER_MS = 16
/** Most milliseconds of fair share that one job costs. Otherwise a large file would delay the organization's next file for days. */
const LONGEST_TURN = 3600_000
/** Milliseconds by which jobs of a collection's reprocess are ranked behind every upload. */
const BACKGROUND = 365 * 24 * 3600_000

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
    size_class: classOf(source_size),
    nudge_at: NEVER,
    turn: reprocess_id ? now + BACKGROUND : sql`${nextTurn(system, organization_id)} + ${turnOf(source_size)}`,
  })
}

/** Milliseconds of its organization's fair share that a transcode costs. */
const turnOf = (source_size: number) => Math.min(LONGEST_TURN, Math.ceil(source_size / BYTES_PER_MS))
const nextTurn = ({ now }: System, organization_id: string) => sql`max(${now}, coalesce((
  select max(turn) from jobs where organization_id = ${organization_id}
    and state = 'open' and turn is not null and is_background = 0), 0))`

/** A source and the id of the job that transcodes it. */
export interface Listed {
  job_id: string
  track_id: string
  source_path: string
  source_size: number
}

/** Queues many sources of one organization, for tracks that match `condition`. */
export function insertTranscodes(system: System, organization_id: string, sources: Listed[], condition: SQL) {
  const listed = sources.map((source) => ({
    ...source,
    size_class: classOf(source.source_size),
    turn: turnOf(source.source_size),
  }))
  const of = (name: string) => sql.raw(`source.value ->> '${name}'`)
  const payload = sql`json_object('kind', 'transcode', 'track_id', tracks.id, 'source_path', ${of('source_path')},
    'source_size', ${of('source_size')})`
  const source = sql`json_each(${JSON.stringify(listed)}) as source cross join tracks
    where tracks.id = ${of('track_id')} and +tracks.organization_id = ${organization_id} and tracks.source_path = ${of('source_path')} and ${condition}`
  return insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, source, 0, {
    id: of('job_id'),
    size_class: of('size_class'),
    nudge_at: NEVER,
    turn: sql`${nextTurn(system, organization_id)} + sum(${of('turn')}) over (order by source.key)`,
  })
}

/** The id format of `newId`, in SQL: a new id for each row. */
const NEW_ID = `lower('000' || substr(hex(randomblob(3)), 2) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

/**
 * Statements that restart transcodes interrupted by trashing, for the batch that restores the tracks. The second one returns the jobs; wake
 * one of them. The ids are new, because the files of the previous jobs are deleted.
 */
export function insertTranscodesAgain(system: System, organization_id: string, found: SQL) {
  const payload = sql`json_object('kind', 'transcode', 'track_id', id, 'source_path', source_path, 'source_size', source_size)`
  const fresh = sql`tracks where ${found} and status = 'processing'`
  return [
    system.db
      .update(tracks)
      .set({ job_id: sql.raw(NEW_ID), status: 'processing', progress: 0 })
      .where(sql`${found} and status in ('processing', 'fallback_processing')`),
    insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, fresh, 0, {
      id: sql`job_id`,
      size_class: sql.join(
        CLASSES.slice(0, -1).map((most) => sql`(source_size > ${most})`),
        sql` + `,
      ),
      nudge_at: NEVER,
      turn: sql`${nextTurn(system, organization_id)}
        + sum(min(${LONGEST_TURN}, (source_size + ${BYTES_PER_MS - 1}) / ${BYTES_PER_MS})) over (order by "order", id)`,
    }).returning({ id: jobs.id }),
  ] as const
}

/** Whether a job is waiting for a slot. */
export const isWaiting = sql`state = 'open' and turn is not null and slot is null`
const { id, slot, turn, tries, state } = jobs

/** Assigns jobs to transcoders while there are free slots and waiting jobs: jobs whose lease ran out first, then by rank. */
export async function dispatch(system: System): Promise<void> {
  const broken = new Set<number>()
  for (;;) {
    const job = await claimNext(system, broken)
    if (!job) return
    const instance = Math.floor(job.slot! / PLACES)
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
    const first = (size_class: number) =>
      db
        .select({ id, turn, tries, attempt: jobs.attempt, size_class: jobs.size_class })
        .from(jobs)
        .where(and(isWaiting, eq(jobs.size_class, size_class), isFree()))
        .orderBy(turn)
        .limit(1)
    const [taken, ...firsts] = await db.batch([
      db
        .select({ id, slot, is_lost: sql<number>`(state = 'open' and ${isFree()})`.as('is_lost') })
        .from(jobs)
        .where(isNotNull(slot)),
      ...CLASSES.map((_, size_class) => first(size_class)),
    ])
    const lost = taken.find((job) => job.is_lost === 1 && !broken.has(Math.floor(job.slot! / PLACES)))
    const next = lost ?? choose(instances(env), broken, new Set(taken.map((job) => job.slot!)), firsts.flat())
    if (!next) return null
    const job = await take(system, next.id, next.slot!)
    if (job) return job
  }
}

type First = Pick<typeof jobs.$inferSelect, 'id' | 'turn' | 'tries' | 'attempt' | 'size_class'>

/**
 * Picks the first job by rank that fits a free slot, and the smallest such slot, preferably of a transcoder that is already running; after a
 * failed attempt a different slot. A job whose transcoder died goes to an idle transcoder if there is one: the job may be the cause, and its
 * next crash must not stop healthy jobs.
 */
function choose(count: number, broken: Set<number>, taken: Set<number>, firsts: First[]) {
  const places = Array.from({ length: count }, (_, instance) => ({
    instance,
    all: JOB_SLOTS.map((_, at) => instance * PLACES + at).toReversed(),
  }))
  const isIdle = ({ all }: { all: number[] }) => !all.some((place) => taken.has(place))
  const whole = places.filter(({ instance }) => !broken.has(instance))
  const [idle, working] = [whole.filter(isIdle), whole.filter((one) => !isIdle(one))]
  for (const job of firsts.toSorted((a, b) => a.turn! - b.turn!)) {
    const free = (job.attempt > 0 ? [...idle, ...working] : [...working, ...idle])
      .flatMap(({ all }) => all)
      .filter((place) => !taken.has(place) && takes(place, job.size_class))
    if (free.length > 0) return { id: job.id, slot: free[job.tries % free.length]! }
  }
  return null
}

/** Claims a job for a slot; returns null when another worker has claimed either of them. */
async function take({ db }: System, job_id: string, place: number): Promise<Transcode | null> {
  const holder = newId()
  const [job] = await db
    .update(jobs)
    .set({ ...claimedBy(holder), slot: place })
    .where(
      and(
        eq(id, job_id),
        eq(state, 'open'),
        sql`(holder is ${holder} or (${isFree()} and not exists (
          select 1 from jobs as other where other.slot = ${place} and other.id <> ${job_id})))`,
      ),
    )
    .returning()
  return (job as Transcode | undefined) ?? null
}

/** Bytes that a transcoder processes per second, roughly: songs and speech, compressed and uncompressed. */
const BYTES_PER_SECOND = 1_000_000
/** Jobs counted per size class. */
const COUNTED = 200

/** Returns how many jobs are ahead of a job and about how many seconds it waits; null when it is not waiting. */
export async function waitingFor({ db, env }: System, job_id: string) {
  const [job] = await db
    .select({ turn, size_class: jobs.size_class })
    .from(jobs)
    .where(and(eq(id, job_id), isWaiting))
  if (!job) return null
  const before = (
    size_class: number,
  ) => sql`select * from (select 1 as is_before, payload ->> 'source_size' as bytes from jobs
    where ${isWaiting} and size_class = ${size_class} and turn < ${job.turn} limit ${COUNTED})`
  // Larger jobs do not delay it, because they use other slots.
  const line = sql.join(
    Array.from({ length: job.size_class + 1 }, (_, size_class) => before(size_class)),
    sql` union all `,
  )
  const running = sql`select 0 as is_before, (payload ->> 'source_size') / 2 as bytes from jobs where slot is not null`
  const [ahead] = await db
    .select({
      before: sql<number>`coalesce(sum(is_before), 0)`.as('before'),
      bytes: sql<number>`total(bytes)`.as('bytes'),
    })
    .from(sql`(${line} union all ${running})`)
  if (!ahead) return null
  return { before: ahead.before, seconds: Math.ceil(ahead.bytes / BYTES_PER_SECOND / instances(env)) }
}
