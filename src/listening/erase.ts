import { eq } from 'drizzle-orm'

import { listeningFolds } from '../adapters/db/schema/counters.ts'
import type { System } from '../context.ts'
import { listeningObject } from './call_object.ts'

/** Deletes the listening of a deleted organization. */
export async function eraseListening({ db, env }: Pick<System, 'db' | 'env'>, organization_id: string): Promise<void> {
  const ofOrganization = eq(listeningFolds.organization_id, organization_id)
  const objects = await db.select({ shard: listeningFolds.shard }).from(listeningFolds).where(ofOrganization)
  for (const { shard } of objects) await listeningObject(env, organization_id, shard)('erase')
  await db.delete(listeningFolds).where(ofOrganization)
}
