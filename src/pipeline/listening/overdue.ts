import { type SQL, sql } from 'drizzle-orm'

import type { System } from '../../context.ts'
import { listeningObject } from './call_object.ts'
import type { Shard } from './fold_times.ts'

/** Milliseconds after which a fold counts as overdue: alarms are retried after failures. */
const OVERDUE = 2 * 3600_000
/** Number of objects that one sweep folds. */
const AT_ONCE = 20

/** Matches the objects whose folds are overdue, because their alarms were lost or failed. */
export const overdueFolds = (now: number): SQL => sql`listening_folds where due_at > 0 and due_at < ${now - OVERDUE}`

/** Folds the sums of such objects. Returns whether there may be more. Throws if a fold fails. */
export async function foldOverdue({ db, env, now }: System): Promise<boolean> {
  const objects = await db.all<Shard>(
    sql`select organization_id, shard from ${overdueFolds(now)} order by due_at limit ${AT_ONCE}`,
  )
  for (const { organization_id, shard } of objects) await listeningObject(env, organization_id, shard)('alarm')
  return objects.length === AT_ONCE
}
