import * as z from 'zod'

import { ok, Timestamp } from './common.ts'
import { MAX_LISTENER } from './facts.ts'
import { defineOperations } from './operation.ts'

/** Your pseudonym for a listener. It is stored only as an HMAC. */
export const Listener = z
  .string()
  .min(1)
  .max(MAX_LISTENER)
  // URLs cannot contain such a path segment.
  .refine((listener) => listener !== '.' && listener !== '..', 'must not be . or ..')

const common = {
  tag: 'Statistics',
  access: ['server'],
  params: z.object({ listener: Listener }),
  nouns: { listener: null },
} as const

export const listenerOperations = defineOperations({
  getProgress: {
    method: 'get',
    path: '/v1/listener/{listener}/progress',
    summary: 'Get which seconds of tracks a listener has heard, and where to resume',
    ...common,
    effect: 'read',
    guide: 'counting',
    response: ok({
      /**
       * The tracks that were heard in sessions with this `listener`, the last one first. Those that were not heard for the `progress_days` of the
       * organization are left out.
       */
      tracks: z.array(
        z.object({
          /** A track that still exists. */
          track_id: z.uuid(),
          /** Length in seconds of the recording that was heard. */
          duration: z.number(),
          /** The parts that were heard, each as `[start, end]` in seconds. */
          ranges: z.array(z.array(z.number())),
          /** Fraction of the track that was heard, from 0 to 1. */
          heard: z.number(),
          /** The second from which to resume; 0 if it is in the last three seconds. */
          position: z.number(),
          /** When a report last changed the progress. */
          updated_at: Timestamp,
        }),
      ),
    }),
  },
  deleteProgress: {
    method: 'delete',
    path: '/v1/listener/{listener}/progress',
    summary: 'Delete the progress of a listener',
    ...common,
    effect: 'delete',
    guide: 'counting',
    recordsNoEvent: 'listeners are not resources',
    response: ok({
      /** Number of tracks whose progress was deleted. */
      deleted_tracks: z.int(),
    }),
    invisibleToListeners: true,
  },
})
