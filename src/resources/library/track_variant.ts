import { filesOf, toTrackVariant } from '../../adapters/bucket/track_files.ts'
import type { Handlers } from '../../context.ts'
import type { trackVariantOperations } from '../../contract/track_variant.ts'
import { findTrack } from './track.ts'

export const trackVariantHandlers: Handlers<typeof trackVariantOperations> = {
  async getTrackVariants({ params }, context) {
    const track = await findTrack(context, params.track_id)
    const variants = filesOf(track).map((file) => toTrackVariant(file, track.info.container))
    return { track_id: track.id, variants }
  },
}
