import * as z from 'zod'

import { Id, named, ok, Page, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'

/** A track, collection or playlist that was deleted with `trash=true`. It can be restored until `expires_at` (docs/decisions/0054). */
export const TrashedItem = named('TrashedItem', {
  /** The id of the deleted resource. The restored resource has the same id. */
  id: z.uuid(),
  scope: PlayScope,
  title: z.string(),
  /** The collection to which a track is restored; null for other resources. */
  collection_id: z.uuid().nullable(),
  trashed_at: Timestamp,
  expires_at: Timestamp,
})
export type TrashedItem = z.infer<typeof TrashedItem>

const tag = 'Trash'
const params = z.object({ trash_id: Id })
const nouns = { trash_id: 'item in the trash' }

export const trashOperations = defineOperations({
  listTrash: {
    method: 'get',
    path: '/v1/trash',
    summary: 'List what is in the trash, newest first',
    tag,
    access: ['server'],
    query: Page,
    response: ok({ count: z.int(), trash: z.array(TrashedItem) }),
  },
  emptyTrash: {
    method: 'delete',
    path: '/v1/trash',
    summary: 'Delete what is in the trash for good, up to 100 items at a time; `left` says how many are still there',
    tag,
    access: ['server'],
    response: ok({ deleted: z.int(), left: z.int() }),
    invisibleToListeners: true,
    emitsEvents: true,
  },
  restoreTrash: {
    method: 'post',
    path: '/v1/trash/{trash_id}/restore',
    grows: false,
    summary: 'Bring a track, collection or playlist back as it was',
    tag,
    access: ['server'],
    params,
    nouns,
    response: ok({ trash_id: z.uuid(), restored_trash: TrashedItem }),
    errors: ['collection_in_trash'],
  },
  deleteTrash: {
    method: 'delete',
    path: '/v1/trash/{trash_id}',
    summary: 'Delete one item in the trash for good',
    tag,
    access: ['server'],
    params,
    nouns,
    response: ok({ trash_id: z.uuid(), deleted_trash: TrashedItem }),
    invisibleToListeners: true,
    emitsEvents: true,
  },
})
