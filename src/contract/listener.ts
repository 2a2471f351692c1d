import * as z from 'zod'

import { ok, Timestamp } from './common.ts'
import { MAX_LISTENER } from './facts.ts'
import { defineOperations } from './operation.ts'

/** The caller's pseudonym for a listener. It is stored only as an HMAC. */
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
    response: ok({
      /**
       * The tracks that were heard in sessions with this `listener`, the last one first; without deleted ones, and without those that were not heard for the
       * `progress_days` of the organization.
       */
      tracks: z.array(
        z.object({
          track_id: z.uuid(),
          /** In seconds, of the recording that was heard. */
          duration: z.number(),
          /** The parts that were heard, each with its start and end in seconds. */
          ranges: z.array(z.array(z.number())),
          /** Share of the track that was heard, from 0 to 1. */
          heard: z.number(),
          /** The second from which to resume; 0 if the end was heard last. */
          position: z.number(),
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
    response: ok({ deleted_tracks: z.int() }),
    invisibleToListeners: true,
  },
})
