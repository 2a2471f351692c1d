import { sql, type SQL } from 'drizzle-orm'

import { fillLevel } from '../adapters/db/database_size.ts'
import { heartbeat, readVitals, type Vitals } from '../adapters/db/heartbeats.ts'
import type { QueryBudget } from '../adapters/db/query_budget.ts'
import { uploadSessions } from '../adapters/db/schema/library.ts'
import { playSessions, purgeablePlaySessions } from '../adapters/db/schema/play_sessions.ts'
import { idempotencyKeys, jobs } from '../adapters/db/schema/work.ts'
import { wakeWebhooks } from '../adapters/queue/wake_webhooks.ts'
import type { System } from '../context.ts'
import { FILL_WARNING } from '../contract/facts.ts'
import { DAY, HOUR, MINUTE } from '../contract/time.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { sweepMultipart } from '../domain/cleanup/abandoned_uploads.ts'
import { dueTrash, sweepTrash } from '../domain/cleanup/trash.ts'
import { checkHandles, dueHandles, ingestWaiting } from '../domain/ingest.ts'
import { forgottenJobs, sendJob } from '../domain/jobs.ts'
import { endedReservations, endReservations } from '../domain/quota.ts'
import { cancelUnwanted } from '../domain/transcode/cancel_unwanted.ts'
import { dispatch } from '../domain/transcode/dispatch.ts'
import { isQueued } from '../domain/transcode/queue.ts'
import { countSessions, mergeDays, usageDue } from '../domain/usage.ts'
import { dueWebhooks } from '../domain/webhooks/due.ts'
import { expiredDeliveries, sweepWebhooks } from '../domain/webhooks/old_deliveries.ts'
import { foldOverdue, overdueFolds } from '../listening/overdue.ts'
import { fillSearch } from './fill_search.ts'
import { checkMedia, isMediaDue } from './media_check.ts'
import { areEventsDue, sweepEvents } from './old_events.ts'

/** Maximum number of rows of each kind that one sweep reads. */
const LIMIT = 200
/** Maximum number of rows that one statement deletes: a batch may take at most 30 seconds (D1, Limits) and blocks other queries. */
const CHUNK = 5000
/** Queries that are kept for the heartbeat and its retries. */
const LAST = 5
/** Queries that are kept for a phase while the phases before it run. */
const SHARE = 15

type Due = Awaited<ReturnType<typeof findDueTasks>> & { is_media_due: boolean; are_events_due: boolean }

interface Phase {
  name: string
  isDue?: (due: Due) => unknown
  /** Resolves to true if rows are left for the next sweep. */
  run: (system: System, due: Due) => Promise<unknown>
  /** The share of the phase, if it is not `SHARE`. */
  share?: number
}

/** The phases on which uploads, transcodes and webhooks wait. They run first. */
const URGENT: readonly Phase[] = [
  { name: 'webhooks', share: 0, isDue: (due) => due.is_webhook_due, run: (system) => wakeWebhooks(system) },
  { name: 'jobs', run: sendForgottenJobs },
  { name: 'cancel', share: 60, isDue: (due) => due.is_running, run: cancelUnwanted },
  { name: 'dispatch', share: 100, isDue: (due) => due.is_running || due.is_waiting, run: dispatch },
  { name: 'ingest', share: 150, run: (system) => ingestWaiting(system, LIMIT) },
]
/** The phases that delete and count. Each minute another one of them is the first. */
const ROTATING: readonly Phase[] = [
  { name: 'multipart', run: (system) => sweepMultipart(system, LIMIT) },
  { name: 'handles', isDue: (due) => due.is_handle_due, run: (system) => checkHandles(system, LIMIT) },
  { name: 'trash', isDue: (due) => due.is_trash_due, run: sweepTrash },
  { name: 'days', isDue: (due) => due.is_day_old, run: mergeDays },
  { name: 'expired', isDue: (due) => due.is_session_uncounted || due.ended.length > 0, run: deleteExpired },
  { name: 'events', isDue: (due) => due.are_events_due, run: sweepEvents },
  { name: 'deliveries', isDue: (due) => due.is_webhook_old, run: sweepWebhooks },
  { name: 'quotas', isDue: (due) => due.is_reservation_ended, run: (system) => endReservations(system, CHUNK) },
  { name: 'media', isDue: (due) => due.is_media_due, run: checkMedia },
  { name: 'listening', isDue: (due) => due.overdue_folds > 0, run: foldListening },
  { name: 'search', isDue: (due) => due.is_unsearched, run: fillSearch },
]

/** Returns the phases that have something to do, in the order of this minute. */
function duePhases(due: Due, now: number): Phase[] {
  const first = Math.floor(now / MINUTE) % ROTATING.length
  return [...URGENT, ...ROTATING.slice(first), ...ROTATING.slice(0, first)].filter(({ isDue }) => !isDue || isDue(due))
}

/**
 * The cron handler. It recovers lost events, messages and jobs, and deletes expired rows. A phase that fails, or for which no queries are left, does
 * not stop the others; the heartbeat reports it.
 */
