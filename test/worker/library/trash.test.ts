import { env, exports } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { anOrganization, call, ok, query, expectError, sortedStatuses, UNKNOWN_ID, errorPaths } from '../support/api.ts'
import { beforeBatch, eventually, advanceHours, runSweep, storedFiles } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'
import { aLibrary, storedState } from '../support/trash_library.ts'

/** Deletions with the parameter `trash=true` (docs/decisions/0054). */

afterEach(() => void vi.useRealTimers())

describe.each(['track', 'collection', 'playlist'] as const)('a %s in the trash', (scope) => {
  it('is hidden everywhere except in the trash, keeps its files, and can be restored without changes', async () => {
    const library = await aLibrary()
    const { key, ids, track_id, pathOf } = library
    // The track, collection or playlist has a share, which is hidden and restored with it.
    const shared = { key, body: { scope, id: ids[scope] } }
    const { share } = await ok('POST', '/v1/share', shared)
    const [before, files] = [await storedState(library), await storedFiles()]
    const session = await library.session(scope)
    const view = `/v1/play/${session}/${track_id}`
    await ok('GET', view)
    const resource = (await library.get(pathOf(scope)))[scope]

    const answer = await library.discard(scope)
    expect(answer).toMatchObject({ [`${scope}_id`]: ids[scope], [`deleted_${scope}`]: resource })
    for (const [method, path, body] of [
      ['GET', pathOf(scope), undefined],
      ['PUT', pathOf(scope), {}],
      ['DELETE', pathOf(scope), undefined],
      ['DELETE', `${pathOf(scope)}?trash=true`, undefined],
      ['POST', `/v1/play_session/${scope}`, { [`${scope}_id`]: ids[scope] }],
    ] as const)
      await expectError(404, 'not_found', method, path, { key, body })
    await expectError(404, 'not_found', 'POST', '/v1/share', shared)
    expect((await exports.default.fetch(share.url)).status).toBe(404)
    await expectError(404, 'not_found', 'GET', view)
    expect((await ok('GET', `/v1/play/${session}`)).tracks).toEqual([])
    // The trashed resource is neither counted nor found in the lists of the whole organization.
    const counts = { track: [1, 1, 1], collection: [0, 0, 1], playlist: [2, 1, 0] }[scope]
    const lists = (['track', 'collection', 'playlist'] as const).map((noun) => library.get(`/v1/${noun}`))
    expect((await Promise.all(lists)).map((list) => list.count)).toEqual(counts)
    const q = { track: 'track?q=what', collection: 'collection?q=blue', playlist: 'playlist?q=mixed' }[scope]
    expect(await library.get(`/v1/${q}`)).toMatchObject({ count: scope === 'track' ? 1 : 0 })
    const { count, trash } = await library.trash()
    const title = { track: 'So What', collection: 'Kind of Blue', playlist: 'Mixed' }[scope]
    const collection_id = scope === 'track' ? ids.collection : null
    expect([count, trash]).toEqual([
      1,
      [
        {
          id: ids[scope],
          scope,
          title,
          collection_id,
          trashed_at: expect.any(String),
          expires_at: expect.any(String),
        },
      ],
    ])
    const [item] = trash
    expect(Date.parse(item!.expires_at) - Date.parse(item!.trashed_at)).toBe(7 * 24 * 3600 * 1000)
    expect((await library.restore(scope)).restored_trash).toEqual(trash[0])
    await ok('GET', view)
    expect((await exports.default.fetch(share.url)).status).toBe(200)

    await library.discard(scope)
    advanceHours(24 * 7 - 1)
    await runSweep()
    expect(await storedFiles()).toEqual(files)
    vi.useRealTimers()
    await library.restore(scope)
    const after = await storedState(library)
    for (const row of [...before.tracks, ...after.tracks]) delete row.next_check_at
    expect(after).toEqual(before)
    expect((await library.get(pathOf(scope)))[scope]).toEqual(
      scope === 'playlist' ? { ...resource, version: expect.any(Number) } : resource,
    )
    expect(await library.trash()).toMatchObject({ count: 0, trash: [] })
    await expectError(404, 'not_found', 'POST', `/v1/trash/${ids[scope]}/restore`, { key })
  })

  it('is deleted permanently with its files, after seven days or on request', async () => {
    for (const end of ['time', 'call', 'empty'] as const) {
      const library = await aLibrary()
      const { key, ids, organization_id } = library
      await ok('POST', '/v1/share', { key, body: { scope, id: ids[scope] } })
      const files = (await storedFiles(`media/${organization_id}/`)).length
      if (scope !== 'collection') await library.discard('track', library.other_id)
      await library.discard(scope)
      if (end === 'time') {
        advanceHours(24 * 7 + 0.1)
        await runSweep()
      } else if (end === 'call') {
        const { deleted_trash } = await ok('DELETE', `/v1/trash/${ids[scope]}`, { key })
        expect(deleted_trash).toMatchObject({ id: ids[scope], scope })
        await expectError(404, 'not_found', 'DELETE', `/v1/trash/${ids[scope]}`, { key })
        await ok('DELETE', '/v1/trash', { key })
      } else {
        expect(await ok('DELETE', '/v1/trash', { key })).toMatchObject({
          deleted: scope === 'collection' ? 1 : 2,
          left: 0,
        })
      }
      expect(await library.trash()).toMatchObject({ count: 0, trash: [] })
      await expectError(404, 'not_found', 'POST', `/v1/trash/${ids[scope]}/restore`, { key })
      const remaining = { track: 0, collection: 0, playlist: 1 }[scope]
      await eventually(
        async () => (await query('select 1 from tracks where collection_id = ?', ids.collection)).length === remaining,
      )
      await eventually(async () => (await storedFiles(`media/${organization_id}/`)).length === (files * remaining) / 2)
      const entries = await query(
        `select 1 from playlist_tracks where track_id in (?, ?) or playlist_id like ?`,
        library.other_id,
        scope === 'playlist' ? library.other_id : library.track_id,
        scope === 'playlist' ? `%${ids.playlist}` : '%:%',
      )
      expect([end, entries, await query('select 1 from shares')]).toEqual([end, [], []])
      vi.useRealTimers()
    }
  })
})

