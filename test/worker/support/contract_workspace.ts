import { eq } from 'drizzle-orm'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { anApiKey, anUploadSession, aPlaylist, aPlaySession, aVariant, db, ok } from './api.ts'
import { aTenantWithTrack, trackRow, putUpload } from './fixtures.ts'
import { aMultipart } from './multipart_uploads.ts'
import { saved } from './saved_storage.ts'
import { aShare } from './share_visitor.ts'
import { aTestedEndpoint } from './webhooks.ts'

/** Creates a workspace with one resource of each kind that a path or body can refer to. */
export async function aWorkspace() {
  const { key, organization_id, collection_id, track_id } = await aTenantWithTrack()
  await putUpload(await trackRow(track_id))
  const session = await anUploadSession(key, collection_id)
  await db.update(tracks).set({ upload_session_id: session.upload_session_id }).where(eq(tracks.id, track_id))
  const waiting = await ok('POST', `/v1/upload/${session.upload_session_id}/track`, {
    key,
    body: { file_name: 'b.mp3' },
  })
  const playlist_id = await aPlaylist(key, [track_id])
  const places = await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })
  const { api_key_id } = await anApiKey(key)
  const { id: variant_id } = await aVariant(key)
  const { id: share_id } = await aShare(key, collection_id, {
    scope: 'track',
    id: track_id,
    is_downloadable: true,
    feed: {},
  })
  const trash_id = await aPlaylist(key)
  await ok('DELETE', `/v1/playlist/${trash_id}?trash=true`, { key })
  const play = await aPlaySession(key, 'collection', collection_id, { is_downloadable: true })
  return {
    key,
    organization_id,
    collection_id,
    track_id,
    waiting_track_id: waiting.track_id,
    multipart_upload_id: await aMultipart(key, track_id),
    play_track_id: track_id,
    upload_session_id: session.upload_session_id,
    play_session_id: play.play_session_id,
    token: play.heard_token,
    variant_id,
    variant_index: 'aac-160',
    share_id,
    ...(await aTestedEndpoint(key)),
    trash_id,
    scope: 'collection',
    resource_id: collection_id,
    listener: 'student 7',
    playlist_id,
    playlist_track_id: places.tracks[0]!.playlist_track_id,
    api_key_id,
  }
}
/** Replaces the storage by that of a workspace, which is created only once. Two workspaces need `aWorkspace`. */
export const theWorkspace = saved(aWorkspace)
export type Workspace = Awaited<ReturnType<typeof aWorkspace>>

/** Replaces the parameters of a path template with the ids of the workspace. */
export const pathIn = (workspace: Partial<Workspace>, path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => String(workspace[name as keyof Workspace]))
