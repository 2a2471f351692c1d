import * as z from 'zod'

import { ErrorCode, Id, named, ok, Version } from './common.ts'
import { MAX_BATCH, MAX_BATCH_BYTES } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Track, TrackUpdate } from './track.ts'

/** Maximum `order` of a track in a request. */
const MAX_ORDER = 2 ** 31 - 1

/** Adds the fields that every change has: its action and the track. */
const change = <const A extends string, const T extends z.ZodRawShape>(action: A, shape: T) =>
  z.strictObject({ action: z.literal(action), track_id: Id, ...shape })

/** One change to one track. */
export const TrackChange = z
  .discriminatedUnion('action', [
    change('update', {
      ...TrackUpdate.shape,
      /** The version that the track must have, like `If-Match`; by default, every version matches. */
      version: Version.optional(),
    }).meta({ id: 'UpdateChange' }),
    change('move', {
      collection_id: Id,
      /** The track's `order` in that collection, if no other track has it; otherwise, and by default, the track comes last. */
      order: z.int().min(0).max(MAX_ORDER).optional(),
    }).meta({ id: 'MoveChange' }),
    change('delete', {
      /** Whether the track is moved to the trash, as with `trash=true`. */
      trash: z.boolean().optional(),
    }).meta({ id: 'DeleteChange' }),
    change('restore', {}).meta({ id: 'RestoreChange' }),
    change('reprocess', {}).meta({ id: 'ReprocessChange' }),
  ])
  .meta({ id: 'TrackChange' })
export type TrackChange = z.infer<typeof TrackChange>

/** The result of one change. If the change was refused, it has the same code, message and `current` as the response of the operation for a single track. */
export const TrackChanged = named('TrackChanged', {
  track_id: z.uuid(),
  action: z.enum(['update', 'move', 'delete', 'restore', 'reprocess']),
  ok: z.boolean(),
  code: ErrorCode.optional(),
  message: z.string().optional(),
  /** Only with the code `version_mismatch`: the track as it is now. */
  current: Track.optional(),
  /** Only for a track that was moved: where it was. A second move with these values moves it back. */
  moved_from: z.object({ collection_id: z.uuid(), order: z.int() }).optional(),
})

export const trackBatchOperations = defineOperations({
  changeTracks: {
    method: 'post',
    path: '/v1/track/batch',
    grows: false,
    summary: 'Update, move, delete, restore or reprocess many tracks; each has its own result, in the same order',
    tag: 'Tracks',
    access: ['server'],
    body_size: MAX_BATCH_BYTES,
    body: z.strictObject({ changes: z.array(TrackChange).min(1).max(MAX_BATCH) }),
    response: ok({ done: z.int(), refused: z.int(), results: z.array(TrackChanged) }),
  },
})
