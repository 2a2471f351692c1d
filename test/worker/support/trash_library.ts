import { aPlaylist, aPlaySession, ok, query, type Scope } from './api.ts'
import { aTenant } from './fixtures.ts'
import { aProcessedTrack } from './processed_track.ts'
import { serveTranscoder } from './transcoder.ts'

/** The resources that trash tests delete and restore. */

/** Creates a tenant with two ready tracks, and a playlist that contains the first track three times. */
export async function aLibrary() {
  serveTranscoder()
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const track_id = await aProcessedTrack(key, collection_id, { organization_index: 'first', player_title: 'So What' })
  const other_id = await aProcessedTrack(key, collection_id)
  const track_ids = [track_id, other_id, track_id, track_id, other_id]
  const playlist_id = await aPlaylist(key, track_ids, { title: 'Mixed' })
  const ids = { track: track_id, collection: collection_id, playlist: playlist_id }
  const pathOf = (scope: Scope) => `/v1/${scope}/${ids[scope]}`
  const get = <const P extends string>(path: P) => ok('GET', path, { key })
  return {
    ...tenant,
    track_id,
    other_id,
    playlist_id,
    ids,
    get,
    pathOf,
    discard: (scope: Scope, id = ids[scope]) => ok('DELETE', `/v1/${scope}/${id}?trash=true`, { key }),
    restore: (scope: Scope, id = ids[scope]) => ok('POST', `/v1/trash/${id}/restore`, { key }),
    trash: () => get('/v1/trash'),
    places: async () => (await get(`/v1/playlist/${playlist_id}/track?limit=200`)).tracks.map(({ id }) => id),
    session: async (scope: Scope) => (await aPlaySession(key, scope, ids[scope])).play_session_id,
  }
}
export type Library = Awaited<ReturnType<typeof aLibrary>>

/** The row of a resource and all rows that belong to it, as stored, without the columns that every change to a playlist updates. */
export async function storedState({ ids }: Library) {
  return {
    tracks: await query('select * from tracks where collection_id = ? order by id', ids.collection),
    collections: await query('select * from collections where id = ?', ids.collection),
    playlists: (await query('select * from playlists where id = ?', ids.playlist)).map(
      ({ version: _version, change_id: _change, ...row }) => row,
    ),
    places: await query('select * from playlist_tracks order by playlist_id, position'),
    shares: await query('select * from shares'),
    counts: await query(`select * from list_counts where list not like 'trash:%' order by list, level, bucket`),
  }
}
