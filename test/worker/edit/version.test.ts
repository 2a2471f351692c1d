import { describe, expect, it } from 'vitest'

import {
  aCollection,
  anOrganization,
  aPlaylist,
  aWaitingTrack,
  call,
  ok,
  query,
  sortedStatuses,
  UNKNOWN_ID,
} from '../support/api.ts'
import { aTenant, batchTracks, beforeBatch } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { eventsOf } from '../support/tenant_events.ts'

/** Changes with `If-Match` (docs/decisions/0091). */

type Values = Record<string, unknown> & { id: string; version: number }

/** Creates a tenant with one resource of each kind that has a version. `title` is the field that the tests change. */
async function resources() {
  const { key, organization_id: id, collection_id } = await aTenant()
  const track_id = await aWaitingTrack(key, collection_id)
  const kinds = [
    { noun: 'track', path: `/v1/track/${track_id}`, title: 'player_title', other: 'player_subtitle' },
    { noun: 'collection', path: `/v1/collection/${collection_id}`, title: 'title', other: 'player_subtitle' },
    { noun: 'organization', path: `/v1/organization/${id}`, title: 'name', other: 'player_subtitle' },
  ]
  return kinds.map(({ noun, path, ...names }) => ({
    key,
    noun,
    path,
    ...names,
    read: async () => ((await ok('GET', path, { key })) as Record<string, Values>)[noun]!,
    put: (body: object, if_match?: number | string) =>
      call('PUT', path, { key, body, ...(if_match !== undefined && { headers: { 'if-match': String(if_match) } }) }),
  }))
}

