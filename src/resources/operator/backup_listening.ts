import type { Row } from '../../contract/backup.ts'
import { invalid } from '../../core/errors.ts'
import { listeningObject } from '../../listening/call_object.ts'

/** Reads the rows of the `Listening` objects for a backup, and inserts them in a restore. */

export const LISTENING = 'listening'

type Cursor = (string | number)[] | null

/**
 * Reads a page of one object; for an export, of an object of the organization. The cursor is the object, and the place in it, which is empty before the
 * first row.
 */
export async function readListening(
  env: Env,
  after: Cursor,
  only?: string,
): Promise<{ rows: Record<string, Row[]>; after: Cursor }> {
  const [organization = '', shard = 0, place = 'end'] = (after ?? []) as [string?, number?, string?]
  if (place === 'end') {
    const next = await env.DB.prepare(
      'select organization_id, shard from listening_folds where (organization_id, shard) > (?1, ?2) and organization_id = coalesce(?3, organization_id) order by organization_id, shard limit 1',
    )
      .bind(organization, after === null ? -1 : shard, only ?? null)
      .first<{ organization_id: string; shard: number }>()
    return { rows: { [LISTENING]: [] }, after: next && [next.organization_id, next.shard, ''] }
  }
  if (only !== undefined && organization !== only) throw invalid('after', 'is in another organization')
  const page = await listeningObject(env, organization, shard)('copy', place === '' ? null : place)
  if (!page) throw invalid('after', 'is not a place in the rows of this backup')
  const rows = page.rows.map((row): Row => ({ organization_id: organization, shard, ...row }))
  return { rows: { [LISTENING]: rows }, after: [organization, shard, page.after ?? 'end'] }
}

/** Inserts rows into their objects. */
export async function insertListening(env: Env, rows: readonly Row[]): Promise<void> {
  const objects = Map.groupBy(rows, ({ organization_id, shard }) => `${String(organization_id)} ${String(shard)}`)
  for (const [object, own] of objects) {
    const [organization_id, shard] = object.split(' ') as [string, string]
    const copied = own.map(({ name, row }) => ({ name: String(name), row: String(row) }))
    const self = { organization_id, shard: Number(shard) }
    await listeningObject(env, organization_id, self.shard)('restore', self, copied)
  }
}
