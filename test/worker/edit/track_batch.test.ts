import { describe, expect, it } from 'vitest'

import {
  aCollection,
  aPlaylist,
  aWaitingTrack,
  call,
  itemsOf,
  nameOf,
  ok,
  query,
  readTrack,
  expectError,
  UNKNOWN_ID,
  errorPaths,
} from '../support/api.ts'
import { aTenant, batchTracks, eventually, storedFiles } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { countCallRows } from '../support/row_counter.ts'
import { countedLists } from '../support/seed.ts'
import { aTenantWithEvents } from '../support/tenant_events.ts'
import { serveTranscoder } from '../support/transcoder.ts'

const names = async (key: string, path: string) => {
  const body = await ok('GET', path, { key })
  return [body.count, ...itemsOf(body).map(nameOf)]
}
const aTrack = (key: string, collection_id: string, player_title: string, body = {}) =>
  aWaitingTrack(key, collection_id, { player_title, ...body })

/** Expects the counts that the triggers maintain to equal the numbers of rows. */
async function expectCounted(): Promise<void> {
  const lists = `select list, level, bucket, count from list_counts where list glob 'tracks:*' order by 1, 2, 3`
  const counted = await Promise.all(countedLists('tracks').map((text) => query<{ list: string }>(text)))
  const order = (row: object) => JSON.stringify(Object.values(row))
  expect((await query(lists)).map(order).toSorted()).toEqual(counted.flat().map(order).toSorted())
}

