import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm'

import { collectionPrefixes } from '../../adapters/bucket/media.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { batchesWith, inJsonList, insertOnce, runBatch } from '../../adapters/db/database.ts'
import { removeFromPlaylists } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { collections, tracks, uploadSessions } from '../../adapters/db/schema/library.ts'
import { reprocesses } from '../../adapters/db/schema/work.ts'
import { foldedOf, foldedUpdate } from '../../adapters/db/search.ts'
import type { Context, Handlers } from '../../context.ts'
import { Collection, type collectionOperations } from '../../contract/collection.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { purgeMoved } from '../../domain/cleanup/delete_rows.ts'
import { inTrash, purgeJobs } from '../../domain/cleanup/purge.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { listRows } from '../list/page.ts'
import { withCollectionParts } from './included_parts.ts'
import { columnsFor, toTracks } from './list_items.ts'
import { moveToTrash } from './move_to_trash.ts'
import { findOrganization, organizationIn, organizationQuery } from './organization.ts'
import { withInherited } from './resource_fields.ts'
import { coverUpload } from './upload_handle.ts'
import { expectedVersion, hasVersion, isApplied, nextVersion, versionMismatch } from './version.ts'

type CollectionRow = typeof collections.$inferSelect

/** Maximum number of tracks that are deleted in the same batch as their collection. */
const AT_ONCE = 1000

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(collections.id, id), eq(collections.organization_id, principal.organization_id))

/** Returns a collection of the caller's organization, or throws 404. */
export async function findCollection(context: Context, id: string): Promise<CollectionRow> {
  const row = await context.db.select().from(collections).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('collection')
  return row
}

/** Returns a collection as the API shows it. */
export const showCollection = async (context: Context, id: string) =>
  withInherited(await findCollection(context, id), await findOrganization(context))

