import { and, eq } from 'drizzle-orm'

import { mediaUrls } from '../../adapters/bucket/media_url.ts'
import { collections, organizations } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import type { coverOperations } from '../../contract/cover.ts'
import { PLAYBACK_TTL } from '../../contract/facts.ts'
import type { OwnCover } from '../../contract/media.ts'
import { notFound } from '../../core/errors.ts'
import { showCollection } from './collection.ts'
import { coverDesign, coverImage, coverOrFirst, largeCover, type ShownCover } from './cover_image.ts'
import { firstLook } from './first_look.ts'
import { coversOf } from './resource_artwork.ts'
import { findTrack, showTrack, trackCoverUpload } from './track.ts'
import { coverUpload } from './upload_handle.ts'

/** Returns a cover as the API shows it, including the large square. */
export async function ownCover({ env, base_url, now }: Context, cover: ShownCover): Promise<OwnCover> {
  const mediaUrl = await mediaUrls(env, now, now + PLAYBACK_TTL * 1000)
  return {
    ...(await coverImage(base_url, cover, mediaUrl)),
    large: await largeCover(base_url, cover, mediaUrl),
  }
}

export const coverHandlers: Handlers<typeof coverOperations> = {
  async getCollectionCover({ params }, context) {
    const { id, title, cover_path, cover_size } = collections
    const row = await context.db
      .select({ own: { id, title, cover_path, cover_size }, first: firstLook })
      .from(collections)
      .innerJoin(organizations, eq(organizations.id, collections.organization_id))
      .where(and(eq(id, params.collection_id), eq(organizations.id, context.principal.organization_id)))
      .get()
    if (!row) throw notFound('collection')
    const { own, first } = row
    const design = coverDesign(own.title, first?.levels)
    return {
      collection_id: own.id,
      cover_image: await ownCover(context, { ...coverOrFirst(own, first), design }),
    }
  },

  async createCollectionCover({ params }, context) {
    const collection = await showCollection(context, params.collection_id)
    const owner = {
      id: collection.id,
      collection_id: collection.id,
      organization_id: context.principal.organization_id,
      cover_path: collection.cover_path,
    }
    return {
      collection_id: collection.id,
      collection,
      collection_cover_upload: await coverUpload(context, 'collection', owner),
    }
  },

  async getTrackCover({ params }, context) {
    const { id } = await findTrack(context, params.track_id)
    const covers = await coversOf(context, [{ scope: 'track', resource_id: id }])
    return { track_id: id, cover_image: await ownCover(context, covers.get(id) ?? { cover_path: null }) }
  },

  async createTrackCover({ params }, context) {
    const row = await findTrack(context, params.track_id)
    return {
      track_id: row.id,
      track: await showTrack(context, row.id),
      track_cover_upload: await trackCoverUpload(context, row),
    }
  },
}
