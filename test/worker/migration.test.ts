import { reset } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { getTableColumns } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'

import { playSessions } from '../../src/adapters/play_sessions.ts'
import { newSecret, sha256 } from '../../src/adapters/secret.ts'
import { runSweep } from './fixtures.ts'
import { makeStorage } from './storage.ts'
import { ok, query, refused } from './support.ts'

/** A database that is in use, brought up to date: what was written by earlier versions is read by this one. */

afterEach(makeStorage)

const apply = async (chosen: typeof env.TEST_MIGRATIONS) => {
  await env.DB.batch(chosen.flatMap(({ queries }) => queries).map((text) => env.DB.prepare(text)))
}
/** Storage as it is before a migration; its name without the number. */
async function storageBefore(migration: string) {
  await reset()
  const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.endsWith(`_${migration}.sql`))
  expect(at).toBeGreaterThan(0)
  await apply(env.TEST_MIGRATIONS.slice(0, at))
  return () => apply(env.TEST_MIGRATIONS.slice(at))
}

/** A row, in parts. */
const insert = (table: string, ...parts: Record<string, string | number>[]) => {
  const row = Object.assign({}, ...parts) as Record<string, string | number>
  const names = Object.keys(row).map((name) => `"${name}"`)
  const places = names.map(() => '?').join(', ')
  return query(`insert into ${table} (${names.join(', ')}) values (${places})`, ...Object.values(row))
}
const uuid = (i: number) => `000${i}f00d-1111-4111-8111-111111111111`
const HOUR = 3600_000

/** A shop as version 0.1 wrote it, with sessions of all ages. */
async function anOldShop() {
  const [organization_id, collection_id, track_id] = [uuid(1), uuid(2), uuid(3)]
  const key = newSecret('server')
  const now = Date.now()
  const made = { organization_id, created_at: now }
  const look = { metadata: '{}', theme: '[]', cover_colors: '[]' }
  await insert('organizations', { id: organization_id, name: 'Old', theme: '[]', seq: 1, created_at: now })
  await insert('api_keys', {
    ...made,
    seq: 1,
    id: uuid(4),
    type: 'server',
    title: 'Old',
    hash: await sha256(key),
    hint: 'ta_sk_',
  })
  await insert('collections', { ...made, seq: 1, ...look, id: collection_id, title: 'Old' })
  await insert(
    'tracks',
    { ...made, id: track_id, collection_id, index: 'old', file_name: 'So What.mp3', order: 1, status: 'ready' },
    { metadata: '{}', cover_colors: '[]', info: '{}', duration: 12.346, levels: '[0.5]' },
    { upload_path: 'uploads/old', upload_expires_at: 0, awaiting_upload: 0, next_check_at: 0 },
  )
  const file = { path: 'media/old/aac-160.m4a', size: 5, bitrate: 160, duration: 12.346 }
  await insert('track_variants', file, { track_id, index: 'aac-160' })
  const session = async (i: number, scope: string, resource_id: string, expires_at: number) => {
    const chosen = { metadata: '{"a":1}', variants: '["aac-160"]', is_downloadable: 1 }
    await insert('play_sessions', { ...made, ...chosen, id: uuid(i), scope, resource_id, expires_at })
    return uuid(i)
  }
  return {
    key,
    organization_id,
    collection_id,
    track_id,
    ofTrack: await session(5, 'track', track_id, now + HOUR),
    ofCollection: await session(6, 'collection', collection_id, now + 23 * HOUR),
    expired: await session(7, 'track', track_id, now - HOUR),
    gone: await session(8, 'track', track_id, now - 25 * HOUR),
  }
}

it('plays on: sessions of the version before, until they end', async () => {
  const migrate = await storageBefore('hourly_play_sessions')
  const shop = await anOldShop()
  const { key, organization_id, collection_id, track_id, ofTrack, ofCollection, expired, gone } = shop
  await migrate()
  for (const id of [ofTrack, ofCollection]) {
    const read = await ok('GET', `/v1/play_session/${id}`, { key })
    expect(read).toMatchObject({
      play_session: { id, metadata: { a: 1 }, variants: ['aac-160'], is_downloadable: true },
      tracks: [{ id: track_id, player_title: 'So What' }],
      first_track: { track_id, variants: [{ path: 'media/old/aac-160.m4a' }] },
    })
    expect((await ok('GET', `/v1/play/${id}`)).tracks).toEqual(read.tracks)
    const view = await ok('GET', `/v1/play/${id}/${track_id}`)
    expect(view).toMatchObject({ track: { duration: 12.346 }, levels: { levels: [0.5] } })
    expect(await ok('GET', `/v1/play/${id}/${track_id}/aac-160/download`)).toMatchObject({ track_id })
    expect((await exports.default.fetch(`https://tonearm.test/embed/${id}`)).status).toBe(200)
  }
  expect((await ok('GET', `/v1/track/${track_id}`, { key })).track).toMatchObject({ tags: {}, player_title: null })
  expect((await ok('GET', `/v1/organization/${organization_id}`, { key })).organization.uses_tags).toBe(true)
  await refused(410, 'session_expired', 'GET', `/v1/play/${expired}/${track_id}`)
  await refused(404, 'not_found', 'GET', `/v1/play/${gone}/${track_id}`)

  const { play_session_id } = await ok('POST', '/v1/play_session/collection', { key, body: { collection_id } })
  await runSweep()
  const former = await query<{ id: string }>('select id from play_sessions order by id')
  expect(former.map(({ id }) => id)).toEqual([ofTrack, ofCollection, expired])
  expect(await query('select id from hourly_play_sessions')).toEqual([{ id: play_session_id }])
})

