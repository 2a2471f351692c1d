import { listeningObject } from './call_object.ts'

/** Deletes the listening of a deleted organization. */
export async function eraseListening(env: Env, organization_id: string): Promise<void> {
  const { results } = await env.DB.prepare('select shard from listening_folds where organization_id = ?')
    .bind(organization_id)
    .all<{ shard: number }>()
  for (const { shard } of results) await listeningObject(env, organization_id, shard)('erase')
  await env.DB.prepare('delete from listening_folds where organization_id = ?').bind(organization_id).run()
}
