import { describe, expect, it } from 'vitest'

import { aPlaylist, aWaitingTrack, call, ok, sortedStatuses } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'

/** Creates a playlist, and ten tracks to add to it. */
async function aContestedPlaylist() {
  const { key, collection_id } = await aTenant()
  const ids = await Promise.all(Array.from({ length: 10 }, () => aWaitingTrack(key, collection_id)))
  const playlist_id = await aPlaylist(key)
  const path = `/v1/playlist/${playlist_id}/track` as const
  return {
    ids,
    change: (method: string, body?: object, place = '', headers = {}) =>
      call(method, `${path}${place}`, { key, body, headers }),
    path,
    key,
    read: async () => {
      const { tracks, count, version } = await ok('GET', `${path}?limit=200`, { key })
      expect(tracks.map(({ position }) => position)).toEqual(tracks.map((_, at) => at))
      expect(count).toBe(tracks.length)
      return { tracks, order: tracks.map(({ id }) => id), version }
    },
  }
}

describe('simultaneous changes to a playlist', () => {
  it('never mix: the result of several replacements is exactly one of them, in 40 rounds', async () => {
    const { ids, change, read } = await aContestedPlaylist()
    for (let round = 0; round < 40; round++) {
      const wanted = [ids.slice(0, 3), ids.slice(3, 8), ids.slice(5).toReversed(), [ids[9]!, ids[9]!]]
      const before = (await read()).version
      const answers = await Promise.all(wanted.map((track_ids) => change('PUT', { track_ids })))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const { order, version } = await read()
      expect(wanted).toContainEqual(order)
      expect(version).toBe(before + 4)
    }
  })

  it('never cause a response with inconsistent count, version and tracks, because all are read in one round trip', async () => {
    const { ids, change, path, key } = await aContestedPlaylist()
    await change('PUT', { track_ids: ids.slice(0, 3) })
    const { trips, body } = await countCallRows('GET', path, { key })
    expect([trips, body.count, body.version, body.tracks.length]).toEqual([1, 3, 2, 3])
  })

  it('succeed only once for the same If-Match version, in 20 rounds', async () => {
    const { ids, change, read } = await aContestedPlaylist()
    for (let round = 0; round < 20; round++) {
      const headers = { 'if-match': `"${(await read()).version}"` }
      const answers = await Promise.all(ids.slice(0, 4).map((id) => change('POST', { track_ids: [id] }, '', headers)))
      expect(sortedStatuses(answers)).toEqual([200, 412, 412, 412])
    }
    expect((await read()).order.length).toBe(20)
  })

  it('lose no insertion, move or removal, in 20 rounds', async () => {
    const { ids, change, read } = await aContestedPlaylist()
    for (let round = 0; round < 20; round++) {
      await change('PUT', { track_ids: ids.slice(0, 5) })
      const { tracks } = await read()
      const entryPaths = tracks.map(({ playlist_track_id }) => `/${playlist_track_id}`)
      await Promise.all([
        change('POST', { track_ids: ids.slice(5, 7), position: 1 }),
        change('POST', { track_ids: [ids[7]] }),
        change('PUT', { position: 0 }, entryPaths[4]),
        change('PUT', { position: 5 }, entryPaths[1]),
        change('DELETE', undefined, entryPaths[2]),
      ])
      const { order } = await read()
      expect(order.toSorted()).toEqual([...ids.slice(0, 2), ...ids.slice(3, 8)].toSorted())
    }
  })
})
