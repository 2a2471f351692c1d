import { afterEach, describe, expect, it, vi } from 'vitest'

import { aShop, changeTracks, eventually, laterBy, runSweep, storedFiles, trackRow, upload } from './fixtures.ts'
import { aProcessedTrack } from './processed_track.ts'
import { aCollection, aWaitingTrack, ok, query, refused } from './support.ts'
import { serveTranscoder } from './transcoder.ts'
import { aLibrary } from './trash_library.ts'

/** What comes back from the trash beside the thing itself. */

afterEach(() => void vi.useRealTimers())

describe('a restore', () => {
  it('puts things back in their place in a list if that is free, else at the end', async () => {
    const library = await aLibrary()
    const { key, collection_id, track_id, other_id, ids } = library
    const orderOf = async (id: string) => (await library.get(`/v1/track/${id}`)).track.order as number
    await library.discard('track')
    await ok('PUT', `/v1/collection/${collection_id}/track/order`, { key, body: { track_ids: [other_id] } })
    await query('update tracks set "order" = 1 where id = ?', other_id)
    await library.restore('track')
    expect([await orderOf(other_id), await orderOf(track_id)]).toEqual([1, 2])

    const { collection_id: newest } = await ok('POST', '/v1/collection', { key, body: { title: 'Newest' } })
    await library.discard('collection', newest)
    const { collection_id: newer } = await ok('POST', '/v1/collection', { key, body: { title: 'Newer' } })
    await library.restore('collection', newest)
    const listed = async (noun: string) =>
      ((await library.get(`/v1/${noun}`))[`${noun}s`] as { id: string }[]).map(({ id }) => id)
    expect(await listed('collection')).toEqual([newest, newer, ids.collection])
    const seqs = await query('select distinct seq from collections where organization_id = ?', library.organization_id)
    expect(seqs).toHaveLength(3)
  })

  it('puts a track back where it stood in playlists, as soon as they are there, if they have room', async () => {
    const library = await aLibrary()
    const { key, track_id: a, other_id: b, playlist_id, collection_id } = library
    const path = `/v1/playlist/${playlist_id}`
    const version = async () => (await library.get(path)).playlist.version as number
    const seen = await version()
    await library.discard('track')
    expect([await library.places(), (await library.get(path)).playlist.track_count]).toEqual([[b, b], 2])
    expect(await version()).toBe(seen + 1)
    const c = await aProcessedTrack(key, collection_id)
    await ok('POST', `${path}/track`, { key, body: { track_ids: [c] } })
    await library.restore('track')
    expect(await library.places()).toEqual([a, b, a, a, b, c])
    expect((await library.get(path)).playlist).toMatchObject({ track_count: 6, version: seen + 3 })

    // The playlist goes after its track, and comes back before it, or behind it.
    for (const order of [['playlist', 'track'] as const, ['track', 'playlist'] as const]) {
      await library.discard('track')
      await library.discard('playlist')
      for (const scope of order) await library.restore(scope)
      expect([order, await library.places()]).toEqual([order, [a, b, a, a, b, c]])
    }

    // Full meanwhile: the places go on waiting, and none is pushed out.
    await library.discard('track')
    await ok('PUT', `${path}/track`, { key, body: { track_ids: Array.from({ length: 998 }, () => b) } })
    await library.restore('track')
    expect((await library.get(path)).playlist.track_count).toBe(998)
    expect(new Set(await library.places())).toEqual(new Set([b]))
    await ok('PUT', `${path}/track`, { key, body: { track_ids: [b] } })

    // Nothing of a collection in the trash can be put into a playlist.
    await library.discard('collection')
    expect(await library.places()).toEqual([])
    await refused(400, 'invalid_request', 'PUT', `${path}/track`, { key, body: { track_ids: [a] } })
    await library.restore('collection')
    expect(new Set(await library.places())).toEqual(new Set([a, b]))
  })

  it('counts only the tracks of a playlist that are not in the trash themselves', async () => {
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

  it('begins the processing again that the deletion ended, and takes what was uploaded meanwhile', async () => {
    const jobs = serveTranscoder()
    const { key, collection_id } = await aShop()
    const [one, two] = [await aWaitingTrack(key, collection_id), await aWaitingTrack(key, collection_id)]
    const statusOf = async (id: string) => (await ok('GET', `/v1/track/${id}`, { key })).track.status as string
    // As if they were in line, with nobody working on them.
    const queued = async (id: string) => {
      await upload(await trackRow(id))
      await query(
        `update tracks set status = 'fallback_processing', job_id = 'gone', awaiting_upload = 0, source_path = upload_path, source_size = 10,
          files = '[{"index":"early","path":"media/early","is_early":1}]' where id = ?`,
        id,
      )
    }
    await queued(one)
    await ok('DELETE', `/v1/track/${one}?trash=true`, { key })
    await ok('POST', `/v1/trash/${one}/restore`, { key })
    const [restored] = await query<{ files: string | null }>('select files from tracks where id = ?', one)
    expect(restored!.files ?? '').not.toContain('media/early')
    await eventually(async () => (await statusOf(one)) === 'ready')
    expect((await ok('GET', `/v1/track/${one}/variant`, { key })).variants).not.toEqual([])

    await queued(two)
    await ok('DELETE', `/v1/collection/${collection_id}?trash=true`, { key })
    const began = jobs.length
    await runSweep()
    expect(jobs.length).toBe(began)
    await ok('POST', `/v1/trash/${collection_id}/restore`, { key })
    await eventually(async () => (await statusOf(two)) === 'ready')
    const [{ id } = { id: '' }] = await query<{ id: string }>('select job_id as id from tracks where id = ?', two)
    expect(id).toMatch(/^000[0-9a-f]{5}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)

    // An upload that arrives while its track is in the trash.
    const late = await aWaitingTrack(key, collection_id)
    const row = await trackRow(late)
    await ok('DELETE', `/v1/track/${late}?trash=true`, { key })
    await upload(row)
    await ok('POST', `/v1/trash/${late}/restore`, { key })
    await eventually(async () => (await statusOf(late)) === 'ready')
  })

  it('finds the files of a moved track after the collection that it came from was deleted', async () => {
    const { key, collection_id, track_id, get, discard, restore } = await aLibrary()
    const { id: goal } = await aCollection(key)
    await changeTracks(key, [{ action: 'move', track_id, collection_id: goal }])
    const paths = ((await query('select files from tracks where id = ?', track_id))[0]!.files as string).match(
      /(media|uploads)[^"]+/g,
    )!
    await discard('track')
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    await eventually(async () => (await storedFiles()).length === paths.length)
    await restore('track')
    expect((await get(`/v1/track/${track_id}`)).track.collection_id).toBe(goal)
    expect((await storedFiles()).toSorted()).toEqual(paths.toSorted())
  })

  it('brings back no files of a variant that was deleted meanwhile', async () => {
    serveTranscoder()
    const { key, collection_id } = await aShop()
    const { variant_id } = await ok('POST', '/v1/variant', { key, body: { name: 'Radio', codec: 'mp3', bitrate: 320 } })
    const one = await aProcessedTrack(key, collection_id)
    const { id: second } = await aCollection(key)
    const two = await aProcessedTrack(key, second)
    const variantsOf = async (id: string) =>
      ((await ok('GET', `/v1/track/${id}/variant`, { key })).variants as { index: string }[]).map(({ index }) => index)
    expect(await variantsOf(one)).toContain('radio')
    await ok('DELETE', `/v1/track/${one}?trash=true`, { key })
    await ok('DELETE', `/v1/collection/${second}?trash=true`, { key })
    await ok('DELETE', `/v1/variant/${variant_id}`, { key })
    // What walks through the tracks has come to its end.
    const walked = `select 1 from jobs where payload -> 'variant' is not null and state = 'done'`
    await eventually(async () => (await query(walked)).length === 1)
    await ok('POST', `/v1/trash/${one}/restore`, { key })
    await ok('POST', `/v1/trash/${second}/restore`, { key })
    for (const id of [one, two]) await eventually(async () => !(await variantsOf(id)).includes('radio'))
    laterBy(3)
    await runSweep()
    await eventually(async () => !(await storedFiles()).some((path) => path.includes('radio')))
  })
})
