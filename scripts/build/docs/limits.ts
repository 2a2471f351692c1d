import type { OperationName } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { amount, standardLimits } from '../../shared/limits.ts'

/** The limits that apply to each operation. */

const LIMITS = new Map(standardLimits().map((limit) => [limit.name, limit]))

const FILE = ['upload_size', 'duration', 'upload_ttl']
const PARTS = ['upload_size', 'duration', 'multipart_ttl', 'part_size', 'part_urls']
const COVER = ['cover_size', 'cover_pixels']
const SHARE = ['share_slug_length', 'share_password_length', 'share_session_ttl']
/** Limits that do not follow from the fields of an operation. */
const OWN: { [name in OperationName]?: string[] } = {
  createTrack: FILE,
  renewTrackUpload: FILE,
  createUploadSession: ['upload_ttl'],
  createSessionTrack: FILE,
  createTrackMultipart: PARTS,
  createSessionMultipart: PARTS,
  signTrackParts: ['part_size', 'part_urls'],
  signSessionParts: ['part_size', 'part_urls'],
  createCollectionCover: COVER,
  createTrackCover: COVER,
  createPlaylistCover: COVER,
  createPlaySession: ['play_session_ttl', 'session_tracks', 'session_variants', 'listener_length'],
  playSession: ['playback_ttl', 'session_views'],
  playTrack: ['playback_ttl'],
  downloadTrack: ['playback_ttl'],
  downloadAll: ['zip_files', 'zip_size'],
  createShare: SHARE,
  updateShare: SHARE,
  createVariant: ['variants', 'preview_length'],
  updateVariant: ['preview_length'],
  replacePlaylistTracks: ['playlist_tracks'],
  insertPlaylistTracks: ['playlist_tracks'],
  createApiKey: ['uploader_bytes', 'uploader_tracks'],
  createWebhookEndpoint: ['webhook_endpoints', 'webhook_url_length'],
  updateWebhookEndpoint: ['webhook_url_length'],
  listWebhookDeliveries: ['event_window'],
  getWebhookDelivery: ['webhook_answer_size'],
  listEvents: ['event_days', 'event_window', 'event_wait'],
  changeTracks: ['batch_size'],
  getUsage: ['usage_days'],
  getStats: ['stats_days'],
  getTopStats: ['stats_days'],
  getRetention: ['stats_days'],
  deleteCollection: ['trash_ttl'],
  deleteTrack: ['trash_ttl'],
  deletePlaylist: ['trash_ttl'],
  restoreTrash: ['trash_ttl'],
}

/** Returns the limits of an operation as name, amount and scope: its own, those of its fields, and its rate. */
export function limitsOfOperation(name: OperationName, operation: Operation): string[][] {
  const { query, body, body_size, access, is_report } = operation
  const has = (part: Operation['body'], field: string) => part !== undefined && field in part.shape
  const names = [
    ...(OWN[name] ?? []),
    ...(has(query, 'limit') ? ['page_size'] : []),
    ...(has(query, 'offset') ? ['filtered_offset'] : []),
    ...(has(query, 'q') ? ['search_words'] : []),
    ...(has(body, 'metadata') ? ['metadata_size', 'metadata_depth'] : []),
    ...(has(body, 'theme') ? ['theme_colors'] : []),
    ...(body ? [is_report ? 'heard_size' : body_size ? 'batch_body_size' : 'body_size'] : []),
    ...(is_report
      ? ['heard_rate', 'heard_organization_rate', 'miss_rate']
      : access.length > 0
        ? ['api_rate']
        : ['play_rate', 'audience_rate', 'miss_rate']),
  ]
  return names.map((name) => {
    const limit = LIMITS.get(name)
    if (!limit) throw new Error(`scripts/build/docs/limits.ts names an unknown limit: ${name}`)
    return [name, amount(limit.value, limit.unit), limit.applies_to]
  })
}
