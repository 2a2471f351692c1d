import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import {
  aCollection,
  aTrack,
  createTrack,
  CREATOR,
  db,
  HOUR,
  ok,
  readTrack,
  expectError,
  UNKNOWN_ID,
  errorPaths,
} from '../support/api.ts'
import {
  aReadyTrack,
  aTenant,
  deleteAtOnce,
  eventually,
  type Tenant,
  storedFiles,
  storeFiles,
  trackRow,
} from '../support/fixtures.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

let tenant: Tenant
let key: string
let collection_id: string
beforeEach(async () => {
  tenant = await aTenant()
  ;({ key, collection_id } = tenant)
})
const update = async (id: string, body: object) => (await ok('PUT', `/v1/track/${id}`, { key, body })).track

describe('a track', () => {
  it('waits for its upload after it was created', async () => {
    const { track, track_id } = await createTrack(key, collection_id)
    expect(track).toEqual({
      id: track_id,
      organization_id: tenant.organization_id,
      collection_id,
      creator_id: null,
      index: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
      duration: 0,
      file_name: 'So What.mp3',
      file_name_original: 'So What.mp3',
      info: {},
      organization_index: null,
      order: 1,
      metadata: {},
      is_cover_overridable: true,
      is_theme_overridable: true,
      player_title: null,
      player_subtitle: null,
      player_color: null,
      image_colors: [],
      track_status_id: 'initializing',
      status: 'initializing',
      tags: {},
      created_at: expect.any(String),
      updated_at: track.created_at,
      version: Date.parse(track.created_at),
      file_tags: {},
      edited_tags: [],
      chapters: null,
      episode: null,
    })
    expect(await readTrack(key, track_id)).toEqual(track)
  })

  it('accepts all fields when it is created', async () => {
    const fields = {
      creator_id: CREATOR,
      organization_index: 'CL 1355-1',
      metadata: { takes: [1] },
      is_cover_overridable: false,
      is_theme_overridable: false,
      player_title: 'So What',
      player_subtitle: 'Miles Davis',
      player_color: '#0000FF',
    }
    expect((await createTrack(key, collection_id, fields)).track).toMatchObject(fields)
  })

  it('is uploaded with a PUT to a URL that R2 accepts for an hour', async () => {
    const before = Date.now()
    const { track_upload, track_id } = await createTrack(key, collection_id)
    expect(track_upload).toMatchObject({ method: 'PUT', ttl: 3600 })
    const expires_at = Date.parse(track_upload.expires_at)
    expect(expires_at).toBeGreaterThanOrEqual(before + HOUR)
    expect(expires_at).toBeLessThanOrEqual(Date.now() + HOUR)
    const { key: object, expires, headers } = signedParts(track_upload.upload_url)
    expect({ object, expires, headers }).toEqual({
      object: `uploads/${tenant.organization_id}/${collection_id}/${track_id}`,
      expires: 3600,
      headers: ['host'],
    })
    expect(await isSignedFor('PUT', track_upload.upload_url)).toBe(true)
    expect(await isSignedFor('GET', track_upload.upload_url)).toBe(false)
  })

  it('has an upload URL whose signature covers the announced size and type, so that R2 accepts no other file', async () => {
    const { track_upload } = await createTrack(key, collection_id, { file_size: 1_000_000, content_type: 'audio/mpeg' })
    expect(signedParts(track_upload.upload_url).headers).toEqual(['content-length', 'content-type', 'host'])
    const headers = { 'content-length': '1000000', 'content-type': 'audio/mpeg' }
    expect(await isSignedFor('PUT', track_upload.upload_url, headers)).toBe(true)
    const longer = { ...headers, 'content-length': '1000001' }
    expect(await isSignedFor('PUT', track_upload.upload_url, longer)).toBe(false)
  })

  it('keeps omitted fields, clears null fields and replaces the metadata completely', async () => {
    const { track } = await createTrack(key, collection_id, {
      organization_index: 'a',
      metadata: { a: 1 },
      player_color: '#0000FF',
    })
    const changed = await update(track.id, { metadata: { b: 2 }, player_subtitle: 'Miles' })
    const times = { updated_at: expect.any(String) as string, version: expect.any(Number) as number }
    expect(changed).toEqual({ ...track, metadata: { b: 2 }, player_subtitle: 'Miles', ...times })
    const cleared = { organization_index: null, player_color: null, player_subtitle: null, creator_id: null }
    const after = await update(track.id, cleared)
    expect(after).toEqual({ ...changed, ...cleared, ...times })
    expect(await update(track.id, {})).toEqual(after)
  })

  it('stores `title` as `player_title`, unless the request also contains `player_title`', async () => {
    const { id } = await aTrack(key, collection_id)
    expect((await update(id, { title: 'So What' })).player_title).toBe('So What')
    expect((await update(id, { title: 'a', player_title: 'b' })).player_title).toBe('b')
    expect((await update(id, { title: 'a', player_title: null })).player_title).toBeNull()
    await update(id, { title: 'a' })
    expect((await update(id, { title: null })).player_title).toBeNull()
  })

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\miles\\So What.wav', 'So What.wav'],
    ['a\u0000b\r\nc.mp3', 'ab c.mp3'],
    ['folder/', 'audio'],
    [' \t ', 'audio'],
    ['Ænima “live” 🎷.flac', 'Ænima “live” 🎷.flac'],
  ])('stores the file name %j as %j, and the original file name separately', async (sent, stored) => {
    const { track } = await createTrack(key, collection_id, { file_name: sent })
    expect([track.file_name, track.file_name_original]).toEqual([stored, sent])
  })

  it('is deleted with its files and its cover', async () => {
    const [id, other] = [await aReadyTrack(key, collection_id), await aReadyTrack(key, collection_id)]
    const { index } = await trackRow(id)
    const cover_path = `media/${tenant.organization_id}/${collection_id}/${index}/cover-0123456789ab`
    await db.update(tracks).set({ cover_path }).where(eq(tracks.id, id))
    await Promise.all([storeFiles(id), storeFiles(other)])
    const expected = new Set(await storedFiles())
    for (const path of expected) if (path.includes(index) || path.endsWith(id)) expected.delete(path)
    await env.MEDIA.put(`${cover_path}/icon.jpg`, 'image')
    const { deleted_track } = await ok('DELETE', `/v1/track/${id}`, { key })
    expect(deleted_track).toMatchObject({ id, status: 'ready' })
    await expectError(404, 'not_found', 'GET', `/v1/track/${id}`, { key })
    await expectError(404, 'not_found', 'DELETE', `/v1/track/${id}`, { key })
    await eventually(async () => (await storedFiles()).length === expected.size)
    expect(new Set(await storedFiles())).toEqual(expected)
    expect(expected.size).toBe(7)
  })

  it('keeps the count and the order consistent when tracks are created and deleted at once', async () => {
    const { id } = await aTrack(key, collection_id)
    const created = await Promise.all(Array.from({ length: 5 }, () => aTrack(key, collection_id)))
    expect(await deleteAtOnce(`/v1/track/${id}`, key)).toEqual([200, 404, 404, 404])
    expect(created.map(({ order }) => order).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6])
    const body = await ok('GET', `/v1/collection/${collection_id}/track`, { key })
    expect([body.count, body.tracks.length]).toEqual([5, 5])
  })

  it('is returned by an update with the values of this update, even with simultaneous updates', async () => {
    const { track_id } = await createTrack(key, collection_id)
    const titles = Array.from({ length: 10 }, (_, at) => `Take ${at}`)
    const answers = await Promise.all(titles.map((title) => update(track_id, { title })))
    expect(answers.map((track) => track.player_title)).toEqual(titles)
  })

  it('is unchanged when the client reports its upload before the file arrived', async () => {
    const { track } = await createTrack(key, collection_id)
    expect((await ok('POST', `/v1/track/${track.id}/upload_complete`, { key })).track).toEqual(track)
  })
})

