import type { OperationName } from '../../../src/contract/index.ts'
import { editCases } from './contract_edit.ts'
import {
  API_KEY,
  COLLECTION,
  ENVELOPE,
  LISTED_TRACK,
  ORGANIZATION,
  PLAYBACK,
  PLAYLIST,
  REPROCESS,
  SESSION,
  SQUARE,
  TRACK,
  TRACK_VARIANT,
  UPLOAD_HANDLE,
  UPLOAD_SESSION,
  USAGE,
  VARIANT,
  playbackAt,
} from './contract_keys.ts'
import { multipartCases } from './contract_multipart.ts'
import { shareCases } from './contract_share.ts'
import { systemCases } from './contract_system.ts'
import { trashCases } from './contract_trash.ts'
import { webhookCases } from './contract_webhook.ts'
import type { Workspace } from './contract_workspace.ts'
import { heardReport } from './heard.ts'

const OWN_COVER = { cover_image: 'icon small regular large', 'cover_image.small': SQUARE }

interface Case {
  /** Values for the parameters of the path, which replace those of the workspace. */
  names?: (workspace: Workspace) => Partial<Workspace>
  body?: (ids: { collection_id: string; track_id: string }) => object
  /** The exact keys of the response and of its nested objects, as listed in the specification (§2, §4). */
  keys: Record<string, string>
}

