import { env } from 'cloudflare:workers'
import { afterEach, expect, it } from 'vitest'

import guide from '../../../docs/development/migrations.md?raw'
import { migrationFaults } from '../../../scripts/shared/migrations.ts'
import { aPlaySession, aTrack, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, aTenantWithTrack, runSweep } from '../support/fixtures.ts'
import { seed, seededId } from '../support/seed.ts'
import { createStorage } from '../support/storage.ts'

/** A database in use is migrated while the previous version of the Worker still runs (CONTRIBUTING.md#migrations). */

afterEach(createStorage)

/** A later migration with the usual changes: a nullable column, an index, a table, and a trigger that fills the table. */
const LATER = [
  'ALTER TABLE tracks ADD note text',
  `CREATE INDEX tracks_note ON tracks (note) WHERE note is not null`,
  'CREATE TABLE IF NOT EXISTS notes (track_id text PRIMARY KEY NOT NULL, text text NOT NULL) WITHOUT ROWID',
  `CREATE TRIGGER IF NOT EXISTS tracks_notes AFTER UPDATE OF status ON tracks WHEN old.status IS NOT new.status BEGIN INSERT OR REPLACE INTO notes (track_id, text) VALUES (new.id, new.status); END`,
  `UPDATE tracks SET note = 'migrated'`,
]
const migrate = () => env.DB.batch(LATER.map((text) => env.DB.prepare(text)))

it('the Worker serves the same library before and after a migration, and its changes fill the new table', async () => {
  const shop = await aTenant()
  const { key, collection_id } = shop
  const track_id = await aReadyTrack(key, collection_id)
  const { play_session_id } = await aPlaySession(key, 'track', track_id)
  const get = async (path: string) => {
    const { api_request_id: _, ...body } = await ok('GET', path, { key })
    return body
  }
  const read = async () => [
    await get(`/v1/track/${track_id}`),
    await get(`/v1/track/${track_id}/variant`),
    await get('/v1/track?sort=title'),
    await get(`/v1/collection/${collection_id}`),
    (await get(`/v1/play/${play_session_id}/${track_id}`)).track,
    (await get('/v1/usage')).usage,
  ]
  const before = await read()
  await migrate()
  expect(await read()).toEqual(before)

  const later = await aReadyTrack(key, collection_id)
  expect(await query('select note from tracks where id = ?', later)).toEqual([{ note: null }])
  expect(await query('select text from notes where track_id = ?', later)).toEqual([{ text: 'ready' }])
  await ok('PUT', `/v1/track/${track_id}`, { key, body: { player_title: 'Renamed' } })
  expect(await ok('GET', '/v1/track?q=renamed', { key })).toMatchObject({ count: 1, tracks: [{ id: track_id }] })
  await runSweep()
  await ok('DELETE', `/v1/collection/${collection_id}`, { key })
})

it('a track that was trashed before a migration added a column can be restored', async () => {
  const { key, track_id } = await aTenantWithTrack()
  const { play_session_id } = await aPlaySession(key, 'track', track_id)
  const view = () => ok('GET', `/v1/play/${play_session_id}/${track_id}`)
  const row = async () => (await query('select * from tracks where id = ?', track_id))[0]!
  const before = { ...(await row()), note: null }
  const { levels } = await view()
  await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
  await migrate()
  await ok('POST', `/v1/trash/${track_id}/restore`, { key })
  expect({ ...(await row()), next_check_at: 0 }).toEqual({ ...before, next_check_at: 0 })
  expect((await view()).levels).toEqual(levels)
})

it('a migration that fails after it dropped a trigger leaves the old trigger, because D1 runs it as one transaction', async () => {
  const { key } = await aTenant()
  const length = async () => (await ok('GET', '/v1/playlist', { key })).count
  const replaced = [
    'DROP TRIGGER IF EXISTS playlists_count_insert',
    'CREATE TRIGGER IF NOT EXISTS playlists_count_insert AFTER INSERT ON playlists BEGIN DELETE FROM playlists; END',
    'CREATE INDEX tracks_size ON tracks (no_such_column)',
  ]
  await expect(env.DB.batch(replaced.map((text) => env.DB.prepare(text)))).rejects.toThrow('no_such_column')
  await ok('POST', '/v1/playlist', { key, body: { title: 'Counted' } })
  expect(await length()).toBe(1)
})

/** Returns the statements of a code block in docs/development/migrations.md. */
const documented = (block: string) =>
  new RegExp(`\\n\`\`\`sql ${block}\\n([^]*?)\\n\`\`\``).exec(guide)![1]!.split(/\n(?:--> statement-breakpoint\n)?/)

it('the documented replacement of an index is filled in steps while tracks change, and no statement reads the whole table', async () => {
  const tenant = await aTenant()
  await seed('tracks', 1, 9000, tenant, {
    plain: true,
    change: () => query(`update tracks set file_name = "order" || '.mp3'`),
  })
  const run = async (statements: string[], ...values: unknown[]) => {
    const bound = statements.map((text) => env.DB.prepare(text).bind(...(text.includes('?1') ? values : [])))
    const results = await env.DB.batch(bound)
    return Math.max(...results.map(({ meta }) => meta.rows_read))
  }
  const cursorOf = async () => (await query<{ cursor: number }>('select cursor from index_fills'))[0]?.cursor
  const indexed = `select organization_id, file_name, id from tracks_by_name order by 1, 2, 3`

  const { meta } = await env.DB.prepare(
    'CREATE INDEX tracks_partial ON tracks (file_name) WHERE file_name IS NULL',
  ).run()
  expect(meta.rows_read).toBeGreaterThanOrEqual(9000)
  const migration = documented('migration')
  expect(migrationFaults({ name: '0009_new.sql', sql: migration.join('\n') })).toEqual([])
  expect(await run(migration)).toBeLessThan(10)
  for (let cursor = await cursorOf(), steps = 0; cursor !== undefined; cursor = await cursorOf(), steps++) {
    expect(steps).toBeLessThan(10)
    const step = documented('step')
    expect(await run(step, cursor)).toBeLessThan(5000)
    // Another sweep repeats the step, and requests change rows on both sides of the cursor.
    await run(step, cursor)
    for (const track of [steps * 10 + 1, 9000 - steps * 10]) {
      await query('update tracks set file_name = ? where id = ?', `renamed ${track}`, seededId('tracks', track))
      await query('delete from tracks where id = ?', seededId('tracks', track + 1))
    }
    await aTrack(tenant.key, tenant.collection_id)
  }
  const tracks = await query('select organization_id, file_name, id from tracks order by 1, 2, 3')
  expect(tracks.length).toBeGreaterThan(8900)
  expect(await query(indexed)).toEqual(tracks)
})
