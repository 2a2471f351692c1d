import { describe, expect, it } from 'vitest'

import { aCollection, aPlaylist, aWaitingTrack, call, CREATOR, ok, query, readTrack } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { serveTranscoder } from '../support/transcoder.ts'

const unknown_id = '000fffff-ffff-4fff-bfff-ffffffffffff'

/** Creates a tenant with two collections of three tracks each, and an empty playlist. */
async function anEmptyPlaylist() {
  const { key, collection_id, organization_id } = await aTenant()
  const other = (await aCollection(key, { title: 'Other' })).id
  const [a, b, c, d, e, f] = (await Promise.all(
    [collection_id, other].flatMap((id) => [1, 2, 3].map(() => aWaitingTrack(key, id))),
  )) as [string, string, string, string, string, string]
  const playlist_id = await aPlaylist(key, [], { title: 'Mixed' })
  const path = `/v1/playlist/${playlist_id}/track`
  const entries = async () => (await ok('GET', `${path}?limit=200`, { key })).tracks as Entry[]
  return {
    key,
    organization_id,
    collection_id,
    other,
    a,
    b,
    c,
    d,
    e,
    f,
    path,
    entries,
    playlist_id,
    read: async () => (await ok('GET', `/v1/playlist/${playlist_id}`, { key })).playlist,
    /** Returns the track ids in order; expects their positions to have no gaps. */
    order: async () => {
      const list = await entries()
      expect(list.map(({ position }) => position)).toEqual(list.map((_, at) => at))
      return list.map(({ id }) => id)
    },
    replace: (track_ids: string[], headers = {}) => call('PUT', path, { key, body: { track_ids }, headers }),
    insert: (track_ids: string[], position?: number, headers = {}) =>
      call('POST', path, { key, body: { track_ids, position }, headers }),
    move: (entry_id: string, position: number, headers = {}) =>
      call('PUT', `${path}/${entry_id}`, { key, body: { position }, headers }),
    remove: (entry_id: string, headers = {}) => call('DELETE', `${path}/${entry_id}`, { key, headers }),
  }
}
interface Entry {
  id: string
  position: number
  playlist_track_id: string
}

