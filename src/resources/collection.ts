import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { collectionPrefixes } from '../adapters/media.ts'
import { collections, organizations, tracks, trackVariants, uploadSessions } from '../adapters/schema.ts'
import type { Context, Handlers } from '../context.ts'
import type { Collection, collectionOperations } from '../contract/collection.ts'
import { notFound } from '../errors.ts'
import { insertJob, sendJob } from '../pipeline/job.ts'
import { DEFAULT_PLAYER_COLOR, imageColors } from './appearance.ts'
import { findOrganization } from './organization.ts'
import { listedColumns, toListedTrack } from './track.ts'
import { coverUpload } from './upload_handle.ts'

type Row = typeof collections.$inferSelect
type Defaults = Pick<typeof organizations.$inferSelect, 'player_color' | 'player_subtitle'>

/** Color and subtitle are the organization's where the collection sets none: the specification gives both no null. */
export const toCollection = (row: Row, organization: Defaults): Collection => ({
  ...row,
  organization_index: row.organization_index ?? '',
  image_colors: imageColors(row),
  player_color: row.player_color ?? organization.player_color ?? DEFAULT_PLAYER_COLOR,
  player_subtitle: row.player_subtitle ?? organization.player_subtitle ?? '',
})

const own = ({ principal }: Context, id: string) =>
  and(eq(collections.id, id), eq(collections.organization_id, principal.organization_id))

/** A collection of the caller's organization, or 404. */
export async function findCollection(context: Context, id: string): Promise<Row> {
  const row = await context.db.select().from(collections).where(own(context, id)).get()
  if (!row) throw notFound('collection')
  return row
}

/** A collection as the API shows it. */
export const showCollection = async (context: Context, id: string) =>
  toCollection(await findCollection(context, id), await findOrganization(context))

export const collectionHandlers: Handlers<typeof collectionOperations> = {
  async listCollections({ query }, context) {
    const organization = await findOrganization(context)
    const rows = await context.db
      .select()
      .from(collections)
      .where(eq(collections.organization_id, organization.id))
      .orderBy(desc(collections.created_at), asc(collections.id))
      .limit(query.limit)
      .offset(query.offset)
    return { count: organization.collection_count, collections: rows.map((row) => toCollection(row, organization)) }
  },

  async createCollection({ body }, context) {
    const { db, now } = context
    const organization = await findOrganization(context)
    const defaults = { metadata: {}, theme: [], cover_colors: [] }
    const [[row]] = await db.batch([
      db
        .insert(collections)
        .values({ ...defaults, ...body, id: newId(), organization_id: organization.id, created_at: now })
        .returning(),
      db
        .update(organizations)
        .set({ collection_count: sql`collection_count + 1` })
        .where(eq(organizations.id, organization.id)),
    ])
    return {
      collection_id: row!.id,
      collection: toCollection(row!, organization),
      collection_cover_upload: await coverUpload(context, 'collection', { ...row!, collection_id: row!.id }),
    }
  },

  async getCollection({ params }, context) {
    const collection = await showCollection(context, params.collection_id)
    return { collection_id: collection.id, collection }
  },

  async updateCollection({ params, body }, context) {
    let row = await findCollection(context, params.collection_id)
    if (Object.keys(body).length > 0) {
      const updated = await context.db.update(collections).set(body).where(own(context, row.id)).returning().get()
      if (!updated) throw notFound('collection')
      row = updated
    }
    return { collection_id: row.id, collection: toCollection(row, await findOrganization(context)) }
  },

  async deleteCollection({ params }, context) {
    const { db, principal } = context
    const collection = await findCollection(context, params.collection_id)
    const deleted_collection = toCollection(collection, await findOrganization(context))
    const purge = insertJob(context, principal.organization_id, {
      kind: 'purge',
      prefixes: collectionPrefixes(principal.organization_id, collection.id),
    })
    const ofCollection = db.select({ id: tracks.id }).from(tracks).where(eq(tracks.collection_id, collection.id))
    const [, , , , , deleted] = await db.batch([
      purge.insert,
      db.delete(trackVariants).where(inArray(trackVariants.track_id, ofCollection)),
      db.delete(tracks).where(eq(tracks.collection_id, collection.id)),
      db.delete(uploadSessions).where(eq(uploadSessions.collection_id, collection.id)),
      // Counts before it deletes, so that two deletes at once take away one.
      db
        .update(organizations)
        .set({
          collection_count: sql`collection_count - (select count(*) from collections where ${own(context, collection.id)})`,
        })
        .where(eq(organizations.id, principal.organization_id)),
      db.delete(collections).where(own(context, collection.id)).returning({ id: collections.id }),
    ])
    await sendJob(context, purge)
    if (deleted.length === 0) throw notFound('collection')
    return { collection_id: collection.id, deleted_collection }
  },

  async listCollectionTracks({ params, query }, context) {
    const collection = await findCollection(context, params.collection_id)
    const rows = await context.db
      .select(listedColumns)
      .from(tracks)
      .where(eq(tracks.collection_id, collection.id))
      .orderBy(asc(tracks.order), asc(tracks.id))
      .limit(query.limit)
      .offset(query.offset)
    return { count: collection.track_count, tracks: rows.map(toListedTrack) }
  },
}
