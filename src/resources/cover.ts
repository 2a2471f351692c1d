import { viewSigner } from '../adapters/presign.ts'
import type { Context, Handlers } from '../context.ts'
import type { coverOperations } from '../contract/cover.ts'
import { PLAYBACK_TTL } from '../contract/facts.ts'
import { findCollection, showCollection } from './collection.ts'
import { coverImage } from './cover_image.ts'
import { findTrack, showTrack } from './track.ts'
import { coverUpload } from './upload_handle.ts'

/** A cover as those who manage it see it. */
export const ownCover = async ({ env, base_url, now }: Context, cover_path: string | null) =>
  coverImage(base_url, cover_path, await viewSigner(env, now, now + PLAYBACK_TTL * 1000))

export const coverHandlers: Handlers<typeof coverOperations> = {
  async getCollectionCover({ params }, context) {
    const { id, cover_path } = await findCollection(context, params.collection_id)
    return { collection_id: id, cover_image: await ownCover(context, cover_path) }
  },

  async createCollectionCover({ params }, context) {
    const collection = await showCollection(context, params.collection_id)
    const owner = {
      id: collection.id,
      collection_id: collection.id,
      organization_id: context.principal.organization_id,
    }
    return {
      collection_id: collection.id,
      collection,
      collection_cover_upload: await coverUpload(context, 'collection', owner),
    }
  },

  async createTrackCover({ params }, context) {
    const row = await findTrack(context, params.track_id)
    return {
      track_id: row.id,
      track: await showTrack(context, row.id),
      track_cover_upload: await coverUpload(context, 'track', row),
    }
  },
}
