import * as z from 'zod'

import { Id, named, ok, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'

/** The progress of a collection's reprocess, which brings tracks up to date with the variants of now. */
export const Reprocess = named('Reprocess', {
  /** `running` until every track was processed. */
  state: z.enum(['running', 'done']),
  /** Whether every track is processed again. Otherwise, only those with missing or outdated variants are. */
  all: z.boolean(),
  /** Number of tracks in the collection at the start. */
  total: z.int(),
  /** Number of tracks that are up to date, including those that already were. */
  done: z.int(),
  /** Number of tracks with a variant that could not be made; their `info` has the reason. */
  failed: z.int(),
  /** When it was requested. */
  started_at: Timestamp,
  /** Null while it runs. */
  finished_at: Timestamp.nullable(),
})
export type Reprocess = z.infer<typeof Reprocess>

const tag = 'Collections'
const params = z.object({
  /** As returned when the collection was created. */
  collection_id: Id,
})

export const reprocessOperations = defineOperations({
  reprocessCollection: {
    method: 'post',
    path: '/v1/collection/{collection_id}/reprocess',
    grows: false,
    summary:
      'Bring the tracks of a collection up to date with the variants of now, in the background; they stay playable',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'variants',
    recordsNoEvent: 'the outcome has its event',
    params,
    body: z.strictObject({
      /** Processes every track again, not only those with missing or outdated variants. */
      all: z.boolean().default(false),
    }),
    response: ok({
      /** As in the path. */
      collection_id: z.uuid(),
      reprocess: Reprocess,
    }),
  },
  getCollectionReprocess: {
    method: 'get',
    path: '/v1/collection/{collection_id}/reprocess',
    summary: "Get the progress of a collection's last reprocess; null when there was none",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'variants',
    params,
    response: ok({
      /** As in the path. */
      collection_id: z.uuid(),
      /** Null if there was none. */
      reprocess: Reprocess.nullable(),
    }),
  },
})
