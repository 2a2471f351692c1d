import { aPlaylist, aPlaySession, call, ok, readTrack } from './api.ts'
import { aTenant, aTenantWithTrack } from './fixtures.ts'
import { aProcessedTrack } from './processed_track.ts'

/** Creates a track and a session that plays its collection. */
export async function aPlayedTenant() {
  const tenant = await aTenantWithTrack()
  const body = { is_downloadable: true }
  const { play_session_id } = await aPlaySession(tenant.key, 'collection', tenant.collection_id, body)
  return {
    ...tenant,
    play_track_id: tenant.track_id,
    play_session_id,
    /** Creates a session that plays a playlist of the track. */
    playPlaylist: async () => aPlaySession(tenant.key, 'playlist', await aPlaylist(tenant.key, [tenant.track_id])),
  }
}

/** Creates a track with a play session; returns functions for the calls that tests make. */
export async function aPlayedTrack() {
  const { key, collection_id } = await aTenant()
  const track_id = await aProcessedTrack(key, collection_id)
  const { play_session_id } = await aPlaySession(key, 'track', track_id, { expires_in: 86_400 })
  return {
    key,
    track_id,
    read: () => readTrack(key, track_id),
    reprocess: () => call('POST', `/v1/track/${track_id}/reprocess`, { key }),
    renew: (hints: object = {}) => call('POST', `/v1/track/${track_id}/upload`, { key, body: hints }),
    /** The paths of the files that the track plays at the moment. */
    plays: async () => {
      const { variants } = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
      return variants.map(({ path }) => path)
    },
  }
}
