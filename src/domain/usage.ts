import { and, eq, lte, sql } from 'drizzle-orm'

import { idsBefore } from '../adapters/crypto/id.ts'
import { usageCursors } from '../adapters/db/schema/usage.ts'
import type { System } from '../context.ts'
import { USAGE_DAYS } from '../contract/facts.ts'
import { HOUR } from '../contract/time.ts'
import { dateOf } from '../core/time.ts'

/**
 * The sweep's part of `GET /v1/usage` (docs/decisions/0055). The sweep moves cursors, and triggers count the rows that a cursor passes
 * (src/adapters/db/triggers/usage.ts). Other triggers count the data of tracks whenever it changes.
 */

/** Milliseconds after which a request for a new session has either written the session or failed. */
const LATE = 600_000

/** Sessions of completed hours that have not been counted yet. No session can be added to these hours anymore. */
const uncounted = (now: number) => sql`play_sessions
  where id >= coalesce((select at from usage_cursors where name = 'sessions'), '') and id < ${idsBefore(Math.floor((now - LATE) / HOUR))}`

/** Returns the first day that is still reported separately; earlier days are merged into one row. */
export const firstReportedDay = (now: number) => dateOf(now - (USAGE_DAYS - 1) * 24 * HOUR)

/** Selects rows if there is something to count or to merge. */
export const usageDue = (now: number) => ({
  sessions: uncounted(now),
  days: sql`usage_days where date > '' and date < ${firstReportedDay(now)}`,
})

/** Moves a cursor, only ever forward; a trigger counts the rows that it passes. If two calls run concurrently, the second one has nothing left to count. */
async function move({ db }: System, name: 'sessions' | 'days', at: string): Promise<void> {
  await db.batch([
    db.insert(usageCursors).values({ name, at: '' }).onConflictDoNothing(),
    db
      .update(usageCursors)
      .set({ at })
      .where(and(eq(usageCursors.name, name), lte(usageCursors.at, at))),
  ])
}

/** Counts sessions by the hour in which they end, before they are deleted. */
export async function countSessions(system: System): Promise<void> {
  for (;;) {
    const [first] = await system.db.all<{ id: string }>(
      sql`select id from ${uncounted(system.now)} order by id limit 1`,
    )
    if (!first) return
    await move(system, 'sessions', idsBefore(Number.parseInt(first.id.slice(3, 8), 16) + 1))
  }
}

/** Merges days that are no longer reported separately into one row. */
export const mergeDays = (system: System) => move(system, 'days', firstReportedDay(system.now))
