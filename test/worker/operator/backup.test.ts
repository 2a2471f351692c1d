import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { NOT_COPIED, TABLES, WALKS } from '../../../src/adapters/db/backup.ts'
import type { Row } from '../../../src/contract/backup.ts'
import { aPlaylist, aPlaySession, aTrack, call, ok, query } from '../support/api.ts'
import { act, type Action, backup_id, post, readAll } from '../support/backup.ts'
import { aTenant, aTrackWithJob, jobRow, runSweep, trackRow } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { emptyStorage } from '../support/storage.ts'
import { completeResult, eventStream, startTranscoder } from '../support/transcoder.ts'
import { expectCounted } from '../support/usage_counts.ts'
import { anEndpoint, UNREACHABLE_URL } from '../support/webhooks.ts'

/** The Worker's part of a backup and a restore. test/e2e/backup.test.ts runs the commands. */

const refusal = async (action: Action, input: object) => {
  const { status, body } = await post({ action, ...input })
  return `${status} ${(body as { code: string }).code}`
}

const start = async () => {
  const { schema_version } = await act('describe', {})
  await act('start', { backup_id, schema_version })
}
const insertAll = async (tables: Map<string, Row[]>) => {
  for (const [table, rows] of tables) await act('insert', { backup_id, table, rows })
}
const countsOf = (tables: Map<string, Row[]>) =>
  Object.fromEntries([...tables].map(([name, rows]) => [name, rows.length]))
const finish = (tables: Map<string, Row[]>) => act('finish', { backup_id, after: '', counts: countsOf(tables) })

/** Empties the service and restores these rows. */
async function restore(tables: Map<string, Row[]>) {
  await emptyStorage()
  await start()
  await insertAll(tables)
  return finish(tables)
}

describe('the tables', () => {
  it('of the schema are all either copied or not copied for a reason', async () => {
    const tables = await query<{ name: string }>(`select name from sqlite_schema where type = 'table'
      and name not glob '_cf_*' and name not glob 'sqlite_*' and (name not glob 'search_*' or name in ('search_fills', 'search_titles'))`)
    expect([...TABLES, ...Object.keys(NOT_COPIED)].toSorted()).toEqual(tables.map(({ name }) => name).toSorted())
  })

  it('are read in the order of a key that is unique', async () => {
    for (const { key, tables } of Object.values(WALKS)) {
      for (const name of Object.keys(tables)) {
        const columns = await query<{ name: string; pk: number }>(`pragma table_xinfo(${name})`)
        const primary = columns.filter(({ pk }) => pk > 0).map((column) => column.name)
        expect.soft(key, name).toEqual(expect.arrayContaining(primary))
      }
    }
  })
})

describe('the endpoint', () => {
  it('accepts only the root key and known actions', async () => {
    const { key } = await aTenant()
    expect((await post({ action: 'describe' }, key)).status).toBe(403)
    expect((await call('POST', '/v1/system/backup', { body: { action: 'describe' } })).status).toBe(401)
    expect(await refusal('describe', { more: 1 })).toBe('400 invalid_request')
    expect(await refusal('unknown' as Action, {})).toBe('400 invalid_request')
    for (const walk of ['sqlite_schema', '__proto__', 'constructor'])
      expect(await refusal('rows', { walk, after: null }), walk).toBe('400 invalid_request')
    expect(await refusal('rows', { walk: 'events', after: ['one'] })).toBe('400 invalid_request')
    for (const place of ['0:200', '[0', '{}', '[0,[1]]', '["0"]', '[0,1,2,3,4,5,6,7]']) {
      const after = ['0003c1b2-0000-4000-8000-000000000000', 0, place]
      expect(await refusal('rows', { walk: 'listening', after }), place).toBe('400 invalid_request')
    }
    expect(await refusal('urls', { backup_id, paths: ['elsewhere'] })).toBe('400 invalid_request')
    expect((await post('no JSON')).status).toBe(400)
  })

  it('lists the objects of the service, with URLs, in the order of their paths', async () => {
    for (const path of ['uploads/a', 'media/b', 'media/a', 'other/c']) await env.MEDIA.put(path, path)
    const first = await act('objects', { after: '' })
    const second = await act('objects', { after: first.after! })
    expect([...first.objects, ...second.objects].map(({ path, size }) => `${path} ${size}`)).toEqual([
      'media/a 7',
      'media/b 7',
      'uploads/a 9',
    ])
    expect(second.after).toBeNull()
    expect(first.objects[0]!.url).toContain('X-Amz-Signature')
  })

  it('reads many rows in pages, of a table and of the trash together', async () => {
    const { key, organization_id, collection_id } = await aTenant()
    await query(
      `insert into tracks (id, organization_id, collection_id, "index", file_name, "order", metadata, cover_colors, status,
          upload_expires_at, awaiting_upload, next_check_at, created_at, info)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)
        select printf('00000000-0000-4000-8000-%012x', i), ?, ?, 'many' || i, 'many.mp3', i, '{}', '[]', 'failed', 0, 0, 0, 1, '{}' from n`,
      organization_id,
      collection_id,
    )
    const trashed = Array.from(
      { length: 3 },
      (_, at) => `00000000-0000-4000-8000-${(at * 400 + 7).toString(16).padStart(12, '0')}`,
    )
    for (const id of trashed) await ok('DELETE', `/v1/track/${id}?trash=true`, { key })
    const tables = await readAll()
    expect(tables.get('tracks')!.length).toBe(1097)
    expect(new Set(tables.get('tracks')!.map(({ id }) => id)).size).toBe(1097)
    expect(tables.get('trash')!.map(({ id }) => id)).toEqual(trashed)
  })
})

