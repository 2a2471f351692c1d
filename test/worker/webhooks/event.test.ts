import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { EVENT_TYPES } from '../../../src/contract/event.ts'
import { ok, query, expectError } from '../support/api.ts'
import { deliver, eventually, advanceHours, runSweep } from '../support/fixtures.ts'
import { early } from '../support/long_track.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { aTenantWithEvents, dataOf, eventsOf, sendCover, typesOf } from '../support/tenant_events.ts'
import { errorEvent, eventStream, completeResult, startTranscoder } from '../support/transcoder.ts'

/** Tests that each change is recorded as one event with its actor (docs/decisions/0056). */

const typesIn = (text: string) => text.trim().split(/\s+/)
/** The event types that each test records. */
const EXPECTED = {
  life: typesIn('track.created track.uploaded track.playable cover.ready track.ready'),
  processed: typesIn('track.ready track.incomplete track.incomplete'),
  replaced: typesIn('track.ready track.updated track.failed track.updated'),
  ended: typesIn('track.deleted track.created track.deleted track.deleted'),
  collection: typesIn(`
    collection.created collection.updated cover.ready cover.failed collection.deleted collection.created
    collection.deleted`),
  reprocess: typesIn(`
    collection.updated collection.reprocess.finished collection.deleted collection.deleted track.deleted track.deleted`),
  playlist: typesIn(`
    playlist.created playlist.updated playlist.updated playlist.updated track.deleted playlist.updated track.created
    playlist.deleted playlist.created playlist.deleted`),
  key: typesIn('api_key.created api_key.updated api_key.rotated api_key.revoked'),
  share: typesIn('share.created share.updated share.revoked'),
}

afterEach(() => void vi.useRealTimers())

describe('a track', () => {
  it('records each step from its creation to its deletion exactly once, in order, with the actor', async () => {
    const tenant = await aTenantWithEvents()
    const { key, actor, api } = tenant
    let track_id = ''
    tenant.answers((job) => [early(), completeResult(job, { cover: { image_colors: [] } })])
    const life = await tenant.during(async () => {
      track_id = await tenant.ready({ organization_index: 'a-17' })
    })
    expect(typesOf(life)).toEqual(EXPECTED.life)
    expect(life.map((event) => event.actor)).toEqual([actor, null, null, null, null])
    expect(new Set(life.map(({ subject }) => subject))).toEqual(new Set([`track:${track_id}`]))
    const common = { track_id, collection_id: tenant.collection_id, organization_index: 'a-17' }
    expect(life.map(({ data }) => data)).toEqual([
      { ...common, status: 'initializing', is_restored: false },
      { ...common, status: 'processing', size: 10 },
      { ...common, status: 'processing', duration: 3600.123, variant: 'early' },
      { scope: 'track', resource_id: track_id, organization_index: 'a-17' },
      { ...common, status: 'ready', duration: 12.5 },
    ])
    const numbers = life.map(({ seq }) => seq)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(new Set([...numbers, ...life.map(({ id }) => id)]).size).toBe(10)
    for (const { seq, sequence, timestamp } of life) {
      expect(sequence).toBe(seq)
      expect(Math.abs(seq - Date.parse(timestamp))).toBeLessThan(1000)
    }

    const again = await tenant.during(async () => {
      await api('POST', `track/${track_id}/upload_complete`)
      const [row] = await query<{ job_id: string; upload_path: string }>('select job_id, upload_path from tracks')
      await deliver('transcode', { job_id: row!.job_id })
      await deliver('ingest', { action: 'PutObject', object: { key: row!.upload_path } })
      await api('PUT', `track/${track_id}`, {})
    })
    expect(again).toEqual([])

    const processed = await tenant.during(async () => {
      tenant.answers((job) => [completeResult(job)])
      await tenant.reprocess(track_id, 'ready')
      const failed = [{ index: 'aac-160', code: 'internal', message: 'It broke' }]
      tenant.answers((job) => [completeResult(job, { failed })])
      await tenant.reprocess(track_id, 'incomplete')
      tenant.answers(() => [errorEvent('no_audio', 'No audio')])
      await tenant.reprocess(track_id, 'incomplete')
    })
    expect(typesOf(processed)).toEqual(EXPECTED.processed)
    expect(processed.slice(1).map(({ data }) => data)).toMatchObject([
      { error: null, failed_variants: ['aac-160'] },
      { error: 'no_audio', status: 'incomplete' },
    ])

    const replaced = await tenant.during(async () => {
      tenant.answers((job) => [completeResult(job)])
      await tenant.reprocess(track_id, 'ready')
      await api('POST', `track/${track_id}/upload`, { file_name: 'b.mp3' })
      const [row] = await query<{ upload_path: string }>('select upload_path from tracks')
      await env.MEDIA.put(row!.upload_path, '')
      await api('POST', `track/${track_id}/upload_complete`)
      await api('PUT', `track/${track_id}`, { title: 'So What', metadata: { a: 1 } })
    })
    expect(typesOf(replaced)).toEqual(EXPECTED.replaced)
    expect(replaced.map((event) => event.actor)).toEqual([null, actor, null, actor])
    expect(replaced.slice(1).map(({ data }) => data)).toMatchObject([
      { changed: ['upload'] },
      { status: 'ready', error: 'empty_file' },
      { changed: ['player_title', 'metadata'] },
    ])

    const ended = await tenant.during(async () => {
      await api('DELETE', `track/${track_id}?trash=true`)
      await api('POST', `trash/${track_id}/restore`)
      await expectError(404, 'not_found', 'POST', `/v1/trash/${track_id}/restore`, { key })
      await api('DELETE', `track/${track_id}?trash=true`)
      await api('DELETE', `trash/${track_id}`)
      await expectError(404, 'not_found', 'DELETE', `/v1/track/${track_id}`, { key })
    })
    expect(typesOf(ended)).toEqual(EXPECTED.ended)
    expect(ended.map(({ data }) => data)).toMatchObject([
      { ...common, is_trashed: true },
      { ...common, is_restored: true },
      { ...common, is_trashed: true },
      { ...common, status: 'ready', is_trashed: false },
    ])
    expect(new Set(ended.map((event) => event.actor))).toEqual(new Set([actor]))
  })

  it('records the failure of its processing and the expiry of its upload', async () => {
    const tenant = await aTenantWithEvents()
    tenant.answers(() => [errorEvent('no_audio', 'No audio')])
    const failed = await tenant.during(async () => uploadAndProcess(tenant.key, await tenant.track(), 'failed'))
    expect(typesOf(failed)).toEqual(['track.created', 'track.uploaded', 'track.failed'])
    expect(failed.at(-1)!.data).toMatchObject({ status: 'failed', error: 'no_audio' })
    const late = await tenant.during(async () => {
      await tenant.track()
      advanceHours(2)
      await runSweep()
      await runSweep()
      vi.useRealTimers()
    })
    expect(typesOf(late)).toEqual(['track.created', 'track.failed'])
    expect(late.at(-1)!.data).toMatchObject({ error: 'upload_expired' })
  })
})

