import { describe, expect, it } from 'vitest'

import {
  aCollection,
  aWaitingTrack,
  call,
  CREATORS,
  itemsOf,
  ok,
  query,
  expectError,
  errorPaths,
} from '../support/api.ts'
import { aTenant, beforeBatch } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { serveTranscoder } from '../support/transcoder.ts'

/** The count and the ids of a list. */
async function listed(key: string, path: string): Promise<[number, string[]]> {
  const body = await ok('GET', path, { key })
  return [body.count, itemsOf(body).map(({ id }) => id)]
}

describe.each(['collection', 'playlist'])('the list of %ss', (noun) => {
  const path = `/v1/${noun}`
  const make = async (key: string, body: object = {}) =>
    (await ok('POST', path, { key, body: { title: 'T', ...body } }))[`${noun}_id`] as string
  const clear = async (key: string) => {
    for (const id of (await listed(key, path))[1]) await ok('DELETE', `${path}/${id}`, { key })
  }

  it('can be filtered by creator and organization_index, newest first and with counts', async () => {
    const { key } = await aTenant()
    await clear(key)
    const [a, b, c] = [
      await make(key, { creator_id: CREATORS[0], organization_index: 'x' }),
      await make(key, { creator_id: CREATORS[0] }),
      await make(key, { creator_id: CREATORS[1], organization_index: 'x' }),
    ]
    expect(await listed(key, path)).toEqual([3, [c, b, a]])
    expect(await listed(key, `${path}?creator_id=${CREATORS[0].toUpperCase()}`)).toEqual([2, [b, a]])
    expect(await listed(key, `${path}?organization_index=x`)).toEqual([2, [c, a]])
    expect(await listed(key, `${path}?organization_index=x&limit=1&offset=1`)).toEqual([2, [a]])
    expect(await listed(key, `${path}?organization_index=unknown`)).toEqual([0, []])
    const other = await aTenant()
    expect((await listed(other.key, `${path}?organization_index=x`))[0]).toBe(0)
  })

  it('keeps its counts correct after updates and deletions', async () => {
    const { key } = await aTenant()
    const [a, b] = [await make(key, { organization_index: 'x' }), await make(key, { organization_index: 'x' })]
    await ok('PUT', `${path}/${a}`, { key, body: { organization_index: 'y', creator_id: CREATORS[0] } })
    expect(await listed(key, `${path}?organization_index=x`)).toEqual([1, [b]])
    expect(await listed(key, `${path}?organization_index=y`)).toEqual([1, [a]])
    expect(await listed(key, `${path}?creator_id=${CREATORS[0]}`)).toEqual([1, [a]])
    await ok('PUT', `${path}/${a}`, { key, body: { organization_index: null, creator_id: CREATORS[1] } })
    expect(await listed(key, `${path}?organization_index=y`)).toEqual([0, []])
    expect(await listed(key, `${path}?creator_id=${CREATORS[1]}`)).toEqual([1, [a]])
    await ok('DELETE', `${path}/${b}`, { key })
    expect(await listed(key, `${path}?organization_index=x`)).toEqual([0, []])
  })

  it('has the correct count after many simultaneous creations and deletions', async () => {
    const { key } = await aTenant()
    await clear(key)
    const ids = await Promise.all(Array.from({ length: 30 }, () => make(key, { organization_index: 'x' })))
    await Promise.all([
      ...ids.slice(0, 12).map((id) => call('DELETE', `${path}/${id}`, { key })),
      ...ids.slice(0, 12).map((id) => call('DELETE', `${path}/${id}`, { key })),
      ...Array.from({ length: 5 }, () => make(key)),
    ])
    const [count, listedIds] = await listed(key, `${path}?limit=200`)
    expect([count, listedIds.length, new Set(listedIds).size]).toEqual([23, 23, 23])
    expect((await listed(key, `${path}?organization_index=x`))[0]).toBe(18)
  })

  it('rejects unknown parameters', async () => {
    const { key } = await aTenant()
    const body = await expectError(
      400,
      'unknown_field',
      'GET',
      `${path}?creator_id=${CREATORS[0]}&page=2&order=title`,
      {
        key,
      },
    )
    expect(errorPaths(body)).toEqual(['page', 'order'])
  })

  it('rejects a parameter that is given twice or is not UTF-8', async () => {
    const { key } = await aTenant()
    const wrong = async (query: string) => {
      const { message, errors } = await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key })
      expect(message).toBe(`${errors[0]!.path} ${errors[0]!.message}`)
      return [errors[0]!.path, errors[0]!.message]
    }
    for (const twice of ['limit=1&limit=2', 'limit=1&limit=1', 'sort=title&q=a&limit=1&%6cimit=2'])
      expect(await wrong(twice)).toEqual(['limit', 'must be given only once'])
    for (const half of ['q=%ED%A0%80', 'q=a%ff', 'q=%C3']) expect(await wrong(half)).toEqual(['q', 'is not UTF-8'])
    expect((await ok('GET', `${path}?q=50%&limit=1`, { key })).count).toBe(0)
    expect((await ok('GET', `${path}?&limit=1&&`, { key })).count).toBeLessThan(2)
  })

  it('rejects an offset of more than 10,000 with a filter', async () => {
    const { key } = await aTenant()
    expect((await call('GET', `${path}?organization_index=x&offset=10000`, { key })).status).toBe(200)
    const { status, body } = await call('GET', `${path}?organization_index=x&offset=10001`, { key })
    expect([status, body.errors[0]!.path]).toEqual([400, 'offset'])
    expect((await call('GET', `${path}?offset=10001`, { key })).status).toBe(200)
  })
})

