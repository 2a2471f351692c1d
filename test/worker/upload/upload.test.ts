import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks, uploadSessions } from '../../../src/adapters/db/schema/library.ts'
import {
  aCollection,
  anApiKey,
  anUploadSession,
  aPlaylist,
  CREATOR,
  db,
  HOUR,
  ok,
  query,
  readTrack,
  expectError,
  errorPaths,
} from '../support/api.ts'
import {
  aTenant,
  beforeBatch,
  eventually,
  runSweep,
  trackRow,
  putUpload,
  uploadedColumns,
} from '../support/fixtures.ts'
import { aMultipart, multipartRow } from '../support/multipart_uploads.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'
import { errorEvent, completeResult, serveTranscoder } from '../support/transcoder.ts'

let key: string
let collection_id: string
beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
})
const addTrack = (id: string, body: object = {}) =>
  ok('POST', `/v1/upload/${id}/track`, { key, body: { file_name: 'So What.mp3', ...body } })
/** Sets the end of the session to `milliseconds` ago. */
const endAgo = (id: string, milliseconds: number) =>
  db
    .update(uploadSessions)
    .set({ expires_at: Date.now() - milliseconds })
    .where(eq(uploadSessions.id, id))

describe('an upload session', () => {
  it('ends after an hour', async () => {
    const before = Date.now()
    const body = await anUploadSession(key, collection_id)
    expect(body.upload_session).toEqual({ id: body.upload_session_id, collection_id, expires_at: body.expires_at })
    const expires_at = Date.parse(body.expires_at)
    expect(expires_at).toBeGreaterThanOrEqual(before + HOUR)
    expect(expires_at).toBeLessThanOrEqual(Date.now() + HOUR)
  })

  it('returns the fields that it was created with', async () => {
    const fields = { creator_id: CREATOR, organization_index: 'batch 7', metadata: { from: 'studio' } }
    const { upload_session_id: id, expires_at } = await anUploadSession(key, collection_id, fields)
    const { upload_session } = await ok('GET', `/v1/upload_session/${id}`, { key })
    const quota = { max_bytes: null, max_tracks: null }
    expect(upload_session).toEqual({ id, collection_id, ...fields, expires_at, ...quota })
  })

  it('has no creator, an empty index and no metadata by default', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const { upload_session } = await ok('GET', `/v1/upload_session/${id}`, { key })
    expect(upload_session).toMatchObject({ creator_id: null, organization_index: '', metadata: {} })
  })

  it('creates tracks in order in its collection, with its creator', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id, { creator_id: CREATOR })
    const first = await addTrack(id, { organization_index: '1', title: 'One', metadata: { side: 'A' } })
    const second = await addTrack(id, { file_name: 'Blue in Green.mp3' })
    const row = await trackRow(first.track_id)
    expect(first.track).toEqual({
      id: first.track_id,
      index: row.index,
      path: `media/${row.organization_id}/${collection_id}/${row.index}`,
    })
    const { tracks } = await ok('GET', `/v1/collection/${collection_id}/track`, { key })
    expect(tracks.map((t) => [t.id, t.order])).toEqual([
      [first.track_id, 1],
      [second.track_id, 2],
    ])
    expect(await readTrack(key, first.track_id)).toMatchObject({
      creator_id: CREATOR,
      player_title: 'One',
      organization_index: '1',
      metadata: { side: 'A' },
      status: 'initializing',
    })
  })

  it('returns the same kinds of upload handles as any other track', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const { track_upload, track_cover_upload } = await addTrack(id, { file_size: 5, content_type: 'audio/flac' })
    expect(track_upload).toMatchObject({ method: 'PUT', ttl: 3600 })
    expect(signedParts(track_upload.upload_url).headers).toEqual(['content-length', 'content-type', 'host'])
    const headers = { 'content-length': '5', 'content-type': 'audio/flac' }
    expect(await isSignedFor('PUT', track_upload.upload_url, headers)).toBe(true)
    expect(track_cover_upload).toMatchObject({ method: 'POST', ttl: 3600 })
    expect(track_cover_upload.upload_url).toMatch(/^https:\/\/tonearm\.test\/v1\/cover_upload\//)
  })
})

