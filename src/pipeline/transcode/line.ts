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
 * The line in which transcodes wait, and the places in which they run (docs/decisions/0033): of each transcoder one for any job, and beside
 * it others for shorter ones only.
 */

/** The first of these sizes that a source does not exceed tells its job's class; the places are in the opposite order. */
const CLASSES = JOB_SLOTS.toReversed()
const PLACES = JOB_SLOTS.length
const classOf = (size: number) => CLASSES.findIndex((most) => size <= most)
/** Whether a place takes jobs of a class. */
const takes = (place: number, size_class: number) => size_class <= PLACES - 1 - (place % PLACES)

/** Bytes that take a millisecond of an organization's time: slower than any transcoder, so that who has waited comes first. */
const BYTES_PER_MS = 16
/** No job takes more than this of it, in milliseconds: a file in its owner's next minutes is not to wait for days. */
const LONGEST_TURN = 3600_000
/** Milliseconds by which the tracks of a collection's reprocess stand back: behind every upload. */
const BACKGROUND = 365 * 24 * 3600_000

/** Nobody is nudged for a transcode: it stands in line. */
const NEVER = Number.MAX_SAFE_INTEGER

type Transcode = Job<'transcode'>

/**
 * The statement that puts a transcode in line. Organizations take turns: a job stands where its organization would be if it had been given
 * all its time since now or since its last job in line; so many files of one hold up no file of another.
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

/** What each transcode takes of its organization's time. */
const turnOf = (source_size: number) => Math.min(LONGEST_TURN, Math.ceil(source_size / BYTES_PER_MS))
const nextTurn = ({ now }: System, organization_id: string) => sql`max(${now}, coalesce((
  select max(turn) from jobs where organization_id = ${organization_id}
    and state = 'open' and turn is not null and is_background = 0), 0))`

/** A source that is to be made into files by a job of this id. */
export interface Listed {
  job_id: string
  track_id: string
  source_path: string
  source_size: number
}

/** The same for many sources of one organization, whose tracks are as `condition` says. */
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

/** As `newId` makes them, in SQL: another one for each row. */
const NEW_ID = `lower('000' || substr(hex(randomblob(3)), 2) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

/**
 * The statements that begin the transcodes of tracks anew that were being processed when they went into the trash, for the batch that brings
 * them back; the second gives the jobs, one of which is to be nudged. New ids, as what the former jobs made is deleted.
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

/** Of a job that waits for a place. */
export const isWaiting = sql`state = 'open' and turn is not null and slot is null`
const { id, slot, turn, tries, state } = jobs

/** Hands jobs to the transcoders as long as there are places and jobs: one that was begun and lost first, then by turn. */
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
 * The first in line for whom there is a place, and the smallest place that will do, of a transcoder that works already if there is one;
 * after a failure another one. A job whose transcoder died is kept apart from others if it can be: it may be what ends transcoders, and no
 * healthy one should fail with it again and again.
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

/** Claims a job for a place; null when somebody else was faster with either. */
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

/** Bytes that a transcoder gets through in a second, about: songs and speech, compressed or not. */
const BYTES_PER_SECOND = 1_000_000
/** Jobs of each class that are counted. */
const COUNTED = 200

/** What a job waits for: how many stand before it, and about how many seconds; null when it does not wait. */
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
  // It does not wait for larger ones: they have places of their own.
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
