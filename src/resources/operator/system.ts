import { and, eq, sql } from 'drizzle-orm'

import { findFile } from '../../adapters/bucket/media.ts'
import { inJsonList, type Database, openForRequest } from '../../adapters/db/database.ts'
import { fillLevel } from '../../adapters/db/database_size.ts'
import { heartbeat, readVitals, type Vitals } from '../../adapters/db/heartbeats.ts'
import { LATEST_MIGRATION } from '../../adapters/db/latest_migration.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import { transcoderSlots } from '../../adapters/transcoder/client.ts'
import type { Context, Handlers } from '../../context.ts'
import { GROWTH_UNTIL, LISTENING_LIMIT } from '../../contract/facts.ts'
import { TRANSIENT_ERRORS, type System, type SystemPart, type systemOperations } from '../../contract/system.ts'
import { DAY } from '../../contract/time.ts'
import { schemaFault } from '../../core/configuration.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { neededSettings } from '../../core/required_settings.ts'
import { timestamp } from '../../core/time.ts'
import { startTranscode } from '../../domain/transcode/start.ts'
import { LARGEST } from '../../listening/overdue.ts'

/** Milliseconds after which the database is considered unresponsive, and after which the sweep, which runs every minute, is considered stalled. */
const DATABASE_TIMEOUT = 2000
const SWEEP_TIMEOUT = 5 * 60_000
/** Maximum number of tracks that one call starts, and how many of them concurrently. */
const MAX_STARTED = 100
const AT_ONCE = 10

