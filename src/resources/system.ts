import { and, eq, sql } from 'drizzle-orm'

import { among, type Database } from '../adapters/database.ts'
import { beat, lastBeats } from '../adapters/heartbeats.ts'
import { findFile } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import { transcoderSlots } from '../adapters/transcoder.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { Context, Handlers } from '../context.ts'
import { PASSING, type System, type SystemPart, type systemOperations } from '../contract/system.ts'
import { describeError } from '../errors.ts'
import { startTranscode } from '../pipeline/transcode/start.ts'
import { timestamp } from './session.ts'

/** Milliseconds until the database counts as unresponsive, and the sweep, which runs every minute, as stalled. */
const DATABASE_PATIENCE = 2000
const SWEEP_PATIENCE = 5 * 60_000
const DAY = 24 * 3600_000
/** Tracks that one call starts at most, and how many concurrently. */
const MAX_STARTED = 100
const AT_ONCE = 10

/** The result of a database query and its duration in milliseconds; null when it fails or takes too long. */
async function askDatabase<T>(question: Promise<T>): Promise<{ answer: T; milliseconds: number } | null> {
  const began = Date.now()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer after ${DATABASE_PATIENCE} ms`)), DATABASE_PATIENCE)
  try {
    return { answer: await Promise.race([question, late]), milliseconds: Date.now() - began }
  } catch (error) {
    console.error(JSON.stringify({ event: 'database_silent', error: describeError(error) }))
    return null
  } finally {
    clearTimeout(timer)
  }
}

type Beats = Awaited<ReturnType<typeof lastBeats>>

const standsStill = ({ sweep, seen }: Beats, now: number) => now - (sweep ?? seen ?? now) > SWEEP_PATIENCE

/**
 * Returns which parts that report through the database fail; reads one row. In a deployment that never swept, the sweep's time counts from
 * the first check.
 */
export async function failingRows(db: Database): Promise<SystemPart[]> {
  const beats = (await askDatabase(lastBeats(db)))?.answer
  if (!beats) return ['database']
  if (!beats.sweep && !beats.seen) await beat(db, 'seen', Number.MAX_SAFE_INTEGER)
  return standsStill(beats, Date.now()) ? ['sweep'] : []
}

const kind = sql<string>`payload ->> 'kind'`
const code = sql<string>`coalesce(error ->> 'code', 'unknown')`
const count = sql<number>`count(*)`.as('count')
const passing = sql`${code} in ${among(PASSING)}`

/** Jobs with a possibly transient error, whose track still has the state that the job left. */
const retryable = sql`${passing} and exists (select 1 from tracks
  where id = payload ->> 'track_id' and job_id = jobs.id and status in ('failed', 'incomplete'))`

// SQLite uses a partial index only if the statement contains its condition verbatim.
const failedSince = (since: number) => sql`state = 'failed' and jobs.created_at >= ${since}`

/** Jobs of all organizations: open ones, those of one day that have ended, and error codes of the failed ones. */
function readJobs(db: Database, now: number) {
  const held = sql<number>`sum(slot is not null)`.as('held')
  const oldest = sql<number>`min(created_at)`.as('oldest')
  return db.batch([
    db
      .select({ kind: kind.as('kind'), count, oldest, held })
      .from(jobs)
      .where(sql`state = 'open'`)
      .groupBy(kind),
    db
      .select({ kind: kind.as('kind'), state: jobs.state, count })
      .from(jobs)
      .where(sql`created_at >= ${now - DAY} and state <> 'open'`)
      .groupBy(kind, jobs.state),
    db
      .select({ code: code.as('code'), count, retryable: sql<number>`sum(${retryable})`.as('retryable') })
      .from(jobs)
      .where(failedSince(now - DAY))
      .groupBy(code)
      .orderBy(sql`2 desc, 1`),
  ])
}

/** Failed jobs whose tracks can be processed again. */
const retryableSince = (since: number, only: string | undefined) =>
  and(failedSince(since), retryable, only === undefined ? undefined : sql`${code} = ${only}`)

type Failed = { job_id: string; id: string; organization_id: string; source_path: string | null }

/** Starts a track's transcode, unless another request did or its source is gone. */
async function startAgain(context: Context, { job_id, source_path, ...track }: Failed): Promise<boolean> {
  const source = await findFile(context.env, source_path)
  if (source) {
    const condition = sql`job_id = ${job_id} and status in ('failed', 'incomplete')`
    return startTranscode(context, track, source, condition)
  }
  // Changes the code, so that the job is not retried repeatedly while others wait behind it.
  await context.db
    .update(jobs)
    .set({ error: sql`json_set(error, '$.code', 'track_not_uploaded')` })
    .where(eq(jobs.id, job_id))
  return false
}

export const systemHandlers: Handlers<typeof systemOperations> = {
  async getSystem(_input, { env, db, now }) {
    const [pulse, slots] = await Promise.all([askDatabase(lastBeats(db)), transcoderSlots(env)])
    const [open, ended, failures] = pulse ? await readJobs(db, now) : [[], [], []]
    const beats = pulse?.answer ?? {}
    const failing: SystemPart[] = [
      ...(pulse ? [] : ['database' as const]),
      ...(standsStill(beats, now) ? ['sweep' as const] : []),
      ...(slots > 0 ? [] : ['transcoder' as const]),
    ]
    const system: System = {
      failing,
      database: { answers: pulse !== null, milliseconds: pulse?.milliseconds ?? null },
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
      last_event_at: beats.event === undefined ? null : timestamp(beats.event),
    }
    return { system }
  },

  async retryFailedTracks({ body }, context) {
    const { db, now, forget } = context
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
      const some = await Promise.all(found.slice(at, at + AT_ONCE).map((track) => startAgain(context, track)))
      started += some.filter(Boolean).length
    }
    for (const owner of new Set(found.map((track) => track.organization_id))) forget(owner)
    const [rest] = await db.select({ count }).from(jobs).where(where)
    return { started, left: rest?.count ?? 0 }
  },
}
