import * as z from 'zod'

import { Id, named, ok, Page, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'

/** A track, collection or playlist that was deleted with `trash=true`. It can be restored until `expires_at` (docs/decisions/0054). */
export const TrashedItem = named('TrashedItem', {
  /** The same as before the deletion and after a restore. */
  id: z.uuid(),
  /** The kind of the item. */
  scope: PlayScope,
  /** As listeners saw it. */
  title: z.string(),
  /** Where a track is restored to; null for collections and playlists. */
  collection_id: z.uuid().nullable(),
  /** When it was deleted. */
  trashed_at: Timestamp,
  /** When it will be deleted permanently. */
  expires_at: Timestamp,
})
export type TrashedItem = z.infer<typeof TrashedItem>

const tag = 'Trash'
const params = z.object({
  /** Id of the deleted track, collection or playlist. */
  trash_id: Id,
})
const nouns = { trash_id: 'item in the trash' }

export const trashOperations = defineOperations({
  listTrash: {
    method: 'get',
    path: '/v1/trash',
    summary: 'List what is in the trash, newest first',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'playlists',
    query: Page,
    response: ok({
      /** Number of items on all pages together. */
      count: z.int(),
      /** The items that were deleted last come first. */
      trash: z.array(TrashedItem),
    }),
  },
  emptyTrash: {
    method: 'delete',
    path: '/v1/trash',
    summary: 'Delete what is in the trash for good, up to 100 items at a time; `left` says how many are still there',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    response: ok({
      /** Number of items that this request has deleted permanently. */
      deleted: z.int(),
      /** Number of items that are still there. Repeat the request until it is 0. */
      left: z.int(),
    }),
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
    effect: 'write',
    guide: 'playlists',
    limits: ['trash_ttl'],
    params,
    nouns,
    response: ok({
      /** As in the path. */
      trash_id: z.uuid(),
      /** The item as it was in the trash. */
      restored_trash: TrashedItem,
    }),
    errors: ['collection_in_trash'],
  },
  deleteTrash: {
    method: 'delete',
    path: '/v1/trash/{trash_id}',
    summary: 'Delete one item in the trash for good',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    params,
    nouns,
    response: ok({
      /** As in the path. */
      trash_id: z.uuid(),
      /** The item, which is gone now. */
      deleted_trash: TrashedItem,
    }),
    invisibleToListeners: true,
    emitsEvents: true,
  },
})