describe('a batch', () => {
  it('returns a result for each change, in the order of the changes, and is applied once', async () => {
    const { key, collection_id } = await aTenant()
    const other = await aTenant()
    const [a, b, c] = [
      await aTrack(key, collection_id, 'a'),
      await aTrack(key, collection_id, 'b'),
      await aTrack(key, collection_id, 'c'),
    ]
    const foreign_id = await aTrack(other.key, other.collection_id, 'theirs')
    const { id: elsewhere } = await aCollection(key)
    const changes = [
      { action: 'update', track_id: a, title: 'A', metadata: { x: 1 }, creator_id: null },
      { action: 'delete', track_id: foreign_id },
      { action: 'move', track_id: b, collection_id: other.collection_id },
      { action: 'delete', track_id: c },
      { action: 'reprocess', track_id: UNKNOWN_ID },
    ]
    const headers = { 'idempotency-key': 'once' }
    const { done, refused: count, results } = await batchTracks(key, changes, headers)
    expect([done, count]).toEqual([2, 3])
    expect(results).toEqual([
      { track_id: a, action: 'update', ok: true },
      { track_id: foreign_id, action: 'delete', ok: false, code: 'not_found', message: 'track not found' },
      { track_id: b, action: 'move', ok: false, code: 'not_found', message: 'collection not found' },
      { track_id: c, action: 'delete', ok: true },
      { track_id: UNKNOWN_ID, action: 'reprocess', ok: false, code: 'not_found', message: 'track not found' },
    ])
    expect((await batchTracks(key, changes, headers)).results).toEqual(results)
    expect((await batchTracks(key, changes.slice(3, 4))).results).toMatchObject([{ ok: false, code: 'not_found' }])
    expect(await names(key, `/v1/collection/${collection_id}/track`)).toEqual([2, 'A', 'b'])
    expect(await names(other.key, '/v1/track')).toEqual([1, 'theirs'])
    expect(await readTrack(key, a)).toMatchObject({ metadata: { x: 1 } })
    expect([await names(key, '/v1/track?q=a'), await names(key, '/v1/track?q=c')]).toEqual([[1, 'A'], [0]])
    const moved = await batchTracks(key, [{ action: 'move', track_id: b, collection_id: elsewhere }])
    expect(moved.results).toEqual([{ track_id: b, action: 'move', ok: true, moved_from: { collection_id, order: 2 } }])
  })

  it('is rejected as a whole when it is invalid', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aTrack(key, collection_id, 'a')
    const good = { action: 'delete', track_id }
    const wrong = async (...changes: object[]) => {
      const { body, status } = await call('POST', '/v1/track/batch', { key, body: { changes } })
      return [status, body.code, ...errorPaths(body)]
    }
    expect(await wrong()).toEqual([400, 'invalid_request', 'changes'])
    expect(await wrong(good, good)).toEqual([400, 'invalid_request', 'changes.1.track_id'])
    expect(await wrong(good, { action: 'burn', track_id: UNKNOWN_ID })).toEqual([
      400,
      'invalid_request',
      'changes.1.action',
    ])
    expect(await wrong(good, { action: 'update', track_id: UNKNOWN_ID, player_color: 'red' })).toEqual([
      400,
      'invalid_request',
      'changes.1.player_color',
    ])
    expect(await wrong(good, { action: 'move', track_id: UNKNOWN_ID, collection_id, place: 1 })).toEqual([
      400,
      'unknown_field',
      'changes.1.place',
    ])
    for (const order of [-1, 1.5, 2 ** 31, '1'])
      expect(await wrong(good, { action: 'move', track_id: UNKNOWN_ID, collection_id, order })).toEqual([
        400,
        'invalid_request',
        'changes.1.order',
      ])
    const many = Array.from({ length: 201 }, (_, at) => ({
      action: 'delete',
      track_id: `${String(at).padStart(8, '0')}${UNKNOWN_ID.slice(8)}`,
    }))
    expect(await wrong(...many)).toEqual([400, 'invalid_request', 'changes'])
    expect((await ok('GET', `/v1/track/${track_id}`, { key })).track_id).toBe(track_id)
  })

  it('moves tracks to the end of another collection in the order of the changes, and keeps the counts correct', async () => {
    const { key, collection_id } = await aTenant()
    const { id: goal } = await aCollection(key)
    await aTrack(key, goal, 'first')
    const ids: string[] = []
    for (const title of ['a', 'b', 'c', 'd'])
      ids.push(await aTrack(key, collection_id, title, { organization_index: title }))
    // Puts the track into another range of the counts, so that the move changes both ranges.
    await query('update tracks set "order" = 20000 where id = ?', ids[3])
    const move = (track_id: string | undefined, to = goal) => ({ action: 'move', track_id, collection_id: to })
    await batchTracks(key, [move(ids[3]), move(ids[0]), move(ids[1], collection_id)])
    expect(await names(key, `/v1/collection/${goal}/track`)).toEqual([3, 'first', 'd', 'a'])
    expect(await names(key, `/v1/collection/${collection_id}/track`)).toEqual([2, 'b', 'c'])
    expect(await names(key, `/v1/collection/${goal}/track?organization_index=d`)).toEqual([1, 'd'])
    expect(await names(key, `/v1/collection/${collection_id}/track?organization_index=d`)).toEqual([0])
    expect(await names(key, `/v1/collection/${goal}/track?q=d`)).toEqual([1, 'd'])
    await expectCounted()
    await batchTracks(key, [move(ids[3], collection_id)])
    expect(await names(key, `/v1/collection/${collection_id}/track`)).toEqual([3, 'b', 'c', 'd'])
    expect(await query('select folder_id from tracks where id = ?', ids[3])).toEqual([{ folder_id: null }])
    await expectCounted()
  })

  it('may contain 200 updates with long texts', async () => {
    const { key, collection_id } = await aTenant()
    const change = { action: 'update', title: 'x'.repeat(255), metadata: { notes: 'y'.repeat(1000) } }
    const changes = Array.from({ length: 200 }, (_, at) => ({
      ...change,
      track_id: `${String(at).padStart(8, '0')}${UNKNOWN_ID.slice(8)}`,
    }))
    changes[0]!.track_id = await aTrack(key, collection_id, 'a')
    expect(await batchTracks(key, changes, { 'idempotency-key': 'long' })).toMatchObject({ done: 1, refused: 199 })
    const body = { changes, more: 'z'.repeat(300_000) }
    await expectError(413, 'payload_too_large', 'POST', '/v1/track/batch', { key, body })
  })

  it('can delete tracks with their files and reprocess others', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const [a, b] = [await aProcessedTrack(key, collection_id), await aProcessedTrack(key, collection_id)]
    const empty = await aTrack(key, collection_id, 'empty')
    const playlist_id = await aPlaylist(key, [a, b, a])
    const before = await query<{ job_id: string }>('select job_id from tracks where id = ?', b)
    const { results } = await batchTracks(key, [
      { action: 'delete', track_id: a },
      { action: 'reprocess', track_id: b },
      { action: 'reprocess', track_id: empty },
    ])
    expect(results.map(({ ok, code }: { ok: boolean; code?: string }) => code ?? ok)).toEqual([
      true,
      true,
      'track_not_uploaded',
    ])
    expect((await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })).count).toBe(1)
    await eventually(async () => (await readTrack(key, b)).status === 'ready')
    const [after] = await query<{ job_id: string; info: string }>('select job_id, info from tracks where id = ?', b)
    expect(after!.job_id).not.toBe(before[0]!.job_id)
    await eventually(async () => (await storedFiles()).every((path) => !path.includes(a)))
    await expectCounted()
  })

  it('of 200 changes executes few statements, and reads and writes few rows', async () => {
    const { key, collection_id } = await aTenant()
    const { id: goal } = await aCollection(key)
    const ids: string[] = []
    for (let at = 0; at < 200; at++) ids.push(await aTrack(key, collection_id, `t${at}`))
    const body = (change: object) => ({ changes: ids.map((track_id) => ({ ...change, track_id })) })
    const run = (change: object) => countCallRows('POST', '/v1/track/batch', { key, body: body(change) })
    const updated = await run({ action: 'update', title: 'New' })
    const moved = await run({ action: 'move', collection_id: goal })
    const deleted = await run({ action: 'delete' })
    for (const { body, trips } of [updated, moved, deleted]) {
      expect(body).toMatchObject({ done: 200, refused: 0 })
      expect(trips).toBeLessThanOrEqual(4)
    }
    const perTrack = [updated, moved, deleted].map(({ read, written }) => [
      Math.ceil(read / 200),
      Math.ceil(written / 200),
    ])
    // A moved track costs the rows of the track itself, of its collection (in each of three statements), of the six lists that it leaves and the six
    // that it joins, of the search, of the event, for which nine rows are read, and of the place where it was. A new title is written to both search tables. A
    // deleted track also costs its row in `reservations`.
    expect(perTrack).toEqual([
      [18, 6],
      [54, 19],
      [45, 10],
    ])
  })
})

