import * as z from 'zod'

import { Collection, CollectionCreate, CollectionUpdate, listParts, listQuery } from './collection.ts'
import { counted, Deletion, Id, ListPage, ok, Page, Version, VersionHeaders as headers } from './common.ts'
import { MAX_PLAYLIST_TRACKS } from './facts.ts'
import { OwnCover, UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { include, ListedTrack } from './track.ts'

/** Settings of collections that playlists do not have, because no resource inherits from a playlist. */
const OVERRIDES = { is_cover_overridable: true, is_theme_overridable: true } as const

/** A list of tracks from any collections of the organization. It has its own order (docs/architecture.md#playlists). */
export const Playlist = Collection.omit(OVERRIDES)
  .extend({
    track_count: z.int(),
    /** Increases with every change to the tracks. A change with this value as `If-Match` is refused if another change came first. */
    version: Version,
  })
  .meta({ id: 'Playlist' })
export type Playlist = z.infer<typeof Playlist>

/** A track in a playlist. */
export const PlaylistTrack = ListedTrack.extend({
  playlist_track_id: z.uuid(),
  /** The position in the playlist: 0, 1, 2, … */
  position: z.int(),
}).meta({ id: 'PlaylistTrack' })

export const PlaylistUpdate = CollectionUpdate.omit(OVERRIDES)
export const PlaylistCreate = CollectionCreate.omit(OVERRIDES)

const TrackIds = z.array(Id).max(MAX_PLAYLIST_TRACKS)
const Position = z.int().min(0).max(MAX_PLAYLIST_TRACKS)
const tag = 'Playlists'
const params = z.object({ playlist_id: Id })
const entryParams = params.extend({ playlist_track_id: Id })
const playlistResponse = ok({ playlist_id: z.uuid(), playlist: Playlist })

export const playlistOperations = defineOperations({
  listPlaylists: {
    method: 'get',
    path: '/v1/playlist',
    summary: 'List or search playlists, newest first unless sorted',
    tag,
    access: ['server'],
    query: ListPage.extend(listQuery),
    response: ok({ ...counted, playlists: z.array(Playlist.extend(listParts)) }),
  },
  createPlaylist: {
    method: 'post',
    path: '/v1/playlist',
    grows: 'content',
    summary: 'Create a playlist',
    tag,
    access: ['server'],
    body: PlaylistCreate,
    response: playlistResponse.extend({ playlist_cover_upload: UploadHandle }),
  },
  getPlaylist: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}',
    summary: 'Get a playlist',
    tag,
    access: ['server'],
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
    params,
    query: Deletion,
    response: ok({ playlist_id: z.uuid(), deleted_playlist: Playlist }),
  },
  getPlaylistCover: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}/cover',
    summary: "Get a playlist's cover, signed; without one, a generated one",
    tag,
    access: ['server'],
    params,
    response: ok({ playlist_id: z.uuid(), cover_image: OwnCover }),
  },
  createPlaylistCover: {
    method: 'post',
    path: '/v1/playlist/{playlist_id}/cover',
    grows: false,
    summary: "Get a URL to upload a playlist's cover to",
    tag,
    access: ['server'],
    params,
    response: playlistResponse.extend({ playlist_cover_upload: UploadHandle }),
  },
  listPlaylistTracks: {
    method: 'get',
    path: '/v1/playlist/{playlist_id}/track',
    summary: "List a playlist's tracks in playing order",
    tag,
    access: ['server'],
    params,
    query: Page.extend({ include }),
    response: ok({ count: z.int(), version: z.int(), tracks: z.array(PlaylistTrack) }),
  },
  replacePlaylistTracks: {
    method: 'put',
    path: '/v1/playlist/{playlist_id}/track',
    grows: 'content',
    summary: "Replace all of a playlist's tracks at once",
    tag,
    access: ['server'],
    params,
    headers,
    body: z.strictObject({ track_ids: TrackIds }),
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
    params,
    headers,
    body: z.strictObject({ track_ids: TrackIds.min(1), position: Position.optional() }),
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
    params: entryParams,
    headers,
    body: z.strictObject({ position: Position }),
    response: playlistResponse,
    errors: ['version_mismatch'],
  },
  removePlaylistTrack: {
    method: 'delete',
    path: '/v1/playlist/{playlist_id}/track/{playlist_track_id}',
    summary: 'Take one track out of a playlist',
    tag,
    access: ['server'],
    params: entryParams,
    headers,
    response: playlistResponse,
    errors: ['version_mismatch'],
  },
})
