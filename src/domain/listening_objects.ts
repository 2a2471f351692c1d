import { eq } from 'drizzle-orm'

import { listeningFolds } from '../../adapters/db/schema/counters.ts'
import type { Context } from '../../context.ts'
import { listeningObject } from '../../listening/call_object.ts'
import type { ListeningCalls } from '../../listening/object.ts'

/** Returns a function that calls a method of all objects of the caller's organization that have received reports: each is in the database before its first one is stored. */
export async function objectsOf({ env, db, principal: { organization_id } }: Context) {
  const known = await db
    .select({ shard: listeningFolds.shard })
    .from(listeningFolds)
    .where(eq(listeningFolds.organization_id, organization_id))
  const shards = new Set([0, ...known.map(({ shard }) => shard)])
  const objects = [...shards].map((shard) => listeningObject(env, organization_id, shard))
  return <M extends keyof ListeningCalls>(method: M, ...parameters: Parameters<ListeningCalls[M]>) =>
    Promise.all(objects.map((call) => call(method, ...parameters)))
}
