import * as z from 'zod'

import { Collection, CollectionCreate, CollectionUpdate, listParts, listQuery } from './collection.ts'
import { counted, Deletion, Id, ListPage, ok, Page, Version, VersionHeaders as headers } from './common.ts'
import { MAX_PLAYLIST_TRACKS } from './facts.ts'
import { OwnCover, UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { include, ListedTrack } from './track_list.ts'

/** Settings of collections that playlists do not have, because no resource inherits from a playlist. */
const OVERRIDES = { is_cover_overridable: true, is_theme_overridable: true } as const

/** A list of tracks from any collections of the organization, in its own order. Values that are not set are inherited from the organization. */
export const Playlist = Collection.omit(OVERRIDES)
  .extend({
    /** Number of positions; a track may have several. */
    track_count: z.int(),
    /** Increases with every change to the tracks. A change with another value as `If-Match` is refused with 412 `version_mismatch`. */
    version: Version,
  })
  .meta({ id: 'Playlist' })
export type Playlist = z.infer<typeof Playlist>

/** A track at one position of a playlist. */
export const PlaylistTrack = ListedTrack.extend({
  /** Identifies the position, because a track may have several. */
  playlist_track_id: z.uuid(),
  /** 0 for the first, then 1, 2, … */
  position: z.int(),
}).meta({ id: 'PlaylistTrack' })

export const PlaylistUpdate = CollectionUpdate.omit(OVERRIDES)
export const PlaylistCreate = CollectionCreate.omit(OVERRIDES)

/** Tracks in playing order. A track may occur more than once. */
const TrackIds = z.array(Id).max(MAX_PLAYLIST_TRACKS)
/** 0 is the first place. */
const Position = z.int().min(0).max(MAX_PLAYLIST_TRACKS)
const tag = 'Playlists'
const params = z.object({
  /** As returned when the playlist was created. */
  playlist_id: Id,
})
const entryParams = params.extend({
  /** The position, as the list of its tracks has it. */
  playlist_track_id: Id,
})
const playlistResponse = ok({
  /** The same as `playlist.id`. */
  playlist_id: z.uuid(),
  playlist: Playlist,
})

export const playlistOperations = defineOperations({
  listPlaylists: {
    method: 'get',
    path: '/v1/playlist',
    summary: 'List or search playlists, newest first unless sorted',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'lists',
    query: ListPage.extend(listQuery),
    response: ok({
      ...counted,
      /** One page, in the requested order. */
      playlists: z.array(Playlist.extend(listParts)),
    }),
  },
  createPlaylist: {
    method: 'post',
    path: '/v1/playlist',
    grows: 'content',
    summary: 'Create a playlist',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'playlists',
    body: PlaylistCreate,
    response: playlistResponse.extend({
      /** Where to send a cover. */
      playlist_cover_upload: UploadHandle,
    }),
  },
  getPlaylist: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}',
    summary: 'Get a playlist',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'playlists',
    params,
    response: playlistResponse,
  },
  updatePlaylist: {
    method: 'put',
    path: '/v1/playlist/{playlist_id}',
    grows: false,
    summary: 'Update a playlist; fields left out stay as they are',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'playlists',
    params,
    body: PlaylistUpdate,
    response: playlistResponse,
  },
  deletePlaylist: {
    method: 'delete',
    path: '/v1/playlist/{playlist_id}',
    summary: 'Delete a playlist; its tracks stay in their collections. `trash=true` keeps it for seven days',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    limits: ['trash_ttl'],
    params,
    query: Deletion,
    response: ok({
      /** The same as `deleted_playlist.id`. */
      playlist_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_playlist: Playlist,
    }),
  },
  getPlaylistCover: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}/cover',
    summary: "Get a playlist's cover, signed; without one, a generated one",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'tags',
    params,
    response: ok({
      /** As in the path. */
      playlist_id: z.uuid(),
      cover_image: OwnCover,
    }),
  },
  createPlaylistCover: {
    method: 'post',
    path: '/v1/playlist/{playlist_id}/cover',
    grows: false,
    summary: "Get a URL to upload a playlist's cover to",
    tag,
    access: ['server'],
    effect: 'write',
    deletes: 'cover',
    guide: 'playlists',
    limits: ['cover_size', 'cover_pixels'],
    recordsNoEvent: 'the uploaded file has its event',
    params,
    response: playlistResponse.extend({
      /** Where to send a cover. */
      playlist_cover_upload: UploadHandle,
    }),
  },
  listPlaylistTracks: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}/track',
    summary: "List a playlist's tracks in playing order",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'playlists',
    params,
    query: Page.extend({ include }),
    response: ok({
      /** Number of positions on all pages together. */
      count: z.int(),
      /** The `version` of the playlist, for `If-Match`. */
      version: z.int(),
      /** One page, in playing order. */
      tracks: z.array(PlaylistTrack),
    }),
    etag: ({ version }: { version: number }) => version,
  },
  replacePlaylistTracks: {
    method: 'put',
    path: '/v1/playlist/{playlist_id}/track',
    grows: 'content',
    summary: "Replace all of a playlist's tracks at once",
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    limits: ['playlist_tracks'],
    params,
    headers,
    body: z.strictObject({
      track_ids: TrackIds,
    }),
    response: playlistResponse,
    errors: ['version_mismatch'],
  },
  insertPlaylistTracks: {
    method: 'post',
    path: '/v1/playlist/{playlist_id}/track',
    grows: 'content',
    summary: 'Insert tracks at a position, or add them at the end',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'playlists',
    limits: ['playlist_tracks'],
    params,
    headers,
    body: z.strictObject({
      track_ids: TrackIds.min(1),
      /** Place of the first of them, from 0; by default, they come last. */
      position: Position.optional(),
    }),
    response: playlistResponse,
    errors: ['playlist_full', 'version_mismatch'],
  },
  movePlaylistTrack: {
    method: 'put',
    path: '/v1/playlist/{playlist_id}/track/{playlist_track_id}',
    grows: false,
    summary: 'Move one track of a playlist to another position',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'playlists',
    params: entryParams,
    headers,
    body: z.strictObject({
      /** The new place, from 0. */
      position: Position,
    }),
    response: playlistResponse,
    errors: ['version_mismatch'],
  },
  removePlaylistTrack: {
    method: 'delete',
    path: '/v1/playlist/{playlist_id}/track/{playlist_track_id}',
    summary: 'Take one track out of a playlist',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'playlists',
    params: entryParams,
    headers,
    response: playlistResponse,
    errors: ['version_mismatch'],
  },
})
