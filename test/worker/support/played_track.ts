import { aPlaySession, call, ok, readTrack } from './api.ts'
import { aTenant } from './fixtures.ts'
import { aProcessedTrack } from './processed_track.ts'

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
