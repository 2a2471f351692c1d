import { retrying } from '../../adapters/db/retry.ts'

/**
 * The objects of all organizations, and their next folds, in the database. An object cannot report that its own alarm was lost, so every object announces
 * its fold, and `/v1/system` reports those that are overdue.
 */

/** A shard of an organization. */
export interface Shard {
  organization_id: string
  shard: number
}

const WRITE = 'insert or replace into listening_folds (organization_id, shard, due_at) values (?, ?, ?)'

/** Stores when the next fold of an object is due, in milliseconds since 1970; 0 if everything is folded. */
export async function reportFold(db: D1Database, { organization_id, shard }: Shard, due_at: number): Promise<void> {
  const statement = db.prepare(WRITE).bind(organization_id, shard, due_at)
  await retrying(() => statement.run())
}
