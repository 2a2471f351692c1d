import * as z from 'zod'

import { ErrorCode, Id, named, ok, Version } from './common.ts'
import type { Effect } from './effect.ts'
import { MAX_BATCH, MAX_BATCH_BYTES } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Track, TrackUpdate } from './track.ts'

/** Maximum `order` of a track in a request. */
const MAX_ORDER = 2 ** 31 - 1

/** Adds the fields that every change has: its action and the track. */
const change = <const A extends string, const T extends z.ZodRawShape>(action: A, shape: T) =>
  z.strictObject({
    /** Selects the kind of the change. */
    action: z.literal(action),
    /** A track of the organization, in any collection. */
    track_id: Id,
    ...shape,
  })

/** One change to one track. */
export const TrackChange = z
  .discriminatedUnion('action', [
    /** Changes the settings of a track, like `PUT /v1/track/{track_id}`. */
    change('update', {
      ...TrackUpdate.shape,
      /** The version that the track must have, like `If-Match`; by default, every version matches. */
      version: Version.optional(),
    }).meta({ id: 'UpdateChange' }),
    /** Moves a track to another collection. */
    change('move', {
      /** Where the track is moved to. */
      collection_id: Id,
      /** Position in that collection, if no other track has it. Otherwise, and by default, the track comes last. */
      order: z.int().min(0).max(MAX_ORDER).optional(),
    }).meta({ id: 'MoveChange' }),
    /** Deletes a track, like `DELETE /v1/track/{track_id}`. */
    change('delete', {
      /** Whether the track is moved to the trash, as with `trash=true`. */
      trash: z.boolean().optional(),
    }).meta({ id: 'DeleteChange' }),
    /** Restores a track from the trash. */
    change('restore', {}).meta({ id: 'RestoreChange' }),
    /** Makes a track's variants again, like `POST /v1/track/{track_id}/reprocess`. */
    change('reprocess', {}).meta({ id: 'ReprocessChange' }),
  ])
  .meta({ id: 'TrackChange' })
export type TrackChange = z.infer<typeof TrackChange>

/** The result of one change. If the change was refused, it has the same code, message and `current` as the response of the operation for a single track. */
export const TrackChanged = named('TrackChanged', {
  /** As in the change. */
  track_id: z.uuid(),
  /** As in the change. */
  action: z.enum(['update', 'move', 'delete', 'restore', 'reprocess']),
  /** Whether the change was made. */
  ok: z.boolean(),
  code: ErrorCode.optional(),
  /** Why the change was refused, for people. */
  message: z.string().optional(),
  /** Only with the code `version_mismatch`: the track as it is now. */
  current: Track.optional(),
  /** Only for a track that was moved: where it was. A second move with these values moves it back. */
  moved_from: z
    .object({
      /** The previous collection. */
      collection_id: z.uuid(),
      /** The position there. */
      order: z.int(),
    })
    .optional(),
})

const EFFECTS_OF_ACTIONS: Record<TrackChange['action'], Effect> = {
  update: 'write',
  move: 'write',
  delete: 'delete',
  restore: 'write',
  reprocess: 'write',
}

export const trackBatchOperations = defineOperations({
  changeTracks: {
    method: 'post',
    path: '/v1/track/batch',
    grows: false,
    summary: 'Update, move, delete, restore or reprocess many tracks; each has its own result, in the same order',
    tag: 'Tracks',
    access: ['server'],
    effect: EFFECTS_OF_ACTIONS,
    guide: 'lists',
    limits: ['batch_size'],
    body_size: MAX_BATCH_BYTES,
    body: z.strictObject({
      /** Up to 200, of any tracks of the organization. None is made if the key lacks the effect of one of them. */
      changes: z.array(TrackChange).min(1).max(MAX_BATCH),
    }),
    response: ok({
      /** Number of changes that were made. */
      done: z.int(),
      /** Number of changes that were not made; `results` has the reasons. */
      refused: z.int(),
      /** One for each change, in the same order. */
      results: z.array(TrackChanged),
    }),
  },
})
