import { describe, expect, it } from 'vitest'

import { aCollection, aPlaylist, aWaitingTrack, call, itemsOf, nameOf, ok, query, readTrack } from '../support/api.ts'
import { aTenant, batchTracks, beforeBatch, eventually, trackRow } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { countCallRows } from '../support/row_counter.ts'
import { countedLists } from '../support/seed.ts'
import { eventsOf } from '../support/tenant_events.ts'
import { serveTranscoder } from '../support/transcoder.ts'

/** Changes in a batch that can be undone: moves, and deletions into the trash. */

interface Result {
  track_id: string
  ok: boolean
  code?: string
  message?: string
  moved_from?: { collection_id: string; order: number }
}
const run = async (key: string, changes: object[]) => (await batchTracks(key, changes)).results as Result[]
const codesOf = (results: Result[]) => results.map(({ ok, code }) => code ?? ok)
const idsOf = async (key: string, path: string) => itemsOf(await ok('GET', path, { key })).map(({ id }) => id)

/** Creates a collection with these tracks; returns the ids. */
async function anAlbum<const T extends readonly string[]>(key: string, collection_id: string, titles: T) {
  const ids: string[] = []
  for (const player_title of titles) ids.push(await aWaitingTrack(key, collection_id, { player_title }))
  return ids as unknown as { [K in keyof T]: string }
}

/** Expects the counts that the triggers maintain to equal the numbers of rows. */
async function expectCounted(): Promise<void> {
  for (const kind of ['tracks', 'trash'] as const) {
    const lists = await query(`select list, level, bucket, count from list_counts where list glob '${kind}:*'`)
    const counted = await Promise.all(countedLists(kind).map((text) => query(text)))
    const order = (row: object) => JSON.stringify(Object.values(row))
    expect(lists.map(order).toSorted()).toEqual(counted.flat().map(order).toSorted())
  }
}

describe('a move in a batch', () => {
  it('returns the previous place, and a second move with it restores the order', async () => {
    const { key, collection_id } = await aTenant()
    const { id: goal } = await aCollection(key)
    const ids = await anAlbum(key, collection_id, ['a', 'b', 'c', 'd'])
    const path = `/v1/collection/${collection_id}/track`
    const [, b, , d] = ids
    const move = (track_id: string | undefined, to: object) => ({ action: 'move', track_id, ...to })
    const moved = await run(key, [move(d, { collection_id: goal }), move(b, { collection_id: goal })])
    expect(moved.map(({ moved_from }) => moved_from)).toEqual([
      { collection_id, order: 4 },
      { collection_id, order: 2 },
    ])
    // A track that is already there does not move.
    expect(await run(key, [move(b, { collection_id: goal })])).toEqual([{ track_id: b, action: 'move', ok: true }])
    await run(
      key,
      moved.map(({ track_id, moved_from }) => move(track_id, moved_from!)),
    )
    expect(await idsOf(key, path)).toEqual(ids)
    expect(await idsOf(key, `/v1/collection/${goal}/track`)).toEqual([])
    await expectCounted()
  })

  it('puts a track last if another track has the place, also one of the same batch', async () => {
    const { key, collection_id } = await aTenant()
    const { id: goal } = await aCollection(key)
    const [a, b, c] = await anAlbum(key, collection_id, ['a', 'b', 'c'])
    const [x, y] = await anAlbum(key, goal, ['x', 'y'])
    const move = (track_id: string | undefined, order: number) => ({
      action: 'move',
      track_id,
      collection_id: goal,
      order,
    })
    await run(key, [move(a, 2), move(b, 30_000), move(c, 30_000)])
    expect(await idsOf(key, `/v1/collection/${goal}/track`)).toEqual([x, y, b, a, c])
    const orders = await Promise.all([x, y, b, a, c].map(async (id) => (await readTrack(key, id)).order))
    expect(orders).toEqual([1, 2, 30_000, 30_001, 30_003])
    await expectCounted()
  })
})

