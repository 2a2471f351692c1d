import { eq, inArray, type SQL, sql } from 'drizzle-orm'

import { newId } from '../../adapters/crypto/id.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { removeFromPlaylists } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { events } from '../../adapters/db/schema/events.ts'
import {
  collections,
  playlists,
  playlistTracks,
  tracks,
  uploadSessions,
  variants,
} from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import { reprocesses } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { eraseListening } from '../../listening/erase.ts'
import { AFTER_WRITES, insertJobFrom } from '../jobs.ts'
import { deleteItems, MAX_DELETED } from './trash.ts'

/** Maximum number of rows that one statement deletes, so that the deletion of a large organization does not block the database. */
const CHUNK = 500

/** Returns the organization's collections, including collections in the trash. */
const ownCollections = (
  organization_id: string,
) => sql`select id from collections where organization_id = ${organization_id}
  union all select id from trash where organization_id = ${organization_id} and scope = 'collection'`

/** Deletes the rows of a deleted organization, collection by collection. Its play sessions are not deleted here, because they expire within a day. */
export async function deleteOrganizationRows(
  system: System,
  organization_id: string,
  renewLease: () => Promise<unknown>,
): Promise<void> {
  const { db } = system
  for (;;) {
    const [collection] = await db.all<{ id: string }>(sql`${ownCollections(organization_id)} limit 1`)
    if (!collection) break
    await deleteTracks(system, organization_id, collection.id, renewLease)
    await db.batch([
      db.delete(uploadSessions).where(eq(uploadSessions.collection_id, collection.id)),
      db.delete(reprocesses).where(eq(reprocesses.collection_id, collection.id)),
      db.delete(collections).where(eq(collections.id, collection.id)),
      db.delete(trash).where(eq(trash.id, collection.id)),
    ])
  }
  const ofOrganization = db
    .select({ id: playlists.id })
    .from(playlists)
    .where(eq(playlists.organization_id, organization_id))
  await db.batch([
    db.delete(playlistTracks).where(inArray(playlistTracks.playlist_id, ofOrganization)),
    db.delete(playlists).where(eq(playlists.organization_id, organization_id)),
    db.delete(variants).where(eq(variants.organization_id, organization_id)),
    db.delete(trash).where(eq(trash.organization_id, organization_id)),
  ])
  // The organization's row is gone, so the emptied object accepts no reports.
  await eraseListening(system, organization_id)
  const ofOrganizationEvents = eq(events.organization_id, organization_id)
  for (;;) {
    const chunk = sql`(select seq from events where ${ofOrganizationEvents} order by seq limit ${CHUNK})`
    const { meta } = await db.delete(events).where(sql`${ofOrganizationEvents} and seq in ${chunk}`)
    await renewLease()
    if (meta.changes < CHUNK) return
  }
}

/**
 * Returns the statements that purge the files of tracks that had been moved into a deleted collection: the files are still in the folder of the first
 * collection. They belong in the batch that deletes the tracks.
 */
export function purgeMoved(system: System, organization_id: string, chunk: SQL) {
  const folder = sql`organization_id || '/' || folder_id || '/'`
  const prefixes = sql`json_array('uploads/' || ${folder} || id, 'media/' || ${folder} || "index" || '/')`
  const payload = sql`json_object('kind', 'purge', 'prefixes', json(${prefixes}))`
  const source = sql`tracks where id in ${chunk} and folder_id is not null`
  const insert = (delay: number) =>
    insertJobFrom(system, organization_id, { kind: 'purge', json: payload }, source, delay, {
      id: sql`${newId()} || '.' || id`,
    })
  return [insert(0), insert(AFTER_WRITES)] as const
}

/** Deletes the tracks of a deleted collection, including tracks in the trash. */
export async function deleteTracks(
  system: System,
  organization_id: string,
  collection_id: string,
  renewLease: () => Promise<unknown>,
): Promise<void> {
  const { db } = system
  for (;;) {
    const chunk = sql`(select id from tracks where collection_id = ${collection_id} order by "order" limit ${CHUNK})`
    const deletedTracks = db
      .delete(tracks)
      .where(sql`id in ${chunk}`)
      .returning({ id: tracks.id })
    const resultOf = await runBatch(db, [
      recordEvents(system, 'track.deleted', sql`tracks where id in ${chunk}`, { is_trashed: false }),
      ...purgeMoved(system, organization_id, chunk),
      ...removeFromPlaylists(system, chunk),
      deletedTracks,
    ])
    await renewLease()
    if (resultOf(deletedTracks).length < CHUNK) break
  }
  for (;;) {
    const items = await db.select().from(trash).where(eq(trash.collection_id, collection_id)).limit(MAX_DELETED)
    await deleteItems(system, items)
    await renewLease()
    if (items.length < MAX_DELETED) return
  }
}
