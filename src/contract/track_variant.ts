import * as z from 'zod'

import { Id, named, ok } from './common.ts'
import { defineOperations } from './operation.ts'

/**
 * A file of a track. `index` is that of the variant in `GET /v1/variant`. Sizes are in bytes, bitrates in kbit/s (0 if the file has none), durations
 * in seconds.
 */
export const TrackVariant = named('TrackVariant', {
  index: z.string(),
  size: z.int(),
  bitrate: z.int(),
  duration: z.number(),
})
export type TrackVariant = z.infer<typeof TrackVariant>

export const trackVariantOperations = defineOperations({
  getTrackVariants: {
    method: 'get',
    path: '/v1/track/{track_id}/variant',
    summary: 'List the files that a track has, with their sizes',
    tag: 'Tracks',
    access: ['server'],
    params: z.object({ track_id: Id }),
    response: ok({ track_id: z.uuid(), variants: z.array(TrackVariant) }),
  },
})
