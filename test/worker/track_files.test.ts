import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished } from 'vitest'

import { aReadyTrack, aShop, filesOf, runSweep } from './fixtures.ts'
import { makeStorage } from './storage.ts'
import { ok, query } from './support.ts'

/** `tracks.files`, and the table in which an earlier version keeps what stands there (docs/decisions/0030). */

const apply = (names: (name: string) => boolean) =>
  env.DB.batch(
    env.TEST_MIGRATIONS.filter(({ name }) => names(name))
      .flatMap(({ queries }) => queries)
      .map((text) => env.DB.prepare(text)),
  )
/** Inserts what the table has columns for: it may be an earlier version's. */
const insert = async (table: string, row: Record<string, unknown>) => {
  const columns = await query<{ name: string }>('select name from pragma_table_info(?)', table)
  const names = columns.map(({ name }) => name).filter((name) => name in row)
  const values = names.map((name) => row[name])
  return query(`insert into ${table} ("${names.join('","')}") values (${names.map(() => '?').join()})`, ...values)
}
const formerly = async (track_id: string, change = (path: string) => path) => {
  const files = await filesOf(track_id)
  for (const { path, ...file } of files) {
    await insert('track_variants', { ...file, path: change(path), track_id })
  }
}

/** A ready track, and what is seen of its files. */
async function aPlayedTrack() {
  const { key, collection_id } = await aShop()
  const track_id = await aReadyTrack(key, collection_id)
  const { play_session_id } = await ok('POST', '/v1/play_session/track', { key, body: { track_id } })
  async function seen() {
    const { track, variants } = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
    const files = await ok('GET', `/v1/track/${track_id}/variant`, { key })
    return { track, paths: variants.map(({ path }) => path), files: files.variants }
  }
  return { track_id, seen }
}

it('is made of what a database has, and nothing that is seen changes', async () => {
  onTestFinished(makeStorage)
  const { track_id, seen } = await aPlayedTrack()
  const before = await seen()
  expect([before.paths.length, before.files.length]).toEqual([3, 7])
  await formerly(track_id)
  // Everything again in a database of the version before.
  const tables = ['organizations', 'api_keys', 'collections', 'tracks', 'track_variants', 'hourly_play_sessions']
  const rows = await Promise.all(tables.map((table) => query(`select * from ${table}`)))
  await reset()
  await apply((name) => name < '0008')
  for (const [at, table] of tables.entries()) {
    const columns = (await query<{ name: string }>('select name from pragma_table_info(?)', table)).map(
      ({ name }) => name,
    )
    for (const row of rows[at]!) {
      const former = Object.entries(row).filter(([name]) => columns.includes(name))
      await insert(table, { ...Object.fromEntries(former), ...(row.files ? { files: '[{"index":"aac-160"}]' } : {}) })
    }
  }
  await apply((name) => name >= '0008')
  expect(await seen()).toEqual(before)
  await runSweep()
  expect(await seen()).toEqual(before)
})

it('takes over in the next sweep what an older Worker has written meanwhile', async () => {
  const { track_id, seen } = await aPlayedTrack()
  const before = await seen()
  await formerly(track_id, (path) => `${path}-newer`)
  await insert('track_variants', { track_id: 'gone', index: 'aac-160', path: 'x', size: 1, bitrate: 1, duration: 1 })
  await runSweep()
  const { paths, files } = await seen()
  expect(paths).toEqual(before.paths.map((path: string) => `${path}-newer`))
  expect(files).toEqual(before.files)
  expect(await query('select * from track_variants')).toEqual([])
})

it('keeps what this version has written, whatever an older one wrote before', async () => {
  const { track_id, seen } = await aPlayedTrack()
  const before = await seen()
  const files = await filesOf(track_id)
  await formerly(track_id, (path) => `${path}-older`)
  // What an older version writes counts for the newest until then.
  expect(await filesOf(track_id)).toEqual([])
  await query('update tracks set files = ? where id = ?', JSON.stringify(files), track_id)
  await runSweep()
  expect(await seen()).toEqual(before)
  expect(await query('select * from track_variants')).toEqual([])
})
