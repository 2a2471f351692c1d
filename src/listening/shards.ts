import { retrying } from '../adapters/db/retry.ts'

/** The Durable Objects of an organization: one, or more if it has many listeners (docs/decisions/0102). */

/** Maximum number of shards. */
export const MAX_SHARDS = 64

/** Returns the name of the object of a shard. */
export const objectName = (organization_id: string, shard: number) =>
  shard === 0 ? organization_id : `${organization_id}#${shard}`

/** Returns the shard of a session, whose id is random at its end. All reports of a visit go to the same one, because the page keeps its token. */
export const shardOf = (session_id: string, shards: number) => Number.parseInt(session_id.slice(-8), 16) % shards

/** Doubles the number of shards, unless it is no longer `shards`. It never shrinks, because sessions keep their tokens. */
export async function growShards(db: D1Database, organization_id: string, shards: number): Promise<void> {
  const statement = db
    .prepare('update organizations set listening_shards = min(2 * ?2, ?3) where id = ?1 and listening_shards = ?2')
    .bind(organization_id, shards, MAX_SHARDS)
  await retrying(() => statement.run())
}
