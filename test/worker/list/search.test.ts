import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import beforeExport from '../../../scripts/deploy/before_export.sql?raw'
import { SEARCH_TABLE } from '../../../src/adapters/db/search.ts'
import { TITLES_TABLE } from '../../../src/adapters/db/search_titles.ts'
import {
  aPlaylist,
  aWaitingTrack,
  CREATORS,
  itemsOf,
  nameOf,
  ok,
  query,
  expectError,
  errorPaths,
} from '../support/api.ts'
import { aTenant, runSweep, type Tenant } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { createStorage } from '../support/storage.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

/** The names of a list's rows in list order, and its count. */
async function listed(key: string, path: string) {
  const { ok: _, api_request_id: __, ...body } = await ok('GET', path, { key })
  return { names: itemsOf(body).map(nameOf), count: body.count as number }
}
const names = async (key: string, path: string) => (await listed(key, path)).names
const find = (key: string, path: string, q: string) => names(key, `${path}?q=${encodeURIComponent(q)}`)

const track = ({ key, collection_id }: Tenant, player_title: string, body: object = {}) =>
  aWaitingTrack(key, collection_id, { player_title, file_name: 'x.mp3', ...body })

describe('the parameter q', () => {
  it('finds tracks by title, artist, file name, tags and index, and ignores case and accents', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    await track(tenant, 'Déjà Vu', { player_subtitle: 'Björk' })
    await track(tenant, 'So What', { file_name: '01_Café-Müller (live).flac', organization_index: 'SKU/77' })
    serveTranscoder((job) =>
      completeResult(job, { tags: { title: 'Flamenco Sketches', artist: 'Milés' }, info: { tags: { comment: 'no' } } }),
    )
    await aProcessedTrack(key, collection_id, { player_title: 'Tagged' })
    const both = ['/v1/track', `/v1/collection/${collection_id}/track`]
    for (const path of both) {
      const found = async (...texts: string[]) => Promise.all(texts.map((q) => find(key, path, q)))
      expect(await found('deja', 'DÉJÀ vu', 'vu dej', 'bjork')).toEqual(Array.from({ length: 4 }, () => ['Déjà Vu']))
      expect(await found('cafe', 'muller.flac', '01', 'sku 77', 'sku/77')).toEqual(
        Array.from({ length: 5 }, () => ['So What']),
      )
      expect(await found('flamenco', 'miles', 'tagged sketches')).toEqual(Array.from({ length: 3 }, () => ['Tagged']))
      expect(await found('nothing', 'deja what', 'no', tenant.organization_id)).toEqual([[], [], [], []])
    }
  })

  it('treats operators as text, and finds nothing when it contains only punctuation', async () => {
    const tenant = await aTenant()
    await track(tenant, 'Rock AND Roll NOT dead')
    await track(tenant, 'Rock')
    const { key } = tenant
    for (const q of ['rock AND roll', 'rock and not', '"rock" roll', 'roll*', '(roll', 'roll AND', '^roll', 'roll -'])
      expect([q, await find(key, '/v1/track', q)]).toEqual([q, ['Rock AND Roll NOT dead']])
    for (const q of ['rock OR nothing', 'NEAR(rock roll)', 'scope:rock', 'text:rock', '{text scope}: rock', 'rock + y'])
      expect([q, await find(key, '/v1/track', q)]).toEqual([q, []])
    for (const q of ['"', '*', '" OR ""', '-- ', '%', "'"])
      expect([q, await listed(key, `/v1/track?q=${encodeURIComponent(q)}`)]).toEqual([q, { names: [], count: 0 }])
    expect(await names(key, '/v1/track?q=rock')).toEqual(['Rock', 'Rock AND Roll NOT dead'])
    expect(errorPaths(await expectError(400, 'invalid_request', 'GET', '/v1/track?q=', { key }))).toEqual(['q'])
    const long = Array.from({ length: 17 }, () => 'a').join('+')
    expect(errorPaths(await expectError(400, 'invalid_request', 'GET', `/v1/track?q=${long}`, { key }))).toEqual(['q'])
  })

  it('finds text with multi-character symbols, composed or decomposed', async () => {
    const tenant = await aTenant()
    await track(tenant, 'Song ❤️')
    for (const form of ['NFC', 'NFD']) await track(tenant, `한국어 Цой ${form}`.normalize(form))
    expect(await find(tenant.key, '/v1/track', 'song ❤️')).toEqual(['Song ❤️'])
    expect(await find(tenant.key, '/v1/track', '❤️')).toEqual(['Song ❤️'])
    for (const form of ['NFC', 'NFD']) {
      for (const q of ['한국', 'цой'])
        expect([form, q, (await find(tenant.key, '/v1/track', q.normalize(form))).length]).toEqual([form, q, 2])
    }
  })

  it('finds rows by their current text after a change to any column that is folded', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    serveTranscoder((job) => completeResult(job, { tags: { artist: 'Μίκης', genre: 'Λαϊκό' } }))
    const id = await aProcessedTrack(key, collection_id, {
      player_title: 'Αθήνα',
      player_subtitle: 'Ёлка',
      file_name: 'Straße.wav',
    })
    const found = async (...texts: string[]) =>
      Promise.all(texts.map(async (q) => (await find(key, '/v1/track', q)).length))
    expect(await found('αθηνα', 'елка', 'ΜΙΚΗΣ', 'λαικο')).toEqual([1, 1, 1, 1])
    await ok('PUT', `/v1/track/${id}`, { key, body: { player_title: 'Θήβα' } })
    expect(await found('αθηνα', 'θηβα', 'елка', 'μικης')).toEqual([0, 1, 1, 1])
    const changes = [{ action: 'update', track_id: id, player_title: 'Plain', player_subtitle: null }]
    await ok('POST', '/v1/track/batch', { key, body: { changes } })
    expect(await found('θηβα', 'елка', 'plain', 'μικης λαικο')).toEqual([0, 0, 1, 1])
    expect(await found('strasse', 'μικης')).toEqual([1, 1])
    await ok('DELETE', `/v1/track/${id}?trash=true`, { key })
    await ok('POST', `/v1/trash/${id}/restore`, { key })
    expect(await found('strasse', 'μικης')).toEqual([1, 1])
  })

  it('needs no stored folded text where SQLite can fold the text itself', async () => {
    const tenant = await aTenant()
    const id = await track(tenant, 'Déjà Vu', { file_name: 'Ёлка.mp3' })
    const folded = async () =>
      (await query<{ folded: string | null }>('select folded from tracks where id = ?', id))[0]!.folded
    expect(JSON.parse((await folded())!)).toEqual({ file_name: 'елка.mp3' })
    await ok('PUT', `/v1/track/${id}`, { key: tenant.key, body: { player_title: 'Αθήνα' } })
    expect(JSON.parse((await folded())!)).toEqual({ player_title: 'αθηνα', file_name: 'елка.mp3' })
    await ok('PUT', `/v1/track/${id}`, { key: tenant.key, body: { player_title: 'So What' } })
    await ok('POST', `/v1/track/${id}/upload`, { key: tenant.key, body: { file_name: 'a.mp3' } })
    expect(await folded()).toBeNull()
  })

  it('returns no row of another organization, even when the index is outdated', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()]
    const [own_id, foreign_id] = [await track(tenant, 'own'), await track(other, 'theirs')]
    const rowid = async (id: string) =>
      (await query<{ at: number }>('select rowid as at from tracks where id = ?', id))[0]!.at
    const scope = `tracks${tenant.organization_id.replaceAll('-', '')}`
    for (const id of [own_id, foreign_id])
      await query(
        `insert or replace into search (rowid, scope, text) values (?, ?, 'stale')`,
        4 * (await rowid(id)),
        scope,
      )
    for (const more of ['', '&sort=title', '&status=initializing'])
      expect(await names(tenant.key, `/v1/track?q=stale${more}`)).toEqual(['own'])
  })

  it('finds collections and playlists by their current text, but none of other organizations', async () => {
    const { key, collection_id } = await aTenant()
    const other = await aTenant()
    const playlist_id = await aPlaylist(key, [], { title: 'Blue Nights', player_subtitle: 'Evans' })
    expect(await find(key, '/v1/collection', 'kind blu')).toEqual(['Kind of Blue'])
    expect(await find(key, '/v1/playlist', 'blue evans')).toEqual(['Blue Nights'])
    expect((await listed(other.key, '/v1/collection?q=blue')).count).toBe(1)
    expect(await find(other.key, '/v1/playlist', 'blue')).toEqual([])
    await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Milestones' } })
    await ok('PUT', `/v1/playlist/${playlist_id}`, { key, body: { organization_index: 'p-1' } })
    expect(await find(key, '/v1/collection', 'blue')).toEqual([])
    expect(await find(key, '/v1/collection', 'milestone')).toEqual(['Milestones'])
    expect(await find(key, '/v1/playlist', 'p-1')).toEqual(['Blue Nights'])
    const id = await aWaitingTrack(key, collection_id, { player_title: 'Gone' })
    expect(await find(key, '/v1/track', 'gone')).toEqual(['Gone'])
    await ok('DELETE', `/v1/track/${id}`, { key })
    await ok('DELETE', `/v1/playlist/${playlist_id}`, { key })
    expect([await find(key, '/v1/track', 'gone'), await find(key, '/v1/playlist', 'blue')]).toEqual([[], []])
  })
})

