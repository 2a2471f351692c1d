import { sql } from 'drizzle-orm'

import { retrying } from '../../adapters/db/retry.ts'
import { LISTENING_LIMIT, LISTENING_WARNING } from '../../contract/facts.ts'
import { log } from '../../core/log.ts'

/**
 * The objects of all organizations, with their next folds and their sizes, in the database. An object cannot report that its own alarm was lost, so every object
 * announces its fold, and `/v1/system` reports those that are overdue, and the largest one.
 */

/** A shard of an organization. */
export interface Shard {
  organization_id: string
  shard: number
}

const WRITE = 'insert or replace into listening_folds (organization_id, shard, due_at, bytes) values (?, ?, ?, ?)'

/** Stores when the next fold of an object is due, in milliseconds since 1970 (0 if everything is folded), and the size of its database. */
export async function reportFold(
  db: D1Database,
  { organization_id, shard }: Shard,
  due_at: number,
  bytes: number,
): Promise<void> {
  if (bytes > LISTENING_WARNING * LISTENING_LIMIT)
    log('error', 'listening_filling', { organization_id, shard, bytes, limit: LISTENING_LIMIT })
  const statement = db.prepare(WRITE).bind(organization_id, shard, due_at, bytes)
  await retrying(() => statement.run())
}

/** Matches the largest object of all organizations. */
export const LARGEST = sql`listening_folds where bytes > 0 order by bytes desc limit 1`
