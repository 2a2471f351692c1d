import { eq } from 'drizzle-orm'

import { listeningFolds } from '../adapters/db/schema/counters.ts'
import type { System } from '../context.ts'
import { listeningObject } from '../listening/call_object.ts'
import type { ListeningCalls } from '../listening/object.ts'

/** Returns the query for the objects of an organization that have received reports: each is in the database before its first one is stored. */
export const shardsQuery = ({ db }: Pick<System, 'db'>, organization_id: string) =>
  db
    .select({ shard: listeningFolds.shard })
    .from(listeningFolds)
    .where(eq(listeningFolds.organization_id, organization_id))
export type Shards = Awaited<ReturnType<typeof shardsQuery>>

/** Returns a function that calls a method of all objects of an organization. `known` are the rows of `shardsQuery`, if they were read already. */
export async function objectsOf(system: Pick<System, 'env' | 'db'>, organization_id: string, known?: Shards) {
  const shards = new Set([0, ...(known ?? (await shardsQuery(system, organization_id))).map(({ shard }) => shard)])
  const objects = [...shards].map((shard) => listeningObject(system.env, organization_id, shard))
  return <M extends keyof ListeningCalls>(method: M, ...parameters: Parameters<ListeningCalls[M]>) =>
    Promise.all(objects.map((call) => call(method, ...parameters)))
}