describe('the parameter sort', () => {
  it('orders tracks by title, times and duration, in a collection and in the list of all tracks', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    const ids = [await track(tenant, 'beta'), await track(tenant, 'Alpha'), await track(tenant, 'gamma')]
    for (const [at, id] of ids.entries()) {
      await query('update tracks set created_at = ?, duration = ? where id = ?', 1000 + at, [2.5, 9, 0][at], id)
    }
    await ok('PUT', `/v1/track/${ids[1]}`, { key, body: { metadata: { a: 1 } } })
    const collectionPath = `/v1/collection/${collection_id}/track`
    for (const path of ['/v1/track', collectionPath]) {
      const sorted = (sort: string) => names(key, `${path}?sort=${sort}`)
      expect(await sorted('title')).toEqual(['Alpha', 'beta', 'gamma'])
      expect(await sorted('-title')).toEqual(['gamma', 'beta', 'Alpha'])
      expect(await sorted('created_at')).toEqual(['beta', 'Alpha', 'gamma'])
      expect(await sorted('-updated_at')).toEqual(['Alpha', 'gamma', 'beta'])
      // The list by duration omits tracks of unknown duration.
      expect(await listed(key, `${path}?sort=duration`)).toEqual({ names: ['beta', 'Alpha'], count: 2 })
      expect(await names(key, `${path}?sort=-title&limit=1&offset=1`)).toEqual(['beta'])
      expect(await listed(key, `${path}?sort=title&q=a&limit=1`)).toEqual({ names: ['Alpha'], count: 1 })
    }
    expect(await names(key, '/v1/track')).toEqual(['gamma', 'Alpha', 'beta'])
    await ok('PUT', `${collectionPath}/order`, { key, body: { track_ids: [ids[2], ids[0], ids[1]] } })
    expect(await names(key, `${collectionPath}?sort=-order`)).toEqual(['Alpha', 'beta', 'gamma'])
    for (const sort of ['order', 'seq', '--title', 'title,order', 'toString'])
      expect(errorPaths(await expectError(400, 'invalid_request', 'GET', `/v1/track?sort=${sort}`, { key }))).toEqual([
        'sort',
      ])
  })

  it.each(['collection', 'playlist'] as const)('orders %ss by title and times', async (noun) => {
    const { key, collection_id } = await aTenant()
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    const make = async (title: string) => (await ok('POST', `/v1/${noun}`, { key, body: { title } }))[`${noun}_id`]
    const ids = [await make('b'), await make('C'), await make('a')]
    await query(`update ${noun}s set created_at = 1000`)
    const { [noun]: changed } = await ok('PUT', `/v1/${noun}/${ids[1]}`, { key, body: { metadata: {} } })
    expect([changed.created_at, changed.updated_at > changed.created_at]).toEqual(['1970-01-01T00:00:01.000Z', true])
    const sorted = (sort: string) => names(key, `/v1/${noun}?sort=${sort}`)
    expect(await sorted('title')).toEqual(['a', 'b', 'C'])
    expect(await sorted('created_at')).toEqual(['b', 'C', 'a'])
    expect(await sorted('-updated_at')).toEqual(['C', 'a', 'b'])
    expect(await listed(key, `/v1/${noun}?sort=-title&limit=2`)).toEqual({ names: ['C', 'b'], count: 3 })
  })
})

