import { eq } from 'drizzle-orm'

import { tracks } from '../../src/adapters/schema.ts'
import { aReadyTrack, aShop, trackRow, upload } from './fixtures.ts'
import { aMultipart } from './parts.ts'
import { db, ok } from './support.ts'
import { aTestedEndpoint } from './webhooks.ts'

/** A workspace with one of every resource that a path or body can name. */
export async function aWorld() {
  const { key, organization_id, collection_id } = await aShop()
  const track_id = await aReadyTrack(key, collection_id)
  await upload(await trackRow(track_id))
  const session = await ok('POST', '/v1/upload_session', { key, body: { collection_id } })
  await db.update(tracks).set({ upload_session_id: session.upload_session_id }).where(eq(tracks.id, track_id))
  const waiting = await ok('POST', `/v1/upload/${session.upload_session_id}/track`, {
    key,
    body: { file_name: 'b.mp3' },
  })
  const { playlist_id } = await ok('POST', '/v1/playlist', { key, body: { title: 'Mix' } })
  await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [track_id] } })
  const places = await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })
  const { api_key_id } = await ok('POST', '/v1/api_key', { key, body: { title: 'Web', type: 'player' } })
  const { variant_id } = await ok('POST', '/v1/variant', { key, body: { name: 'Radio', codec: 'mp3', bitrate: 320 } })
  const { share_id } = await ok('POST', '/v1/share', { key, body: { scope: 'track', id: track_id } })
  const trashed = await ok('POST', '/v1/playlist', { key, body: { title: 'Trashed' } })
  await ok('DELETE', `/v1/playlist/${trashed.playlist_id}?trash=true`, { key })
  const play = await ok('POST', '/v1/play_session/collection', { key, body: { collection_id, is_downloadable: true } })
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
    variant_id: variant_id,
    variant_index: 'aac-160',
    share_id: share_id,
    ...(await aTestedEndpoint(key)),
    trash_id: trashed.playlist_id,
    scope: 'collection',
    playlist_id: playlist_id,
    playlist_track_id: places.tracks[0]!.playlist_track_id,
    api_key_id: api_key_id,
  }
}
export type World = Awaited<ReturnType<typeof aWorld>>

/** Fills a path template with ids of the workspace. */
export const pathIn = (workspace: Partial<World>, path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => String(workspace[name as keyof World]))