export async function sweep(system: System & { queries: QueryBudget }): Promise<void> {
  const { db, env, now, queries } = system
  const left: string[] = []
  const failed: string[] = []
  const run = async (name: string, kept: number, phase: () => Promise<unknown>) => {
    queries.keep(LAST + kept)
    try {
      if ((await phase()) === true) left.push(name)
    } catch (error) {
      if (queries.isSpent) return
      failed.push(name)
      log('error', 'sweep_failed', { phase: name, error: describeError(error) })
    } finally {
      // Some phases handle the error themselves.
      if (queries.isSpent) left.push(name)
    }
  }
  let vitals: Vitals | undefined
  let due: Due | undefined
  await run('start', 0, async () => {
    vitals = await readVitals(db)
    if (fillLevel(env, vitals.size) >= FILL_WARNING && now % HOUR < MINUTE)
      log('error', 'database_filling', { bytes: vitals.size, limit: Number(env.DATABASE_LIMIT_BYTES) })
    // Half of the rows may be missing.
    if (vitals.beats.restore === undefined)
      due = {
        ...(await findDueTasks(system)),
        is_media_due: isMediaDue(env, vitals, now),
        are_events_due: areEventsDue(vitals, now),
      }
  })
  const phases = due ? duePhases(due, now) : []
  for (const [at, phase] of phases.entries()) {
    const kept = phases.slice(at + 1).reduce((sum, { share = SHARE }) => sum + share, 0)
    await run(phase.name, kept, () => phase.run(system, due!))
  }
  queries.keep(0)
  if (left.length > 0) log('log', 'sweep_left', { phases: left, queries: queries.used })
  // Failed folds are reported as `overdue_folds`. The service plays without them, so they do not fail /health.
  const isFailing = failed.some((phase) => phase !== 'listening')
  const failing_since = isFailing ? (vitals?.report?.failing_since ?? now) : null
  await heartbeat(db, 'sweep', 0, {
    queries: queries.used + 1,
    left,
    failed,
    failing_since,
    overdue_folds: due?.overdue_folds ?? 0,
  })
}

async function sendForgottenJobs(system: System): Promise<boolean> {
  const forgotten = await forgottenJobs(system, LIMIT)
  for (const job of forgotten) await sendJob(system, job)
  return forgotten.length === LIMIT
}

/** Folds overdue sums. After it, `due` has the number of those that are still overdue. */
async function foldListening(system: System, due: Due): Promise<boolean> {
  try {
    return await foldOverdue(system)
  } finally {
    due.overdue_folds = await system.db.$count(overdueFolds(system.now))
  }
}

/** Queries which infrequent tasks are due. */
async function findDueTasks({ db, now }: System) {
  const due = usageDue(now)
  const expiredTables = expiredRows(now)
  const exists = (rows: SQL, name: string) => sql<number>`exists (select 1 from ${rows})`.as(name)
  const hasRows = ({ table, condition }: (typeof expiredTables)[number]) =>
    sql`exists (select 1 from ${table} where ${condition})`
  const [flags] = await db
    .select({
      is_running: exists(sql`jobs where slot is not null`, 'is_running'),
      is_waiting: exists(sql`jobs where ${isQueued}`, 'is_waiting'),
      is_unsearched: exists(sql`search_fills`, 'is_unsearched'),
      is_session_uncounted: exists(due.sessions, 'is_session_uncounted'),
      is_day_old: exists(due.days, 'is_day_old'),
      is_webhook_due: exists(dueWebhooks(now), 'is_webhook_due'),
      is_webhook_old: exists(expiredDeliveries(now), 'is_webhook_old'),
      is_handle_due: exists(dueHandles(now), 'is_handle_due'),
      is_trash_due: exists(dueTrash(now), 'is_trash_due'),
      overdue_folds: sql<number>`(select count(*) from ${overdueFolds(now)})`.as('overdue_folds'),
      is_reservation_ended: exists(endedReservations(now), 'is_reservation_ended'),
      ended: sql`json_array(${sql.join(expiredTables.map(hasRows), sql`, `)})`.mapWith(JSON.parse).as('ended'),
    })
    .from(sql`(select 1)`)
  return { ...flags!, ended: expiredTables.filter((_, at) => flags!.ended[at]) }
}

type ExpiringTable = typeof playSessions | typeof uploadSessions | typeof idempotencyKeys | typeof jobs

/** Conditions for expired rows of each table, with the column by which the rows are found. */
function expiredRows(now: number): { table: ExpiringTable; condition: SQL; by: SQL }[] {
  const expired = sql`expires_at < ${now - DAY}`
  const createdBefore = (days: number) => sql`created_at < ${now - days * DAY}`
  return [
    { table: playSessions, condition: purgeablePlaySessions(now), by: sql`id` },
    { table: uploadSessions, condition: expired, by: sql`expires_at` },
    { table: idempotencyKeys, condition: createdBefore(1), by: sql`created_at` },
    { table: jobs, condition: sql`${createdBefore(7)} and state <> 'open'`, by: sql`created_at` },
  ]
}

/** Deletes expired rows in chunks until none is left. All sessions are counted first, because they cannot be counted afterwards. */
async function deleteExpired(system: System, due: Due): Promise<void> {
  const { db } = system
  if (due.is_session_uncounted) await countSessions(system)
  let statements = due.ended.map(({ table, condition, by }) => {
    const chunk = sql`(select id from ${table} where ${condition} order by ${by} limit ${CHUNK})`
    return db.delete(table).where(sql`id in ${chunk}`)
  })
  while (statements.length > 0) {
    const results = await db.batch(statements as [(typeof statements)[number]])
    statements = statements.filter((_, at) => (results as D1Result[])[at]?.meta.changes === CHUNK)
  }
}