it('a collection records changes to its cover, its order and its reprocess, and the deletion of its tracks', async () => {
  const tenant = await aTenantWithEvents()
  const { api, actor } = tenant
  const ids = [await tenant.ready(), await tenant.ready()]
  let collection_id = ''
  const list = await tenant.during(async () => {
    const body = { title: 'Kind of Blue', organization_index: 'k' }
    const headers = { 'idempotency-key': 'collection' }
    const created = await ok('POST', '/v1/collection', { key: tenant.key, headers, body })
    ;({ collection_id } = await ok('POST', '/v1/collection', { key: tenant.key, headers, body }))
    expect(collection_id).toBe(created.collection_id)
    await api('PUT', `collection/${collection_id}`, { title: 'Blue' })
    await api('PUT', `collection/${collection_id}`, {})
    await sendCover(created.collection_cover_upload)
    const refusal = { code: 'unsupported_image' as const, message: 'It cannot be read', retryable: false }
    startTranscoder({ cover: () => ({ ok: false, error: refusal }) })
    await sendCover(created.collection_cover_upload)
    await api('DELETE', `collection/${collection_id}?trash=true`)
    await api('POST', `trash/${collection_id}/restore`)
    await api('DELETE', `collection/${collection_id}`)
  })
  expect(typesOf(list)).toEqual(EXPECTED.collection)
  expect(list.map((event) => event.actor)).toEqual([actor, actor, null, null, actor, actor, actor])
  expect(new Set(list.map(({ subject }) => subject))).toEqual(new Set([`collection:${collection_id}`]))
  const common = { collection_id, organization_index: 'k' }
  expect(list.map(({ data }) => data)).toEqual([
    { ...common, is_restored: false },
    { ...common, changed: ['title'] },
    { scope: 'collection', resource_id: collection_id, organization_index: 'k' },
    { scope: 'collection', resource_id: collection_id, organization_index: 'k', error: 'unsupported_image' },
    { ...common, is_trashed: true },
    { ...common, is_restored: true },
    { ...common, is_trashed: false },
  ])

  startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
  const path = `collection/${tenant.collection_id}`
  const changes = await tenant.during(async () => {
    await api('PUT', `${path}/track/order`, { track_ids: ids.toReversed() })
    await api('POST', `${path}/reprocess`, { all: true })
    const isDone = async () => (await api('GET', `${path}/reprocess`)).reprocess.state === 'done'
    await eventually(async () => (await runSweep(), isDone()))
    await api('DELETE', `${path}?trash=true`)
    await api('DELETE', `trash/${tenant.collection_id}`)
    await eventually(async () => (await query('select 1 from tracks')).length === 0)
  })
  const ready = typesOf(changes).filter((type) => type === 'track.ready')
  expect(ready).toHaveLength(2)
  expect(typesOf(changes).filter((type) => type !== 'track.ready')).toEqual(EXPECTED.reprocess)
  expect(dataOf(changes, 'collection.reprocess.finished')).toEqual({
    collection_id: tenant.collection_id,
    total: 2,
    done: 2,
    failed: 0,
  })
  expect(dataOf(changes, 'collection.updated')).toMatchObject({ changed: ['order'] })
  // The tracks are deleted after the request has ended, but the actor is still its caller.
  expect(new Set(changes.slice(-2).map((event) => event.actor))).toEqual(new Set([actor]))
  expect(new Set(changes.slice(-2).map(({ subject }) => subject))).toEqual(new Set(ids.map((id) => `track:${id}`)))
})

