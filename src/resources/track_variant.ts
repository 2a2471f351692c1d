import { asc, eq, sql } from 'drizzle-orm'

import { trackVariants } from '../adapters/schema.ts'
import type { Context, Handlers } from '../context.ts'
import type { trackVariantOperations } from '../contract/track_variant.ts'
import { findTrack } from './track.ts'

const { index, size, bitrate, duration } = trackVariants

export const trackVariantHandlers: Handlers<typeof trackVariantOperations> = {
  async getTrackVariants({ params }, context: Context) {
    const { id } = await findTrack(context, params.track_id)
    const variants = await context.db
      .select({ index, size, bitrate, duration })
      .from(trackVariants)
      .where(eq(trackVariants.track_id, id))
      // As they were written: the catalogue's order.
      .orderBy(asc(sql`rowid`))
    return { track_id: id, variants }
  },
}
