import * as z from 'zod'

import { HexColor, ImageColor } from './color.ts'
import {
  counted,
  Deletion,
  Id,
  including,
  ListPage,
  Metadata,
  named,
  ok,
  Query,
  RequiredText,
  RequiredTitle,
  sortedBy,
  Text,
  Timestamp,
  Title,
  Version,
  VersionHeaders,
} from './common.ts'
import { CoverImage, UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Theme } from './organization.ts'
import { ListedTrack, trackFilters } from './track.ts'

/**
 * A container of tracks (specification §2, Collection). `player_color` and `player_subtitle` are the effective values, which are inherited from the
 * organization if the collection has none. `image_colors` come from the theme, or from the palette of the cover if there is no theme.
 */
export const Collection = named('Collection', {
  id: z.uuid(),
  creator_id: z.uuid().nullable(),
  organization_index: z.string(),
  title: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  image_colors: z.array(ImageColor),
  theme: z.array(HexColor),
  is_cover_overridable: z.boolean(),
  is_theme_overridable: z.boolean(),
  player_color: HexColor,
  player_subtitle: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Changes together with `updated_at`. */
  version: Version,
})
export type Collection = z.infer<typeof Collection>

/** `null` clears an optional field. `metadata` is replaced completely, not merged. */
export const CollectionUpdate = z.strictObject({
  title: RequiredTitle.optional(),
  creator_id: Id.nullable().optional(),
  organization_index: Text.nullable().optional(),
  metadata: Metadata.optional(),
  theme: Theme.optional(),
  is_cover_overridable: z.boolean().optional(),
  is_theme_overridable: z.boolean().optional(),
  player_color: HexColor.nullable().optional(),
  player_subtitle: Title.nullable().optional(),
})
export const CollectionCreate = CollectionUpdate.extend({ title: RequiredTitle })

/** Query parameters that are common to the lists of collections and playlists. */
export const listQuery = {
  q: Query,
  creator_id: Id.optional(),
  organization_index: RequiredText.optional(),
  sort: sortedBy('title', 'created_at', 'updated_at'),
  include: including('artwork', 'counts'),
}
/** The optional parts of the collections and playlists in a list. */
export const listParts = {
  artwork: CoverImage.optional(),
  counts: z
    .object({
      tracks: z.int(),
      /** The sum of the tracks' durations, in seconds; null if it would be read from too many tracks (docs/decisions/0090). */
      duration: z.number().nullable(),
    })
    .optional(),
}

const tag = 'Collections'
const params = z.object({ collection_id: Id })
const collectionResponse = ok({ collection_id: z.uuid(), collection: Collection })

export const collectionOperations = defineOperations({
  listCollections: {
    method: 'get',
    path: '/v1/collection',
    summary: 'List or search collections, newest first unless sorted',
    tag,
    access: ['server'],
    query: ListPage.extend(listQuery),
    response: ok({ ...counted, collections: z.array(Collection.extend(listParts)) }),
  },
  createCollection: {
    method: 'post',
    path: '/v1/collection',
    grows: 'content',
    summary: 'Create a collection',
    tag,
    access: ['server'],
    body: CollectionCreate,
    response: collectionResponse.extend({ collection_cover_upload: UploadHandle }),
  },
  getCollection: {
    method: 'get',
    path: '/v1/collection/{collection_id}',
    summary: 'Get a collection',
    tag,
    access: ['server'],
    params,
    response: collectionResponse,
  },
  updateCollection: {
    method: 'put',
    path: '/v1/collection/{collection_id}',
    grows: false,
    summary: 'Update a collection; fields left out stay as they are',
    tag,
    access: ['server'],
    params,
    headers: VersionHeaders,
    body: CollectionUpdate,
    response: collectionResponse,
    errors: ['version_mismatch'],
  },
  deleteCollection: {
    method: 'delete',
    path: '/v1/collection/{collection_id}',
    summary: 'Delete a collection with its tracks and their files; `trash=true` keeps them for seven days',
    tag,
    access: ['server'],
    params,
    query: Deletion,
    response: ok({ collection_id: z.uuid(), deleted_collection: Collection }),
  },
  listCollectionTracks: {
    method: 'get',
    path: '/v1/collection/{collection_id}/track',
    summary: "List or search a collection's tracks, in their order unless sorted",
    tag,
    access: ['server'],
    params,
    query: ListPage.extend({
      ...trackFilters,
      sort: sortedBy('order', 'title', 'created_at', 'updated_at', 'duration'),
    }),
    response: ok({ ...counted, tracks: z.array(ListedTrack) }),
  },
  orderCollectionTracks: {
    method: 'put',
    path: '/v1/collection/{collection_id}/track/order',
    grows: false,
    summary: 'Put tracks of a collection into a new order; they share out the places they hold now',
    tag,
    access: ['server'],
    params,
    body: z.strictObject({ track_ids: z.array(Id).min(1).max(1000) }),
    response: collectionResponse,
  },
})
