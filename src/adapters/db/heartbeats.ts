import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { heartbeats } from './schema/counters.ts'

type HeartbeatName = typeof heartbeats.$inferSelect.name

/** Records a heartbeat, at most once every `pause` milliseconds. It costs one row written. */
export async function heartbeat(db: Database, name: HeartbeatName, pause = 0): Promise<void> {
  const at = Date.now()
  // `abs` lets heartbeats continue after a clock that was ahead has been set back.
  const setWhere = sql`abs(${heartbeats.at} - ${at}) >= ${pause}`
  await db
    .insert(heartbeats)
    .values({ name, at })
    .onConflictDoUpdate({ target: heartbeats.name, set: { at }, setWhere })
}

/** Returns the time of each activity's last heartbeat, in milliseconds since 1970. */
export async function lastHeartbeats(db: Database): Promise<Partial<Record<HeartbeatName, number>>> {
  const rows = await db.select().from(heartbeats)
  return Object.fromEntries(rows.map(({ name, at }) => [name, at]))
}
