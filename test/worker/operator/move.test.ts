import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { TABLES, WALKS } from '../../../src/adapters/db/backup.ts'
import { NOT_EXPORTED, OF_ORGANIZATION, SECRETS } from '../../../src/adapters/db/organization_tables.ts'
import type { Row } from '../../../src/contract/backup.ts'
import worker from '../../../src/index.ts'
import { anApiKey, aPlaylist, aTrack, call, ok, query } from '../support/api.ts'
import { act, type Action, backup_id, post, readAll, type Tables } from '../support/backup.ts'
import { aWorkspace, theWorkspace } from '../support/contract_workspace.ts'
import { aTenant, runSweep, storeFiles, trackRow } from '../support/fixtures.ts'
import { expectCounted } from '../support/usage_counts.ts'

/** The Worker's part of an export and an import of one organization. test/e2e/backup.test.ts runs the commands. */

const refusal = async (action: Action, input: object) => {
  const { body } = await post({ action, ...input })
  const { code, message } = body as { code?: string; message?: string }
  return `${code}: ${message}`
}

/** Deletes all rows of an organization, as if it had never been in this service. */
async function forget(organization_id: string) {
  const shares = await query<{ id: string }>('select id from shares where organization_id = ?', organization_id)
  for (const [name, condition] of Object.entries(OF_ORGANIZATION).toReversed())
    await query(`delete from ${name} where ${condition}`, organization_id)
  for (const name of ['jobs', 'play_sessions', 'usage_days', 'events', 'webhook_endpoints'])
    await query(`delete from ${name} where organization_id = ?`, organization_id)
  for (const { id } of shares) await query('delete from retired_slugs where share_id = ?', id)
  await query('delete from webhook_deliveries')
  for (const { key } of (await env.MEDIA.list()).objects) if (key.includes(organization_id)) await env.MEDIA.delete(key)
}

const start = async (organization_id: string) => {
  const { schema_version } = await act('describe', {})
  await act('start', { organization_id, backup_id, schema_version })
}
const insertAll = async (organization_id: string, tables: Tables) => {
  for (const [table, rows] of tables)
    if (table !== 'organizations') await act('insert', { organization_id, backup_id, table, rows })
}
const finish = (organization_id: string, tables: Tables) =>
  act('finish', {
    organization_id,
    backup_id,
    after: '',
    counts: Object.fromEntries(
      [...tables].flatMap(([name, rows]) => (name === 'organizations' ? [] : [[name, rows.length]])),
    ),
    organization: tables.get('organizations')![0],
  })

async function importAll(organization_id: string, tables: Tables) {
  await start(organization_id)
  await insertAll(organization_id, tables)
  const finished = await finish(organization_id, tables)
  await act('close', { organization_id, backup_id })
  return finished
}

/** Returns the status of the page of a share. */
const pageOf = async (slug: string) =>
  (await worker.fetch(new Request(`https://tonearm.test/s/${slug}`), env, createExecutionContext())).status

/** The rows in a fixed order. Uploads that were waited for are checked again after an import. */
const sorted = (rows: Row[] = []) =>
  rows.map((row) => JSON.stringify({ ...row, ...('next_check_at' in row && { next_check_at: 0 }) })).toSorted()

describe('an export', () => {
  it('has every table of a backup, or says why not', () => {
    expect([...Object.keys(OF_ORGANIZATION), ...Object.keys(NOT_EXPORTED)].toSorted()).toEqual(TABLES.toSorted())
    for (const { tables } of Object.values(WALKS))
      expect(new Set(Object.keys(tables).map((name) => name in OF_ORGANIZATION)).size).toBe(1)
  })

  it('has the rows and files of one organization, without secrets', async () => {
    const [one, other] = [await aWorkspace(), await aWorkspace()]
    for (const { track_id } of [one, other]) await storeFiles(track_id)
    const { organization_id } = one
    const all = await readAll()
    const tables = await readAll(organization_id)
    for (const [name, rows] of tables) {
      expect.soft(JSON.stringify(rows), name).not.toContain(other.organization_id)
      for (const secret of SECRETS[name] ?? []) expect.soft(rows[0], name).not.toHaveProperty(secret)
      const owned = all.get(name)!.filter((row) => row.organization_id === organization_id)
      if (name !== 'listening') expect.soft(rows.length, name).toBeGreaterThanOrEqual(owned.length)
    }
    const filled = ['collections', 'playlists', 'playlist_tracks', 'tracks', 'trash', 'shares', 'api_keys', 'variants']
    for (const name of filled) expect.soft(tables.get(name)!.length, name).toBeGreaterThan(0)
    const { objects } = await act('objects', { organization_id, after: '' })
    const uploads = await act('objects', { organization_id, after: `uploads/${organization_id}/` })
    const paths = [...objects, ...uploads.objects].map(({ path }) => path)
    expect(paths.length).toBe(7)
    expect(paths.filter((path) => !path.includes(organization_id))).toEqual([])
    expect(await refusal('rows', { organization_id, walk: 'jobs', after: null })).toContain('walk')
  })
})