describe('a restore', () => {
  it('has the same rows, counts and usage, and creates no event and no delivery', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const { key, organization_id, collection_id } = await aTenant()
    const { id: endpoint_id } = await anEndpoint(key, { url: UNREACHABLE_URL })
    const track_id = await aProcessedTrack(key, collection_id)
    await aPlaylist(key, [track_id])
    await aPlaySession(key, 'track', track_id)
    const tables = await readAll()
    expect(tables.get('events')!.length).toBeGreaterThan(3)
    await restore(tables)

    const again = await readAll()
    for (const name of TABLES.filter((table) => table !== 'webhook_endpoints'))
      expect.soft(again.get(name), name).toEqual(tables.get(name))
    expect(again.get('webhook_endpoints')).toMatchObject([{ id: endpoint_id, state: 'paused', reason: 'restored' }])
    await expectCounted({ key, organization_id })
    expect((await ok('GET', `/v1/collection/${collection_id}/track`, { key })).count).toBe(1)
    expect(await act('resume', {})).toMatchObject({ resumed: 1 })
  })

  it('corrects usage and playlists that were read while they changed', async () => {
    startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    const { key, organization_id, collection_id } = await aTenant()
    const track_ids = [await aProcessedTrack(key, collection_id), await aProcessedTrack(key, collection_id)]
    const playlist_id = await aPlaylist(key, track_ids)
    const tables = await readAll()
    tables.set('tracks', tables.get('tracks')!.slice(1))
    const entries = tables.get('playlist_tracks')!.filter((entry) => entry.track_id === tables.get('tracks')![0]!.id)
    tables.set('playlist_tracks', [{ ...entries[0]!, position: 5 }])
    await restore(tables)
    await expectCounted({ key, organization_id })
    expect((await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })).count).toBe(1)
    expect(await query('select position, track_count from playlist_tracks, playlists')).toEqual([
      { position: 0, track_count: 1 },
    ])
  })

  it('queues transcodes again that were running, or whose jobs are missing', async () => {
    const [held, lost] = [await aTrackWithJob(), await aTrackWithJob()]
    await query(`update jobs set holder = 'a worker', slot = 1, lease_until = 9e12 where id = ?`, held.job_id)
    const tables = await readAll()
    tables.set(
      'jobs',
      tables.get('jobs')!.filter(({ id }) => id !== lost.job_id),
    )
    expect(await restore(tables)).toMatchObject({ after: null, queued: 1 })
    expect(await jobRow(held.job_id)).toMatchObject({ state: 'open', holder: null, slot: null, lease_until: 0 })
    const { job_id, status } = await trackRow(lost.track_id)
    expect(status).toBe('processing')
    expect(await jobRow(job_id!)).toMatchObject({
      state: 'open',
      payload: { kind: 'transcode', track_id: lost.track_id },
    })
  })

  it('is refused unless the service is empty and has the same schema, and rejects keys until it has finished', async () => {
    const { key, collection_id } = await aTenant()
    await aTrack(key, collection_id)
    const { schema_version } = await act('describe', {})
    const tables = await readAll()
    expect(await refusal('start', { backup_id, schema_version })).toBe('409 restore_refused')
    expect(await refusal('insert', { backup_id, table: 'tracks', rows: [] })).toBe('409 restore_refused')
    await emptyStorage()
    await env.MEDIA.put('media/a', 'a')
    expect(await refusal('start', { backup_id, schema_version })).toBe('409 restore_refused')
    await env.MEDIA.delete('media/a')
    expect(await refusal('start', { backup_id, schema_version: '0000_other.sql' })).toBe('409 restore_refused')

    await start()
    const other = '000b2c5e-0000-4000-8000-000000000002'
    expect(await refusal('start', { backup_id: other, schema_version })).toBe('409 restore_refused')
    expect(await refusal('insert', { backup_id, table: 'heartbeats', rows: [] })).toBe('400 invalid_request')
    for (const table of ['tracks', 'collections']) await act('insert', { backup_id, table, rows: tables.get(table)! })
    // The isolate still remembers the key, but finds no organization.
    expect((await call('GET', '/v1/collection', { key })).status).toBe(404)
    expect(await refusal('finish', { backup_id, after: '', counts: countsOf(tables) })).toBe('409 restore_refused')
    await insertAll(tables)
    await insertAll(tables)
    await finish(tables)
    expect((await ok('GET', '/v1/collection', { key })).count).toBe(1)
    expect((await ok('GET', `/v1/collection/${collection_id}/track`, { key })).count).toBe(1)
    expect(await refusal('insert', { backup_id, table: 'tracks', rows: [] })).toBe('409 restore_refused')
  })

  it('stops the sweep until it has finished, and health reports it', async () => {
    const { key, collection_id } = await aTenant()
    const { id } = await aTrack(key, collection_id)
    await query('update tracks set upload_expires_at = 0, next_check_at = 0 where id = ?', id)
    const tables = await readAll()
    await emptyStorage()
    await start()
    await insertAll(tables)
    await runSweep()
    expect((await trackRow(id)).status).toBe('initializing')
    expect((await call('GET', '/health')).body).toMatchObject({
      ok: false,
      failing: expect.arrayContaining(['restore']),
    })
    await finish(tables)
    expect((await call('GET', '/health')).body).not.toMatchObject({ failing: expect.arrayContaining(['restore']) })
    await runSweep()
    expect((await trackRow(id)).status).toBe('failed')
  })
})