describe('an invalid request for a track', () => {
  it('returns 404 when the collection does not exist', async () => {
    const { id } = await aCollection(key)
    await ok('DELETE', `/v1/collection/${id}`, { key })
    for (const unknown_id of [id, UNKNOWN_ID]) {
      await expectError(404, 'not_found', 'POST', '/v1/track', {
        key,
        body: { collection_id: unknown_id, file_name: 'a' },
      })
    }
  })

  it('returns 400 without a collection and a file name', async () => {
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/track', { key, body: {} })
    expect(errorPaths(answer)).toEqual(['collection_id', 'file_name'])
    const body = { collection_id: 'x', file_name: '' }
    expect(errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/track', { key, body }))).toEqual([
      'collection_id',
      'file_name',
    ])
  })

  it('returns 413 for a file above the size limit', async () => {
    const body = { collection_id, file_name: 'a.wav', file_size: 1_000_001 }
    expect(errorPaths(await expectError(413, 'file_too_large', 'POST', '/v1/track', { key, body }))).toEqual([
      'file_size',
    ])
    expect(await ok('GET', `/v1/collection/${collection_id}/track`, { key })).toMatchObject({ count: 0, tracks: [] })
  })

  it.each([
    { file_size: 0 },
    { file_size: -1 },
    { file_size: 1.5 },
    { file_size: '5' },
    { content_type: 'mp3' },
    { content_type: 'audio/mpeg\r\nx-amz-acl: public-read' },
    { player_color: 'blue' },
    { creator_id: 'me' },
    { is_cover_overridable: null },
  ])('returns 400 for %j', async (field) => {
    const body = { collection_id, file_name: 'a.mp3', ...field }
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/track', { key, body })
    expect(errorPaths(answer)).toEqual(Object.keys(field))
  })

  it('returns 400 when it updates the collection, order, status or file name', async () => {
    const { id } = await aTrack(key, collection_id)
    const body = { collection_id, order: 5, status: 'ready', file_name: 'b.mp3' }
    const answer = await expectError(400, 'unknown_field', 'PUT', `/v1/track/${id}`, { key, body })
    expect(errorPaths(answer)).toEqual(['collection_id', 'order', 'status', 'file_name'])
  })
})
