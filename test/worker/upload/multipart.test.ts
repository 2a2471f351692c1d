import { env } from 'cloudflare:workers'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { multipartUploads } from '../../../src/adapters/db/schema/work.ts'
import { partSizeOf } from '../../../src/resources/upload/multipart.ts'
import { aTrack, db, HOUR, ok, query, readTrack, expectError, UNKNOWN_ID, errorPaths } from '../support/api.ts'
import { aTenant, advanceHours, runSweep, trackRow } from '../support/fixtures.ts'
import { aMultipart, multipartRow, sendPart } from '../support/multipart_uploads.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

const MIB = 1024 * 1024
let key: string
let collection_id: string
let track_id: string
beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = (await aTrack(key, collection_id)).id
})
afterEach(() => void vi.useRealTimers())
const at = (id = '', action = '') => `/v1/track/${track_id}/multipart${id && `/${id}`}${action && `/${action}`}`
const createUpload = (body: object = {}) => ok('POST', at(), { key, body: { file_size: 10, ...body } })
/** Splits a small upload into several parts, only in the database: R2 requires parts of at least 5 MiB, which would be slow to send in a test. */
const inParts = (id: string, part_count: number) =>
  db.update(multipartUploads).set({ part_count, part_size: 5 }).where(eq(multipartUploads.id, id))
const etag = (part_number: number) => ({ part_number, etag: `"${'0'.repeat(31)}${part_number}"` })
const endNow = (id: string) =>
  db
    .update(multipartUploads)
    .set({ expires_at: Date.now() - 1 })
    .where(eq(multipartUploads.id, id))

describe('parts', () => {
  it('have the same size, are large enough for R2, and number at most 1,000', () => {
    expect([1, 8 * MIB, 499e6, 500e6, 1e9, 5e9].map(partSizeOf)).toEqual([5, 5, 5, 8, 8, 8].map((size) => size * MIB))
    for (const size of [1, 9e9, 5e10, 5e12]) {
      const part_size = partSizeOf(size)
      expect(part_size % MIB).toBe(0)
      expect(Math.ceil(size / part_size)).toBeLessThanOrEqual(1000)
    }
  })

  it('have URLs that only accept content with exactly the size of the part', async () => {
    const { multipart_upload, parts } = await createUpload({ file_size: 999_999, content_type: 'audio/flac' })
    expect(multipart_upload).toEqual({
      id: multipart_upload.id,
      track_id,
      file_size: 999_999,
      part_size: 5 * MIB,
      part_count: 1,
      parts: [],
      state: 'open',
      expires_at: multipart_upload.expires_at,
    })
    const lifetime = Date.parse(multipart_upload.expires_at) - Date.now()
    expect(lifetime).toBeGreaterThan(24 * HOUR - 60_000)
    expect(parts).toMatchObject([{ part_number: 1, size: 999_999, method: 'PUT', ttl: 3600 }])
    const [{ upload_url }] = parts
    const { upload_id } = await multipartRow(multipart_upload.id)
    const query = new URL(upload_url).searchParams
    expect([query.get('partNumber'), query.get('uploadId')]).toEqual(['1', upload_id])
    expect(signedParts(upload_url).headers).toEqual(['content-length', 'host'])
    expect(await isSignedFor('PUT', upload_url, { 'content-length': '999999' })).toBe(true)
    expect(await isSignedFor('PUT', upload_url, { 'content-length': '999998' })).toBe(false)
  })

  it('get up to sixteen URLs per request, and are recorded when they are reported', async () => {
    const { multipart_upload } = await createUpload({ file_size: 98 })
    const { id } = multipart_upload
    await inParts(id, 20)
    const { parts, ...more } = await ok('POST', at(id, 'part'), {
      key,
      body: { done: [etag(1), etag(3)], next: [2, 20, 2] },
    })
    expect(parts.map((part: { part_number: number; size: number }) => [part.part_number, part.size])).toEqual([
      [2, 5],
      [20, 3],
    ])
    expect(more.multipart_upload.parts.map((part: { part_number: number }) => part.part_number)).toEqual([1, 3])
    await Promise.all([4, 5, 6].map((n) => ok('POST', at(id, 'part'), { key, body: { done: [etag(n)] } })))
    expect((await ok('GET', at(id), { key })).multipart_upload.parts).toEqual(
      [1, 3, 4, 5, 6].map((n) => ({ part_number: n, etag: etag(n).etag.replaceAll('"', '') })),
    )
    const many = Array.from({ length: 17 }, (_, n) => n + 1)
    const answer = await expectError(400, 'invalid_request', 'POST', at(id, 'part'), { key, body: { next: many } })
    expect(errorPaths(answer)).toEqual(['next'])
    for (const body of [{ next: [21] }, { done: [etag(21)] }]) {
      await expectError(400, 'invalid_request', 'POST', at(id, 'part'), { key, body })
    }
  })
})

