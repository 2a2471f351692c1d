import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'

import { listeningObject } from '../../../src/listening/call_object.ts'
import { aPlaylist, call, DAY, HOUR, ok, query, expectError, errorPaths } from '../support/api.ts'
import { aReadyTrack, aTenant, runSweep, stopTime } from '../support/fixtures.ts'
import { heardReport } from '../support/heard.ts'
import { countCallRows, countRows } from '../support/row_counter.ts'
import { seedSessions } from '../support/seed.ts'
import { aShare } from '../support/share_visitor.ts'

/** The optional parts of the list of shares (docs/decisions/0090). */

afterEach(() => void vi.useRealTimers())

const listed = async (key: string, include: string) => (await ok('GET', `/v1/share?include=${include}`, { key })).shares

it('`include=resource` adds the title and the cover of each shared resource, with a fixed number of queries', async () => {
  const { key, collection_id } = await aTenant()
  await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Album' } })
  const track_id = await aReadyTrack(key, collection_id, { file_name: 'song.mp3' })
  await query(`update tracks set cover_path = 'media/own' where id = ?`, track_id)
  const other = await aReadyTrack(key, collection_id, { player_title: 'Other' })
  const playlist_id = await aPlaylist(key, [track_id], { title: 'List' })
  await query(`update playlists set cover_path = 'media/list'`)
  const shares = [
    await aShare(key, collection_id, { title: 'For the press' }),
    await aShare(key, collection_id, { scope: 'track', id: track_id }),
    await aShare(key, collection_id, { scope: 'track', id: other }),
    await aShare(key, collection_id, { scope: 'playlist', id: playlist_id }),
  ]
  const found = async () =>
    (await listed(key, 'resource')).map(({ id, resource }) => [
      shares.findIndex((share) => share.id === id),
      resource!.title,
      new URL(resource!.artwork.small.url).pathname,
    ])
  const path = (name: string) => expect.stringContaining(`/media/${name}/small.jpg`)
  expect((await found()).toReversed()).toEqual([
    [0, 'Album', path('own')],
    [1, 'song', path('own')],
    [2, 'Other', path('own')],
    [3, 'List', path('list')],
  ])
  await ok('DELETE', `/v1/track/${other}?trash=true`, { key })
  expect((await found())[1]).toEqual([2, 'Other', expect.stringContaining('/cover/small.jpg')])
  expect((await ok('GET', '/v1/share', { key })).shares[0]).not.toHaveProperty('resource')
  expect(errorPaths(await expectError(400, 'invalid_request', 'GET', '/v1/share?include=title', { key }))).toEqual([
    'include',
  ])
})

it('`include=sessions` counts the sessions of shares that have rows, in the last seven days, with one row for each share and hour', async () => {
  const { key, organization_id, collection_id } = await aTenant()
  stopTime()
  const midnight = Math.floor(Date.now() / DAY) * DAY
  vi.setSystemTime(midnight + 12 * HOUR)
  const [share, second, quiet] = [
    await aShare(key, collection_id),
    await aShare(key, collection_id),
    await aShare(key, collection_id),
  ]
  const sessions = async () => {
    const found = await listed(key, 'sessions')
    return [share, second, quiet].map(({ id }) => found.find((each) => each.id === id)!.sessions)
  }
  expect(await sessions()).toEqual([0, 0, 0])
  const seeded = { organization_id, share_id: share.id }
  await seedSessions(100, midnight + 11 * HOUR, { ...seeded, created_at: midnight - 6 * DAY })
  await seedSessions(1000, midnight + 10 * HOUR, { ...seeded, created_at: midnight - 6 * DAY - 1 })
  await seedSessions(5, midnight + 9 * HOUR, { organization_id, share_id: 'revoked', created_at: midnight })
  vi.setSystemTime(midnight + 14 * HOUR)
  await Promise.all([runSweep(), runSweep()])
  expect(await sessions()).toEqual([100, 0, 0])
  await runSweep()
  expect(await sessions()).toEqual([100, 0, 0])
  vi.setSystemTime(midnight + DAY)
  expect(await sessions()).toEqual([0, 0, 0])
  // Later sessions are added to those that were counted, and days that no list shows are forgotten.
  await seedSessions(7, midnight + 9 * DAY + HOUR, { ...seeded, created_at: midnight + 9 * DAY })
  vi.setSystemTime(midnight + 9 * DAY + 3 * HOUR)
  // Four rows are written: the cursor, the day of the organization, the share, and the time of the sweep.
  await runSweep()
  await seedSessions(2, midnight + 9 * DAY + 2.5 * HOUR, { ...seeded, created_at: midnight + 9 * DAY })
  vi.setSystemTime(midnight + 9 * DAY + 4 * HOUR)
  expect((await countRows(() => runSweep())).written).toBe(4)
  expect(await sessions()).toEqual([9, 0, 0])
  const [row] = await query<{ session_days: string }>('select session_days from shares where id = ?', share.id)
  expect(Object.keys(JSON.parse(row!.session_days) as object)).toHaveLength(1)
  const { read } = await countCallRows('GET', '/v1/share?include=sessions', { key })
  expect(read).toBeLessThan(10)
})

it('`include=visits` adds how often each share was used in the last 30 days', async () => {
  const { key, organization_id, collection_id } = await aTenant()
  const track = await aReadyTrack(key, collection_id)
  const shares = [await aShare(key, collection_id), await aShare(key, collection_id)]
  const visits = async (include = 'visits') => (await listed(key, include)).map((share) => share.visits).toReversed()
  expect(await visits()).toEqual([0, 0])
  expect(await visits('resource')).toEqual([undefined, undefined])
  const hear = (share: string | null, shard = 0) => {
    const session = {
      id: crypto.randomUUID(),
      created_at: Date.now() - HOUR,
      via: { scope: 'collection', id: collection_id, share },
    }
    const call = { organization_id, shard, shards: 2, report: heardReport(track), session, country: null, client: '' }
    return listeningObject(env, organization_id, shard)('heard', call as never)
  }
  for (const [share, shard] of [
    [shares[0]!.id, 0],
    [shares[0]!.id, 1],
    [shares[1]!.id, 0],
    [null, 0],
  ] as const)
    await hear(share, shard)
  expect(await visits()).toEqual([2, 1])
  // Without statistics, the list is still shown.
  const fail = async () => {
    throw new Error('the object is down')
  }
  const broken = { ...env, LISTENING: { getByName: () => ({ call: fail }) } }
  vi.spyOn(console, 'error').mockReturnValue()
  const { status, body } = await call('GET', '/v1/share?include=visits', { key, bindings: broken as never })
  expect([status, body.count, body.shares[0]!.visits]).toEqual([200, 2, undefined])
})
