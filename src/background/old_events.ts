import { sql } from 'drizzle-orm'

import type { Vitals } from '../adapters/db/heartbeats.ts'
import { heartbeats } from '../adapters/db/schema/counters.ts'
import { events } from '../adapters/db/schema/events.ts'
import type { System } from '../context.ts'
import { EVENT_DAYS } from '../contract/facts.ts'
import { DAY } from '../contract/time.ts'

/** Maximum number of rows that one statement deletes. */
const CHUNK = 5000

const startOfDay = (now: number) => now - (now % DAY)

/** Whether old events have not been deleted today. */
export const areEventsDue = ({ beats }: Vitals, now: number) => beats.events !== startOfDay(now)

/**
 * Deletes old events, in whole days, once a day. The table has no index by age, because such an index would cost an additional row write per event.
 * Instead, the statement visits one organization after the other, which costs two row reads for each.
 */
export async function sweepEvents({ db, now }: System): Promise<void> {
  const day = startOfDay(now)
  const expiredEvents = sql`
    with recursive organization (id) as (
      select min(organization_id) from events
      union all
      select (select min(organization_id) from events where organization_id > organization.id) from organization where id is not null
    )
    select organization_id, seq from organization cross join events
    where organization_id = organization.id and seq < ${day - EVENT_DAYS * DAY} limit ${CHUNK}`
  const deleteChunk = () => db.delete(events).where(sql`(organization_id, seq) in (${expiredEvents})`)
  while ((await deleteChunk()).meta.changes === CHUNK);
  const swept = { name: 'events' as const, at: day }
  await db.insert(heartbeats).values(swept).onConflictDoUpdate({ target: heartbeats.name, set: swept })
}