describe('a playlist', () => {
  it('is created, read, updated, listed and deleted', async () => {
    const { key, a, path, replace, ...rest } = await anEmptyPlaylist()
    const body = {
      title: 'Blue',
      organization_index: 'p-1',
      metadata: { mood: ['late'] },
      creator_id: CREATOR,
      theme: ['#aa0000', '#00aa00'],
      player_color: '#112233',
      player_subtitle: 'after hours',
    }
    const { playlist_id, playlist } = await ok('POST', '/v1/playlist', { key, body })
    expect(playlist).toEqual({
      ...body,
      id: playlist_id,
      image_colors: [
        expect.objectContaining({ hex: '#AA0000', area: 0.5 }),
        expect.objectContaining({ hex: '#00AA00' }),
      ],
      track_count: 0,
      version: 1,
      created_at: playlist.updated_at,
      updated_at: expect.any(String),
    })
    const changes = { title: 'Green', metadata: {}, organization_index: null, player_color: null, theme: [] }
    const updated = (await ok('PUT', `/v1/playlist/${playlist_id}`, { key, body: changes })).playlist
    expect(updated).toMatchObject({ title: 'Green', metadata: {}, organization_index: '', image_colors: [] })
    expect([updated.player_color, updated.player_subtitle]).toEqual(['#2B3440', 'after hours'])
    expect((await ok('GET', `/v1/playlist/${playlist_id}`, { key })).playlist).toEqual(updated)
    const { playlists } = await ok('GET', '/v1/playlist', { key })
    expect(playlists.map(({ id }) => id)).toEqual([playlist_id, rest.playlist_id])
    await replace([a])
    const { deleted_playlist } = await ok('DELETE', `/v1/playlist/${rest.playlist_id}`, { key })
    expect(deleted_playlist).toMatchObject({ title: 'Mixed', track_count: 1 })
    expect(await query('select 1 from playlist_tracks')).toEqual([])
    expect((await call('DELETE', `/v1/playlist/${rest.playlist_id}`, { key })).status).toBe(404)
    expect((await call('GET', path, { key })).status).toBe(404)
    expect((await readTrack(key, a)).id).toBe(a)
  })

  it('is returned by an update with the values of this update, even with simultaneous updates', async () => {
    const { key, playlist_id } = await anEmptyPlaylist()
    const titles = Array.from({ length: 10 }, (_, at) => `Mix ${at}`)
    const update = (title: string) => ok('PUT', `/v1/playlist/${playlist_id}`, { key, body: { title } })
    const answers = await Promise.all(titles.map(update))
    expect(answers.map(({ playlist }) => playlist.title)).toEqual(titles)
  })

  it('gets a cover through its upload handle', async () => {
    serveTranscoder()
    const { key, playlist_id } = await anEmptyPlaylist()
    const { playlist_cover_upload } = await ok('POST', `/v1/playlist/${playlist_id}/cover`, { key })
    expect(playlist_cover_upload).toMatchObject({ method: 'POST', ttl: 3600 })
    const { pathname } = new URL(playlist_cover_upload.upload_url)
    const headers = { 'content-type': 'image/gif' }
    expect(await ok('POST', pathname, { body: 'GIF89a', headers })).toMatchObject({ playlist_id, status: 'ready' })
    const [row] = await query('select cover_path from playlists where id = ?', playlist_id)
    expect(row).toEqual({ cover_path: expect.stringContaining(playlist_id) })
  })

  it('accepts tracks of several collections with repetitions, and keeps the requested order', async () => {
    const { a, b, d, replace, order, read } = await anEmptyPlaylist()
    const { body } = await replace([d, a, d, b, a])
    expect(body.playlist).toMatchObject({ track_count: 5, version: 2 })
    expect(await order()).toEqual([d, a, d, b, a])
    await replace([b])
    expect(await order()).toEqual([b])
    await replace([])
    expect([await order(), (await read()).track_count]).toEqual([[], 0])
  })

  it('inserts tracks before a position, or at the end', async () => {
    const { a, b, c, d, e, insert, order, read } = await anEmptyPlaylist()
    await insert([a, b])
    expect(await order()).toEqual([a, b])
    await insert([c], 0)
    expect(await order()).toEqual([c, a, b])
    await insert([d, e, d], 2)
    expect(await order()).toEqual([c, a, d, e, d, b])
    await insert([a], 6)
    await insert([b], 1000)
    expect(await order()).toEqual([c, a, d, e, d, b, a, b])
    expect(await read()).toMatchObject({ track_count: 8, version: 6 })
  })

  it('moves a track from each position to each other position', async () => {
    const { a, b, c, d, e, replace, move, order, entries } = await anEmptyPlaylist()
    const start = [a, b, c, d, e]
    for (const from of start.keys()) {
      for (const to of [...start.keys(), 1000]) {
        await replace(start)
        const entry_id = (await entries())[from]!.playlist_track_id
        expect((await move(entry_id, to)).status).toBe(200)
        const expected = start.toSpliced(from, 1).toSpliced(to, 0, start[from]!)
        expect([from, to, await order()]).toEqual([from, to, expected])
        expect((await entries())[Math.min(to, 4)]!.playlist_track_id).toBe(entry_id)
      }
    }
  })

  it('removes one entry without leaving a gap, even if the track is repeated', async () => {
    const { a, b, replace, remove, order, entries, read } = await anEmptyPlaylist()
    await replace([a, b, a, b])
    const entry_id = (await entries())[2]!.playlist_track_id
    expect((await remove(entry_id)).body.playlist.track_count).toBe(3)
    expect(await order()).toEqual([a, b, b])
    const { version } = await read()
    expect((await remove(entry_id)).status).toBe(404)
    expect((await read()).version).toBe(version)
  })

  it('rejects a change with 412 when If-Match names another version', async () => {
    const { a, b, replace, insert, move, remove, order, entries, read } = await anEmptyPlaylist()
    const { version } = (await replace([a, b])).body.playlist
    const stale = { 'if-match': `"${version - 1}"` }
    const entry_id = (await entries())[0]!.playlist_track_id
    const refused = [replace([], stale), insert([a], 0, stale), move(entry_id, 1, stale), remove(entry_id, stale)]
    for (const { status, body } of await Promise.all(refused)) {
      expect([status, body.code]).toEqual([412, 'version_mismatch'])
      expect((body as unknown as { current: object }).current).toEqual(await read())
    }
    expect([await order(), (await read()).version]).toEqual([[a, b], version])
    expect((await move(entry_id, 1, { 'if-match': `"${version}"` })).status).toBe(200)
    expect((await remove(entry_id, { 'if-match': String(version + 1) })).status).toBe(200)
    expect((await replace([a], { 'if-match': '*' })).status).toBe(200)
    expect(await order()).toEqual([a])
  })

  it('lists foreign and unknown tracks in the error, and changes nothing', async () => {
    const { a, b, replace, insert, order } = await anEmptyPlaylist()
    const foreign = await anEmptyPlaylist()
    await replace([a, b])
    for (const id of [foreign.a, unknown_id]) {
      for (const { status, body } of [await replace([b, id]), await insert([b, id], 0)]) {
        expect([status, body.errors[0]!.path]).toEqual([400, 'track_ids.1'])
      }
    }
    expect(await order()).toEqual([a, b])
    const [entry] = await foreign.entries()
    expect(entry).toBe(undefined)
  })

  it('holds at most 1,000 tracks', async () => {
    const { a, b, replace, insert, key, path, read } = await anEmptyPlaylist()
    expect((await replace(Array(1001).fill(a))).status).toBe(400)
    expect((await replace(Array(999).fill(a))).body.playlist.track_count).toBe(999)
    expect((await insert([b, b])).body.code).toBe('playlist_full')
    expect((await insert([b], 500)).body.playlist.track_count).toBe(1000)
    expect((await insert([b])).status).toBe(409)
    const { tracks, count } = await ok('GET', `${path}?limit=3&offset=499`, { key })
    expect([count, tracks.map(({ id }: Entry) => id)]).toEqual([1000, [a, b, a]])
    expect((await read()).version).toBe(3)
  })

  it('closes the gaps when a track or a collection is deleted, and increments its version', async () => {
    const { key, a, b, d, e, collection_id, replace, order, read } = await anEmptyPlaylist()
    await replace([a, d, b, a, e, a])
    await ok('DELETE', `/v1/track/${a}`, { key })
    expect(await order()).toEqual([d, b, e])
    expect(await read()).toMatchObject({ track_count: 3, version: 3 })
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    expect(await order()).toEqual([d, e])
    expect(await read()).toMatchObject({ track_count: 2, version: 4 })
  })
})
