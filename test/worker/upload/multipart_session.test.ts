import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'

import { uploadSessions } from '../../../src/adapters/db/schema/library.ts'
import { multipartUploads } from '../../../src/adapters/db/schema/work.ts'
import { aCollection, anApiKey, anUploadSession, db, ok, expectError } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { aMultipart, sendPart } from '../support/multipart_uploads.ts'

/** Multipart uploads with an uploader key, for tracks of its upload sessions. */

let key: string
let collection_id: string
beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
})
const endAt = Date.now() - 1
const uploader = async (collection: string) =>
  (await anApiKey(key, { type: 'uploader', collection_id: collection })).secret
async function inSession(caller: string) {
  const { upload_session_id } = await anUploadSession(caller, collection_id)
  const made = await ok('POST', `/v1/upload/${upload_session_id}/track`, { key: caller, body: { file_name: 'a' } })
  const track_id = made.track_id
  return { upload_session_id, track_id, place: `/v1/upload/${upload_session_id}/track/${track_id}` }
}

it('a multipart upload can be completed after its session has ended, and its status can still be read', async () => {
  const caller = await uploader(collection_id)
  const { upload_session_id, place } = await inSession(caller)
  const { multipart_upload } = await ok('POST', `${place}/multipart`, { key: caller, body: { file_size: 10 } })
  const upload = `${place}/multipart/${multipart_upload.id}`
  const part = await sendPart(multipart_upload.id, 1, 'RIFF\0audio')
  await db.update(uploadSessions).set({ expires_at: endAt }).where(eq(uploadSessions.id, upload_session_id))
  await ok('POST', `${upload}/part`, { key: caller, body: { done: [part], next: [1] } })
  expect((await ok('GET', upload, { key: caller })).multipart_upload.parts).toHaveLength(1)
  const { track } = await ok('POST', `${upload}/complete`, { key: caller, body: {} })
  expect(track.status).toBe('processing')
  expect((await ok('GET', place, { key: caller })).track.status).toBe('processing')
  await expectError(410, 'session_expired', 'POST', `${place}/multipart`, { key: caller, body: { file_size: 10 } })
  await db.update(multipartUploads).set({ expires_at: endAt }).where(eq(multipartUploads.id, multipart_upload.id))
  await expectError(410, 'session_expired', 'GET', place, { key: caller })
})

it('a session does not allow a file to be replaced, or a track of another session or collection to be accessed', async () => {
  const caller = await uploader(collection_id)
  const { track_id, place } = await inSession(caller)
  const id = await aMultipart(key, track_id)
  const elsewhere = await inSession(caller)
  await expectError(404, 'not_found', 'GET', `${elsewhere.place}/multipart/${id}`, { key: caller })
  const outside = await uploader((await aCollection(key)).id)
  for (const method of ['GET', 'DELETE']) {
    await expectError(404, 'not_found', method, `${place}/multipart/${id}`, { key: outside })
  }
  await ok('POST', `${place}/multipart/${id}/complete`, { key: caller, body: {} })
  await expectError(409, 'track_uploaded', 'POST', `${place}/multipart`, { key: caller, body: { file_size: 10 } })
})
