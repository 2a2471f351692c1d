import * as z from 'zod'

import { ErrorCode, Id, named, ok } from './common.ts'
import { MAX_BATCH, MAX_BATCH_BYTES } from './facts.ts'
import { defineOperations } from './operation.ts'
import { TrackUpdate } from './track.ts'

/** One change to one track. */
export const TrackChange = z.discriminatedUnion('action', [
  TrackUpdate.extend({ action: z.literal('update'), track_id: Id }),
  z.strictObject({ action: z.literal('move'), track_id: Id, collection_id: Id }),
  z.strictObject({ action: z.literal('delete'), track_id: Id }),
  z.strictObject({ action: z.literal('reprocess'), track_id: Id }),
])
export type TrackChange = z.infer<typeof TrackChange>

/** The result of one change. If the change was refused, it has the same code and message as the response of the operation for a single track. */
export const TrackChanged = named('TrackChanged', {
  track_id: z.uuid(),
  action: z.enum(['update', 'move', 'delete', 'reprocess']),
  ok: z.boolean(),
  code: ErrorCode.optional(),
  message: z.string().optional(),
})

export const trackBatchOperations = defineOperations({
  changeTracks: {
    method: 'post',
    path: '/v1/track/batch',
    grows: false,
    summary: 'Update, move, delete or reprocess many tracks; each has its own result, in the same order',
    tag: 'Tracks',
    access: ['server'],
    body_size: MAX_BATCH_BYTES,
    body: z.strictObject({ changes: z.array(TrackChange).min(1).max(MAX_BATCH) }),
    response: ok({ done: z.int(), refused: z.int(), results: z.array(TrackChanged) }),
  },
})