describe('several filters', () => {
  it('return rows that match all of them, with a count', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    const [owner, other] = CREATORS
    await track(tenant, 'a', { creator_id: owner, organization_index: 'x' })
    await track(tenant, 'b', { creator_id: owner, organization_index: 'y' })
    await track(tenant, 'c', { creator_id: other, organization_index: 'x' })
    await track(tenant, 'd', { creator_id: owner, organization_index: 'x' })
    await query(`update tracks set status = 'failed' where player_title = 'd'`)
    for (const path of ['/v1/track', `/v1/collection/${collection_id}/track`]) {
      const filtered = (filters: string) => listed(key, `${path}?sort=title&${filters}`)
      expect(await filtered(`creator_id=${owner}&organization_index=x`)).toEqual({ names: ['a', 'd'], count: 2 })
      expect(await filtered(`creator_id=${owner}&organization_index=x&status=failed`)).toEqual({
        names: ['d'],
        count: 1,
      })
      expect(await filtered(`status=failed`)).toEqual({ names: ['d'], count: 1 })
      expect(await filtered(`q=x&status=initializing`)).toEqual({ names: ['a', 'b', 'c'], count: 3 })
      expect(await filtered(`q=a&creator_id=${other}`)).toEqual({ names: [], count: 0 })
    }
    expect(await listed(key, `/v1/track?creator_id=${owner}`)).toEqual({ names: ['d', 'b', 'a'], count: 3 })
    expect(await listed(key, `/v1/track?organization_index=x&status=failed`)).toEqual({ names: ['d'], count: 1 })
    for (const noun of ['collection', 'playlist']) {
      for (const title of ['m', 'n']) {
        await ok('POST', `/v1/${noun}`, { key, body: { title, creator_id: owner, organization_index: title } })
      }
      const path = `/v1/${noun}?creator_id=${owner}&organization_index=m`
      expect(await listed(key, path)).toEqual({ names: ['m'], count: 1 })
      expect(await listed(key, `${path}&q=m&sort=-title`)).toEqual({ names: ['m'], count: 1 })
    }
  })
})