export const collectionHandlers: Handlers<typeof collectionOperations> = {
  async listCollections({ query: { limit, offset, after, q, sort = '-created_at', include, ...filters } }, context) {
    const { organization_id } = context.principal
    const batches = batchesWith(context.db, organizationQuery(context))
    const list = { kind: 'collections' as const, organization_id, q, filters, sort, after }
    const { rows, ...counts } = await listRows(batches, list, getTableColumns(collections), { limit, offset })
    const organization = organizationIn(batches.firstRows())
    const shown = rows.map((row) => withInherited(row, organization))
    return { ...counts, collections: await withCollectionParts(context, include, shown, rows) }
  },

  async createCollection({ body }, context) {
    const { db, now } = context
    const organization = await findOrganization(context)
    const defaults = { metadata: {}, theme: [], cover_colors: [] }
    const id = rowId(context)
    const insert = db
      .insert(collections)
      .values({
        ...defaults,
        ...body,
        folded: foldedOf('collections', body),
        id,
        organization_id: organization.id,
        seq: sql`(select coalesce(max(seq), 0) + 1 from collections where organization_id = ${organization.id})`,
        created_at: now,
      })
      .returning()
    const event = recordEvents(context, 'collection.created', sql`collections where id = ${id}`, { is_restored: false })
    const row = (await insertOnce(db, insert, [event], () => findCollection(context, id)))!
    return {
      collection_id: id,
      collection: withInherited(row, organization),
      collection_cover_upload: await coverUpload(context, 'collection', { ...row, collection_id: row.id }),
    }
  },

  async getCollection({ params }, context) {
    const collection = await showCollection(context, params.collection_id)
    return { collection_id: collection.id, collection }
  },

  async updateCollection({ params, headers, body }, context) {
    let row = await findCollection(context, params.collection_id)
    if (Object.keys(body).length > 0) {
      const values = { ...body, ...foldedUpdate('collections', body), updated_at: nextVersion(context.now) }
      const isExpected = and(isOwnedByCaller(context, row.id), hasVersion(expectedVersion(headers['if-match'])))
      const changed = Object.keys(body)
      const [, [updated]] = await context.db.batch([
        recordEvents(context, 'collection.updated', sql`collections where ${isExpected}`, { changed }),
        context.db.update(collections).set(values).where(isExpected).returning(),
      ])
      row = updated ?? (await findCollection(context, row.id))
      if (!updated && !isApplied(row, body)) {
        throw versionMismatch('collection', withInherited(row, await findOrganization(context)), Collection)
      }
    }
    return { collection_id: row.id, collection: withInherited(row, await findOrganization(context)) }
  },

  async deleteCollection({ params, query }, context) {
    const { db, principal } = context
    const collection = await findCollection(context, params.collection_id)
    const deleted_collection = withInherited(collection, await findOrganization(context))
    if (query.trash === 'true') {
      await moveToTrash(context, 'collection', collection.id)
      return { collection_id: collection.id, deleted_collection }
    }
    // A batch may take at most 30 seconds, so the remaining tracks of a large collection are deleted in the background. From now on, no request finds
    // them.
    const prefixes = collectionPrefixes(principal.organization_id, collection.id)
    const { purge, inserts } = purgeJobs(context, principal.organization_id, [{ id: collection.id, prefixes }], {
      collection_id: collection.id,
      folder_id: collection.id,
      actor: context.actor,
    })
    const firstTracks = sql`(select id from tracks where collection_id = ${collection.id} and not ${inTrash(collection.id)}
      order by "order" limit ${AT_ONCE})`
    const isTrashed = { is_trashed: false }
    const deletedRow = db
      .delete(collections)
      .where(isOwnedByCaller(context, collection.id))
      .returning({ id: collections.id })
    const resultOf = await runBatch(db, [
      ...inserts,
      recordEvents(
        context,
        'collection.deleted',
        sql`collections where ${isOwnedByCaller(context, collection.id)}`,
        isTrashed,
      ),
      recordEvents(context, 'track.deleted', sql`tracks where id in ${firstTracks}`, isTrashed),
      ...purgeMoved(context, principal.organization_id, firstTracks),
      ...removeFromPlaylists(context, firstTracks),
      db.delete(tracks).where(sql`id in ${firstTracks}`),
      db.delete(uploadSessions).where(eq(uploadSessions.collection_id, collection.id)),
      db.delete(reprocesses).where(eq(reprocesses.collection_id, collection.id)),
      deletedRow,
    ])
    await startPurge(context, [purge])
    if (resultOf(deletedRow).length === 0) throw notFound('collection')
    return { collection_id: collection.id, deleted_collection }
  },

  async listCollectionTracks({ params, query }, context) {
    const { limit, offset, after, q, sort = 'order', include, ...filters } = query
    const { db, principal } = context
    const { organization_id } = principal
    const { collection_id } = params
    const own = db.select({ id: collections.id }).from(collections).where(isOwnedByCaller(context, collection_id))
    const batches = batchesWith(db, own)
    const list = { kind: 'tracks' as const, organization_id, collection_id, q, filters, sort, after }
    const { rows, ...counts } = await listRows(batches, list, columnsFor(include), { limit, offset })
    if (batches.firstRows()?.length !== 1) throw notFound('collection')
    return { ...counts, tracks: await toTracks(context, include, rows) }
  },

  async orderCollectionTracks({ params, body: { track_ids } }, context) {
    const { db } = context
    const collection = await findCollection(context, params.collection_id)
    // The `+` makes SQLite look up these tracks instead of scanning the whole collection.
    const inCollection = sql`+${tracks.collection_id} = ${collection.id}`
    const inThisCollection = await db
      .select({ id: tracks.id })
      .from(tracks)
      .where(and(inArray(tracks.id, inJsonList(track_ids)), inCollection))
    const ids = new Set(inThisCollection.map((track) => track.id))
    for (const [at, id] of track_ids.entries()) {
      if (!ids.has(id)) throw invalid(`track_ids.${at}`, 'is not a track of this collection')
      if (track_ids.indexOf(id) < at) throw invalid(`track_ids.${at}`, 'stands in the list twice')
    }
    // The n-th id gets the n-th of the positions that these tracks have now. A track that was deleted in the meantime is left out of both lists.
    const ordered = db
      .update(tracks)
      .set({ order: sql`placed.place` })
      .from(
        sql`(select wanted.track_id, held.place from (
          select tracks.id as track_id, row_number() over (order by listed.key) as n
          from json_each(${JSON.stringify(track_ids)}) as listed cross join tracks on tracks.id = listed.value and ${inCollection}
        ) as wanted join (
          select "order" as place, row_number() over (order by "order") as n
          from tracks where id in ${inJsonList(track_ids)} and ${inCollection}
        ) as held on held.n = wanted.n) as placed`,
      )
      .where(and(sql`${tracks.id} = placed.track_id`, inCollection))
    const isOwned = isOwnedByCaller(context, collection.id)
    // `is_ordered`: from now on, the tags of the tracks no longer change their order.
    const values = { is_ordered: true, updated_at: nextVersion(context.now) }
    const [, , [updated]] = await db.batch([
      ordered,
      recordEvents(context, 'collection.updated', sql`collections where ${isOwned}`, { changed: ['order'] }),
      db.update(collections).set(values).where(isOwned).returning(),
    ])
    const organization = await findOrganization(context)
    return { collection_id: collection.id, collection: withInherited(updated ?? collection, organization) }
  },
}