describe('a change with If-Match', () => {
  it('is made if nothing has changed since, and returns the next version', async () => {
    for (const { read, put, title, noun } of await resources()) {
      const { version } = await read()
      const { status, body } = await put({ [title]: 'One' }, `"${version}"`)
      expect([noun, status, body[noun][title]]).toEqual([noun, 200, 'One'])
      expect(body[noun].version).toBeGreaterThan(version)
      expect((await put({ [title]: 'Two' }, body[noun].version)).status).toBe(200)
      expect((await put({ [title]: 'Three' }, '*')).status).toBe(200)
      expect(await read()).toMatchObject({ [title]: 'Three' })
    }
  })

  it('accepts the ETag of a read, even after a proxy made it weak', async () => {
    for (const { key, path, put, title } of await resources()) {
      for (const prefix of ['', 'W/']) {
        const { headers: read } = await call('GET', path, { key })
        const etag = read.get('etag')!
        expect(etag).toMatch(/^"\d+"$/)
        expect((await put({ [title]: `${prefix}One` }, prefix + etag)).status).toBe(200)
        expect((await put({ [title]: `${prefix}Two` }, prefix + etag)).status).toBe(412)
      }
      // Values that the version does not cover may have changed.
      const { headers: read } = await call('GET', path, { key })
      const headers = { 'if-none-match': read.get('etag')! }
      expect((await call('GET', path, { key, headers })).status).toBe(200)
      for (const malformed of ['W/7', 'w/"7"', '"7', 'W/*']) expect((await put({}, malformed)).status).toBe(400)
    }
  })

  it('accepts the ETag of the tracks of a playlist for a change of them', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const path = `/v1/playlist/${await aPlaylist(key, [track_id])}`
    const read = async () => (await call('GET', `${path}/track?limit=1`, { key })).headers.get('etag')!
    const headers = { 'if-match': await read() }
    const change = () => call('PUT', `${path}/track`, { key, body: { track_ids: [track_id, track_id] }, headers })
    expect([(await change()).status, (await change()).status]).toEqual([200, 412])
    expect(await read()).not.toBe(headers['if-match'])
    // PUT does not compare the version of the playlist itself.
    expect((await call('GET', path, { key })).headers.get('etag')).toBeNull()
  })

  it('returns 412 with the resource as it is now if someone else was first, and changes nothing', async () => {
    for (const { read, put, title, noun } of await resources()) {
      const { version } = await read()
      await put({ [title]: 'First' }, version)
      const { status, body } = await put({ [title]: 'Second' }, version)
      expect([status, body.code]).toEqual([412, 'version_mismatch'])
      const current = await read()
      expect(body.current).toEqual(current)
      expect(current[title]).toBe('First')
      expect(body.message).toBe(`The ${noun} is at version ${current.version} now; read it again`)
      // With the version of the refusal, the change is made.
      expect((await put({ [title]: 'Second' }, body.current.version)).status).toBe(200)
    }
  })

  it('succeeds only once for the same version, in 8 rounds', async () => {
    for (const { read, put, title } of await resources()) {
      for (let round = 0; round < 8; round++) {
        const { version } = await read()
        const names = ['a', 'b', 'c', 'd'].map((name) => `${name}${round}`)
        const answers = await Promise.all(names.map((name) => put({ [title]: name }, version)))
        expect(sortedStatuses(answers)).toEqual([200, 412, 412, 412])
        expect((await read())[title]).toBe(names[answers.findIndex(({ status }) => status === 200)])
      }
    }
  })

  it('returns 200 for a repeated change whose first response was lost', async () => {
    for (const { read, put, title, other } of await resources()) {
      const { version } = await read()
      await put({ [title]: 'Once', [other]: 'Same' }, version)
      const { status, body } = await put({ [title]: 'Once', [other]: 'Same' }, version)
      expect([status, body.code]).toEqual([200, undefined])
      expect((await put({ [title]: 'Once', [other]: 'Different' }, version)).status).toBe(412)
    }
  })

  it('returns 200 for repeated metadata whose keys have another order', async () => {
    for (const { read, put, noun } of (await resources()).filter(({ noun }) => noun !== 'organization')) {
      const { version } = await read()
      await put({ metadata: { b: 1, a: { d: [1, 2], c: null } } }, version)
      const { status } = await put({ metadata: { a: { c: null, d: [1, 2] }, b: 1 } }, version)
      expect([noun, status]).toEqual([noun, 200])
      expect((await put({ metadata: { b: 1, a: { d: [2, 1], c: null } } }, version)).status).toBe(412)
    }
  })

  it('records an event only if it is made', async () => {
    const track = (await resources())[0]!
    const { version } = await track.read()
    const updates = async () => (await eventsOf(track.key)).filter(({ type }) => type === 'track.updated').length
    await track.put({ title: 'a' }, version)
    expect(await updates()).toBe(1)
    await track.put({ title: 'b' }, version)
    expect(await updates()).toBe(1)
  })

  it('returns 404 for a resource that does not exist or belongs to another organization', async () => {
    const { key } = await anOrganization()
    for (const { path } of await resources()) {
      for (const at of [path, path.replace(/[^/]+$/, UNKNOWN_ID)])
        expect((await call('PUT', at, { key, body: {}, headers: { 'if-match': '1' } })).status).toBe(404)
    }
  })

  it('costs no additional trip, and neither does a change without it', async () => {
    const trips: Record<string, number[]> = {}
    for (const { key, path, read, title, noun } of await resources()) {
      const { version } = await read()
      const count = async (headers: Record<string, string>) =>
        (await countCallRows('PUT', path, { key, body: { [title]: 'x' }, headers })).trips
      await count({})
      trips[noun] = [await count({}), await count({ 'if-match': '*' })]
      expect(version).toBeGreaterThan(0)
    }
    expect(trips).toEqual({ track: [2, 2], collection: [3, 3], organization: [2, 2] })
  })
})

describe('a version', () => {
  it('grows with every change, even within one millisecond', async () => {
    for (const { read, put, other } of await resources()) {
      const versions = await Promise.all(
        Array.from({ length: 20 }, async (_, at) => Object.values((await put({ [other]: `${at}` })).body)),
      )
      const found = versions.flat().flatMap((value) => (value as Partial<Values>)?.version ?? [])
      expect(new Set(found).size).toBe(20)
      expect((await read()).version).toBe(Math.max(...found))
    }
  })

  it('of a track changes when the track moves, and when it gets a new upload', async () => {
    const { key, collection_id } = await aTenant()
    const goal = await aCollection(key)
    const track_id = await aWaitingTrack(key, collection_id)
    const read = async () => (await ok('GET', `/v1/track/${track_id}`, { key })).track.version
    const versions = [await read()]
    await batchTracks(key, [{ action: 'move', track_id, collection_id: goal.id }])
    versions.push(await read())
    await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    versions.push(await read())
    expect(new Set(versions).size).toBe(3)
  })
})

