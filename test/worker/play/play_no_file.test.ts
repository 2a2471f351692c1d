import { describe, expect, it } from 'vitest'

import { aPlaylist, aPlaySession, aWaitingTrack, ok } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { aProcessedTrack, uploadAndProcess } from '../support/processed_track.ts'
import { serveTranscoder } from '../support/transcoder.ts'

/** Creates two tracks, the first without a file, and three play sessions: of their collection, of a playlist, and of the first track alone. */
async function sessions() {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  const waiting = await aWaitingTrack(key, collection_id)
  const ready = await aProcessedTrack(key, collection_id)
  const playlist_id = await aPlaylist(key, [waiting, ready])
  const created = {
    collection: await aPlaySession(key, 'collection', collection_id),
    playlist: await aPlaySession(key, 'playlist', playlist_id),
    track: await aPlaySession(key, 'track', waiting),
  }
  return { key, waiting, ready, created }
}

const trackIds = ({ tracks, first_track }: { tracks: { id: string }[]; first_track: { track_id: string } | null }) => [
  tracks.map(({ id }) => id),
  first_track?.track_id ?? null,
]

describe('a track without a file', () => {
  it('is not listed in any session until its file is uploaded', async () => {
    const { key, waiting, ready, created } = await sessions()
    const read = async (scope: keyof typeof created) => {
      const { play_session_id } = created[scope]
      const answers = [`/v1/play_session/${play_session_id}`, `/v1/play/${play_session_id}`].map((path) =>
        ok('GET', path, { key }),
      )
      const [creatorView, listenerView] = (await Promise.all(answers)).map(trackIds)
      expect(listenerView).toEqual(creatorView)
      return creatorView
    }
    for (const scope of ['collection', 'playlist'] as const) {
      expect([scope, trackIds(created[scope])]).toEqual([scope, [[ready], ready]])
      expect([scope, await read(scope)]).toEqual([scope, [[ready], ready]])
    }
    expect([trackIds(created.track), await read('track')]).toEqual([
      [[], null],
      [[], null],
    ])
    await uploadAndProcess(key, waiting)
    for (const scope of ['collection', 'playlist'] as const) {
      expect([scope, await read(scope)]).toEqual([scope, [[waiting, ready], waiting]])
    }
    expect(await read('track')).toEqual([[waiting], waiting])
  })

  it('is treated differently from a ready track that waits for another file and is still listed', async () => {
    const { key, ready, created } = await sessions()
    await ok('POST', `/v1/track/${ready}/upload`, { key, body: {} })
    const { play_session_id } = created.collection
    expect(trackIds(await ok('GET', `/v1/play/${play_session_id}`))).toEqual([[ready], ready])
  })
})
