import { sql } from 'drizzle-orm'

import { heartbeats } from '../../adapters/db/schema/counters.ts'
import { events } from '../../adapters/db/schema/events.ts'
import type { System } from '../../context.ts'
import { EVENT_DAYS } from '../../contract/facts.ts'

const DAY = 24 * 3600_000
/** Rows that one statement deletes, and statements of one sweep. */
const CHUNK = 5000
const ROUNDS = 100

const startOfDay = (now: number) => now - (now % DAY)

/** Has a row if today's sweep of events is done. Every sweep checks it, which reads one row. */
export const eventsSwept = (now: number) => sql`heartbeats where name = 'events' and at = ${startOfDay(now)}`

/**
 * Deletes old events, once a day and by whole days. They have no index by age, which would cost another row written per event, so the
 * statement goes from organization to organization, which reads two rows each.
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
  for (let round = 0; round < ROUNDS; round++) {
    const { meta } = await db.delete(events).where(sql`(organization_id, seq) in (${expiredEvents})`)
    if (meta.changes === CHUNK) continue
    const swept = { name: 'events' as const, at: day }
    await db.insert(heartbeats).values(swept).onConflictDoUpdate({ target: heartbeats.name, set: swept })
    return
  }
}
