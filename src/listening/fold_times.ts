import { retrying } from '../adapters/db/retry.ts'
import { LISTENING_LIMIT, LISTENING_WARNING, PROGRESS_DAYS } from '../contract/facts.ts'
import { log } from '../core/log.ts'

/**
 * The objects of all organizations, with their next folds and their sizes, in the database. An object cannot report that its own alarm was lost, so every object
 * announces its fold, and `/v1/system` reports those that are overdue, and the largest one.
 */

/** A shard of an organization. */
export interface Shard {
  organization_id: string
  shard: number
}

const UPSERT_FOLD = 'insert or replace into listening_folds (organization_id, shard, due_at, bytes) values (?, ?, ?, ?)'

/** Stores when the next fold of an object is due, in milliseconds since 1970 (0 if everything is folded), and the size of its database. */
export async function reportFold(
  db: D1Database,
  { organization_id, shard }: Shard,
  due_at: number,
  bytes: number,
): Promise<void> {
  if (bytes > LISTENING_WARNING * LISTENING_LIMIT)
    log('error', 'listening_filling', { organization_id, shard, bytes, limit: LISTENING_LIMIT })
  const statement = db.prepare(UPSERT_FOLD).bind(organization_id, shard, due_at, bytes)
  await retrying(() => statement.run())
}

/** Returns the days after which the progress of an organization's listeners ends; the default if the organization was deleted. */
export async function progressDays(db: D1Database, organization_id: string): Promise<number> {
  const statement = db.prepare('select progress_days from organizations where id = ?').bind(organization_id)
  return (await retrying(() => statement.first<{ progress_days: number }>()))?.progress_days ?? PROGRESS_DAYS
}