it('the version of a collection changes with the order of its tracks', async () => {
  const { key, collection_id } = await aTenant()
  const track_ids = [await aWaitingTrack(key, collection_id), await aWaitingTrack(key, collection_id)]
  const path = `/v1/collection/${collection_id}`
  const { version } = (await ok('GET', path, { key })).collection
  const ordered = await ok('PUT', `${path}/track/order`, { key, body: { track_ids: track_ids.toReversed() } })
  expect(ordered.collection.version).toBeGreaterThan(version)
  expect((await ok('GET', path, { key })).collection).toEqual(ordered.collection)
  const headers = { 'if-match': String(version) }
  expect((await call('PUT', path, { key, body: { title: 'Late' }, headers })).status).toBe(412)
})

describe('a batch with versions', () => {
  it('refuses only the tracks that have changed since', async () => {
    const { key, collection_id } = await aTenant()
    const ids = await Promise.all(
      ['a', 'b', 'c'].map((title) => aWaitingTrack(key, collection_id, { player_title: title })),
    )
    const { tracks } = await ok('GET', '/v1/track', { key })
    const versionOf = new Map((tracks as Values[]).map((track) => [track.id, track.version]))
    await ok('PUT', `/v1/track/${ids[1]}`, { key, body: { title: 'theirs' } })
    const changes = ids.map((track_id) => ({
      action: 'update',
      track_id,
      title: 'mine',
      version: versionOf.get(track_id),
    }))
    const { done, refused, results } = await batchTracks(key, changes)
    expect([done, refused]).toEqual([2, 1])
    expect(results.map(({ code }: { code?: string }) => code)).toEqual([undefined, 'version_mismatch', undefined])
    const rows = await query<{ id: string; player_title: string }>('select id, player_title from tracks')
    const titles = new Map(rows.map((row) => [row.id, row.player_title]))
    expect(ids.map((id) => titles.get(id))).toEqual(['mine', 'theirs', 'mine'])
    const updates = (await eventsOf(key)).filter(({ type }) => type === 'track.updated')
    expect(updates.length).toBe(3)
    const { track } = await ok('GET', `/v1/track/${ids[1]}`, { key })
    expect(results.map(({ current }: { current?: object }) => current)).toEqual([undefined, track, undefined])
  })

  it('accepts repeated updates, and records no event for them', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const { version } = (await ok('GET', `/v1/track/${track_id}`, { key })).track
    const values = { title: 'mine', metadata: { b: 1, a: 2 }, tags: { artist: 'Ines', date: '1959' } }
    const change = { action: 'update', track_id, version, ...values }
    for (let i = 0; i < 2; i++) expect(await batchTracks(key, [change])).toMatchObject({ done: 1, refused: 0 })
    for (const other of [{ title: 'other' }, { tags: { artist: 'Ines', date: '1960' } }]) {
      const { results } = await batchTracks(key, [{ ...change, ...other }])
      expect(results[0]).toMatchObject({ ok: false, code: 'version_mismatch', current: { player_title: 'mine' } })
    }
    expect((await eventsOf(key)).filter(({ type }) => type === 'track.updated').length).toBe(1)
  })

  it('compares the version in the statement that changes the track', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const { version } = (await ok('GET', `/v1/track/${track_id}`, { key })).track
    // The first batch reads the track, the second one changes it.
    let batches = 0
    const bindings = beforeBatch(async () => {
      if (++batches === 2) await ok('PUT', `/v1/track/${track_id}`, { key, body: { title: 'theirs' } })
    })
    const changes = [{ action: 'update', track_id, title: 'mine', version }]
    const { body } = await call('POST', '/v1/track/batch', { key, body: { changes }, bindings })
    expect(body.results[0]?.code).toBe('version_mismatch')
    expect((await ok('GET', `/v1/track/${track_id}`, { key })).track.player_title).toBe('theirs')
  })
})