describe('a multipart upload', () => {
  it('becomes the file of its track and causes the track to be processed, even if `complete` is requested twice', async () => {
    const id = await aMultipart(key, track_id)
    for (let time = 0; time < 2; time++) {
      const { multipart_upload, track } = await ok('POST', at(id, 'complete'), { key, body: {} })
      expect([multipart_upload.state, track]).toEqual([
        'complete',
        { id: track_id, track_status_id: 'processing', status: 'processing' },
      ])
    }
    const { path } = await multipartRow(id)
    expect(await trackRow(track_id)).toMatchObject({ source_path: path, source_size: 10, awaiting_upload: false })
    expect(await (await env.MEDIA.get(path))!.text()).toBe('RIFF\0audio')
  })

  it('accepts the report of the last part in the request that completes it', async () => {
    const { multipart_upload } = await createUpload()
    const part = await sendPart(multipart_upload.id, 1, 'RIFF\0audio')
    await ok('POST', at(multipart_upload.id, 'complete'), { key, body: { done: [part] } })
    expect((await trackRow(track_id)).status).toBe('processing')
  })

  it('is resumed by its fingerprint with the parts that were reported, but another file of the track starts a new upload', async () => {
    const first = await createUpload({ fingerprint: 'a', file_size: 20 })
    const { id } = first.multipart_upload
    await inParts(id, 4)
    await ok('POST', at(id, 'part'), { key, body: { done: [etag(1)] } })
    const again = await createUpload({ fingerprint: 'a', file_size: 20 })
    expect(again.multipart_upload).toMatchObject({ id, parts: [{ part_number: 1 }] })
    expect(again.parts.map((part: { part_number: number }) => part.part_number)).toEqual([2, 3, 4])
    for (const body of [{ fingerprint: 'b', file_size: 20 }, { fingerprint: 'b', file_size: 21 }, {}]) {
      const other = await createUpload(body)
      expect(other.multipart_upload).toMatchObject({ parts: [] })
      expect(await db.select().from(multipartUploads)).toMatchObject([{ id: other.multipart_upload.id }])
    }
    await expectError(404, 'not_found', 'GET', at(id), { key })
  })

  it('is created only once by two simultaneous requests', async () => {
    const both = await Promise.all([createUpload({ fingerprint: 'a' }), createUpload({ fingerprint: 'a' })])
    const ids = new Set(both.map(({ multipart_upload }) => multipart_upload.id))
    const rows = await db.select().from(multipartUploads)
    expect([ids.size, rows.length]).toEqual([1, 1])
    expect(await trackRow(track_id)).toMatchObject({ upload_path: rows[0]!.path, updated_at: expect.any(Number) })
  })

  it('replaces the file of a playing track only when it is complete', async () => {
    const id = await aMultipart(key, track_id)
    await ok('POST', at(id, 'complete'), { key, body: {} })
    const before = await trackRow(track_id)
    const next = await aMultipart(key, track_id)
    expect(await trackRow(track_id)).toMatchObject({ source_path: before.source_path, status: before.status })
    await ok('POST', at(next, 'complete'), { key, body: {} })
    expect((await trackRow(track_id)).source_path).toBe((await multipartRow(next)).path)
  })

  it('can be deleted, and then the track waits for its first URL again', async () => {
    const { upload_path } = await trackRow(track_id)
    const { multipart_upload } = await createUpload()
    const { path, upload_id } = await multipartRow(multipart_upload.id)
    expect((await trackRow(track_id)).upload_path).toBe(path)
    const { deleted_multipart_upload } = await ok('DELETE', at(multipart_upload.id), { key })
    expect(deleted_multipart_upload.id).toBe(multipart_upload.id)
    await expectError(404, 'not_found', 'DELETE', at(multipart_upload.id), { key })
    await expect(env.MEDIA.resumeMultipartUpload(path, upload_id).uploadPart(1, 'x')).rejects.toThrow('10024')
    await env.MEDIA.put(upload_path, 'RIFF\0audio')
    expect((await readTrack(key, track_id)).status).toBe('processing')
  })
})

