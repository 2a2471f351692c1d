import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { collections, tracks, uploadSessions } from '../../../src/adapters/db/schema/library.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import {
  aCollection,
  anOrganization,
  anUploadSession,
  aTrack,
  CREATOR,
  db,
  ok,
  expectError,
  errorPaths,
} from '../support/api.ts'
import { aReadyTrack, beforeBatch, deleteAtOnce, eventually, storedFiles, storeFiles } from '../support/fixtures.ts'

let key: string
let organization_id: string
beforeEach(async () => {
  const organization = await anOrganization()
  ;({ key, id: organization_id } = organization)
})
const list = (query = '') => ok('GET', `/v1/collection${query}`, { key })
const titles = (body: { collections: { title: string }[] }) => body.collections.map(({ title }) => title)

/** Creates collections one after another, with different creation times. */
async function inTurn(...names: string[]) {
  const made = []
  for (const [at, title] of names.entries()) {
    const collection = await aCollection(key, { title })
    await db
      .update(collections)
      .set({ created_at: at + 1 })
      .where(eq(collections.id, collection.id))
    made.push(collection.id)
  }
  return made
}

describe('a collection', () => {
  it('has the defaults of its organization when it is created', async () => {
    await ok('PUT', `/v1/organization/${organization_id}`, {
      key,
      body: { player_color: '#102030', player_subtitle: 'BN' },
    })
    const body = await ok('POST', '/v1/collection', { key, body: { title: 'Kind of Blue' } })
    expect(body.collection).toEqual({
      id: body.collection_id,
      creator_id: null,
      organization_index: '',
      title: 'Kind of Blue',
      metadata: {},
      image_colors: [],
      theme: [],
      is_cover_overridable: true,
      is_theme_overridable: true,
      player_color: '#102030',
      player_subtitle: 'BN',
      created_at: expect.any(String),
      updated_at: body.collection.created_at,
      version: Date.parse(body.collection.created_at),
    })
    expect(body.collection_cover_upload).toMatchObject({ method: 'POST', ttl: 3600 })
    expect((await ok('GET', `/v1/collection/${body.collection_id}`, { key })).collection).toEqual(body.collection)
  })

  it('accepts all fields when it is created', async () => {
    const fields = {
      title: 'Kind of Blue',
      creator_id: CREATOR,
      organization_index: 'CL 1355',
      metadata: { year: 1959 },
      theme: ['#112233'],
      is_cover_overridable: false,
      is_theme_overridable: false,
      player_color: '#0000FF',
      player_subtitle: 'Miles Davis',
    }
    expect(await aCollection(key, fields)).toMatchObject(fields)
  })

  it('keeps omitted fields, clears null fields and replaces the metadata completely', async () => {
    const before = await aCollection(key, {
      organization_index: 'a',
      metadata: { a: 1, b: 2 },
      player_color: '#0000FF',
    })
    const body = { organization_index: null, metadata: { c: 3 }, creator_id: CREATOR.toUpperCase() }
    const { collection } = await ok('PUT', `/v1/collection/${before.id}`, { key, body })
    const changes = { organization_index: '', metadata: { c: 3 }, creator_id: CREATOR }
    expect(collection).toEqual({ ...before, ...changes, updated_at: expect.any(String), version: expect.any(Number) })
    const cleared = { creator_id: null, player_color: null, player_subtitle: null }
    const after = await ok('PUT', `/v1/collection/${before.id}`, { key, body: cleared })
    expect(after.collection).toMatchObject({ creator_id: null, player_color: '#2B3440', player_subtitle: '' })
  })

  it('is listed newest first, in pages with the total count', async () => {
    await inTurn('one', 'two', 'three')
    expect(await list()).toMatchObject({
      count: 3,
      collections: [{ title: 'three' }, { title: 'two' }, { title: 'one' }],
    })
    expect(titles(await list('?limit=2'))).toEqual(['three', 'two'])
    expect(await list('?limit=2&offset=2')).toMatchObject({ count: 3, collections: [{ title: 'one' }] })
    expect(await list('?offset=3')).toMatchObject({ count: 3, collections: [] })
  })

  it('is listed in creation order even among collections that were created in the same millisecond', async () => {
    await inTurn('a', 'b', 'c')
    await db.update(collections).set({ created_at: 5 })
    expect(titles(await list())).toEqual(['c', 'b', 'a'])
  })

  it('is not visible to other organizations', async () => {
    await inTurn('mine')
    const other = await anOrganization('Other')
    await aCollection(other.key)
    expect(await list()).toMatchObject({ count: 1, collections: [{ title: 'mine' }] })
  })

  it('is listed in pages of 50 by default, or of up to 200', async () => {
    const row = await db
      .select()
      .from(collections)
      .where(eq(collections.id, (await aCollection(key)).id))
      .get()
    for (let from = 0; from < 201; from += 3) {
      const rows = [0, 1, 2].map((at) => ({ ...row!, id: crypto.randomUUID(), seq: from + at + 2 }))
      await db.insert(collections).values(rows)
    }
    expect((await list()).collections).toHaveLength(50)
    expect((await list('?limit=200')).collections).toHaveLength(200)
  })

  it('is deleted with its tracks, files and upload sessions', async () => {
    const { id } = await aCollection(key)
    const other = await aCollection(key, { title: 'kept' })
    const [deleted_id, kept_id] = [await aReadyTrack(key, id), await aReadyTrack(key, other.id)]
    await Promise.all([storeFiles(deleted_id), storeFiles(kept_id)])
    const { upload_session_id } = await anUploadSession(key, id)
    const { deleted_collection } = await ok('DELETE', `/v1/collection/${id}`, { key })
    expect(deleted_collection).toMatchObject({ id, title: 'Kind of Blue' })
    await expectError(404, 'not_found', 'GET', `/v1/track/${deleted_id}`, { key })
    await expectError(404, 'not_found', 'GET', `/v1/collection/${id}/track`, { key })
    await expectError(404, 'not_found', 'POST', `/v1/upload/${upload_session_id}/track`, {
      key,
      body: { file_name: 'a' },
    })
    await expectError(404, 'not_found', 'DELETE', `/v1/collection/${id}`, { key })
    expect(await list()).toMatchObject({ count: 1, collections: [{ title: 'kept' }] })
    expect(await db.select().from(tracks).where(eq(tracks.collection_id, id))).toEqual([])
    expect(await db.select().from(uploadSessions)).toEqual([])
    await eventually(async () => (await storedFiles()).every((path) => path.includes(other.id)))
    expect(await storedFiles()).toHaveLength(7)
    // The second purge is still scheduled: it runs when no upload URL of the collection is valid any more.
    await eventually(async () => (await db.select().from(jobs)).filter(({ state }) => state === 'open').length === 1)
  })

  it('is counted correctly when several collections are created and deleted at once', async () => {
    const { id } = await aCollection(key)
    await Promise.all(Array.from({ length: 3 }, () => aCollection(key)))
    expect(await deleteAtOnce(`/v1/collection/${id}`, key)).toEqual([200, 404, 404, 404])
    expect(await list()).toMatchObject({ count: 3, collections: [{}, {}, {}] })
  })

  it('leaves no track behind when a track is created during its deletion', async () => {
    const { id } = await aCollection(key)
    const bindings = beforeBatch(() => ok('DELETE', `/v1/collection/${id}`, { key }))
    const body = { collection_id: id, file_name: 'a.mp3' }
    await expectError(404, 'not_found', 'POST', '/v1/track', { key, body, bindings })
    expect(await db.select().from(tracks)).toEqual([])
  })

  it('lists its tracks in order after some of them were deleted', async () => {
    const { id } = await aCollection(key)
    const made = []
    for (const name of ['a', 'b', 'c', 'd']) made.push(await aTrack(key, id, { file_name: name }))
    await ok('DELETE', `/v1/track/${made[1]!.id}`, { key })
    made.push(await aTrack(key, id, { file_name: 'e' }))
    const body = await ok('GET', `/v1/collection/${id}/track?limit=3&offset=1`, { key })
    expect(body).toMatchObject({ count: 4, tracks: [{ file_name: 'c' }, { file_name: 'd' }, { file_name: 'e' }] })
    expect(body.tracks.map(({ order }) => order)).toEqual([3, 4, 5])
  })
})

