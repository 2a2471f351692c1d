import { eq } from 'drizzle-orm'

import { organizations } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import { listeningObject } from '../../pipeline/listening/call_object.ts'
import type { ListeningCalls } from '../../pipeline/listening/object.ts'

/** Returns a function that calls a method of all objects of the caller's organization. */
export async function objectsOf({ env, db, principal: { organization_id } }: Context) {
  const row = await db
    .select({ shards: organizations.listening_shards })
    .from(organizations)
    .where(eq(organizations.id, organization_id))
    .get()
  const objects = Array.from({ length: row?.shards ?? 1 }, (_, shard) => listeningObject(env, organization_id, shard))
  return <M extends keyof ListeningCalls>(method: M, ...parameters: Parameters<ListeningCalls[M]>) =>
    Promise.all(objects.map((call) => call(method, ...parameters)))
}
