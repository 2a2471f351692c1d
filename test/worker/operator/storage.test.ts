import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'

import { GROWTH_UNTIL } from '../../../src/contract/facts.ts'
import { operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { System } from '../../../src/contract/system.ts'
import { aPlaylist, aPlaySession, aTrack, call, expectError, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, aTenantWithTrack, aTrackWithJob, runSweep, stopTime } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { completeResult, eventStream, startTranscoder } from '../support/transcoder.ts'

/** A nearly full database. Each test sets the limit in relation to the real size of the database. */

const root = env.ROOT_KEY

/** The size of the database in bytes. Free pages do not count. */
const realSize = async () => (await env.DB.prepare('select 1').run()).meta.size_after
/** The real bindings, with a limit of which the database now fills this fraction. */
async function filledTo(fraction: number): Promise<Env> {
  const limit = Math.floor((await realSize()) / fraction)
  return { ...env, DATABASE_LIMIT_BYTES: String(limit) }
}
/** Stores a megabyte in the row of a track. */
const enlarge = (track_id: string) =>
  query(`update tracks set metadata = json_object('text', hex(zeroblob(500000))) where id = ?`, track_id)
/** Moves the clock on, so that the isolate measures the size again. */
const later = () => vi.setSystemTime(Date.now() + 11_000)

beforeEach(() => {
  startTranscoder({
    health: () => Response.json({ ok: true }),
    transcode: (job) => eventStream(completeResult(job)),
  })
  stopTime()
})

it('at 95 % rejects what adds rows, still plays, deletes and finishes jobs, and accepts again after deletions', async () => {
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const played = await aReadyTrack(key, collection_id)
  const large = (await aTrack(key, collection_id)).id
  const playlist_id = await aPlaylist(key, [played])
  const work = await aTrackWithJob({ tenant })
  const repeated = { key, body: { title: 'Before' }, headers: { 'idempotency-key': 'before' } }
  await ok('POST', '/v1/collection', repeated)
  await enlarge(large)
  const bindings = await filledTo(GROWTH_UNTIL.content + 0.02)
  const as = { key, bindings }
  const view = async () => System.parse((await ok('GET', '/v1/system', { key: root, bindings })).system)
  const health = async () => (await call('GET', '/health', { bindings })).body

  later()
  for (const [path, body, caller = key] of [
    ['/v1/organization', { name: 'One more' }, root],
    ['/v1/collection', { title: 'One more' }],
    ['/v1/playlist', { title: 'One more' }],
    ['/v1/track', { collection_id, file_name: 'more.mp3' }],
    ['/v1/upload_session', { collection_id }],
    [`/v1/playlist/${playlist_id}/track`, { track_ids: [played] }],
    ['/v1/share', { scope: 'track', id: played }],
    ['/v1/api_key', { title: 'One more', type: 'player' }],
    ['/v1/variant', { name: 'One more', codec: 'mp3', bitrate: 320 }],
  ] as const) {
    const { message } = await expectError(507, 'storage_full', 'POST', path, { key: caller, body, bindings })
    expect(message).toContain('empty the trash')
  }
  await ok('POST', '/v1/collection', { ...repeated, bindings })
  const { failing, database } = await view()
  expect(failing).toEqual(['database_full'])
  expect(database).toMatchObject({ bytes: await realSize(), limit: Number(bindings.DATABASE_LIMIT_BYTES) })
  expect(database.fraction).toBeCloseTo(GROWTH_UNTIL.content + 0.02, 2)
  expect(await health()).toEqual({ ok: false, failing: ['database_full'] })

  const body = { track_id: played }
  const { play_session_id } = await ok('POST', '/v1/play_session/track', { ...as, body })
  const { variants } = await ok('GET', `/v1/play/${play_session_id}/${played}`, { bindings })
  expect(variants.length).toBeGreaterThan(0)
  await ok('PUT', `/v1/track/${played}`, { ...as, body: { player_title: 'Renamed' } })
  await work.run(bindings)
  expect((await work.read()).status).toBe('ready')
  await ok('DELETE', `/v1/track/${played}?trash=true`, as)
  await ok('POST', `/v1/trash/${played}/restore`, as)
  await runSweep(bindings)
  await expectError(507, 'storage_full', 'POST', '/v1/collection', { ...as, body: { title: 'One more' } })

  await ok('DELETE', `/v1/track/${large}?trash=true`, as)
  later()
  await expectError(507, 'storage_full', 'POST', '/v1/collection', { ...as, body: { title: 'One more' } })
  await ok('DELETE', `/v1/trash/${large}`, as)
  later()
  await ok('POST', '/v1/collection', { ...as, body: { title: 'One more' } })
  expect(await view()).toMatchObject({ failing: [] })
  expect(await health()).toEqual({ ok: true })
})

it('at 99 % rejects play sessions as well, so that the rest is left for deletions', async () => {
  const { key, track_id } = await aTenantWithTrack()
  const body = { track_id }
  const { play_session_id } = await aPlaySession(key, 'track', track_id)
  const bindings = await filledTo(GROWTH_UNTIL.session + 0.005)
  later()
  // The first session of an isolate measures the size for the next ones.
  await ok('POST', '/v1/play_session/track', { key, body, bindings })
  await expectError(507, 'storage_full', 'POST', '/v1/play_session/track', { key, body, bindings })
  await ok('GET', `/v1/play/${play_session_id}/${track_id}`, { bindings })
  await ok('DELETE', `/v1/track/${track_id}`, { key, bindings })
})

it('an isolate measures the size at most once in ten seconds, without reading a row', async () => {
  const { key } = await aTenant()
  const create = () => countCallRows('POST', '/v1/collection', { key, body: { title: 'One more' } })
  later()
  const [first, second] = [await create(), await create()]
  expect(first.trips).toBe(second.trips + 1)
  later()
  expect((await create()).trips).toBe(first.trips)
})

it('the operations that add rows are these', () => {
  const named = (growth: Operation['grows']) =>
    Object.entries(operations as Record<string, Operation>)
      .filter(([, { grows }]) => grows === growth)
      .map(([name]) => name)
      .toSorted()
  expect(named('session')).toEqual(['createPlaySession'])
  expect(named('content')).toEqual([
    'createApiKey',
    'createCollection',
    'createOrganization',
    'createPlaylist',
    'createSessionTrack',
    'createShare',
    'createShares',
    'createTrack',
    'createUploadSession',
    'createVariant',
    'createWebhookEndpoint',
    'insertPlaylistTracks',
    'recoverWebhookEndpoint',
    'replacePlaylistTracks',
  ])
})
