import { beforeEach, describe, expect, it } from 'vitest'

import { hashPassword, isPassword } from '../../../src/adapters/crypto/password.ts'
import {
  anApiKey,
  anOrganization,
  aPlaylist,
  call,
  HOUR,
  ok,
  query,
  expectError,
  sortedStatuses,
  UNKNOWN_ID,
  errorPaths,
} from '../support/api.ts'
import { aReadyTrack, aTenant, aTenantWithTrack, beforeBatch } from '../support/fixtures.ts'
import { countedLists } from '../support/seed.ts'
import { aShare } from '../support/share_visitor.ts'

/** Shares that are created with the API. share_page.test.ts tests their pages. */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id, track_id } = await aTenantWithTrack())
})

const counts = () => query(`select * from list_counts where list like 'shares:%' order by list, level, bucket`)

describe('a share', () => {
  it('has a random slug and no restrictions by default', async () => {
    const [share, other] = [await aShare(key, collection_id), await aShare(key, collection_id)]
    expect(share).toMatchObject({
      scope: 'collection',
      resource_id: collection_id,
      slug: expect.stringMatching(/^[0-9a-z]{22}$/),
      url: `https://tonearm.test/s/${share.slug}`,
      embed_url: `https://tonearm.test/embed/s/${share.slug}`,
      title: null,
      variants: null,
      is_downloadable: false,
      allowed_origins: null,
      expires_at: null,
      has_password: false,
    })
    expect(other.slug).not.toBe(share.slug)
  })

  it('can be listed (newest first or by resource), read, updated, and revoked', async () => {
    const ofTrack = await aShare(key, collection_id, { scope: 'track', id: track_id, title: 'One' })
    const ofAll = await aShare(key, collection_id, {
      slug: 'Kind-of-Blue',
      password: 'so what?',
      is_downloadable: true,
    })
    const list = async (search = '') => {
      const { count, shares } = await ok('GET', `/v1/share${search}`, { key })
      return [count, shares.map((share) => share.id)]
    }
    expect(await list()).toEqual([2, [ofAll.id, ofTrack.id]])
    expect(await list(`?resource_id=${track_id}`)).toEqual([1, [ofTrack.id]])
    expect(await list(`?resource_id=${UNKNOWN_ID}`)).toEqual([0, []])
    expect(ofAll).toMatchObject({ slug: 'kind-of-blue', has_password: true, is_downloadable: true })
    const path = `/v1/share/${ofAll.id}`
    expect((await ok('GET', path, { key })).share).toEqual(ofAll)
    const expires_at = new Date(Date.now() + HOUR).toISOString()
    const body = { title: 'Blue', variants: ['mp3-128'], allowed_origins: ['https://a.example'], expires_at }
    expect((await ok('PUT', path, { key, body })).share).toEqual({ ...ofAll, ...body })
    const unrestricted = {
      title: null,
      variants: null,
      allowed_origins: null,
      expires_at: null,
      password: null,
      slug: null,
    }
    const { share } = await ok('PUT', path, { key, body: unrestricted })
    const { password: _, ...cleared } = unrestricted
    expect(share).toEqual({
      ...ofAll,
      ...cleared,
      has_password: false,
      slug: share.slug,
      url: share.url,
      embed_url: share.embed_url,
    })
    expect(share.slug).toMatch(/^[0-9a-z]{22}$/)
    expect((await ok('PUT', path, { key, body: {} })).share).toEqual(share)
    expect((await ok('DELETE', path, { key })).deleted_share).toEqual(share)
    await expectError(404, 'not_found', 'DELETE', path, { key })
    expect(await list()).toEqual([1, [ofTrack.id]])
    expect(await list(`?resource_id=${collection_id}`)).toEqual([0, []])
  })

  it('stores each variant and each origin once, even if they are repeated', async () => {
    const lists = {
      variants: ['aac-160', 'mp3-128', 'aac-160'],
      allowed_origins: ['https://a.example', 'https://a.example'],
    }
    const unique = { variants: ['aac-160', 'mp3-128'], allowed_origins: ['https://a.example'] }
    const share = await aShare(key, collection_id, lists)
    expect(share).toMatchObject(unique)
    expect((await ok('PUT', `/v1/share/${share.id}`, { key, body: lists })).share).toMatchObject(unique)
    expect((await anApiKey(key, lists)).api_key).toMatchObject(unique)
  })

  it('never returns its password or the hash of the password, which needs 100,000 rounds', async () => {
    const { id } = await aShare(key, collection_id, { password: 'swordfish' })
    const [row] = await query<{ password_hash: string }>('select * from shares where id = ?', id)
    expect(row!.password_hash).toMatch(/^100000\.[0-9a-f]{32}\.[0-9a-f]{64}$/)
    const responses = JSON.stringify([
      await ok('GET', `/v1/share/${id}`, { key }),
      await ok('GET', '/v1/share', { key }),
    ])
    expect(responses).not.toMatch(/swordfish|100000\./)
    expect(await isPassword('swordfish', row!.password_hash)).toBe(true)
    expect(await isPassword('swordfisH', row!.password_hash)).toBe(false)
    // A keyboard may enter é as one character, or as a letter and a combining accent. Both must match.
    expect(await isPassword('caf\u00e9', await hashPassword('cafe\u0301'))).toBe(true)
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  it('shares the resource that collection_id, track_id or playlist_id names', async () => {
    const playlist_id = await aPlaylist(key, [track_id])
    for (const [scope, id] of Object.entries({ collection: collection_id, track: track_id, playlist: playlist_id })) {
      const body = { [`${scope}_id`]: id, title: 'By its id' }
      const { share } = await ok('POST', '/v1/share', { key, body })
      expect(share).toMatchObject({ scope, resource_id: id, title: 'By its id' })
    }
    await expectError(404, 'not_found', 'POST', '/v1/share', { key, body: { track_id: collection_id } })
  })

  it.each([
    ['nothing', {}, 'scope is required with id, or instead of both: collection_id, track_id or playlist_id'],
    ['a scope alone', { scope: 'track' }, 'id is required with scope'],
    ['an id alone', { id: UNKNOWN_ID }, 'scope is required with id'],
    [
      'both forms',
      { scope: 'track', id: UNKNOWN_ID, track_id: UNKNOWN_ID },
      'track_id must not be sent together with scope',
    ],
    [
      'a scope and the id of its kind',
      { scope: 'track', track_id: UNKNOWN_ID },
      'track_id must not be sent together with scope',
    ],
    ['an id twice', { id: UNKNOWN_ID, playlist_id: UNKNOWN_ID }, 'playlist_id must not be sent together with id'],
    [
      'two kinds',
      { track_id: UNKNOWN_ID, collection_id: UNKNOWN_ID },
      'track_id must not be sent together with collection_id',
    ],
  ])('refuses a request with %s', async (_, body, message) => {
    const error = await expectError(400, 'invalid_request', 'POST', '/v1/share', { key, body })
    expect(error.message).toBe(message)
  })

  it("requires valid settings and an existing resource of the caller's organization", async () => {
    const send = (body: object) => ['POST', '/v1/share', { key, body }] as const
    const stranger = await anOrganization()
    for (const scope of ['collection', 'track', 'playlist']) {
      await expectError(404, 'not_found', ...send({ scope, id: UNKNOWN_ID }))
      await expectError(404, 'not_found', ...send({ scope, id: scope === 'track' ? collection_id : track_id }))
    }
    const foreign = { key: stranger.key, body: { scope: 'track', id: track_id } }
    await expectError(404, 'not_found', 'POST', '/v1/share', foreign)
    const body = { scope: 'track', id: track_id }
    const wrong: [object, string][] = [
      [{ slug: 'a' }, 'slug'],
      [{ slug: 'a'.repeat(300) }, 'slug'],
      [{ slug: 'admin' }, 'slug'],
      [{ slug: 'So/What' }, 'slug'],
      [{ slug: '-so' }, 'slug'],
      [{ slug: 'sö-what' }, 'slug'],
      [{ password: '' }, 'password'],
      [{ password: '7 chars' }, 'password'],
      [{ password: 'x'.repeat(129) }, 'password'],
      [{ title: '' }, 'title'],
      [{ expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
      [{ allowed_origins: ['https://a.example/page'] }, 'allowed_origins.0'],
    ]
    for (const [more, field] of wrong) {
      expect(errorPaths(await expectError(400, 'invalid_request', ...send({ ...body, ...more })))).toEqual([field])
    }
    await expectError(400, 'unknown_variant', ...send({ ...body, variants: ['nothing'] }))
    expect(await query('select id from shares')).toEqual([])
  })

  it('cannot have the slug of another share, of any organization and in any case, even with simultaneous requests', async () => {
    const other = await aTenant()
    const other_share = { scope: 'collection', id: other.collection_id, slug: 'taken' }
    await ok('POST', '/v1/share', { key: other.key, body: other_share })
    const body = { scope: 'track', id: track_id, slug: 'TAKEN' }
    await expectError(409, 'slug_taken', 'POST', '/v1/share', { key, body })
    const own_share = await aShare(key, collection_id, { slug: 'mine' })
    await expectError(409, 'slug_taken', 'PUT', `/v1/share/${own_share.id}`, { key, body: { slug: 'taken' } })
    await ok('PUT', `/v1/share/${own_share.id}`, { key, body: { slug: 'mine' } })
    const racing = await Promise.all(
      Array.from({ length: 5 }, () => call('POST', '/v1/share', { key, body: { ...body, slug: 'race' } })),
    )
    expect(sortedStatuses(racing)).toEqual([200, 409, 409, 409, 409])
  })

  it('keeps its slug reserved after it is revoked, renamed, or deleted with its resource', async () => {
    const send = (slug: string) =>
      ['POST', '/v1/share', { key, body: { scope: 'collection', id: collection_id, slug } }] as const
    const revoked = await aShare(key, collection_id, { slug: 'revoked' })
    const renamed = await aShare(key, collection_id, { slug: 'renamed' })
    await aShare(key, collection_id, { slug: 'gone', scope: 'track', id: track_id })
    await ok('DELETE', `/v1/share/${revoked.id}`, { key })
    await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: 'another' } })
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    const other = await aShare(key, collection_id, { slug: 'other' })
    for (const slug of ['revoked', 'renamed', 'gone']) {
      await expectError(409, 'slug_taken', ...send(slug))
      await expectError(409, 'slug_taken', 'PUT', `/v1/share/${other.id}`, { key, body: { slug } })
    }
    // The same share may use its previous slug again.
    expect((await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: 'renamed' } })).share.slug).toBe('renamed')
    await ok('DELETE', `/v1/share/${renamed.id}`, { key })
    for (const slug of ['renamed', 'another']) await expectError(409, 'slug_taken', ...send(slug))
  })

  it("is deleted together with its resource or the resource's collection", async () => {
    const playlist_id = await aPlaylist(key)
    const second = await aReadyTrack(key, collection_id)
    const [ofCollection, ofPlaylist] = [
      await aShare(key, collection_id),
      await aShare(key, collection_id, { scope: 'playlist', id: playlist_id }),
    ]
    const [ofTrack, ofSecond] = [
      await aShare(key, collection_id, { scope: 'track', id: track_id }),
      await aShare(key, collection_id, { scope: 'track', id: second }),
    ]
    const remaining = async () =>
      (await query<{ id: string }>('select id from shares order by seq')).map(({ id }) => id)
    expect(await remaining()).toEqual([ofCollection, ofPlaylist, ofTrack, ofSecond].map(({ id }) => id))
    await ok('DELETE', `/v1/playlist/${playlist_id}`, { key })
    await ok('DELETE', `/v1/track/${second}`, { key })
    expect(await remaining()).toEqual([ofCollection.id, ofTrack.id])
    expect(await counts()).toEqual(
      await query(`${countedLists('shares').join(' union ')} order by list, level, bucket`),
    )
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    expect(await remaining()).toEqual([])
    expect(await counts()).toEqual([])
  })

  it('is not created for a resource that is deleted during the request', async () => {
    const bindings = beforeBatch(() => query('delete from tracks where id = ?', track_id))
    await expectError(404, 'not_found', 'POST', '/v1/share', { key, body: { scope: 'track', id: track_id }, bindings })
    expect(await query('select id from shares')).toEqual([])
  })
})
