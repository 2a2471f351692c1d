import { objectName } from './shards.ts'

/**
 * Returns the stub of the object of a shard. Only this function uses the namespace: outside of the jurisdiction, the same name is another object, and a hint
 * counts only in the first call of an object (Durable Objects, Data location).
 */
export function listeningStub({ LISTENING, JURISDICTION, LOCATION_HINT }: Env, organization_id: string, shard: number) {
  const namespace = JURISDICTION ? LISTENING.jurisdiction(JURISDICTION as DurableObjectJurisdiction) : LISTENING
  const options = LOCATION_HINT ? { locationHint: LOCATION_HINT as DurableObjectLocationHint } : {}
  return namespace.getByName(objectName(organization_id, shard), options)
}
