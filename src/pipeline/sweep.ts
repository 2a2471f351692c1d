import { sql, type SQL } from 'drizzle-orm'

import { heartbeat } from '../adapters/db/heartbeats.ts'
import { uploadSessions } from '../adapters/db/schema/library.ts'
import { playSessions, purgeablePlaySessions } from '../adapters/db/schema/play_sessions.ts'
import { idempotencyKeys, jobs } from '../adapters/db/schema/work.ts'
import type { System } from '../context.ts'
import { sweepMultipart } from './cleanup/abandoned_uploads.ts'
import { eventsSwept, sweepEvents } from './cleanup/old_events.ts'
import { dueTrash, sweepTrash } from './cleanup/trash.ts'
import { ingestWaiting } from './ingest.ts'
import { forgottenJobs, sendJob } from './jobs.ts'
import { fillSearch } from './search.ts'
import { isMadeFromSource } from './stored_files.ts'
import { cancelUnwanted } from './transcode/cancel_unwanted.ts'
import { dispatch } from './transcode/dispatch.ts'
import { isQueued } from './transcode/queue.ts'
import { countSessions, mergeDays, usageDue } from './usage.ts'
import { dueWebhooks, wake } from './webhooks/due.ts'
import { expiredDeliveries, sweepWebhooks } from './webhooks/sweep.ts'

const DAY = 24 * 3600 * 1000
/** Maximum number of rows of each kind that one sweep handles: it starts every minute and must finish within a minute. */
const LIMIT = 200
/** Maximum number of rows that one statement deletes: a batch may take at most 30 seconds (D1, Limits) and blocks other queries. */
const CHUNK = 5000
/** Maximum number of batches in one sweep, which may run a thousand queries (D1, Limits). This is enough for a million rows of each kind. */
const ROUNDS = 200

/** The cron handler. It recovers lost events, messages and jobs, and deletes expired rows. */
export async function sweep(system: System): Promise<void> {
  for (const job of await forgottenJobs(system, LIMIT)) await sendJob(system, job)
  const due = await findDueTasks(system)
  // This step runs first, because later steps can fail.
  if (due.is_webhook_due) await wake(system)
  if (due.is_running) await cancelUnwanted(system)
  if (due.is_running || due.is_waiting) await dispatch(system)
  await ingestWaiting(system, LIMIT)
  await sweepMultipart(system, LIMIT)
  if (due.is_trash_due) await sweepTrash(system)
  if (due.is_session_uncounted) await countSessions(system)
  if (due.is_day_old) await mergeDays(system)
  await deleteExpired(system, due.ended)
  if (!due.are_events_swept) await sweepEvents(system)
  if (due.is_webhook_old) await sweepWebhooks(system)
  if (due.is_unsearched) await fillSearch(system)
  await heartbeat(system.db, 'sweep')
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
      is_trash_due: exists(dueTrash(now), 'is_trash_due'),
      are_events_swept: exists(eventsSwept(now), 'are_events_swept'),
      ended: sql`json_array(${sql.join(expiredTables.map(hasRows), sql`, `)})`.mapWith(JSON.parse).as('ended'),
    })
    .from(sql`(select 1)`)
  return { ...flags!, ended: expiredTables.filter((_, at) => flags!.ended[at]) }
}

type ExpiringTable = typeof playSessions | typeof uploadSessions | typeof idempotencyKeys | typeof jobs

/**
 * Whether a job stores the name of a source from which no files have been made yet: a later reprocess copies this name to the track. The track is
 * looked up by its id. Each sweep reads the few old jobs that are kept for this reason again.
 */
const hasSourceName = sql`exists (select 1 from tracks where id = jobs.payload ->> '$.upload.track_id' and source_path = jobs.id
  and files is not null and not ${isMadeFromSource})`

/** Conditions for expired rows of each table, with the column by which the rows are found. */
function expiredRows(now: number): { table: ExpiringTable; condition: SQL; by: SQL }[] {
  const expired = sql`expires_at < ${now - DAY}`
  const createdBefore = (days: number) => sql`created_at < ${now - days * DAY}`
  return [
    { table: playSessions, condition: purgeablePlaySessions(now), by: sql`id` },
    { table: uploadSessions, condition: expired, by: sql`expires_at` },
    { table: idempotencyKeys, condition: createdBefore(1), by: sql`created_at` },
    {
      table: jobs,
      condition: sql`${createdBefore(7)} and state <> 'open' and not ${hasSourceName}`,
      by: sql`created_at`,
    },
  ]
}

/** Deletes expired rows in chunks until none is left. */
async function deleteExpired({ db }: System, expiredTables: ReturnType<typeof expiredRows>): Promise<void> {
  let statements = expiredTables.map(({ table, condition, by }) => {
    const chunk = sql`(select id from ${table} where ${condition} order by ${by} limit ${CHUNK})`
    return db.delete(table).where(sql`id in ${chunk}`)
  })
  for (let round = 0; statements.length > 0 && round < ROUNDS; round++) {
    const results = await db.batch(statements as [(typeof statements)[number]])
    statements = statements.filter((_, at) => (results as D1Result[])[at]?.meta.changes === CHUNK)
  }
}
