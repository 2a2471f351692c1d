import type { Handlers } from '../context.ts'
import type { trackVariantOperations } from '../contract/track_variant.ts'
import { findTrack } from './track.ts'

export const trackVariantHandlers: Handlers<typeof trackVariantOperations> = {
  async getTrackVariants({ params }, context) {
    const { id, files } = await findTrack(context, params.track_id)
    const variants = (files ?? []).map(({ index, size, bitrate, duration }) => ({ index, size, bitrate, duration }))
    return { track_id: id, variants }
  },
}
