import * as z from 'zod'

import { Id, named, ok } from './common.ts'
import { defineOperations } from './operation.ts'

/** A stored file of a track. */
export const TrackVariant = named('TrackVariant', {
  /** Short name of the variant, as in `GET /v1/variant`. */
  index: z.string(),
  /** Media type of the file, such as `audio/mpeg`; null for an upload in a format that browsers rarely play. */
  content_type: z.string().nullable(),
  /** Bytes in storage. */
  size: z.int(),
  /** Actual average in kbit/s; 0 if the file has none. */
  bitrate: z.int(),
  /** Length of the audio in seconds; for data, that of the track. */
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
    effect: 'read',
    guide: 'variants',
    params: z.object({
      /** As returned when the track was created. */
      track_id: Id,
    }),
    response: ok({
      /** As in the path. */
      track_id: z.uuid(),
      /** The files that exist now. */
      variants: z.array(TrackVariant),
    }),
  },
})
