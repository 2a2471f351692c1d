import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { heartbeats } from './schema/counters.ts'

type HeartbeatName = typeof heartbeats.$inferSelect.name

/** Records a heartbeat, at most once per `pause` milliseconds: one row written. */
export async function heartbeat(db: Database, name: HeartbeatName, pause = 0): Promise<void> {
  const at = Date.now()
  // `abs` keeps heartbeats going after a clock that was ahead is set back.
  const setWhere = sql`abs(${heartbeats.at} - ${at}) >= ${pause}`
  await db
    .insert(heartbeats)
    .values({ name, at })
    .onConflictDoUpdate({ target: heartbeats.name, set: { at }, setWhere })
}

/** The time of each last heartbeat, in milliseconds since 1970. */
export async function lastHeartbeats(db: Database): Promise<Partial<Record<HeartbeatName, number>>> {
  const rows = await db.select().from(heartbeats)
  return Object.fromEntries(rows.map(({ name, at }) => [name, at]))
}
