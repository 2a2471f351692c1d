import { and, eq, ne, sql } from 'drizzle-orm'

import { openWithRetries } from '../adapters/db/database.ts'
import { recordEvents } from '../adapters/db/record_event.ts'
import { listeningFolds } from '../adapters/db/schema/counters.ts'
import { wakeIfSubscribed } from '../adapters/queue/wake_webhooks.ts'
import { DAY } from '../contract/time.ts'
import { dateOf } from '../core/time.ts'
import type { Shard } from './fold_times.ts'
import { listeningStub } from './stub.ts'
import { addCounts, noCounts, toResponse } from './sums/counts.ts'
import type { Stats, StatsQuery } from './sums/sums.ts'

/** Maximum number of days that are recorded late. */
const LATE_DAYS = 7

/**
 * Records the days before `today` that this object has not recorded, and calls `remember` after each: its alarm may be late by days. `statsOf` returns the
 * sums of the object.
 */
export async function recordDays(
  env: Env,
  self: Shard & { recorded_day: number | null },
  today: number,
  statsOf: (day: number) => Stats,
  remember: (day: number) => void,
): Promise<void> {
  const first = Math.max(self.recorded_day ?? 0, today - 1 - LATE_DAYS) + 1
  for (let day = first; day < today; day++) {
    const own = statsOf(day)
    if (own.rows.length > 0) await recordDay(env, self, day, own)
    remember(day)
  }
}

/**
 * Records the event `stats.day` for a day that is over, unless it was recorded, or nothing was counted. Every shard with counts of the day tries it after
 * midnight, and adds the sums of the others to its `own`: the sums of a day do not change after it.
 */
async function recordDay(env: Env, { organization_id, shard }: Shard, day: number, own: Stats): Promise<void> {
  const db = openWithRetries(env.DB)
  const isOther = and(eq(listeningFolds.organization_id, organization_id), ne(listeningFolds.shard, shard))
  const others = await db.select({ shard: listeningFolds.shard }).from(listeningFolds).where(isOther)
  const query: StatsQuery = { scope: 'organization', id: organization_id, from: day, to: day, by: 'day' }
  // The engine imports this file, so it cannot import call_object.ts.
  const statsOf = ({ shard: other }: { shard: number }) =>
    listeningStub(env, organization_id, other).call('stats', [query]) as Promise<Stats>
  const all = [own, ...(await Promise.all(others.map(statsOf)))]
  const refused = all.flatMap((stats) => Object.values(stats.refused)).reduce((sum, reports) => sum + reports, 0)
  const totals = all.map((stats) => stats.totals).reduce(addCounts, noCounts())
  if (refused === 0 && totals.every((count) => count === 0)) return
  const date = dateOf(day * DAY)
  // Events are ordered by their time. The event cannot be older than its day.
  const isRecorded = sql`exists (select 1 from events where events.organization_id = ${organization_id}
    and seq > ${day * DAY} and type = 'stats.day' and data ->> '$.date' = ${date})`
  const source = sql`(select id, id as organization_id from organizations where id = ${organization_id} and not ${isRecorded})`
  const event = recordEvents(
    { db, actor: null },
    'stats.day',
    source,
    { date, ...toResponse(totals), refused },
    'organization',
  )
  await db.batch([event])
  await wakeIfSubscribed({ env, db }, organization_id)
}
