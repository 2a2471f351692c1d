import { afterEach, describe, expect, it, vi } from 'vitest'

import { aCollection, aVariant, aWaitingTrack, ok, query, readTrack, expectError } from '../support/api.ts'
import {
  aTenant,
  batchTracks,
  eventually,
  fileRows,
  advanceHours,
  runSweep,
  storedFiles,
  trackRow,
  putUpload,
} from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { serveTranscoder } from '../support/transcoder.ts'
import { aLibrary } from '../support/trash_library.ts'

/** Restoring a resource from the trash, together with everything that belongs to it. */

afterEach(() => void vi.useRealTimers())

describe('a restore', () => {
  it('puts items back into their list position if it is free, and otherwise at the end', async () => {
    const library = await aLibrary()
    const { key, collection_id, track_id, other_id, ids } = library
    const orderOf = async (id: string) => (await library.get(`/v1/track/${id}`)).track.order
    await library.discard('track')
    await ok('PUT', `/v1/collection/${collection_id}/track/order`, { key, body: { track_ids: [other_id] } })
    await query('update tracks set "order" = 1 where id = ?', other_id)
    await library.restore('track')
    expect([await orderOf(other_id), await orderOf(track_id)]).toEqual([1, 2])

    const { id: newest } = await aCollection(key, { title: 'Newest' })
    await library.discard('collection', newest)
    const { id: newer } = await aCollection(key, { title: 'Newer' })
    await library.restore('collection', newest)
    const { collections } = await library.get('/v1/collection')
    expect(collections.map(({ id }) => id)).toEqual([newest, newer, ids.collection])
    const seqs = await query('select distinct seq from collections where organization_id = ?', library.organization_id)
    expect(seqs).toHaveLength(3)
  })

  it('puts a track back into its playlist positions when the playlists exist and are not full', async () => {
    const library = await aLibrary()
    const { key, track_id: a, other_id: b, playlist_id, collection_id } = library
    const path = `/v1/playlist/${playlist_id}`
    const version = async () => (await library.get(path)).playlist.version
    const initial = await version()
    await library.discard('track')
    expect([await library.places(), (await library.get(path)).playlist.track_count]).toEqual([[b, b], 2])
    expect(await version()).toBe(initial + 1)
    const c = await aProcessedTrack(key, collection_id)
    await ok('POST', `${path}/track`, { key, body: { track_ids: [c] } })
    await library.restore('track')
    expect(await library.places()).toEqual([a, b, a, a, b, c])
    expect((await library.get(path)).playlist).toMatchObject({ track_count: 6, version: initial + 3 })

    // The playlist is trashed after the track, and restored before the track in the first round and after it in the second.
    for (const order of [['playlist', 'track'] as const, ['track', 'playlist'] as const]) {
      await library.discard('track')
      await library.discard('playlist')
      for (const scope of order) await library.restore(scope)
      expect([order, await library.places()]).toEqual([order, [a, b, a, a, b, c]])
    }

    // The playlist has no room for all of the track's entries, so the entries are held back and displace no others.
    await library.discard('track')
    await ok('PUT', `${path}/track`, { key, body: { track_ids: Array.from({ length: 998 }, () => b) } })
    await library.restore('track')
    expect((await library.get(path)).playlist.track_count).toBe(998)
    expect(new Set(await library.places())).toEqual(new Set([b]))
    await ok('PUT', `${path}/track`, { key, body: { track_ids: [b] } })

    // A track of a trashed collection cannot be added to a playlist.
    await library.discard('collection')
    expect(await library.places()).toEqual([])
    await expectError(400, 'invalid_request', 'PUT', `${path}/track`, { key, body: { track_ids: [a] } })
    await library.restore('collection')
    expect(new Set(await library.places())).toEqual(new Set([a, b]))
  })

  it('counts only those tracks of a playlist that are not in the trash', async () => {
    const library = await aLibrary()
    await library.discard('playlist')
    await library.discard('collection')
    await library.restore('playlist')
    const path = library.pathOf('playlist')
    expect([(await library.get(path)).playlist.track_count, await library.places()]).toEqual([0, []])
    const { version } = (await library.get(path)).playlist
    await library.restore('collection')
    const { playlist } = await library.get(path)
    expect([playlist.track_count, (await library.places()).length, playlist.version > version]).toEqual([5, 5, true])
  })

  it('restarts processing that was stopped by the deletion, and accepts a file that was uploaded in the meantime', async () => {
    const jobs = serveTranscoder()
    const { key, collection_id } = await aTenant()
    const [first_id, second_id] = [await aWaitingTrack(key, collection_id), await aWaitingTrack(key, collection_id)]
    const statusOf = async (id: string) => (await readTrack(key, id)).status
    // Makes the track look queued, without a running job.
    const queued = async (id: string) => {
      await putUpload(await trackRow(id))
      await query(
        `update tracks set status = 'fallback_processing', job_id = 'gone', awaiting_upload = 0, source_suffix = upload_suffix, source_size = 10,
          files = '{"base":"00job","is_early":1,"list":[["early",1,1,1]]}' where id = ?`,
        id,
      )
    }
    await queued(first_id)
    await ok('DELETE', `/v1/track/${first_id}?trash=true`, { key })
    await ok('POST', `/v1/trash/${first_id}/restore`, { key })
    expect((await fileRows(first_id)).filter(({ is_early }) => is_early)).toEqual([])
    await eventually(async () => (await statusOf(first_id)) === 'ready')
    expect((await ok('GET', `/v1/track/${first_id}/variant`, { key })).variants).not.toEqual([])

    await queued(second_id)
    await ok('DELETE', `/v1/collection/${collection_id}?trash=true`, { key })
    const jobCount = jobs.length
    await runSweep()
    expect(jobs.length).toBe(jobCount)
    await ok('POST', `/v1/trash/${collection_id}/restore`, { key })
    await eventually(async () => (await statusOf(second_id)) === 'ready')
    const [{ id } = { id: '' }] = await query<{ id: string }>('select job_id as id from tracks where id = ?', second_id)
    expect(id).toMatch(/^000[0-9a-f]{5}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)

    // The file is uploaded while its track is in the trash.
    const late = await aWaitingTrack(key, collection_id)
    const row = await trackRow(late)
    await ok('DELETE', `/v1/track/${late}?trash=true`, { key })
    await putUpload(row)
    await ok('POST', `/v1/trash/${late}/restore`, { key })
    await eventually(async () => (await statusOf(late)) === 'ready')
  })

  it('restores the files of a moved track although its previous collection was deleted', async () => {
    const { key, collection_id, track_id, get, discard, restore } = await aLibrary()
    const { id: goal } = await aCollection(key)
    await batchTracks(key, [{ action: 'move', track_id, collection_id: goal }])
    const paths = (await fileRows(track_id)).map(({ path }) => path)
    await discard('track')
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    await eventually(async () => (await storedFiles()).length === paths.length)
    await restore('track')
    expect((await get(`/v1/track/${track_id}`)).track.collection_id).toBe(goal)
    expect((await storedFiles()).toSorted()).toEqual(paths.toSorted())
  })

  it('does not restore the files of a variant that was deleted in the meantime', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const { id: variant_id } = await aVariant(key)
    const first_id = await aProcessedTrack(key, collection_id)
    const { id: second } = await aCollection(key)
    const second_id = await aProcessedTrack(key, second)
    const variantsOf = async (id: string) =>
      (await ok('GET', `/v1/track/${id}/variant`, { key })).variants.map(({ index }) => index)
    expect(await variantsOf(first_id)).toContain('radio')
    await ok('DELETE', `/v1/track/${first_id}?trash=true`, { key })
    await ok('DELETE', `/v1/collection/${second}?trash=true`, { key })
    await ok('DELETE', `/v1/variant/${variant_id}`, { key })
    // Wait until the variant's job has removed it from all tracks.
    const finishedJob = `select 1 from jobs where payload -> 'variant' is not null and state = 'done'`
    await eventually(async () => (await query(finishedJob)).length === 1)
    await ok('POST', `/v1/trash/${first_id}/restore`, { key })
    await ok('POST', `/v1/trash/${second}/restore`, { key })
    for (const id of [first_id, second_id]) await eventually(async () => !(await variantsOf(id)).includes('radio'))
    advanceHours(3)
    await runSweep()
    await eventually(async () => !(await storedFiles()).some((path) => path.includes('radio')))
  })
})
