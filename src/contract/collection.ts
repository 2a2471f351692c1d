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
import { ListedTrack, trackFilters } from './track_list.ts'

/** An ordered group of tracks, such as an album, a show or a folder. Values that are not set are inherited from the organization. */
export const Collection = named('Collection', {
  /** Identifies the resource in paths and events. */
  id: z.uuid(),
  /** A user of your application, by an id that you choose; null if none is set. */
  creator_id: z.uuid().nullable(),
  /** Your own identifier; empty if none is set. */
  organization_index: z.string(),
  /** Name that listeners see, on one line. */
  title: z.string(),
  /** Your own data, as you have sent it. */
  metadata: z.record(z.string(), z.unknown()),
  /** Colors for players: those of the theme, otherwise the palette of the cover. */
  image_colors: z.array(ImageColor),
  /** Colors that replace the palette of the cover; `[]` if none are set. */
  theme: z.array(HexColor),
  /** Whether tracks may show their own covers. */
  is_cover_overridable: z.boolean(),
  /** Whether tracks may have their own color. */
  is_theme_overridable: z.boolean(),
  /** Color of players: its own, or the organization's. */
  player_color: HexColor,
  /** Second line in players for tracks without a subtitle: its own, or the organization's. */
  player_subtitle: z.string(),
  /** When it was added. */
  created_at: Timestamp,
  /** When a request last changed it. */
  updated_at: Timestamp,
  /** Changes together with `updated_at`. */
  version: Version,
})
export type Collection = z.infer<typeof Collection>

/** Omitted fields keep their values, and `null` clears a field. `metadata` is replaced completely, not merged. */
export const CollectionUpdate = z.strictObject({
  /** Name that listeners see, on one line. */
  title: RequiredTitle.optional(),
  /** A user of your application, by a UUID that you choose. */
  creator_id: Id.nullable().optional(),
  /** Your own identifier. It need not be unique, and lists can be filtered by it. */
  organization_index: Text.nullable().optional(),
  /** Your own data: a JSON object of at most 16 KB, nested at most 5 levels deep. Listeners do not see it. */
  metadata: Metadata.optional(),
  /** Up to 12 colors that replace the palette of the cover; `[]` removes them. */
  theme: Theme.optional(),
  /** Whether tracks may show their own covers; by default, they may. */
  is_cover_overridable: z.boolean().optional(),
  /** Whether tracks may have their own color; by default, they may. */
  is_theme_overridable: z.boolean().optional(),
  /** Color of players; null uses the organization's. */
  player_color: HexColor.nullable().optional(),
  /** Second line in players for tracks without a subtitle; null uses the organization's. */
  player_subtitle: Title.nullable().optional(),
})
export const CollectionCreate = CollectionUpdate.extend({
  /** Name that listeners see, on one line. */
  title: RequiredTitle,
})

/** Query parameters that are common to the lists of collections and playlists. */
export const listQuery = {
  q: Query,
  /** Only items with this `creator_id`. */
  creator_id: Id.optional(),
  /** Only items with exactly this `organization_index`. */
  organization_index: RequiredText.optional(),
  /** Key of the order, reversed by a leading `-`. By default, the newest items come first. */
  sort: sortedBy('title', 'created_at', 'updated_at'),
  /** Optional parts of the items. */
  include: including('artwork', 'counts'),
}
/** The optional parts of the collections and playlists in a list. */
export const listParts = {
  /** Only with `include=artwork`: the effective cover. */
  artwork: CoverImage.optional(),
  /** Only with `include=counts`. */
  counts: z
    .object({
      /** Number of tracks in the list, in any status. */
      tracks: z.int(),
      /** The sum of the tracks' durations, in seconds; null if it would be read from too many tracks (docs/decisions/0090). */
      duration: z.number().nullable(),
    })
    .optional(),
}

const tag = 'Collections'
const params = z.object({
  /** As returned when the collection was created. */
  collection_id: Id,
})
const collectionResponse = ok({
  /** The same as `collection.id`. */
  collection_id: z.uuid(),
  collection: Collection,
})

export const collectionOperations = defineOperations({
  listCollections: {
    method: 'get',
    path: '/v1/collection',
    summary: 'List or search collections, newest first unless sorted',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'lists',
    query: ListPage.extend(listQuery),
    response: ok({
      ...counted,
      /** One page, in the requested order. */
      collections: z.array(Collection.extend(listParts)),
    }),
  },
  createCollection: {
    method: 'post',
    path: '/v1/collection',
    grows: 'content',
    summary: 'Create a collection',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'concepts',
    body: CollectionCreate,
    response: collectionResponse.extend({
      /** Where to send a cover, if the collection should have one. */
      collection_cover_upload: UploadHandle,
    }),
  },
  getCollection: {
    method: 'get',
    path: '/v1/collection/{collection_id}',
    summary: 'Get a collection',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'concepts',
    params,
    response: collectionResponse,
    etag: ({ collection }: { collection: Collection }) => collection.version,
  },
  updateCollection: {
    method: 'put',
    path: '/v1/collection/{collection_id}',
    grows: false,
    summary: 'Update a collection; fields left out stay as they are',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'concepts',
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
    effect: 'delete',
    guide: 'playlists',
    limits: ['trash_ttl'],
    params,
    query: Deletion,
    response: ok({
      /** The same as `deleted_collection.id`. */
      collection_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_collection: Collection,
    }),
  },
  listCollectionTracks: {
    method: 'get',
    path: '/v1/collection/{collection_id}/track',
    summary: "List or search a collection's tracks, in their order unless sorted",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'lists',
    params,
    query: ListPage.extend({
      ...trackFilters,
      /** Key of the order, reversed by a leading `-`; `order` by default. */
      sort: sortedBy('order', 'title', 'created_at', 'updated_at', 'duration'),
    }),
    response: ok({
      ...counted,
      /** One page, in the requested order. */
      tracks: z.array(ListedTrack),
    }),
  },
  orderCollectionTracks: {
    method: 'put',
    path: '/v1/collection/{collection_id}/track/order',
    grows: false,
    summary: 'Put tracks of a collection into a new order; they share out the places they hold now',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'playlists',
    params,
    body: z.strictObject({
      /** Tracks of this collection in their new order. Other tracks keep their places. */
      track_ids: z.array(Id).min(1).max(1000),
    }),
    response: collectionResponse,
  },
})
