import { sql } from 'drizzle-orm'

import { playSessions, uploadSessions } from '../adapters/schema.ts'
import { idempotencyKeys, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { ingestWaiting } from './ingest.ts'
import { nudgeJobs } from './job.ts'

const DAY = 24 * 3600 * 1000
/** Rows of one kind that one sweep touches: it runs every minute, and must end within one. */
const LIMIT = 200
const DELETE_LIMIT = 2000

/** The cron: catches what events, messages and workers lost, and takes away what has ended. */
export async function sweep(system: System): Promise<void> {
  const { db, now } = system
  await nudgeJobs(system, LIMIT)
  await ingestWaiting(system, LIMIT)
  const ended = (table: typeof playSessions | typeof uploadSessions) =>
    db
      .delete(table)
      .where(
        sql`id in (select id from ${table} where expires_at < ${now - DAY} order by expires_at limit ${DELETE_LIMIT})`,
      )
  await db.batch([
    ended(playSessions),
    ended(uploadSessions),
    db
      .delete(idempotencyKeys)
      .where(
        sql`id in (select id from idempotency_keys where created_at < ${now - DAY} order by created_at limit ${DELETE_LIMIT})`,
      ),
    db
      .delete(jobs)
      .where(
        sql`id in (select id from jobs where created_at < ${now - 7 * DAY} and state <> 'open' order by created_at limit ${DELETE_LIMIT})`,
      ),
  ])
}
