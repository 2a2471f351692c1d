import * as z from 'zod'

import { Id, named, ok, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'

/**
 * The progress of a collection's reprocess. `done` is the number of tracks that are up to date, including those that already were. `failed` is the
 * number of tracks with a variant that could not be generated; the `info` of the track has the reason.
 */
export const Reprocess = named('Reprocess', {
  state: z.enum(['running', 'done']),
  /** Whether every track is processed again. If false, only tracks with missing or outdated variants are. */
  all: z.boolean(),
  total: z.int(),
  done: z.int(),
  failed: z.int(),
  started_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type Reprocess = z.infer<typeof Reprocess>

const tag = 'Collections'
const params = z.object({ collection_id: Id })

export const reprocessOperations = defineOperations({
  reprocessCollection: {
    method: 'post',
    path: '/v1/collection/{collection_id}/reprocess',
    grows: false,
    summary:
      'Bring the tracks of a collection up to date with the variants of now, in the background; they stay playable',
    tag,
    access: ['server'],
    params,
    body: z.strictObject({ all: z.boolean().default(false) }),
    response: ok({ collection_id: z.uuid(), reprocess: Reprocess }),
  },
  getCollectionReprocess: {
    method: 'get',
    path: '/v1/collection/{collection_id}/reprocess',
    summary: "Get the progress of a collection's last reprocess; null when there was none",
    tag,
    access: ['server'],
    params,
    response: ok({ collection_id: z.uuid(), reprocess: Reprocess.nullable() }),
  },
})