describe('the trash', () => {
  it('rejects invalid values of `trash` before it deletes anything', async () => {
    const { key, ids, trash } = await aLibrary()
    for (const [name, id] of Object.entries(ids)) {
      const path = `/v1/${name}/${id}`
      for (const value of ['maybe', '', '1', 'TRUE', 'true&trash=false']) {
        const body = await expectError(400, 'invalid_request', 'DELETE', `${path}?trash=${value}`, { key })
        expect(errorPaths(body)).toEqual(['trash'])
      }
      await expectError(400, 'unknown_field', 'DELETE', `${path}?trahs=true`, { key })
      await ok('GET', path, { key })
      await expectError(404, 'not_found', 'DELETE', `/v1/${name}/${UNKNOWN_ID}?trash=true`, { key })
    }
    expect((await trash()).count).toBe(0)
    await ok('DELETE', `/v1/track/${ids.track}?trash=false`, { key })
    expect((await trash()).count).toBe(0)
  })

  it('contains only the items of one organization', async () => {
    const library = await aLibrary()
    const { key } = await anOrganization()
    await library.discard('track')
    const path = `/v1/trash/${library.track_id}`
    expect(await ok('GET', '/v1/trash', { key })).toMatchObject({ count: 0, trash: [] })
    await expectError(404, 'not_found', 'POST', `${path}/restore`, { key })
    await expectError(404, 'not_found', 'DELETE', path, { key })
    expect(await ok('DELETE', '/v1/trash', { key })).toMatchObject({ deleted: 0, left: 0 })
    expect((await library.trash()).count).toBe(1)
  })

  it('restores a track only if its collection exists', async () => {
    const library = await aLibrary()
    const { key, track_id, ids } = library
    await library.discard('track')
    await library.discard('collection')
    const path = `/v1/trash/${track_id}/restore`
    const { message } = await expectError(409, 'collection_in_trash', 'POST', path, { key })
    expect(message).toContain('Kind of Blue')
    expect((await library.trash()).trash.map(({ id }) => id)).toEqual([ids.collection, track_id])
    await library.restore('collection')
    expect((await library.places()).includes(track_id)).toBe(false)
    await library.restore('track')
    expect(await library.places()).toHaveLength(5)

    await library.discard('track')
    await ok('DELETE', `/v1/collection/${ids.collection}`, { key })
    await expectError(404, 'not_found', 'POST', path, { key })
    // The trashed track is deleted permanently with its collection.
    await eventually(async () => (await library.trash()).count === 0)
    await eventually(async () => (await storedFiles()).length === 0)
    expect(await query('select 1 from playlist_tracks')).toEqual([])
  })

  it('returns 404 for the restore of a track whose collection no longer exists', async () => {
    const library = await aLibrary()
    const { key, track_id } = library
    await library.discard('track')
    await query('delete from collections')
    const path = `/v1/trash/${track_id}/restore`
    expect(await expectError(404, 'not_found', 'POST', path, { key })).toMatchObject({
      message: 'collection not found',
    })
    expect((await library.trash()).count).toBe(1)
  })

  it('restores an item once for simultaneous requests, and repeats the response for the same Idempotency-Key', async () => {
    const library = await aLibrary()
    const { key, track_id } = library
    await library.discard('track')
    const path = `/v1/trash/${track_id}/restore`
    const answers = await Promise.all(Array.from({ length: 4 }, () => call('POST', path, { key })))
    expect(sortedStatuses(answers)).toEqual([200, 404, 404, 404])
    await library.discard('track')
    const headers = { 'idempotency-key': 'restore' }
    const first = await ok('POST', path, { key, headers })
    expect(await ok('POST', path, { key, headers })).toMatchObject({ restored_trash: first.restored_trash })
  })

  it('never purges an item while it is restored, and never restores an item while it is deleted', async () => {
    const library = await aLibrary()
    const { key, track_id } = library
    const files = await storedFiles()
    const path = `/v1/trash/${track_id}`
    /** Bindings of a request that finds the item, but is overtaken by another request for the item, which finishes first. */
    const overtakenBy = (method: string, at: string) => {
      let calls = 0
      return beforeBatch(async () => {
        if (calls++ === 0) await ok(method, at, { key })
      })
    }
    await library.discard('track')
    const restoring = overtakenBy('POST', `${path}/restore`)
    await expectError(404, 'not_found', 'DELETE', path, { key, bindings: restoring })
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'purge'`)).toEqual([])
    expect([await storedFiles(), (await library.places()).length]).toEqual([files, 5])

    await library.discard('track')
    const deleting = overtakenBy('DELETE', path)
    await expectError(404, 'not_found', 'POST', `${path}/restore`, { key, bindings: deleting })
    await expectError(404, 'not_found', 'GET', `/v1/track/${track_id}`, { key })
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'purge'`)).toHaveLength(2)
  })

  it.each(['track', 'collection', 'playlist'] as const)(
    'keeps a %s when its permanent deletion races with the move to the trash',
    async (scope) => {
      const library = await aLibrary()
      const before = [await library.places(), await storedFiles()]
      const discarding = beforeBatch(() => library.discard(scope).catch(() => undefined))
      await expectError(404, 'not_found', 'DELETE', library.pathOf(scope), { key: library.key, bindings: discarding })
      expect(await query(`select 1 from jobs where payload ->> 'kind' = 'purge'`)).toEqual([])
      await library.restore(scope)
      expect([await library.places(), await storedFiles()]).toEqual(before)
    },
  )

  it('is deleted with its organization', async () => {
    const library = await aLibrary()
    await library.discard('track')
    await library.discard('playlist')
    await library.discard('collection')
    await ok('DELETE', `/v1/organization/${library.organization_id}`, { key: env.ROOT_KEY })
    await eventually(async () => (await query('select 1 from trash')).length === 0)
    await eventually(async () => (await storedFiles()).length === 0)
    for (const table of ['tracks', 'playlist_tracks', 'playlists', 'collections'])
      expect([table, await query(`select 1 from ${table}`)]).toEqual([table, []])
  })

  it('writes few rows, and no more of them for a collection of 2,000 tracks than for a collection of two', async () => {
    const library = await aLibrary()
    const { key, ids } = library
    await ok('GET', '/v1/limits', { key })
    const rows: Record<string, { read: number; written: number }> = {}
    const run = async (name: string, method: string, path: string) => {
      const { read, written } = await countCallRows(method, path, { key })
      rows[name] = { read, written }
      expect(read, `rows that ${name} reads`).toBeLessThan(270)
    }
    for (const scope of ['track', 'playlist', 'collection'] as const) {
      await run(`discard ${scope}`, 'DELETE', `/v1/${scope}/${ids[scope]}?trash=true`)
      await run(`restore ${scope}`, 'POST', `/v1/trash/${ids[scope]}/restore`)
    }
    await library.discard('track')
    await run('delete', 'DELETE', `/v1/trash/${ids.track}`)
    await library.discard('playlist')
    await run('empty', 'DELETE', '/v1/trash')
    const maxWritten = Math.max(...Object.values(rows).map(({ written }) => written))
    expect(maxWritten).toBeLessThanOrEqual(51)
    await seed('tracks', 1, 2000, library)
    await query(`update tracks set status = 'ready'`)
    const { read, written } = await countCallRows('DELETE', `/v1/collection/${ids.collection}?trash=true`, { key })
    expect(written).toBeLessThanOrEqual(rows['discard collection']!.written)
    // The playlists are searched for each track, which reads fewer than eight rows per track.
    expect(read).toBeLessThan(2000 * 8)
    const restored = await countCallRows('POST', `/v1/trash/${ids.collection}/restore`, { key })
    expect(restored.written).toBeLessThan(50)
  })
})