it('keeps the order that somebody has given to tracks: tags change none that is not that of their creation', async () => {
  const migrate = await storageBefore('tags')
  const orders = { 'as sent': [10, 20, 20], ordered: [20, 10, 30], 'of one track': [10], empty: [] }
  for (const [title, times] of Object.entries(orders)) {
    const made = { organization_id: uuid(1), metadata: '{}', cover_colors: '[]' }
    await insert('collections', made, { id: title, title, theme: '[]', seq: 1, created_at: 0 })
    for (const [order, created_at] of times.entries()) {
      const id = `${title} ${order}`
      const track = { collection_id: title, index: id, file_name: 'a.mp3', status: 'ready', info: '{}' }
      const upload = { upload_path: id, upload_expires_at: 0, awaiting_upload: 0, next_check_at: 0 }
      await insert('tracks', made, track, upload, { id, order, created_at })
    }
  }
  await migrate()
  const found = await query<{ id: string; is_ordered: number }>('select id, is_ordered from collections')
  const expected = { 'as sent': 0, ordered: 1, 'of one track': 0, empty: 0 }
  expect(Object.fromEntries(found.map(({ id, is_ordered }) => [id, is_ordered]))).toEqual(expected)
})

it('takes what an older version wrote into the trash, and gives it back whole, also from before a column was added', async () => {
  const migrate = await storageBefore('trash')
  const { key, collection_id, track_id, ofTrack } = await anOldShop()
  await migrate()
  const rows = async () => [
    ...(await query('select * from tracks')),
    ...(await query('select * from collections')),
    ...(await query(`select * from list_counts where list not like 'trash:%' order by list, level, bucket`)),
  ]
  await runSweep()
  const before = await rows()
  for (const [noun, id] of Object.entries({ track: track_id, collection: collection_id })) {
    await ok('DELETE', `/v1/${noun}/${id}?trash=true`, { key })
    await refused(404, 'not_found', 'GET', `/v1/play/${ofTrack}/${track_id}`)
    const later = ['$.is_theme_overridable', '$.cover_size']
    const [{ left } = { left: 0 }] = await query<{ left: number }>(
      'update trash set content = json_remove(content, ?, ?) returning json_array_length(content) as left',
      ...later,
    )
    expect(left).toBe(0)
    await ok('POST', `/v1/trash/${id}/restore`, { key })
  }
  const after = await rows()
  for (const row of [...before, ...after]) delete row.next_check_at
  expect(after).toEqual(before)
  expect((await ok('GET', `/v1/play/${ofTrack}/${track_id}`)).levels).toEqual({ levels: [0.5] })
})

it('has play sessions as the code describes them: drizzle-kit does not compare this table', async () => {
  const found = await query(
    'select name, lower(type) as type, "notnull", pk from pragma_table_info(?)',
    'hourly_play_sessions',
  )
  const described = Object.values(getTableColumns(playSessions)).map((column) => ({
    name: column.name,
    type: column.getSQLType(),
    notnull: Number(column.notNull),
    pk: Number(column.primary),
  }))
  expect(found).toEqual(described)
})

it('finds and sorts what the version before has written, after the migration and a sweep', async () => {
  const migrate = await storageBefore('lists')
  const { key, collection_id, track_id } = await anOldShop()
  await migrate()
  const found = (path: string) => ok('GET', path, { key })
  // Its file's name is the title; nothing is in the search yet, but everything in its lists.
  expect(await found('/v1/track?sort=title')).toMatchObject({ count: 1, tracks: [{ id: track_id }] })
  expect((await found('/v1/track?q=what')).count).toBe(0)
  const { updated_at, created_at } = (await found(`/v1/collection/${collection_id}`)).collection
  expect(updated_at).toBe(created_at)
  await runSweep()
  expect(await found('/v1/track?q=what')).toMatchObject({ count: 1, tracks: [{ id: track_id }] })
  expect(await found('/v1/collection?q=OLD&sort=-updated_at')).toMatchObject({ collections: [{ id: collection_id }] })
  expect(await query('select * from search_fills')).toEqual([])
})

it('tells what becomes of things of the version before, and counts their statuses on', async () => {
  const migrate = await storageBefore('events')
  const { key, collection_id } = await anOldShop()
  await migrate()
  expect((await ok('GET', '/v1/event', { key })).events).toEqual([])
  await query(`update tracks set status = 'processing'`)
  const counted = async (status: string) =>
    (await ok('GET', `/v1/collection/${collection_id}/track?status=${status}`, { key })).count
  expect([await counted('ready'), await counted('processing')]).toEqual([0, 1])
  await query(`update tracks set status = 'ready'`)
  expect([await counted('ready'), await counted('processing')]).toEqual([1, 0])
  expect((await ok('GET', '/v1/event', { key })).events).toMatchObject([{ type: 'track.ready', actor: null }])
})