describe('an invalid multipart request', () => {
  it('returns 409 while a part is missing', async () => {
    const { multipart_upload } = await createUpload({ file_size: 20 })
    const { id } = multipart_upload
    await inParts(id, 3)
    await sendPart(id, 1, '12345')
    const body = { done: [etag(1), etag(3)] }
    const { message } = await expectError(409, 'parts_missing', 'POST', at(id, 'complete'), { key, body })
    expect(message).toBe('1 of 3 parts are missing, the first is 2')
    expect((await trackRow(track_id)).status).toBe('initializing')
  })

  it('returns 409 when the parts do not add up to the size of the file, and deletes them', async () => {
    const { multipart_upload } = await createUpload({ file_size: 11 })
    const part = await sendPart(multipart_upload.id, 1, 'RIFF\0audio')
    const { path } = await multipartRow(multipart_upload.id)
    const call = ['POST', at(multipart_upload.id, 'complete'), { key, body: { done: [part] } }] as const
    await expectError(409, 'size_mismatch', ...call)
    expect(await env.MEDIA.head(path)).toBeNull()
    expect((await trackRow(track_id)).status).toBe('initializing')
    await expectError(404, 'not_found', ...call)
  })

  it('returns 409 for the ETag of another part or upload, and then requires all parts to be sent again', async () => {
    const { multipart_upload } = await createUpload()
    const { id } = multipart_upload
    await sendPart(id, 1, 'RIFF\0audio')
    const body = { done: [etag(1)] }
    await expectError(409, 'invalid_part', 'POST', at(id, 'complete'), { key, body })
    expect((await multipartRow(id)).parts).toEqual({})
    const part = await sendPart(id, 1, 'RIFF\0audio')
    await ok('POST', at(id, 'complete'), { key, body: { done: [part] } })
  })

  it('returns 409 when it is already complete', async () => {
    const id = await aMultipart(key, track_id)
    await ok('POST', at(id, 'complete'), { key, body: {} })
    await expectError(409, 'multipart_complete', 'POST', at(id, 'part'), { key, body: { next: [1] } })
    await expectError(409, 'multipart_complete', 'DELETE', at(id), { key })
  })

  it('returns 413 for a file above the size limit', async () => {
    await expectError(413, 'file_too_large', 'POST', at(), { key, body: { file_size: 1_000_001 } })
  })

  it('returns 404 for an unknown upload, and for an upload of another track or organization', async () => {
    const id = await aMultipart(key, track_id)
    const other = await aTrack(key, collection_id)
    await expectError(404, 'not_found', 'GET', `/v1/track/${other.id}/multipart/${id}`, { key })
    await expectError(404, 'not_found', 'GET', at(id), { key: (await aTenant()).key })
    await expectError(404, 'not_found', 'GET', at(UNKNOWN_ID), { key })
  })
})

describe('a concurrent deletion', () => {
  it.each(['track', 'collection'])('of the %s also deletes its upload', async (noun) => {
    const id = await aMultipart(key, track_id)
    await ok('DELETE', `/v1/${noun}/${noun === 'track' ? track_id : collection_id}`, { key })
    await expectError(404, 'not_found', 'POST', at(id, 'complete'), { key, body: {} })
    const { path } = await multipartRow(id)
    expect(await env.MEDIA.head(path)).toBeNull()
  })

  it('of the files at earlier upload URLs is scheduled separately for each URL', async () => {
    await db
      .update(tracks)
      .set({ source_suffix: sql`upload_suffix`, awaiting_upload: false })
      .where(eq(tracks.id, track_id))
    await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    const { upload_path, upload_expires_at } = await trackRow(track_id)
    const { multipart_upload } = await createUpload()
    const { path, expires_at } = await multipartRow(multipart_upload.id)
    // The first handle needs no row, because its file is the track's source.
    const handles = await query('select path, check_at from upload_handles order by path')
    expect(handles).toEqual([
      { path: upload_path, check_at: upload_expires_at + HOUR },
      { path, check_at: expires_at + HOUR },
    ])
    expect(await query(`select id from jobs where payload ->> 'kind' = 'purge'`)).toEqual([])
  })
})

describe('the sweep', () => {
  it('aborts an upload after a day, and its track fails with upload_expired', async () => {
    const { multipart_upload } = await createUpload()
    const { path, upload_id } = await multipartRow(multipart_upload.id)
    advanceHours(24.5)
    const other = await aTrack(key, collection_id)
    await ok('POST', `/v1/track/${other.id}/multipart`, { key, body: { file_size: 10 } })
    await expectError(404, 'not_found', 'GET', at(multipart_upload.id), { key })
    await runSweep()
    // The first sweep aborts the upload, and the second one updates its track.
    await runSweep()
    expect(await db.select().from(multipartUploads)).toMatchObject([{ track_id: other.id }])
    const { track } = await ok('GET', `/v1/track/${track_id}`, { key })
    expect(track).toMatchObject({ status: 'failed', info: { error: { code: 'upload_expired' } } })
    await expect(env.MEDIA.resumeMultipartUpload(path, upload_id).uploadPart(1, 'x')).rejects.toThrow('10024')
  })

  it('keeps the file of a completed upload', async () => {
    const id = await aMultipart(key, track_id)
    await ok('POST', at(id, 'complete'), { key, body: {} })
    const { path } = await multipartRow(id)
    await endNow(id)
    await runSweep()
    expect(await db.select().from(multipartUploads)).toEqual([])
    expect(await env.MEDIA.head(path)).not.toBeNull()
  })
})
