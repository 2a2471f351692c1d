import { type SQL, sql } from 'drizzle-orm'

import type { System } from '../context.ts'
import { HOUR } from '../contract/time.ts'
import { listeningObject } from './call_object.ts'
import { eraseListening } from './erase.ts'
import type { Shard } from './fold_times.ts'

/** Reads and writes of `listening_folds` by the Worker. The objects import `fold_times.ts`, which loads no Drizzle. */

/** Milliseconds after which a fold counts as overdue: alarms are retried after failures. */
const OVERDUE = 2 * HOUR
/** Number of objects that one sweep folds. */
const AT_ONCE = 20

/** Matches the objects whose folds are overdue, because their alarms were lost or failed. */
export const overdueFolds = (now: number): SQL => sql`listening_folds where due_at > 0 and due_at < ${now - OVERDUE}`

/** Matches the largest object of all organizations. */
export const LARGEST = sql`listening_folds where bytes > 0 order by bytes desc limit 1`

/** The statement after which the next sweep calls the alarms of an organization's objects, so that progress ends that has become too old. */
export const callAlarms = (organization_id: string) =>
  sql`update listening_folds set due_at = 1 where organization_id = ${organization_id}`

/**
 * Folds the sums of the objects that are overdue, and erases those of deleted organizations. Returns whether there may be more. Throws the first error after all were
 * tried. The order is random, so that objects that always fail do not keep others from their turn.
 */
export async function foldOverdue(system: System): Promise<boolean> {
  const { db, env, now } = system
  const isGone = sql`not exists (select 1 from organizations where id = listening_folds.organization_id)`
  const objects = await db.all<Shard & { is_gone: number }>(
    sql`select organization_id, shard, ${isGone} as is_gone from ${overdueFolds(now)} order by random() limit ${AT_ONCE}`,
  )
  const errors: unknown[] = []
  for (const { organization_id, shard, is_gone } of objects) {
    const work = is_gone
      ? eraseListening(system, organization_id)
      : listeningObject(env, organization_id, shard)('alarm', { organization_id, shard })
    await work.catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
  return objects.length === AT_ONCE
}
