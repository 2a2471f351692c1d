import { env } from 'cloudflare:workers'

import { newSecret } from '../../../src/adapters/crypto/secret.ts'
import {
  aCollection,
  anApiKey,
  anUploadSession,
  aPlaylist,
  aPlaySession,
  aVariant,
  aWaitingTrack,
  ok,
  query,
} from './api.ts'
import { aTenant } from './fixtures.ts'
import { aMultipart } from './multipart_uploads.ts'
import { aProcessedTrack } from './processed_track.ts'
import { aShare } from './share_visitor.ts'
import { serveTranscoder } from './transcoder.ts'
import { aTestedEndpoint } from './webhooks.ts'

/** Creates a workspace with one resource of each kind. The test tries to access these resources as each kind of caller. */
export async function aWorkspace() {
  serveTranscoder()
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const track_id = await aProcessedTrack(key, collection_id)
  const playlist_id = await aPlaylist(key, [track_id, track_id])
  const { tracks } = await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })
  const { upload_session_id } = await anUploadSession(key, collection_id)
  const sessionTrack = () => ok('POST', `/v1/upload/${upload_session_id}/track`, { key, body: { file_name: 'a.mp3' } })
  const uploaded = await sessionTrack()
  const { play_session_id, heard_token } = await aPlaySession(key, 'track', track_id, { is_downloadable: true })
  const { api_key_id } = await anApiKey(key)
  const { id: variant_id } = await aVariant(key)
  const { id: share_id } = await aShare(key, collection_id, {
    scope: 'track',
    id: track_id,
    is_downloadable: true,
    feed: {},
  })
  const trashed = async () => {
    const id = await aPlaylist(key)
    await ok('DELETE', `/v1/playlist/${id}?trash=true`, { key })
    return id
  }
  return {
    ...tenant,
    share_id,
    ...(await aTestedEndpoint(key)),
    trash_id: await trashed(),
    /** An item in the trash for the operation that restores it. */
    restored_trash_id: await trashed(),
    track_id,
    playlist_id,
    playlist_track_id: tracks[0]!.playlist_track_id,
    upload_session_id,
    session_track_id: uploaded.track_id,
    /** A track without a file, which belongs to the upload session. */
    waiting_track_id: (await sessionTrack()).track_id,
    play_session_id,
    token: heard_token,
    api_key_id,
    variant_id,
    multipart_upload_id: await aMultipart(key, track_id),
    session_multipart_upload_id: await aMultipart(key, uploaded.track_id),
  }
}

/** Reopens the multipart uploads under the same ids, so that the next caller can also complete or delete them. */
export async function reopenMultiparts(workspace: Workspace): Promise<void> {
  const uploads = { [workspace.track_id]: workspace.multipart_upload_id }
  uploads[workspace.session_track_id] = workspace.session_multipart_upload_id
  for (const [track_id, id] of Object.entries(uploads)) {
    const { state } = (await query<{ state: string }>('select state from multipart_uploads where id = ?', id))[0] ?? {}
    if (state === 'open') continue
    await query('delete from multipart_uploads where track_id = ?', track_id)
    const made = await aMultipart(workspace.key, track_id)
    await query('update multipart_uploads set id = ? where id = ?', id, made)
  }
}

/** Creates a track without a file under the id of the previous one, which was deleted. */
export async function remakeWaitingTrack({ key, upload_session_id, waiting_track_id }: Workspace): Promise<void> {
  const body = { file_name: 'a.mp3' }
  const made = await ok('POST', `/v1/upload/${upload_session_id}/track`, { key, body })
  await query('update tracks set id = ? where id = ?', waiting_track_id, made.track_id)
}
export type Workspace = Awaited<ReturnType<typeof aWorkspace>>

/** Keys that fail authentication, one for each reason. */
async function deadKeys(key: string) {
  const [revoked, expired, rotated] = [
    await anApiKey(key, { type: 'server' }),
    await anApiKey(key, { type: 'server' }),
    await anApiKey(key, { type: 'server' }),
  ]
  await ok('DELETE', `/v1/api_key/${revoked.api_key_id}`, { key })
  await query('update api_keys set expires_at = ? where id = ?', Date.now() - 1, expired.api_key_id)
  await ok('POST', `/v1/api_key/${rotated.api_key_id}/rotate`, { key, body: { grace_seconds: 0 } })
  const well_formed = newSecret('server')
  return {
    'no key': undefined,
    malformed: 'hunter2',
    'bad checksum': `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    'unknown, well-formed': well_formed,
    revoked: revoked.secret,
    expired: expired.secret,
    'rotated out': rotated.secret,
  }
}

/** The scopes that a key can be bound to. */
const SCOPES = ['collection', 'track', 'playlist'] as const

/** The key of each kind of caller: keys that are bound to resources of the workspace, and keys that are bound to other resources. */
export async function everyCaller(workspace: Workspace) {
  const { key } = workspace
  const other = { collection_id: '', track_id: '', playlist_id: '' }
  other.collection_id = (await aCollection(key, { title: 'Other' })).id
  other.track_id = await aWaitingTrack(key, other.collection_id)
  other.playlist_id = await aPlaylist(key)
  const players = await Promise.all(
    SCOPES.flatMap((scope) => {
      const field = `${scope}_id` as const
      return [
        anApiKey(key, { [field]: workspace[field] }).then((made) => [`player in ${scope}`, made.secret]),
        anApiKey(key, { [field]: other[field] }).then((made) => [`player of another ${scope}`, made.secret]),
      ]
    }),
  )
  const uploader = (body: object) => anApiKey(key, { type: 'uploader', ...body }).then(({ secret }) => secret)
  return {
    dead: await deadKeys(key),
    live: {
      root: env.ROOT_KEY,
      server: key,
      'server of another organization': (await aTenant()).key,
      player: (await anApiKey(key)).secret,
      ...(Object.fromEntries(players) as Record<string, string>),
      signing: (await anApiKey(key, { type: 'signing' })).secret,
      uploader: await uploader({}),
      'uploader in collection': await uploader({ collection_id: workspace.collection_id }),
      'uploader of another collection': await uploader({ collection_id: other.collection_id }),
    } as Record<string, string>,
  }
}
