import { sql, type SQL } from 'drizzle-orm'

import { beat } from '../adapters/heartbeats.ts'
import { gonePlaySessions, playSessions } from '../adapters/play_sessions.ts'
import { formerPlaySessions, uploadSessions } from '../adapters/schema.ts'
import { idempotencyKeys, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { ingestWaiting } from './ingest.ts'
import { nudgeJobs } from './job.ts'
import { sweepMultipart } from './multipart.ts'

const DAY = 24 * 3600 * 1000
/** Rows of one kind that one sweep looks after: it runs every minute, and must end within one. */
const LIMIT = 200
/** Rows that one statement deletes: a batch has 30 seconds (D1, Limits), and others wait for it. */
const CHUNK = 5000
/** Batches of one sweep: it may ask the database a thousand times (D1, Limits). A million rows of each kind. */
const ROUNDS = 200

/** The cron: catches what events, messages and workers lost, and takes away what has ended. */
export async function sweep(system: System): Promise<void> {
  await nudgeJobs(system, LIMIT)
  await ingestWaiting(system, LIMIT)
  await sweepMultipart(system, LIMIT)
  await deleteEnded(system)
  await beat(system.db, 'sweep')
}

/** Deletes what has ended, chunk by chunk, until nothing is left. */
async function deleteEnded({ db, now }: System): Promise<void> {
  type Table =
    | typeof playSessions
    | typeof formerPlaySessions
    | typeof uploadSessions
    | typeof idempotencyKeys
    | typeof jobs
  const ended = (table: Table, condition: SQL, order: SQL) =>
    db.delete(table).where(sql`id in (select id from ${table} where ${condition} order by ${order} limit ${CHUNK})`)
  const expired = sql`expires_at < ${now - DAY}`
  const old = (days: number) => sql`created_at < ${now - days * DAY}`
  let due = [
    ended(playSessions, gonePlaySessions(now), sql`id`),
    ended(formerPlaySessions, expired, sql`expires_at`),
    ended(uploadSessions, expired, sql`expires_at`),
    ended(idempotencyKeys, old(1), sql`created_at`),
    ended(jobs, sql`${old(7)} and state <> 'open'`, sql`created_at`),
  ]
  for (let round = 0; due.length > 0 && round < ROUNDS; round++) {
    const results = await db.batch(due as [(typeof due)[number]])
    due = due.filter((_, at) => (results as D1Result[])[at]?.meta.changes === CHUNK)
  }
}
