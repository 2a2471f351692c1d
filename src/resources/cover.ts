import type { Handlers } from '../context.ts'
import type { coverOperations } from '../contract/cover.ts'
import { showCollection } from './collection.ts'
import { findTrack, showTrack } from './track.ts'
import { coverUpload } from './upload_handle.ts'

export const coverHandlers: Handlers<typeof coverOperations> = {
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