describe('an invalid request for a collection', () => {
  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=',
    'limit=1e2',
    'limit=1.5',
    'limit=-1',
    'limit=%201',
    'limit=1&limit=2',
  ])('returns 400 for a list with ?%s', async (query) => {
    for (const path of ['/v1/collection', '/v1/variant']) {
      expect(errorPaths(await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key }))).toEqual([
        'limit',
      ])
    }
  })

  it.each(['offset=-1', 'offset=x', 'offset=', 'offset=99999999999', 'offset=0x10'])(
    'returns 400 for a list of tracks with ?%s',
    async (query) => {
      const { id } = await aCollection(key)
      const body = await expectError(400, 'invalid_request', 'GET', `/v1/collection/${id}/track?${query}`, { key })
      expect(errorPaths(body)).toEqual(['offset'])
    },
  )

  it('is refused without a title, or when it removes the title', async () => {
    const { id } = await aCollection(key)
    const errors = []
    for (const title of ['', null, 'x'.repeat(256)]) {
      errors.push(await expectError(400, 'invalid_request', 'PUT', `/v1/collection/${id}`, { key, body: { title } }))
    }
    errors.push(await expectError(400, 'invalid_request', 'POST', '/v1/collection', { key, body: {} }))
    expect(errors.map(errorPaths)).toEqual([['title'], ['title'], ['title'], ['title']])
  })

  it('is refused when a flag is null', async () => {
    const body = { title: 'x', is_cover_overridable: null, is_theme_overridable: 'yes' }
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/collection', { key, body })
    expect(errorPaths(answer)).toEqual(['is_cover_overridable', 'is_theme_overridable'])
  })
})