describe('a deletion into the trash in a batch', () => {
  it('can be undone by a restore: rows, order, playlists, files and counts', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const ids = [
      await aProcessedTrack(key, collection_id),
      ...(await anAlbum(key, collection_id, ['b', 'c'])),
      await aProcessedTrack(key, collection_id),
    ] as const
    const [a, b, c, d] = ids
    const path = `/v1/collection/${collection_id}/track`
    const playlist_id = await aPlaylist(key, [a, d, b, a, c])
    const list = `/v1/playlist/${playlist_id}/track`
    const before = await Promise.all(ids.map((id) => readTrack(key, id)))
    const since = (await eventsOf(key)).at(-1)!.seq
    const trashed = [d, a, b].map((track_id) => ({ action: 'delete', track_id, trash: true }))
    expect(codesOf(await run(key, trashed))).toEqual([true, true, true])
    expect([await idsOf(key, path), await idsOf(key, list)]).toEqual([[c], [c]])
    const { trash, count } = await ok('GET', '/v1/trash', { key })
    expect([count, new Set(trash.map(({ id }: { id: string }) => id))]).toEqual([3, new Set([a, b, d])])
    expect(await query('select count(distinct seq) as count from trash')).toEqual([{ count: 3 }])
    await expectCounted()
    expect(codesOf(await run(key, trashed))).toEqual(['not_found', 'not_found', 'not_found'])
    const restores = [a, b, d, c].map((track_id) => ({ action: 'restore', track_id }))
    const restored = await run(key, restores)
    expect(codesOf(restored)).toEqual([true, true, true, 'not_found'])
    expect(restored[3]!.message).toBe('item in the trash not found')
    expect([await idsOf(key, path), await idsOf(key, list)]).toEqual([
      [a, b, c, d],
      [a, d, b, a, c],
    ])
    expect(await Promise.all(ids.map((id) => readTrack(key, id)))).toEqual(before)
    expect((await ok('GET', '/v1/trash', { key })).count).toBe(0)
    await expectCounted()
    expect(codesOf(await run(key, restores))).toEqual(Array.from({ length: 4 }, () => 'not_found'))
    const types = (await eventsOf(key, since)).map(({ type, subject, data }) => [
      type,
      subject.split(':')[1],
      'is_trashed' in data ? data.is_trashed : 'is_restored' in data && data.is_restored,
    ])
    const expected = [
      ...[a, b, d].map((id) => ['track.deleted', id, true]),
      ...[a, b, d].map((id) => ['track.created', id, true]),
      ['playlist.updated', playlist_id, false],
      ['playlist.updated', playlist_id, false],
    ]
    expect(types.map(String).toSorted()).toEqual(expected.map(String).toSorted())
  })

  it('restores tracks to different places if others have their places now', async () => {
    const { key, collection_id } = await aTenant()
    const [a, b, c] = await anAlbum(key, collection_id, ['a', 'b', 'c'])
    const remove = (track_id: string | undefined) => ({ action: 'delete', track_id, trash: true })
    await run(key, [remove(b), remove(c)])
    // Each new track takes the place of the deleted ones.
    const [d, e] = await anAlbum(key, collection_id, ['d', 'e'])
    await run(key, [remove(e)])
    const [f] = await anAlbum(key, collection_id, ['f'])
    await run(
      key,
      [c, e, b].map((track_id) => ({ action: 'restore', track_id })),
    )
    const listed = await ok('GET', `/v1/collection/${collection_id}/track`, { key })
    const orders = listed.tracks.map(({ order }: { order: number }) => order)
    expect(new Set(orders).size).toBe(6)
    expect(itemsOf(listed).map(nameOf).slice(0, 3)).toEqual(['a', 'd', 'f'])
    expect(new Set(await idsOf(key, `/v1/collection/${collection_id}/track`))).toEqual(new Set([a, b, c, d, e, f]))
    await expectCounted()
  })

  it('interrupts a transcode, and the restore starts it again, but no other', async () => {
    const { key, collection_id } = await aTenant()
    const ids = await anAlbum(key, collection_id, ['trashed', 'other'])
    const [trashed, other] = ids
    for (const id of ids)
      await query(
        `update tracks set status = 'processing', job_id = 'first', source_size = 10, source_suffix = upload_suffix where id = ?`,
        id,
      )
    await run(key, [{ action: 'delete', track_id: trashed, trash: true }])
    const restored = await run(
      key,
      ids.map((track_id) => ({ action: 'restore', track_id })),
    )
    expect(codesOf(restored)).toEqual([true, 'not_found'])
    expect((await trackRow(other)).job_id).toBe('first')
    const { job_id } = await trackRow(trashed)
    expect(job_id).not.toBe('first')
    expect(await query('select state from jobs where id = ?', job_id)).toEqual([{ state: 'open' }])
    // Another request restores the track between the check and the batch.
    await run(key, [{ action: 'delete', track_id: trashed, trash: true }])
    let batches = 0
    let restarted = ''
    const bindings = beforeBatch(async () => {
      if (++batches !== 2) return
      await ok('POST', `/v1/trash/${trashed}/restore`, { key })
      restarted = (await trackRow(trashed)).job_id!
    })
    const body = { changes: [{ action: 'restore', track_id: trashed }] }
    const { body: raced } = await call('POST', '/v1/track/batch', { key, body, bindings })
    expect([codesOf(raced.results), (await trackRow(trashed)).job_id]).toEqual([['not_found'], restarted])
  })

  it('refuses to restore tracks of other organizations, of trashed and of deleted collections', async () => {
    const { key, collection_id } = await aTenant()
    const other = await aTenant()
    const { id: second } = await aCollection(key, { title: 'Second' })
    const { id: third } = await aCollection(key)
    const [a] = await anAlbum(key, collection_id, ['a'])
    const [b] = await anAlbum(key, second, ['b'])
    const [c] = await anAlbum(key, third, ['c'])
    const [foreign] = await anAlbum(other.key, other.collection_id, ['theirs'])
    const remove = (track_id: string | undefined) => ({ action: 'delete', track_id, trash: true })
    await run(other.key, [remove(foreign)])
    expect(codesOf(await run(key, [remove(a), remove(b), remove(c), remove(foreign)]))).toEqual([
      true,
      true,
      true,
      'not_found',
    ])
    await ok('DELETE', `/v1/collection/${second}?trash=true`, { key })
    const restores = [a, b, foreign, collection_id, second].map((track_id) => ({ action: 'restore', track_id }))
    const results = await run(key, restores)
    expect(codesOf(results)).toEqual([true, 'collection_in_trash', 'not_found', 'not_found', 'not_found'])
    expect(results[1]!.message).toBe('Second, its collection, is in the trash; restore that first')
    expect((await ok('GET', '/v1/trash', { key: other.key })).count).toBe(1)
    // A collection is deleted between the check and the batch.
    let batches = 0
    const bindings = beforeBatch(async () => {
      if (++batches === 2) await ok('DELETE', `/v1/collection/${third}`, { key })
    })
    const body = { changes: [{ action: 'restore', track_id: c }] }
    const { body: raced } = await call('POST', '/v1/track/batch', { key, body, bindings })
    expect([codesOf(raced.results), batches]).toEqual([['not_found'], 2])
  })

  it('of 200 tracks executes few statements', async () => {
    const { key, collection_id } = await aTenant()
    const ids = await anAlbum(
      key,
      collection_id,
      Array.from({ length: 200 }, (_, at) => `t${at}`),
    )
    const perTrack: number[] = []
    for (const change of [{ action: 'delete', trash: true }, { action: 'restore' }]) {
      const body = { changes: ids.map((track_id) => ({ ...change, track_id })) }
      const { body: answer, trips, written } = await countCallRows('POST', '/v1/track/batch', { key, body })
      expect(answer).toMatchObject({ done: 200, refused: 0 })
      expect(trips).toBeLessThanOrEqual(6)
      perTrack.push(Math.ceil(written / 200))
    }
    expect(perTrack).toEqual([16, 21])
    expect(await idsOf(key, `/v1/collection/${collection_id}/track?limit=200`)).toEqual(ids)
    await eventually(async () => (await ok('GET', '/v1/trash', { key })).count === 0)
  })
})
