import { and, eq, sql } from 'drizzle-orm'

import { collectionPrefixes, trackPrefixes } from '../../adapters/bucket/media.ts'
import { newId } from '../../adapters/crypto/id.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { deleteHiddenEntries } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { playlistTracks, type tracks } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import type { System } from '../../context.ts'
import { AFTER_WRITES, insertJobFrom, sendJob } from '../jobs.ts'

/**
 * Deletes items from the trash permanently. The batch that deletes an item's row also inserts its purge jobs, so that the files of a restored item
 * are never purged.
 */

export type TrashItem = typeof trash.$inferSelect

/** Deletes an item permanently. Returns false when it is no longer in the trash. */
export async function deleteTrashed(system: System, item: TrashItem): Promise<boolean> {
  const { db } = system
  const { id, organization_id, scope } = item
  // If the item was restored and trashed again, a new period of seven days applies to it.
  const isSameItem = and(
    eq(trash.id, id),
    eq(trash.organization_id, organization_id),
    eq(trash.trashed_at, item.trashed_at),
  )
  const source = sql`trash where ${isSameItem}`
  const prefixes =
    scope === 'track'
      ? trackPrefixes(item.content as typeof tracks.$inferSelect)
      : collectionPrefixes(organization_id, id)
  const purge = (job_id: string, extraFields: object, delaySeconds: number) => {
    const json = sql`${JSON.stringify({ kind: 'purge', prefixes, ...extraFields })}`
    return insertJobFrom(system, organization_id, { kind: 'purge', json }, source, delaySeconds, {
      id: sql`${job_id}`,
    })
  }
  const job = { id: newId(), payload: { kind: 'purge' as const } }
  const inContent = (name: string) => sql`content ->> ${name}`
  const eventFields = {
    organization_index: inContent('organization_index'),
    ...(scope === 'track' && { status: inContent('status') }),
    ...(scope === 'playlist' && { version: inContent('version') }),
  }
  const deletedRow = db.delete(trash).where(isSameItem).returning({ id: trash.id })
  const resultOf = await runBatch(db, [
    purge(job.id, scope === 'collection' ? { collection_id: id, folder_id: id, actor: system.actor } : {}, 0),
    purge(newId(), scope === 'collection' ? { folder_id: id } : {}, AFTER_WRITES),
    db.delete(playlistTracks).where(and(eq(playlistTracks.track_id, id), sql`exists (select 1 from ${source})`)),
    deleteHiddenEntries(db, id, sql`exists (select 1 from ${source})`),
    recordEvents(system, `${scope}.deleted`, source, { ...eventFields, is_trashed: false }),
    deletedRow,
  ])
  await sendJob(system, job)
  return resultOf(deletedRow).length > 0
}

/** Maximum number of items that one call deletes, and how many of them concurrently. */
export const MAX_DELETED = 100
const AT_ONCE = 10

/** Deletes items from the trash. Returns how many were deleted. */
export async function deleteItems(system: System, items: TrashItem[]): Promise<number> {
  let deleted = 0
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const results = await Promise.all(items.slice(at, at + AT_ONCE).map((item) => deleteTrashed(system, item)))
    deleted += results.filter(Boolean).length
  }
  return deleted
}

/** Selects a row for each expired item in the trash. */
export const dueTrash = (now: number) => sql`trash where expires_at <= ${now}`

/** Deletes expired items from the trash. Resolves to true if more of them may be left. */
export async function sweepTrash(system: System): Promise<boolean> {
  const { db, now } = system
  const isDue = sql`id in (select id from ${dueTrash(now)} order by expires_at limit ${MAX_DELETED})`
  const items = await db.select().from(trash).where(isDue)
  await deleteItems(system, items)
  return items.length === MAX_DELETED
}
