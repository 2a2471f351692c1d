import { env } from 'cloudflare:workers'

import { CATALOG } from '../../../src/contract/catalog.ts'
import { type OperationName, operations } from '../../../src/contract/index.ts'
import type { Workspace } from './callers.ts'
import { cases } from './contract_cases.ts'

interface Sent {
  path: string
  body?: object
  headers?: Record<string, string>
}

/** Bodies of operations. Others have that of their contract case. */
const bodies = (workspace: Workspace): Partial<Record<OperationName, object>> => ({
  createOrganization: { name: 'New' },
  updateOrganization: { name: 'Renamed' },
  createCollection: { title: 'New' },
  updateCollection: { title: 'Renamed' },
  createTrack: { collection_id: workspace.collection_id, file_name: 'new.mp3' },
  updateTrack: { title: 'Renamed' },
  changeTracks: { changes: [{ action: 'update', track_id: workspace.track_id, title: 'Renamed' }] },
  renewTrackUpload: {},
  createSessionTrack: { file_name: 'new.mp3' },
  createTrackMultipart: { file_size: 10, fingerprint: 'the file' },
  createSessionMultipart: { file_size: 10, fingerprint: 'the file' },
  createPlaySession: { track_id: workspace.track_id },
  createPlaylist: { title: 'New' },
  updatePlaylist: { title: 'Renamed' },
  replacePlaylistTracks: { track_ids: [workspace.track_id] },
  insertPlaylistTracks: { track_ids: [workspace.track_id] },
  createVariant: { name: 'New', codec: 'aac', bitrate: 96 },
  updateVariant: { name: 'Renamed' },
  reprocessCollection: { all: false },
  createApiKey: { title: 'New', type: 'player' },
  updateApiKey: { title: 'Renamed' },
  updateShare: { title: 'Renamed' },
  updateWebhookEndpoint: { title: 'Renamed' },
  rotateWebhookEndpoint: { grace_seconds: 60 },
  recoverWebhookEndpoint: { since: '2026-11-01T00:00:00Z' },
})

/** The values of the parameters in the path of an operation. */
export const pathValues = (name: OperationName, workspace: Workspace): Record<string, string> => ({
  ...workspace,
  play_track_id: workspace.track_id,
  variant_index: 'aac-160',
  scope: 'track',
  resource_id: workspace.track_id,
  listener: 'student 7',
  ...(name === 'restoreTrash' && { trash_id: workspace.restored_trash_id }),
  // Every organization may read the variants of the catalog.
  ...(name === 'getVariant' && { variant_id: CATALOG[0]!.id }),
  ...((name === 'getSessionTrack' || /Session(Multipart|Parts)$/.test(name)) && {
    track_id: workspace.session_track_id,
    multipart_upload_id: workspace.session_multipart_upload_id,
  }),
  ...(name === 'deleteSessionTrack' && { track_id: workspace.waiting_track_id }),
})

/** A request for this operation that refers to the resources of the workspace. */
export function requestOf(name: OperationName, workspace: Workspace, values = pathValues(name, workspace)): Sent {
  const body = bodies(workspace)[name] ?? cases[name].body?.(workspace)
  return {
    path: operations[name].path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(values[part]!)),
    ...(body && { body }),
  }
}

/** A key that may call the operation. */
export const keyOf = (name: OperationName, workspace: { key: string }): string | undefined => {
  const access: readonly string[] = operations[name].access
  if (access.length === 0) return undefined
  return access.includes('server') ? workspace.key : env.ROOT_KEY
}

export const operationNames = Object.keys(operations) as OperationName[]
