import { anUploadSession, aPlaylist, aPlaySession, ok, type Scope } from './api.ts'
import { aTenant, type Tenant } from './fixtures.ts'
import { aMultipart } from './multipart_uploads.ts'
import { aProcessedTrack } from './processed_track.ts'
import { seed, seededId, seedPlaylistEntries, type Table } from './seed.ts'
import { serveTranscoder } from './transcoder.ts'

const TABLES: readonly Table[] = ['organizations', 'api_keys', 'collections', 'playlists', 'tracks', 'shares', 'trash']

/** Seeds the rows `from`…`to` of each table. */
export async function seedTables(tenant: Tenant, from: number, to: number, tables: readonly Table[] = TABLES) {
  for (const table of tables) await seed(table, from, to, tenant)
  await seedPlaylistEntries(from, to)
}

/** Creates a tenant with 1,000 rows in each table, and one real resource of each kind that can be read. */
export async function aLargeTenant() {
  serveTranscoder()
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const track_id = await aProcessedTrack(key, collection_id)
  await seedTables(tenant, 1, 1000)
  const track_ids = [track_id, ...Array.from({ length: 199 }, (_, at) => seededId('tracks', at + 1))]
  const playlist_id = await aPlaylist(key, track_ids)
  const { upload_session_id } = await anUploadSession(key, collection_id)
  const session_track = await ok('POST', `/v1/upload/${upload_session_id}/track`, { key, body: { file_name: 'a.mp3' } })
  const session = async (scope: Scope, id: string) =>
    (await aPlaySession(key, scope, id, { is_downloadable: true })).play_session_id
  return {
    ...tenant,
    track_id,
    playlist_id,
    upload_session_id,
    session_track_id: session_track.track_id,
    multipart_upload_id: await aMultipart(key, session_track.track_id),
    ofCollection: await session('collection', collection_id),
    ofTrack: await session('track', track_id),
    ofPlaylist: await session('playlist', playlist_id),
  }
}