it('a batch records only one event per change, even when the request is repeated', async () => {
  const tenant = await aTenantWithEvents()
  const [a, b, c, d] = [await tenant.ready(), await tenant.ready(), await tenant.ready(), await tenant.ready()]
  const { collection_id } = await tenant.api('POST', 'collection', { title: 'Other' })
  const { playlist_id } = await tenant.api('POST', 'playlist', { title: 'Mix' })
  await tenant.api('PUT', `playlist/${playlist_id}/track`, { track_ids: [c] })
  const changes = [
    { action: 'update', track_id: a, player_subtitle: 'Miles' },
    { action: 'move', track_id: b, collection_id },
    { action: 'delete', track_id: c },
    { action: 'reprocess', track_id: d },
  ]
  const headers = { 'idempotency-key': 'batch' }
  const list = await tenant.during(async () => {
    for (let time = 0; time < 2; time++)
      await ok('POST', '/v1/track/batch', { key: tenant.key, headers, body: { changes } })
    await eventually(async () => (await tenant.api('GET', `track/${d}`)).track.status === 'ready')
  })
  const brief = list.map(({ type, subject, actor }) => `${type} ${subject} ${actor}`)
  expect(brief).toHaveLength(5)
  expect(new Set(brief)).toEqual(
    new Set([
      `track.updated track:${a} ${tenant.actor}`,
      `track.updated track:${b} ${tenant.actor}`,
      `track.deleted track:${c} ${tenant.actor}`,
      `playlist.updated playlist:${playlist_id} ${tenant.actor}`,
      `track.ready track:${d} null`,
    ]),
  )
  expect(list.find(({ subject }) => subject === `track:${a}`)!.data).toMatchObject({ changed: ['player_subtitle'] })
  expect(list.find(({ subject }) => subject === `track:${b}`)!.data).toMatchObject({
    collection_id,
    changed: ['collection_id'],
  })
})