describe('discarding a track', () => {
  const waiting = async () => {
    const { upload_session_id: session } = await anUploadSession(key, collection_id)
    const { track_id } = await addTrack(session)
    return { session, track_id: track_id, path: `/v1/upload/${session}/track/${track_id}` }
  }
  const uploader = async (collection: string) =>
    (await anApiKey(key, { type: 'uploader', collection_id: collection })).secret
  const jobs = () => query<{ payload: string }>("select payload from jobs where payload ->> '$.kind' = 'purge'")

  it('deletes the track even after its session has ended, and deletes a file that arrives later', async () => {
    const { session, track_id, path } = await waiting()
    const row = await trackRow(track_id)
    await endAgo(session, HOUR)
    const caller = await uploader(collection_id)
    const { deleted_track } = await ok('DELETE', path, { key: caller })
    expect(deleted_track).toEqual({ id: track_id, index: row.index, file_name: 'So What.mp3' })
    expect((await ok('GET', `/v1/collection/${collection_id}/track`, { key })).tracks).toEqual([])
    expect((await ok('GET', '/v1/event', { key })).events.at(-1)).toMatchObject({ type: 'track.deleted' })
    await expectError(404, 'not_found', 'DELETE', path, { key: caller })
    // One purge runs now, and one when the upload URL has expired.
    expect((await jobs()).filter(({ payload }) => payload.includes(row.upload_path))).toHaveLength(2)
  })

  it('deletes the multipart upload of the track', async () => {
    const { track_id, path } = await waiting()
    const upload = await aMultipart(key, track_id)
    const { path: object } = await multipartRow(upload)
    await ok('DELETE', path, { key })
    await runSweep()
    expect(await multipartRow(upload)).toBeUndefined()
    await expect(env.MEDIA.resumeMultipartUpload(object, 'x').complete([])).rejects.toThrow()
  })

  it('is possible when the upload URL expired without a file', async () => {
    const { track_id, path } = await waiting()
    await db.update(tracks).set({ upload_expires_at: 0 }).where(eq(tracks.id, track_id))
    expect((await readTrack(key, track_id)).info.error!.code).toBe('upload_expired')
    await ok('DELETE', path, { key })
  })

  it('returns 409 when a file has arrived, whether or not it was detected', async () => {
    const undetected = await waiting()
    await putUpload(await trackRow(undetected.track_id))
    await expectError(409, 'track_uploaded', 'DELETE', undetected.path, { key })
    expect((await trackRow(undetected.track_id)).status).toBe('processing')
    const refusedFile = await waiting()
    await putUpload(await trackRow(refusedFile.track_id), '')
    await expectError(409, 'track_uploaded', 'DELETE', refusedFile.path, { key })
    expect((await trackRow(refusedFile.track_id)).status).toBe('failed')
  })

  it('returns 409 when the track is being processed, and the track becomes ready', async () => {
    let isBusy = true
    serveTranscoder((job) => (isBusy ? errorEvent('cancelled', 'The transcoder is busy', true) : completeResult(job)))
    const { track_id, path } = await waiting()
    await putUpload(await trackRow(track_id))
    await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    await expectError(409, 'track_uploaded', 'DELETE', path, { key })
    const { job_id } = await trackRow(track_id)
    expect(await query('select state from jobs where id = ?', job_id)).toEqual([{ state: 'open' }])
    isBusy = false
    await query('update jobs set lease_until = 0 where id = ?', job_id)
    await runSweep()
    await eventually(async () => (await trackRow(track_id)).status === 'ready')
  })

  it('returns 409 when a file arrives during the request, and keeps the playlist entries of the track', async () => {
    const { track_id, path } = await waiting()
    const playlist_id = await aPlaylist(key)
    await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [track_id] } })
    const arrives = async () =>
      db
        .update(tracks)
        .set(uploadedColumns(await trackRow(track_id)))
        .where(eq(tracks.id, track_id))
    await expectError(409, 'track_uploaded', 'DELETE', path, {
      key,
      bindings: beforeBatch(async () => void (await arrives())),
    })
    expect((await ok('GET', `/v1/playlist/${playlist_id}/track`, { key })).tracks).toHaveLength(1)
    expect(await jobs()).toEqual([])
  })

  it("returns 404 when the track belongs to another session, or its collection is outside the key's binding", async () => {
    const [own_track, other] = [await waiting(), await waiting()]
    await expectError(404, 'not_found', 'DELETE', `/v1/upload/${other.session}/track/${own_track.track_id}`, { key })
    const outside = await uploader((await aCollection(key)).id)
    await expectError(404, 'not_found', 'DELETE', own_track.path, { key: outside })
  })
})

describe('an invalid or expired upload session', () => {
  it('returns 410 for a day after its end, then 404', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const get = ['GET', `/v1/upload_session/${id}`, { key }] as const
    const add = ['POST', `/v1/upload/${id}/track`, { key, body: { file_name: 'a' } }] as const
    await endAgo(id, 1)
    await expectError(410, 'session_expired', ...get)
    await expectError(410, 'session_expired', ...add)
    await endAgo(id, 24 * HOUR - 60_000)
    await expectError(410, 'session_expired', ...get)
    await endAgo(id, 24 * HOUR)
    await expectError(404, 'not_found', ...get)
    await expectError(404, 'not_found', ...add)
  })

  it('is deleted by the sweep a day after its end', async () => {
    const [expired, recent] = [await anUploadSession(key, collection_id), await anUploadSession(key, collection_id)]
    await endAgo(expired.upload_session_id, 25 * HOUR)
    await endAgo(recent.upload_session_id, 23 * HOUR)
    await runSweep()
    expect((await db.select().from(uploadSessions)).map(({ id }) => id)).toEqual([recent.upload_session_id])
  })

  it('returns 400 without a collection, or without the file name of a track', async () => {
    expect(
      errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/upload_session', { key, body: {} })),
    ).toEqual(['collection_id'])
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const answer = await expectError(400, 'invalid_request', 'POST', `/v1/upload/${id}/track`, { key, body: {} })
    expect(errorPaths(answer)).toEqual(['file_name'])
  })

  it('returns 400 for a collection or creator of a single track', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const body = { file_name: 'a', collection_id, creator_id: CREATOR }
    const answer = await expectError(400, 'unknown_field', 'POST', `/v1/upload/${id}/track`, { key, body })
    expect(errorPaths(answer)).toEqual(['collection_id', 'creator_id'])
  })

  it('returns 413 for a file above the size limit', async () => {
    const { upload_session_id: id } = await anUploadSession(key, collection_id)
    const body = { file_name: 'a.wav', file_size: 1_000_001 }
    await expectError(413, 'file_too_large', 'POST', `/v1/upload/${id}/track`, { key, body })
  })
})