/** A valid call to each operation. */
export const cases: Record<OperationName, Case> = {
  createOrganization: {
    body: () => ({ name: 'Blue Note' }),
    keys: { '': `${ENVELOPE} organization_id organization api_key_id secret`, organization: ORGANIZATION },
  },
  getOrganization: { keys: { '': `${ENVELOPE} organization_id organization`, organization: ORGANIZATION } },
  updateOrganization: {
    body: () => ({ theme: ['#112233'] }),
    keys: {
      '': `${ENVELOPE} organization_id organization`,
      organization: ORGANIZATION,
      'organization.image_colors.0': 'hex area lightness saturation',
    },
  },
  listCollections: { keys: { '': `${ENVELOPE} after count collections`, 'collections.0': COLLECTION } },
  createCollection: {
    body: () => ({ title: 'New' }),
    keys: {
      '': `${ENVELOPE} collection_id collection collection_cover_upload`,
      collection: COLLECTION,
      collection_cover_upload: UPLOAD_HANDLE,
    },
  },
  getCollection: { keys: { '': `${ENVELOPE} collection_id collection`, collection: COLLECTION } },
  updateCollection: {
    body: () => ({ title: 'Changed' }),
    keys: { '': `${ENVELOPE} collection_id collection`, collection: COLLECTION },
  },
  deleteCollection: {
    keys: { '': `${ENVELOPE} collection_id deleted_collection`, deleted_collection: COLLECTION },
  },
  listCollectionTracks: { keys: { '': `${ENVELOPE} after count tracks`, 'tracks.0': LISTED_TRACK } },
  listTracks: { keys: { '': `${ENVELOPE} after count tracks`, 'tracks.0': LISTED_TRACK } },
  createTrack: {
    body: ({ collection_id }) => ({ collection_id, file_name: 'a.mp3' }),
    keys: {
      '': `${ENVELOPE} track_id track track_upload track_cover_upload`,
      track: TRACK,
      track_upload: UPLOAD_HANDLE,
      track_cover_upload: UPLOAD_HANDLE,
    },
  },
  getTrack: { keys: { '': `${ENVELOPE} track_id track`, track: TRACK } },
  updateTrack: { body: () => ({ title: 'Changed' }), keys: { '': `${ENVELOPE} track_id track`, track: TRACK } },
  changeTracks: {
    body: ({ track_id }) => ({
      changes: [
        { action: 'update', track_id, title: 'Changed' },
        { action: 'delete', track_id: '00000000-0000-4000-8000-000000000000' },
      ],
    }),
    keys: {
      '': `${ENVELOPE} done refused results`,
      'results.0': 'track_id action ok',
      'results.1': 'track_id action ok code message',
    },
  },
  ...editCases,
  deleteTrack: { keys: { '': `${ENVELOPE} track_id deleted_track`, deleted_track: TRACK } },
  getCollectionCover: { keys: { '': `${ENVELOPE} collection_id cover_image`, ...OWN_COVER } },
  getPlaylistCover: { keys: { '': `${ENVELOPE} playlist_id cover_image`, ...OWN_COVER } },
  getTrackCover: { keys: { '': `${ENVELOPE} track_id cover_image`, ...OWN_COVER } },
  getTrackVariants: {
    keys: { '': `${ENVELOPE} track_id variants`, 'variants.0': TRACK_VARIANT },
  },
  createCollectionCover: {
    keys: {
      '': `${ENVELOPE} collection_id collection collection_cover_upload`,
      collection: COLLECTION,
      collection_cover_upload: UPLOAD_HANDLE,
    },
  },
  createTrackCover: {
    keys: { '': `${ENVELOPE} track_id track track_cover_upload`, track: TRACK, track_cover_upload: UPLOAD_HANDLE },
  },
  createUploadSession: {
    body: ({ collection_id }) => ({ collection_id }),
    keys: {
      '': `${ENVELOPE} upload_session_id upload_session expires_at`,
      upload_session: 'id collection_id expires_at',
    },
  },
  getUploadSession: { keys: UPLOAD_SESSION },
  createSessionTrack: {
    body: () => ({ file_name: 'a.mp3' }),
    keys: {
      '': `${ENVELOPE} upload_session_id track_id track track_upload track_cover_upload`,
      track: 'id index path',
      track_upload: UPLOAD_HANDLE,
      track_cover_upload: UPLOAD_HANDLE,
    },
  },
  createPlaySession: {
    body: ({ collection_id }) => ({ collection_id }),
    keys: { '': `${ENVELOPE} play_session_id play_session list tracks first_track heard_token expires_at`, ...SESSION },
  },
  getPlaySession: {
    keys: { '': `${ENVELOPE} play_session_id play_session list tracks first_track heard_token`, ...SESSION },
  },
  playSession: {
    keys: {
      '': `${ENVELOPE} play_session_id play_session list tracks first_track heard_token`,
      ...SESSION,
      play_session: 'id variants is_downloadable expires_at',
    },
  },
  playTrack: {
    keys: {
      '': `${ENVELOPE} play_session_id play_session heard_token ${PLAYBACK}`,
      play_session: 'id variants is_downloadable expires_at',
      ...playbackAt(''),
    },
  },
  reportHeard: { body: ({ track_id }) => heardReport(track_id), keys: {} },
  downloadTrack: {
    keys: { '': `${ENVELOPE} play_session_id track_id download`, download: 'variant url' },
  },
  listVariants: { keys: { '': `${ENVELOPE} count variants`, 'variants.0': VARIANT } },
  getVariant: { keys: { '': `${ENVELOPE} variant_id variant`, variant: VARIANT } },
  createVariant: {
    body: () => ({ name: 'Voice', codec: 'opus', bitrate: 32, channels: 1 }),
    keys: { '': `${ENVELOPE} variant_id variant`, variant: VARIANT },
  },
  updateVariant: {
    body: () => ({ name: 'Changed' }),
    keys: { '': `${ENVELOPE} variant_id variant`, variant: VARIANT },
  },
  deleteVariant: { keys: { '': `${ENVELOPE} variant_id deleted_variant`, deleted_variant: VARIANT } },
  reprocessCollection: {
    body: () => ({ all: true }),
    keys: { '': `${ENVELOPE} collection_id reprocess`, reprocess: REPROCESS },
  },
  getCollectionReprocess: { keys: { '': `${ENVELOPE} collection_id reprocess` } },
  listOrganizations: { keys: { '': `${ENVELOPE} count organizations`, 'organizations.0': ORGANIZATION } },
  deleteOrganization: {
    keys: { '': `${ENVELOPE} organization_id deleted_organization`, deleted_organization: ORGANIZATION },
  },
  orderCollectionTracks: {
    body: ({ track_id }) => ({ track_ids: [track_id] }),
    keys: { '': `${ENVELOPE} collection_id collection`, collection: COLLECTION },
  },
  renewTrackUpload: {
    body: () => ({}),
    keys: { '': `${ENVELOPE} track_id track track_upload`, track: TRACK, track_upload: UPLOAD_HANDLE },
  },
  reprocessTrack: { keys: { '': `${ENVELOPE} track_id track`, track: TRACK } },
  ...multipartCases,
  getSessionTrack: {
    keys: {
      '': `${ENVELOPE} upload_session_id track_id track`,
      track: 'id index duration file_name track_status_id status progress error',
    },
  },
  deleteSessionTrack: {
    names: ({ waiting_track_id }: Workspace) => ({ track_id: waiting_track_id }),
    keys: { '': `${ENVELOPE} upload_session_id track_id deleted_track`, deleted_track: 'id index file_name' },
  },
  listPlaylists: { keys: { '': `${ENVELOPE} after count playlists`, 'playlists.0': PLAYLIST } },
  createPlaylist: {
    body: () => ({ title: 'New' }),
    keys: {
      '': `${ENVELOPE} playlist_id playlist playlist_cover_upload`,
      playlist: PLAYLIST,
      playlist_cover_upload: UPLOAD_HANDLE,
    },
  },
  getPlaylist: { keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST } },
  updatePlaylist: {
    body: () => ({ title: 'Changed' }),
    keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST },
  },
  deletePlaylist: { keys: { '': `${ENVELOPE} playlist_id deleted_playlist`, deleted_playlist: PLAYLIST } },
  createPlaylistCover: {
    keys: { '': `${ENVELOPE} playlist_id playlist playlist_cover_upload`, playlist_cover_upload: UPLOAD_HANDLE },
  },
  listPlaylistTracks: {
    keys: { '': `${ENVELOPE} count version tracks`, 'tracks.0': `${LISTED_TRACK} playlist_track_id position` },
  },
  replacePlaylistTracks: {
    body: ({ track_id }) => ({ track_ids: [track_id, track_id] }),
    keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST },
  },
  insertPlaylistTracks: {
    body: ({ track_id }) => ({ track_ids: [track_id], position: 0 }),
    keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST },
  },
  movePlaylistTrack: {
    body: () => ({ position: 0 }),
    keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST },
  },
  removePlaylistTrack: { keys: { '': `${ENVELOPE} playlist_id playlist`, playlist: PLAYLIST } },
  listApiKeys: { keys: { '': `${ENVELOPE} count api_keys`, 'api_keys.0': API_KEY } },
  createApiKey: {
    body: () => ({ title: 'Another', type: 'uploader' }),
    keys: { '': `${ENVELOPE} api_key_id api_key secret`, api_key: API_KEY },
  },
  getOwnApiKey: { keys: { '': `${ENVELOPE} api_key_id api_key`, api_key: API_KEY } },
  getApiKey: { keys: { '': `${ENVELOPE} api_key_id api_key quota`, api_key: API_KEY } },
  updateApiKey: {
    body: () => ({ title: 'Changed' }),
    keys: { '': `${ENVELOPE} api_key_id api_key`, api_key: API_KEY },
  },
  rotateApiKey: {
    body: () => ({ grace_seconds: 60 }),
    keys: { '': `${ENVELOPE} api_key_id api_key secret`, api_key: API_KEY },
  },
  revokeApiKey: { keys: { '': `${ENVELOPE} api_key_id deleted_api_key`, deleted_api_key: API_KEY } },
  ...shareCases,
  getUsage: { keys: USAGE },
  listEvents: {
    keys: {
      '': `${ENVELOPE} events after has_more`,
      'events.0': 'id type timestamp seq sequence subject actor data',
    },
  },
  ...trashCases,
  ...webhookCases,
  ...systemCases,
  listLimits: { keys: { '': `${ENVELOPE} limits`, 'limits.0': 'name value unit applies_to' } },
}