/** Returns the result of a database query and its duration in milliseconds; null when the query fails or takes too long. */
async function timeQuery<T>(query: Promise<T>): Promise<{ answer: T; milliseconds: number } | null> {
  const startedAt = Date.now()
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer after ${DATABASE_TIMEOUT} ms`)), DATABASE_TIMEOUT)
  try {
    return { answer: await Promise.race([query, timeout]), milliseconds: Date.now() - startedAt }
  } catch (error) {
    log('error', 'database_silent', { error: describeError(error) })
    return null
  } finally {
    clearTimeout(timer)
  }
}

/** Whether no sweep has ended for some minutes, or one phase or another has failed in each of them. */
const isStalled = ({ beats: { sweep, seen }, report }: Vitals, now: number) =>
  now - Math.min(sweep ?? seen ?? now, report?.failing_since ?? now) > SWEEP_TIMEOUT

/** Whether the domain of the files served one without a token when it was last checked. */
const isOpen = ({ media }: Pick<Vitals, 'media'>, env: Env) => Boolean(env.MEDIA_BASE_URL && media?.is_open)

/** Returns `fallback` if the database lacks a table or a column. */
const ifMigrated = <T>(query: Promise<T>, fallback: T): Promise<T> =>
  query.catch((error: unknown) => {
    if (schemaFault(error)) return fallback
    throw error
  })

const timeVitals = (db: Database) =>
  timeQuery(
    ifMigrated<Vitals>(readVitals(db), {
      beats: {},
      report: null,
      media: null,
      size: 0,
      is_migrated: false,
    }),
  )

/** Returns which parts of the system are failing, as far as the database shows it. */
const failingOf = (vitals: Vitals, env: Env, now: number): SystemPart[] => [
  ...(vitals.is_migrated ? [] : ['migrations' as const]),
  ...(fillLevel(env, vitals.size) >= GROWTH_UNTIL.content ? ['database_full' as const] : []),
  ...(vitals.beats.restore === undefined ? [] : ['restore' as const]),
  ...(isStalled(vitals, now) ? ['sweep' as const] : []),
  ...(isOpen(vitals, env) ? ['media' as const] : []),
]

/**
 * Returns which parts of the system are failing, as far as the database shows it. Reads the few heartbeats. If no sweep has ever run, the time until
 * the sweep is considered stalled counts from the first check.
 */
export async function failingRows(env: Env): Promise<SystemPart[]> {
  const db = openForRequest(env.DB)
  const vitals = (await timeVitals(db))?.answer
  if (!vitals) return ['database']
  if (vitals.is_migrated && !vitals.beats.sweep && !vitals.beats.seen)
    await heartbeat(db, 'seen', Number.MAX_SAFE_INTEGER)
  return failingOf(vitals, env, Date.now())
}

const kind = sql<string>`payload ->> 'kind'`
const code = sql<string>`coalesce(error ->> 'code', 'unknown')`
const count = sql<number>`count(*)`.as('count')
const isTransient = sql`${code} in ${inJsonList(TRANSIENT_ERRORS)}`

/** Whether a job failed with an error that may be transient, and its track is still in the state in which the job left it. */
const isRetryable = sql`${isTransient} and exists (select 1 from tracks
  where id = payload ->> 'track_id' and job_id = jobs.id and status in ('failed', 'incomplete'))`

// SQLite uses a partial index only if the statement repeats the condition of the index verbatim.
const failedSince = (since: number) => sql`state = 'failed' and jobs.created_at >= ${since}`

/** Number of tracks from which the size of all metadata is estimated. */
const SAMPLE = 200
/** The random bits in the first two groups of an id, after the shard. */
const randomBits = (id: string) => Number.parseInt(id.slice(3, 8) + id.slice(9, 13), 16)

interface Sample {
  count: number
  bytes: number
  last: string | null
}

/**
 * Estimates how many bytes the metadata of all tracks takes, from that of the tracks with the lowest ids. Ids are random, so these tracks are a random
 * sample, and the last of their ids shows which part of all tracks they are.
 */
const metadataBytes = ({ count, bytes, last }: Sample) =>
  last === null || count < SAMPLE ? bytes : (bytes * 2 ** 36) / randomBits(last)

/**
 * Reads the jobs of all organizations: open jobs, and the jobs that were created since a time and have ended, with their error codes. Then the largest object
 * of listening, and a sample of the tracks.
 */
function readWork(db: Database, since: number) {
  const running = sql<number>`sum(slot is not null)`.as('held')
  const oldest = sql<number>`min(created_at)`.as('oldest')
  return db.batch([
    db
      .select({ kind: kind.as('kind'), count, oldest, held: running })
      .from(jobs)
      .where(sql`state = 'open'`)
      .groupBy(kind),
    db
      .select({ kind: kind.as('kind'), state: jobs.state, count })
      .from(jobs)
      .where(sql`created_at >= ${since} and state <> 'open'`)
      .groupBy(kind, jobs.state),
    db
      .select({ code: code.as('code'), count, retryable: sql<number>`sum(${isRetryable})`.as('retryable') })
      .from(jobs)
      .where(failedSince(since))
      .groupBy(code)
      .orderBy(sql`2 desc, 1`),
    db
      .select({ organization_id: sql<string>`organization_id`, shard: sql<number>`shard`, bytes: sql<number>`bytes` })
      .from(LARGEST),
    db
      .select({
        count,
        bytes: sql<number>`coalesce(sum(length(cast(metadata as blob))), 0)`.as('bytes'),
        last: sql<string | null>`max(id)`.as('last'),
      })
      .from(sql`(select id, metadata from tracks order by id limit ${SAMPLE})`),
  ])
}

/** Selects failed jobs whose tracks can be processed again. */
const retryableSince = (since: number, only: string | undefined) =>
  and(failedSince(since), isRetryable, only === undefined ? undefined : sql`${code} = ${only}`)

type FailedTrack = { job_id: string; id: string; organization_id: string; source_path: string | null }

/** Starts a track's transcode, unless another request has started it or the source no longer exists. */
async function startAgain(context: Context, { job_id, source_path, ...track }: FailedTrack): Promise<boolean> {
  const source = await findFile(context.env, source_path)
  if (source) {
    const condition = sql`job_id = ${job_id} and status in ('failed', 'incomplete')`
    return startTranscode(context, track, source, condition)
  }
  // A different error code keeps this job from being retried again and again while other jobs wait behind it.
  await context.db
    .update(jobs)
    .set({ error: sql`json_set(error, '$.code', 'track_not_uploaded')` })
    .where(eq(jobs.id, job_id))
  return false
}

/**
 * Reads the state of the service. Ended jobs and failures are those whose jobs were created in the last `period` milliseconds: every one of these jobs
 * is one row read.
 */
export async function readSystem(
  { env, db, now }: Pick<Context, 'env' | 'db' | 'now'>,
  period: number,
): Promise<System> {
  const [databaseCheck, slots] = await Promise.all([timeVitals(db), transcoderSlots(env)])
  const missing = neededSettings(env)
  const [open, ended, failures, [largest], [sample]] = databaseCheck
    ? await ifMigrated(readWork(db, now - period), [[], [], [], [], []])
    : [[], [], [], [], []]
  const vitals = databaseCheck?.answer
  const { beats = {}, report = null, media = null } = vitals ?? {}
  const failing: SystemPart[] = [
    ...(missing.length > 0 ? ['configuration' as const] : []),
    ...(vitals ? failingOf(vitals, env, now) : ['database' as const]),
    ...(slots > 0 ? [] : ['transcoder' as const]),
    ...(report?.overdue_folds ? ['listening' as const] : []),
  ]
  return {
    failing,
    missing: [...missing, ...(vitals?.is_migrated === false ? [LATEST_MIGRATION] : [])],
    database: {
      answers: databaseCheck !== null,
      milliseconds: databaseCheck?.milliseconds ?? null,
      bytes: vitals?.size ?? null,
      limit: Number(env.DATABASE_LIMIT_BYTES),
      fraction: vitals ? fillLevel(env, vitals.size) : null,
      metadata_fraction: vitals && sample ? metadataBytes(sample) / vitals.size : null,
    },
    transcoder: {
      answers: slots > 0,
      slots,
      busy: open.find((row) => row.kind === 'transcode')?.held ?? 0,
    },
    jobs: [
      ...open.map(({ oldest, kind, count }) => ({
        kind,
        state: 'open' as const,
        count,
        oldest_age: Math.max(0, Math.round((now - oldest) / 1000)),
      })),
      ...ended.map((row) => ({ ...row, oldest_age: null })),
    ],
    failures,
    last_sweep_at: beats.sweep === undefined ? null : timestamp(beats.sweep),
    last_sweep: report && { queries: report.queries, left: report.left, failed: report.failed },
    media: {
      delivery: env.MEDIA_DELIVERY === 'zone' ? 'zone' : 'r2',
      checked_at: beats.media === undefined ? null : timestamp(beats.media),
      is_open: isOpen({ media }, env),
    },
    listening: {
      overdue_folds: report?.overdue_folds ?? 0,
      largest: largest ? { ...largest, limit: LISTENING_LIMIT, fraction: largest.bytes / LISTENING_LIMIT } : null,
    },
    last_event_at: beats.event === undefined ? null : timestamp(beats.event),
  }
}

export const systemHandlers: Handlers<typeof systemOperations> = {
  getSystem: async (_input, context) => ({ system: await readSystem(context, DAY) }),

  async retryFailedTracks({ body }, context) {
    const { db, now, invalidate } = context
    const where = retryableSince(body.since === undefined ? now - DAY : Date.parse(body.since), body.code)
    const { id, organization_id, source_path } = tracks
    const found = await db
      .select({ job_id: jobs.id, id, organization_id, source_path })
      .from(jobs)
      .innerJoin(tracks, eq(tracks.id, sql`payload ->> 'track_id'`))
      .where(where)
      .orderBy(jobs.created_at)
      .limit(MAX_STARTED)
    let started = 0
    for (let at = 0; at < found.length; at += AT_ONCE) {
      const results = await Promise.all(found.slice(at, at + AT_ONCE).map((track) => startAgain(context, track)))
      started += results.filter(Boolean).length
    }
    for (const owner of new Set(found.map((track) => track.organization_id))) invalidate(owner)
    const [remaining] = await db.select({ count }).from(jobs).where(where)
    return { started, left: remaining?.count ?? 0 }
  },
}