describe('the list of a collection’s tracks', () => {
  it('can be filtered by status, and follows changes to the status', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const path = `/v1/collection/${collection_id}/track`
    const [a, b] = [await aWaitingTrack(key, collection_id), await aWaitingTrack(key, collection_id)]
    const statuses = async () =>
      Promise.all(
        ['initializing', 'processing', 'ready', 'failed'].map(async (s) => listed(key, `${path}?status=${s}`)),
      )
    expect(await statuses()).toEqual([
      [2, [a, b]],
      [0, []],
      [0, []],
      [0, []],
    ])
    await uploadAndProcess(key, b)
    expect(await statuses()).toEqual([
      [1, [a]],
      [0, []],
      [1, [b]],
      [0, []],
    ])
    await query('update tracks set upload_expires_at = 1')
    await ok('GET', `/v1/track/${a}`, { key })
    expect(await statuses()).toEqual([
      [0, []],
      [0, []],
      [1, [b]],
      [1, [a]],
    ])
    expect((await call('GET', `${path}?status=done`, { key })).body.errors[0]!.path).toBe('status')
  })

  it('can be filtered by creator and index after an update to these fields', async () => {
    const { key, collection_id } = await aTenant()
    const path = `/v1/collection/${collection_id}/track`
    const a = await aWaitingTrack(key, collection_id, { organization_index: 'x', creator_id: CREATORS[0] })
    const b = await aWaitingTrack(key, collection_id, { organization_index: 'x' })
    await aWaitingTrack(key, collection_id)
    expect(await listed(key, `${path}?organization_index=x`)).toEqual([2, [a, b]])
    expect(await listed(key, `${path}?creator_id=${CREATORS[0]}`)).toEqual([1, [a]])
    await ok('PUT', `/v1/track/${a}`, { key, body: { organization_index: 'y', creator_id: null } })
    expect(await listed(key, `${path}?organization_index=x`)).toEqual([1, [b]])
    expect(await listed(key, `${path}?creator_id=${CREATORS[0]}`)).toEqual([0, []])
    expect((await listed(key, path))[0]).toBe(3)
  })
})

describe('the order of a collection’s tracks', () => {
  const aCollectionOfFive = async () => {
    const { key, collection_id } = await aTenant()
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push(await aWaitingTrack(key, collection_id))
    const path = `/v1/collection/${collection_id}/track` as const
    return {
      key,
      collection_id,
      ids,
      read: async () => (await listed(key, path))[1],
      orders: async () => (await ok('GET', path, { key })).tracks.map(({ order }) => order),
      put: (track_ids: unknown, bindings?: Env) =>
        call('PUT', `${path}/order`, { key, body: { track_ids }, ...(bindings && { bindings }) }),
    }
  }

  it('can be set for all tracks', async () => {
    const { ids, put, read } = await aCollectionOfFive()
    const wanted = [3, 0, 4, 1, 2].map((at) => ids[at]!)
    expect((await put(wanted)).status).toBe(200)
    expect(await read()).toEqual(wanted)
  })

  it('can be set for some of the tracks, which exchange their positions', async () => {
    const { ids, put, read } = await aCollectionOfFive()
    const [a, b, c, d, e] = ids as [string, string, string, string, string]
    await put([e, c, a])
    expect(await read()).toEqual([e, b, c, d, a])
    await put([b])
    expect(await read()).toEqual([e, b, c, d, a])
    await put([a, b].map((id) => id.toUpperCase()))
    expect(await read()).toEqual([e, a, c, d, b])
  })

  it('is not changed by a request with a repeated track, a track of another collection, or no tracks', async () => {
    const { ids, put, read, key } = await aCollectionOfFive()
    const { id: collection_id } = await aCollection(key, { title: 'Other' })
    const foreign = await aWaitingTrack(key, collection_id)
    const path = async (track_ids: unknown) => {
      const { status, body } = await put(track_ids)
      return [status, body.errors[0]!.path]
    }
    expect(await path([ids[1], ids[0], ids[1]])).toEqual([400, 'track_ids.2'])
    expect(await path([ids[1], foreign])).toEqual([400, 'track_ids.1'])
    expect(await path([])).toEqual([400, 'track_ids'])
    expect(await read()).toEqual(ids)
  })

  it('assigns unique positions even if a track is deleted concurrently', async () => {
    const { key, ids, put, read, orders } = await aCollectionOfFive()
    const [a, b, c, d, e] = ids as [string, string, string, string, string]
    const racing = beforeBatch(() => ok('DELETE', `/v1/track/${b}`, { key }))
    expect((await put([c, b, a], racing)).status).toBe(200)
    expect(await read()).toEqual([c, a, d, e])
    expect(await orders()).toEqual([1, 3, 4, 5])
  })

  it('is exactly one of the orders that are sent at the same time, and never a mixture of them', async () => {
    const { ids, put, read } = await aCollectionOfFive()
    const wanted = [ids.toReversed(), ids.toSorted(), [2, 3, 4, 0, 1].map((at) => ids[at]!)]
    for (let round = 0; round < 10; round++) {
      await Promise.all(wanted.map((ids) => put(ids)))
      expect(wanted).toContainEqual(await read())
    }
  })
})
