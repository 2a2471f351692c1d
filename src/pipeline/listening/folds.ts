import { retrying } from '../../adapters/db/retry.ts'

/**
 * The next folds of all objects in the database. An object cannot report that its own alarm was lost, so every object announces its fold, and `/v1/system`
 * reports those that are overdue.
 */

/** A shard of an organization. */
export interface Shard {
  organization_id: string
  shard: number
}

export interface FoldState {
  /** When the next fold is due at the latest, in milliseconds since 1970; null if everything is folded. */
  due_at: number | null
}

/** Milliseconds after which a fold counts as overdue: alarms are retried after failures. */
const OVERDUE = 2 * 3600_000

/** Stores when the next fold of an object is due. */
export async function reportFold(
  db: D1Database,
  { organization_id, shard }: Shard,
  { due_at }: FoldState,
): Promise<void> {
  const statement =
    due_at === null
      ? db.prepare('delete from listening_folds where organization_id = ? and shard = ?').bind(organization_id, shard)
      : db
          .prepare('insert or replace into listening_folds (organization_id, shard, due_at) values (?, ?, ?)')
          .bind(organization_id, shard, due_at)
  await retrying(() => statement.run())
}

/** Returns the number of folds that are overdue. */
export const overdueFolds = async (db: D1Database, now: number): Promise<number> =>
  (await db
    .prepare('select count(*) as count from listening_folds where due_at < ?')
    .bind(now - OVERDUE)
    .first<number>('count')) ?? 0
