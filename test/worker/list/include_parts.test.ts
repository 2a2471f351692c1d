import { expect, it } from 'vitest'

import { aCollection, aPlaylist, aTrack, ok, query, expectError, errorPaths } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'

/** The parts of lists that `include` adds so that a page needs no request per row (docs/decisions/0090). */

it('`include=collection` adds the id and title of its collection to each track of a list', async () => {
  const { key, collection_id } = await aTenant()
  await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'First' } })
  const second = await aCollection(key, { title: 'Second' })
  const one = await aReadyTrack(key, collection_id)
  const two = await aReadyTrack(key, second.id)
  const playlist_id = await aPlaylist(key, [two, one])
  const collectionsOf = async (path: string) =>
    (await ok('GET', path, { key })).tracks.map((track: { collection?: object }) => track.collection)
  const [first, other] = [
    { id: collection_id, title: 'First' },
    { id: second.id, title: 'Second' },
  ]
  expect(await collectionsOf('/v1/track?sort=created_at&include=collection')).toEqual([first, other])
  expect(await collectionsOf('/v1/track?sort=created_at&include=artwork,collection')).toEqual([first, other])
  expect(await collectionsOf(`/v1/collection/${second.id}/track?include=collection`)).toEqual([other])
  expect(await collectionsOf(`/v1/playlist/${playlist_id}/track?include=collection`)).toEqual([other, first])
  expect(await collectionsOf('/v1/track')).toEqual([undefined, undefined])
})

it('`include=counts` adds the number and the total duration of their tracks to collections and playlists', async () => {
  const { key, collection_id } = await aTenant()
  const empty = await aCollection(key)
  const [one, two] = [await aReadyTrack(key, collection_id), await aReadyTrack(key, collection_id)]
  await aTrack(key, collection_id)
  const playlist_id = await aPlaylist(key, [one, two, one])
  const countsOf = async (noun: string) => {
    const path: string = `/v1/${noun}?sort=created_at&include=counts`
    const body = await ok('GET', path, { key })
    return body[`${noun}s`].map(({ id, counts }: { id: string; counts: object }) => [id, counts])
  }
  expect(await countsOf('collection')).toEqual([
    [collection_id, { tracks: 3, duration: 24.692 }],
    [empty.id, { tracks: 0, duration: 0 }],
  ])
  expect(await countsOf('playlist')).toEqual([[playlist_id, { tracks: 3, duration: 37.038 }]])
  await ok('DELETE', `/v1/track/${two}?trash=true`, { key })
  expect((await countsOf('collection'))[0]).toEqual([collection_id, { tracks: 2, duration: 12.346 }])
  expect(await countsOf('playlist')).toEqual([[playlist_id, { tracks: 2, duration: 24.692 }]])
  expect((await ok('GET', '/v1/collection', { key })).collections[0]).not.toHaveProperty('counts')
  expect(errorPaths(await expectError(400, 'invalid_request', 'GET', '/v1/track?include=counts', { key }))).toEqual([
    'include',
  ])
})

it('the durations on a page are summed from at most 100,000 tracks', async () => {
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const newer = await aCollection(key)
  await aReadyTrack(key, newer.id)
  await seed('tracks', 1, 1000, tenant)
  // The list claims more tracks than it has, because 100,000 rows would take this test too long.
  await query(`update list_counts set count = 100000 where list = ? and level = 0`, `tracks:${collection_id}`)
  const path = '/v1/collection?include=counts&sort='
  const countsOf = async (sort: string) =>
    (await ok('GET', `${path}${sort}`, { key })).collections.map(({ counts }) => counts)
  expect(await countsOf('-created_at')).toEqual([
    { tracks: 1, duration: 12.346 },
    { tracks: 100_000, duration: null },
  ])
  const { read } = await countCallRows('GET', `${path}-created_at`, { key })
  expect(read).toBeLessThan(30)
  expect((await countsOf('created_at'))[1]).toEqual({ tracks: 1, duration: null })
})

it('the filter `status` accepts several values, with an exact count', async () => {
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const ids: string[] = []
  for (const status of ['ready', 'failed', 'incomplete', 'initializing', 'failed']) {
    const id = await aReadyTrack(key, collection_id)
    await query('update tracks set status = ? where id = ?', status, id)
    ids.push(id)
  }
  const [ready, failed, incomplete, , failedAgain] = ids
  const listed = async (path: string) => {
    const { count, tracks, is_count_exact } = await ok('GET', path, { key })
    return [count, tracks.map(({ id }: { id: string }) => id), is_count_exact]
  }
  const of = `/v1/collection/${collection_id}/track`
  const failures = [3, [failed, incomplete, failedAgain], undefined]
  expect(await listed(`${of}?status=failed,incomplete`)).toEqual(failures)
  expect(await listed(`${of}?status=failed,incomplete,failed`)).toEqual(failures)
  expect(await listed(`${of}?status=failed,incomplete&limit=1&offset=2`)).toEqual([3, [failedAgain], undefined])
  expect(await listed(`${of}?status=ready,incomplete&sort=-order`)).toEqual([2, [incomplete, ready], undefined])
  expect(await listed(`${of}?status=failed,failed`)).toEqual([2, [failed, failedAgain], undefined])
  expect(await listed('/v1/track?sort=created_at&status=failed,incomplete')).toEqual(failures)
  expect(await listed('/v1/track?sort=created_at&status=ready,failed')).toEqual([
    3,
    [ready, failed, failedAgain],
    undefined,
  ])
  for (const wrong of ['failed,', ',failed', 'failed,done', 'failed, ready', ''])
    expect(errorPaths(await expectError(400, 'invalid_request', 'GET', `${of}?status=${wrong}`, { key }))).toEqual([
      'status',
    ])
})

it('the tracks of all collections are counted exactly, unless there are too many collections', async () => {
  const tenant = await aTenant()
  const { key } = tenant
  const other = await ok('POST', '/v1/collection', { key, body: { title: 'Other' } })
  await seed('tracks', 1, 1200, tenant)
  await query('update tracks set collection_id = ? where "order" % 2 = 0', other.collection_id)
  const states = await query<{ status: string; n: number }>('select status, count(*) as n from tracks group by 1')
  const of = (name: string) => states.find(({ status }) => status === name)?.n ?? 0
  const countOf = async (filter: string) => {
    const { count, is_count_exact } = await ok('GET', `/v1/track?limit=1&${filter}`, { key })
    return [count, is_count_exact]
  }
  expect(await countOf('')).toEqual([1200, undefined])
  expect(await countOf('sort=-title')).toEqual([1200, undefined])
  expect(await countOf('status=ready')).toEqual([of('ready'), undefined])
  expect(await countOf('status=ready,failed,processing,initializing,incomplete')).toEqual([1200, undefined])
  expect(await countOf('sort=duration')).toEqual([1000, false])
  await query(`update list_counts set count = 1001 where list like 'collections:%' and level = 0`)
  expect(await countOf('')).toEqual([1000, false])
})
