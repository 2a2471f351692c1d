import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { heartbeats } from './work_schema.ts'

type Name = typeof heartbeats.$inferSelect.name

/** Notes that something happens now, unless that was noted within the last `pause` milliseconds: one row written. */
export async function beat(db: Database, name: Name, pause = 0): Promise<void> {
  const at = Date.now()
  // A clock that was ahead must not stop it.
  const setWhere = sql`abs(${heartbeats.at} - ${at}) >= ${pause}`
  await db
    .insert(heartbeats)
    .values({ name, at })
    .onConflictDoUpdate({ target: heartbeats.name, set: { at }, setWhere })
}

/** When each was last noted, in milliseconds since 1970. */
export async function lastBeats(db: Database): Promise<Partial<Record<Name, number>>> {
  const rows = await db.select().from(heartbeats)
  return Object.fromEntries(rows.map(({ name, at }) => [name, at]))
}