describe('an import', () => {
  it('has the same rows, counts and usage next to another organization, whose rows stay the same', async () => {
    const { key, organization_id, track_id, collection_id } = await theWorkspace()
    await storeFiles(track_id)
    // The oldest key may not manage keys.
    const narrow = await anApiKey(key, { type: 'server', may: ['read', 'write'] })
    await query('update api_keys set seq = 0 where id = ?', narrow.api_key_id)
    const other = await aTenant()
    const tables = await readAll(organization_id)
    const others = await readAll(other.organization_id)
    const paths = [
      '/v1/collection',
      `/v1/collection/${collection_id}/track`,
      '/v1/playlist',
      '/v1/share',
      '/v1/trash',
      '/v1/variant',
    ]
    const read = (secret: string) =>
      Promise.all(['/v1/usage', '/v1/event', ...paths].map((path) => ok('GET', path as '/v1/usage', { key: secret })))
    const before = await read(key)
    await forget(organization_id)
    const { key: opened } = await importAll(organization_id, tables)

    const again = await readAll(organization_id)
    for (const [name, rows] of tables) {
      if (['organizations', 'webhook_endpoints', 'api_keys'].includes(name))
        expect.soft(again.get(name)!.length, name).toBe(rows.length)
      else expect.soft(sorted(again.get(name)), name).toEqual(sorted(rows))
    }
    expect(again.get('webhook_endpoints')).toMatchObject([{ state: 'paused', reason: 'restored' }])
    expect(await readAll(other.organization_id)).toEqual(others)
    expect(await query(`select name from heartbeats where name glob 'import:*'`)).toEqual([])
    expect(await query('select count(*) as count from webhook_deliveries')).toEqual([{ count: 0 }])
    // The old secret does not work.
    expect((await call('GET', '/v1/collection', { key })).status).toBe(401)
    const now = await read(opened!.secret)
    for (const [at, answer] of before.entries())
      expect.soft(now[at]).toEqual({ ...answer, api_request_id: expect.anything() })
    await expectCounted({ key: opened!.secret, organization_id })
    const { api_key } = await ok('GET', `/v1/api_key/${narrow.api_key_id}`, { key: opened!.secret })
    expect(api_key.may).toEqual(['read', 'write'])
    expect((await ok('GET', '/v1/api_key/self', { key: opened!.secret })).api_key.may).toHaveLength(3)
    const found = await ok('GET', '/v1/track?q=mp3', { key: opened!.secret })
    expect(found.count).toBeGreaterThan(0)
  })

  it('is invisible until its last row is there, and the sweep leaves it alone', async () => {
    const { key, organization_id, collection_id } = await aTenant()
    const { id } = await aTrack(key, collection_id)
    await query('update tracks set upload_expires_at = 0, next_check_at = 0 where id = ?', id)
    const { slug } = (
      await ok('POST', '/v1/share', { key, body: { scope: 'collection', id: collection_id, password: 'open sesame' } })
    ).share
    const tables = await readAll(organization_id)
    await forget(organization_id)
    await start(organization_id)
    await insertAll(organization_id, tables)
    await insertAll(organization_id, tables)
    await runSweep()
    expect((await trackRow(id)).status).toBe('initializing')
    expect(await pageOf(slug)).toBe(410)
    expect((await call('GET', '/v1/organization', { key: env.ROOT_KEY })).body).toMatchObject({ count: 0 })
    tables.get('tracks')!.push({ id: 'more' })
    const counts = { tracks: 2 }
    const organization = tables.get('organizations')![0]
    expect(await refusal('finish', { organization_id, backup_id, after: '', counts, organization })).toContain(
      'tracks (1 of 2)',
    )
    expect(await refusal('finish', { organization_id, backup_id, after: '', counts: {} })).toContain('restore_refused')
    expect((await call('GET', '/v1/organization', { key: env.ROOT_KEY })).body).toMatchObject({ count: 0 })
    const finish = { organization_id, backup_id, after: '', counts: {}, organization }
    const { key: lost } = await act('finish', finish)
    // The response may be lost, and no other secret works.
    const { key: opened } = await act('finish', finish)
    expect([opened!.id, opened!.secret === lost!.secret]).toEqual([lost!.id, false])
    await act('close', { organization_id, backup_id })
    expect(await refusal('finish', finish)).toContain('restore_refused')
    await runSweep()
    expect((await trackRow(id)).status).toBe('failed')
    expect((await ok('GET', '/v1/collection', { key: opened!.secret })).count).toBe(1)
    expect(await pageOf(slug)).toBe(200)
    expect(await query('select * from retired_slugs')).toEqual([])
  })

  it('is refused where the organization exists, while another export of it is imported, and with another schema', async () => {
    const { organization_id } = await aTenant()
    const { schema_version } = await act('describe', {})
    expect(await refusal('start', { organization_id, backup_id, schema_version })).toContain('exists in this service')
    await forget(organization_id)
    expect(await refusal('start', { organization_id, backup_id, schema_version: 'older' })).toContain(
      'the schema older',
    )
    expect(await refusal('insert', { organization_id, backup_id, table: 'tracks', rows: [] })).toContain(
      'restore_refused',
    )
    await query(
      `insert into jobs (id, organization_id, payload, lease_until, wake_at, created_at) values ('1', ?, '{}', 0, 9e15, 0)`,
      organization_id,
    )
    expect(await refusal('start', { organization_id, backup_id, schema_version })).toContain('still being deleted')
    await query('delete from jobs')
    await start(organization_id)
    const other = '000b2c5e-0000-4000-8000-000000000002'
    expect(await refusal('start', { organization_id, backup_id: other, schema_version })).toContain('Another export')
    const full = { key: env.ROOT_KEY, bindings: { ...env, DATABASE_LIMIT_BYTES: '1' } }
    const body = { action: 'insert', organization_id, backup_id, table: 'tracks', rows: [] }
    expect((await call('POST', '/v1/system/backup', { ...full, body })).status).toBe(507)
    for (const table of ['organizations', 'jobs', 'heartbeats'])
      expect(await refusal('insert', { organization_id, backup_id, table, rows: [] })).toContain('invalid_request')
    expect(await refusal('urls', { organization_id, backup_id, paths: [`media/${other}/a`] })).toContain(
      'invalid_request',
    )
  })

  it('refuses ids and slugs of other organizations, and changes none of their rows', async () => {
    const [one, other] = [await aTenant(), await aTenant()]
    const { organization_id } = one
    const share = { scope: 'collection' as const, id: other.collection_id, slug: 'taken' }
    const { share_id } = await ok('POST', '/v1/share', { key: other.key, body: share })
    await ok('PUT', `/v1/share/${share_id}`, { key: other.key, body: { slug: 'now' } })
    const { id: track_id } = await aTrack(other.key, other.collection_id)
    await aPlaylist(other.key, [track_id])
    const others = await readAll(other.organization_id)
    const { share_id: own } = await ok('POST', '/v1/share', {
      key: one.key,
      body: { ...share, id: one.collection_id, slug: 'free' },
    })
    const tables = await readAll(organization_id)
    await forget(organization_id)
    await start(organization_id)
    for (const slug of ['taken', 'now']) {
      const taken = await act('taken', {
        organization_id,
        ids: [one.collection_id, track_id],
        slugs: [
          [slug, own],
          ['free', own],
        ],
      })
      expect(taken).toMatchObject({ ids: [track_id], slugs: [slug] })
    }
    for (const table of ['collections', 'tracks', 'playlists', 'playlist_tracks', 'shares', 'api_keys']) {
      const rows = others
        .get(table)!
        .map((row): Row =>
          'organization_id' in row ? { ...row, organization_id } : { ...row, track_id: one.collection_id },
        )
      expect
        .soft(await refusal('insert', { organization_id, backup_id, table, rows }), table)
        .toContain(String(rows[0]!.id))
    }
    const stolen = tables.get('shares')!.map((row) => ({ ...row, slug: 'now' }))
    expect(await refusal('insert', { organization_id, backup_id, table: 'shares', rows: stolen })).toContain('slug')
    // The id of the organization in a row has no effect.
    const rows = tables.get('collections')!.map((row) => ({ ...row, organization_id: other.organization_id }))
    await act('insert', { organization_id, backup_id, table: 'collections', rows })
    expect(await readAll(other.organization_id)).toEqual(others)
  })

  it('can be discarded, and then started again', async () => {
    const { key, organization_id, collection_id } = await aTenant()
    await aTrack(key, collection_id)
    const share = { scope: 'collection' as const, id: collection_id, slug: 'former' }
    const { share_id } = await ok('POST', '/v1/share', { key, body: share })
    await ok('PUT', `/v1/share/${share_id}`, { key, body: { slug: 'now' } })
    const tables = await readAll(organization_id)
    expect(await refusal('discard', { organization_id })).toContain('restore_refused')
    await forget(organization_id)
    await start(organization_id)
    await insertAll(organization_id, tables)
    expect(await query('select slug from retired_slugs order by slug')).toEqual([{ slug: 'former' }, { slug: 'now' }])
    await env.MEDIA.put(`media/${organization_id}/a`, 'a')
    await act('discard', { organization_id })
    await expect.poll(() => act('describe', { organization_id })).toMatchObject({ occupied: [], restore: null })
    await expect.poll(() => query(`select 1 from jobs where state = 'open'`)).toEqual([])
    expect(await query('select * from retired_slugs')).toEqual([])
    await importAll(organization_id, tables)
    expect((await readAll(organization_id)).get('tracks')!.length).toBe(1)
  })
})
