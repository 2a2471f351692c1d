import { env, exports } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'

import { aCollection, aPlaySession, aWaitingTrack, call, ok, query, readTrack, expectError } from '../support/api.ts'
import {
  aTenant,
  beforeBatch,
  batchTracks,
  eventually,
  fileRows,
  advanceHours,
  runSweep,
  storedFiles,
} from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { untilIdle } from '../support/row_counter.ts'
import { serveTranscoder } from '../support/transcoder.ts'

/** Tracks that move to another collection, and the effects of concurrent changes. */

afterEach(() => vi.useRealTimers())

it('a moved track keeps its files when its previous collection is deleted, and loses them with its new collection', async () => {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  const { id: goal } = await aCollection(key)
  const moved = await aProcessedTrack(key, collection_id, { player_title: 'moved' })
  const unmoved = await aProcessedTrack(key, collection_id, { player_title: 'left' })
  const { play_session_id } = await aPlaySession(key, 'track', moved)
  await batchTracks(key, [{ action: 'move', track_id: moved, collection_id: goal }])
  const ofMoved = await fileRows(moved)
  expect((await storedFiles()).length).toBeGreaterThan(ofMoved.length)
  await ok('DELETE', `/v1/collection/${collection_id}`, { key })
  await eventually(async () => (await storedFiles()).length === ofMoved.length)
  // Runs the second purge, which is due when no upload URL is valid any more.
  advanceHours(8)
  await runSweep()
  await untilIdle()
  expect((await storedFiles()).toSorted()).toEqual(ofMoved.map(({ path }) => path).toSorted())
  vi.useRealTimers()
  expect((await ok('GET', `/v1/play/${play_session_id}/${moved}`)).track.id).toBe(moved)
  await expectError(404, 'not_found', 'GET', `/v1/track/${unmoved}`, { key })
  // Reprocessing writes to the folder that contains the track's existing files.
  await ok('POST', `/v1/track/${moved}/reprocess`, { key })
  await eventually(async () => (await readTrack(key, moved)).status === 'ready')
  const folders = new Set((await storedFiles()).map((path) => path.split('/')[2]))
  expect([...folders]).toEqual([collection_id])
  await ok('DELETE', `/v1/collection/${goal}`, { key })
  advanceHours(0.1)
  await runSweep()
  await eventually(async () => (await storedFiles()).length === 0)
})

it('a moved track keeps a cover that is processed after its previous collection was deleted', async () => {
  const { key, collection_id, organization_id } = await aTenant()
  const { id: goal } = await aCollection(key)
  const moved = await aWaitingTrack(key, collection_id, { player_title: 'moved' })
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('The transcoder is unreachable'))
  const { track_cover_upload } = await ok('POST', `/v1/track/${moved}/cover`, { key })
  const body = new Uint8Array(32)
  body.set(Array.from('\x89PNG\r\n\x1a\n', (c) => c.charCodeAt(0)))
  expect((await exports.default.fetch(track_cover_upload.upload_url, { method: 'POST', body })).status).toBe(202)
  await batchTracks(key, [{ action: 'move', track_id: moved, collection_id: goal }])
  const stray = `media/${organization_id}/${collection_id}/stray`
  await env.MEDIA.put(stray, 'of nobody')
  const waiting = await storedFiles('uploads/')
  expect(waiting).toHaveLength(1)
  await ok('DELETE', `/v1/collection/${collection_id}`, { key })
  await eventually(async () => (await storedFiles(stray)).length === 0)
  expect(await storedFiles()).toEqual(waiting)
  serveTranscoder()
  advanceHours(0.1)
  await runSweep()
  await eventually(async () => (await storedFiles('uploads/')).length === 0)
  const [row] = await query<{ cover_path: string }>('select cover_path from tracks where id = ?', moved)
  const squares = await storedFiles(`${row!.cover_path}/`)
  expect(squares).toHaveLength(4)
  advanceHours(8)
  await runSweep()
  await untilIdle()
  expect(await storedFiles()).toEqual(squares)
  vi.useRealTimers()
  await ok('DELETE', `/v1/track/${moved}`, { key })
  await eventually(async () => (await storedFiles()).length === 0)
})

it('a batch reports a result for each track when other requests change the tracks concurrently', async () => {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  const [{ id: goal }, { id: source }] = [await aCollection(key), await aCollection(key)]
  const moved = await aWaitingTrack(key, collection_id, { player_title: 'moved' })
  const orphan = await aWaitingTrack(key, source, { player_title: 'orphan' })
  const replaced = await aProcessedTrack(key, collection_id)
  const changes = [
    { action: 'move', track_id: moved, collection_id: goal },
    { action: 'move', track_id: orphan, collection_id },
    { action: 'reprocess', track_id: replaced },
  ]
  let batches = 0
  const bindings = beforeBatch(async () => {
    // The first batch only reads, so the change happens before the second one.
    if (++batches !== 2) return
    await query('update tracks set source_suffix = ? where id = ?', '.other', replaced)
    await query('delete from collections where id in (?, ?)', goal, source)
  })
  const { body } = await call('POST', '/v1/track/batch', { key, body: { changes }, bindings })
  expect(body.results).toMatchObject([
    { ok: false, message: 'collection not found' },
    { ok: false, message: 'track not found' },
    { ok: false, code: 'track_not_uploaded' },
  ])
  expect(
    await query('select collection_id, "order" from tracks where id in (?, ?) order by player_title', moved, orphan),
  ).toEqual([
    { collection_id, order: 1 },
    { collection_id: source, order: 1 },
  ])
})