describe('the search index', () => {
  // These tests replace the search table, so the storage is created again for the other tests.
  afterEach(createStorage)

  it('has the same schema in the migrations as in the code', async () => {
    const found = await query<{ sql: string }>(
      `select sql from sqlite_schema where sql is not null and (name in ('search', 'search_titles') or name glob '*_search_*')`,
    )
    const plain = (sql: string) => sql.replace('IF NOT EXISTS ', '')
    expect(found.map(({ sql }) => sql).toSorted()).toEqual([...SEARCH_TABLE, ...TITLES_TABLE].map(plain).toSorted())
  })

  it('is dropped for an export, and rebuilt by the sweep with the rows that were added in the meantime', async () => {
    const tenant = await aTenant()
    const { key } = tenant
    const [creator_id] = CREATORS
    await track(tenant, 'Before', { creator_id, organization_index: 'x' })
    const statements = beforeExport
      .replace(/^--.*$/gm, '')
      .split(';\n')
      .map((statement: string) => statement.trim())
      .filter(Boolean)
    await env.DB.batch(statements.map((text: string) => env.DB.prepare(text)))
    await track(tenant, 'Meanwhile')
    await runSweep()
    await expectError(503, 'unavailable', 'GET', '/v1/track?q=be', { key })
    expect(await names(key, '/v1/track')).toEqual(['Meanwhile', 'Before'])
    // Requests with filters but without `q` do not need the search index.
    const ofCollection = `/v1/collection/${tenant.collection_id}/track?creator_id=${creator_id}&organization_index=x&sort=created_at`
    const ofAll = [`/v1/track?creator_id=${creator_id}`, '/v1/track?organization_index=x&sort=title']
    for (const path of [...ofAll, ofCollection])
      expect(await listed(key, path)).toEqual({ names: ['Before'], count: 1 })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 })
    await runSweep()
    vi.useRealTimers()
    expect(await find(key, '/v1/track', 'e')).toEqual([])
    expect(await find(key, '/v1/track', 'mean')).toEqual(['Meanwhile'])
    for (const q of ['bef', 'efor']) expect(await find(key, '/v1/track', q)).toEqual(['Before'])
    await track(tenant, 'Afterwards')
    for (const q of ['after', 'erward']) expect(await find(key, '/v1/track', q)).toEqual(['Afterwards'])
    expect(await query('select * from search_fills')).toEqual([])
  })
})