it('a playlist records its changes, including those caused by trashed and restored tracks', async () => {
  const tenant = await aTenantWithEvents()
  const { api, key, actor } = tenant
  const track_id = await tenant.track()
  let playlist_id = ''
  const list = await tenant.during(async () => {
    ;({ playlist_id } = await api('POST', 'playlist', { title: 'Mix' }))
    await api('PUT', `playlist/${playlist_id}`, { title: 'Mix 2' })
    await api('POST', `playlist/${playlist_id}/track`, { track_ids: [track_id, track_id] })
    const stale = { key, headers: { 'if-match': '1' }, body: { track_ids: [] } }
    await expectError(412, 'version_mismatch', 'PUT', `/v1/playlist/${playlist_id}/track`, stale)
    await api('DELETE', `track/${track_id}?trash=true`)
    await api('POST', `trash/${track_id}/restore`)
    await api('DELETE', `playlist/${playlist_id}?trash=true`)
    await api('POST', `trash/${playlist_id}/restore`)
    await api('DELETE', `playlist/${playlist_id}`)
  })
  expect(typesOf(list)).toEqual(EXPECTED.playlist)
  expect(list.map(({ data }) => ('version' in data && data.version) || undefined)).toEqual([
    1,
    1,
    2,
    3,
    undefined,
    4,
    undefined,
    expect.any(Number),
    expect.any(Number),
    expect.any(Number),
  ])
  expect(new Set(list.map((event) => event.actor))).toEqual(new Set([actor]))
})

it('a share records its changes, without its slug and password', async () => {
  const tenant = await aTenantWithEvents()
  const { api, key, actor, collection_id } = tenant
  let share_id = ''
  const list = await tenant.during(async () => {
    const body = { scope: 'collection', id: collection_id, slug: 'kind-of-blue', title: 'Blue', password: 'so what?' }
    ;({ share_id } = await api('POST', 'share', body))
    await expectError(409, 'slug_taken', 'POST', '/v1/share', { key, body })
    await api('PUT', `share/${share_id}`, { slug: 'blue-in-green', password: 'all blues' })
    await api('PUT', `share/${share_id}`, {})
    await api('DELETE', `share/${share_id}`)
    await expectError(404, 'not_found', 'DELETE', `/v1/share/${share_id}`, { key })
  })
  const data = { share_id, scope: 'collection', resource_id: collection_id }
  expect(typesOf(list)).toEqual(EXPECTED.share)
  for (const event of list) expect(event).toMatchObject({ actor, subject: `share:${share_id}`, data })
  expect(list[1]!.data).toMatchObject({ changed: ['slug', 'password'] })
  expect(JSON.stringify(list)).not.toMatch(/blue|so what/i)
})

it('the events of a key contain the actor who created, changed, rotated or revoked the key', async () => {
  const tenant = await aTenantWithEvents()
  const { api, key, actor } = tenant
  const [first] = await eventsOf(key)
  expect(first).toMatchObject({ type: 'api_key.created', actor: 'root', subject: actor, data: { type: 'server' } })
  let api_key_id = ''
  const list = await tenant.during(async () => {
    ;({ api_key_id } = await api('POST', 'api_key', { title: 'Web', type: 'player' }))
    await api('PUT', `api_key/${api_key_id}`, { is_downloadable: true })
    await api('POST', `api_key/${api_key_id}/rotate`, { grace_seconds: 0 })
    await api('DELETE', `api_key/${api_key_id}`)
    const own_path = `/v1/api_key/${actor.split(':')[1]}`
    await expectError(409, 'last_server_key', 'DELETE', own_path, { key })
    await expectError(409, 'last_server_key', 'PUT', own_path, { key, body: { expires_at: '2099-01-01T00:00:00Z' } })
  })
  expect(typesOf(list)).toEqual(EXPECTED.key)
  const common = { actor, subject: `api_key:${api_key_id}`, data: { api_key_id, type: 'player' } }
  for (const event of list) expect(event).toMatchObject(common)
  expect(JSON.stringify(list)).not.toContain('Web')
})

it('all event types are covered by these tests, except those of webhooks, quotas and listening', () => {
  const types = EVENT_TYPES.filter((type) => !/^(webhook|quota|stats)/.test(type))
  expect(new Set(Object.values(EXPECTED).flat())).toEqual(new Set(types))
})
