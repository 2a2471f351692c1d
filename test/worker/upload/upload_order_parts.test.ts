import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { ok, query, expectError } from '../support/api.ts'
import { beforeBatch, eventually, storedFiles, trackRow } from '../support/fixtures.ts'
import { multipartRow, sendPart } from '../support/multipart_uploads.ts'
import { aFile, aTrackWithHandles, pathOf, putFile, serveSources, serveWaiting } from '../support/upload_handles.ts'

/** The same rules as in upload_order.test.ts, tested with multipart uploads. */

afterEach(() => void vi.useRealTimers())

describe('a multipart upload', () => {
  const aPart = async (track: Awaited<ReturnType<typeof aTrackWithHandles>>, seconds: number, body: object = {}) => {
    const { key, at } = track
    const sent = { file_size: seconds, ...body }
    const { multipart_upload } = await ok('POST', `${at}/multipart`, { key, body: sent })
    const { id } = multipart_upload
    const done = [await sendPart(id, 1, aFile(seconds))]
    const { path, upload_id } = await multipartRow(id)
    return { at: `${at}/multipart/${id}`, body: { done }, key, path, upload_id }
  }

  it.each(['replaced', 'deleted'])('that is %s while it is being completed is aborted entirely', async (how) => {
    serveSources()
    const track = await aTrackWithHandles()
    const { at, body, path, key } = await aPart(track, 12)
    // The upload is replaced or deleted after it was completed in R2 and before the database is updated.
    let times = 0
    const bindings = beforeBatch(async () => {
      if (times++ > 0) return
      if (how === 'deleted') await ok('DELETE', at, { key })
      else await ok('POST', `${track.at}/multipart`, { key, body: { file_size: 25 } })
    })
    await expectError(404, 'not_found', 'POST', `${at}/complete`, { key, body, bindings })
    expect(await storedFiles('uploads/')).toEqual([])
    expect((await track.read()).status).toBe('initializing')
    expect(await query('select state from upload_handles where path = ?', path)).toEqual([{ state: 'abandoned' }])
  })

  it('is used when it is complete, until another upload is complete', async () => {
    serveSources(() => true)
    const track = await aTrackWithHandles()
    const { at, body, key } = await aPart(track, 12, { file_name: 'parts.wav' })
    const answer = await ok('POST', `${at}/complete`, { key, body })
    expect(answer.track.status).toBe('processing')
    const other = await aPart(track, 25, { file_name: 'other.wav' })
    await ok('POST', `${other.at}/complete`, { key, body: other.body })
    await serveWaiting()
    await track.isOnly(25, 'other.wav', [['parts.wav', 12]])
  })

  it('is used when it is complete, although another upload was created before its completion was detected', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { at, body, key, path, upload_id } = await aPart(track, 12, { file_name: 'parts.wav' })
    // The parts were joined, but the request was interrupted before the size was checked.
    await ok('POST', `${at}/part`, { key, body: { done: body.done } })
    const parts = body.done.map(({ part_number, etag }) => ({ partNumber: part_number, etag }))
    await env.MEDIA.resumeMultipartUpload(path, upload_id).complete(parts)
    // The size of the joined file was not checked yet.
    expect((await track.read()).status).toBe('initializing')
    await query(`update multipart_uploads set state = 'complete'`)
    await ok('POST', `${track.at}/multipart`, { key, body: { file_size: 25 } })
    expect((await track.read()).status).toBe('processing')
    await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    expect(await trackRow(track.track_id)).toMatchObject({
      duration: 12,
      file_name: 'parts.wav',
      awaiting_upload: true,
    })
  })

  it('continues when a new URL is requested, but a file sent to that URL replaces it', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { at, body, key } = await aPart(track, 12, { file_name: 'parts.wav' })
    await putFile(await track.renew({ file_name: 'b.wav' }), 25)
    await track.complete()
    const { multipart_upload } = await ok('POST', `${at}/complete`, { key, body })
    expect(multipart_upload.state).toBe('complete')
    await track.isOnly(25, 'b.wav', [['parts.wav', 12]])
  })

  it('that was joined but not checked can be completed by a retry, although a newer file is used', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { at, body, key, path, upload_id } = await aPart(track, 12, { file_name: 'parts.wav' })
    await putFile(await track.renew({ file_name: 'b.wav' }), 25)
    const parts = body.done.map(({ part_number, etag }) => ({ partNumber: part_number, etag }))
    await env.MEDIA.resumeMultipartUpload(path, upload_id).complete(parts)
    await track.complete()
    expect(await storedFiles('uploads/')).toContain(path)
    await ok('POST', `${at}/complete`, { key, body })
    expect(await storedFiles('uploads/')).not.toContain(path)
    await track.isOnly(25, 'b.wav', [['parts.wav', 12]])
  })

  it.each(['newest', 'older'])(
    'that is the %s handle keeps an invalid file until the size of the file is checked',
    async (which) => {
      serveSources()
      const track = await aTrackWithHandles()
      const { at, key, path, upload_id } = await aPart(track, 12)
      const part = await sendPart(at.split('/').at(-1)!, 1, 'Dear diary, ')
      if (which === 'older') await track.renew()
      const { part_number, etag } = part
      await env.MEDIA.resumeMultipartUpload(path, upload_id).complete([{ partNumber: part_number, etag }])
      expect((await track.complete()).status).toBe('initializing')
      expect(await storedFiles('uploads/')).toEqual([path])
      // The repeated request gets the response of a complete upload.
      const { track: after } = await ok('POST', `${at}/complete`, { key, body: { done: [part] } })
      expect(after.status).toBe(which === 'newest' ? 'failed' : 'initializing')
      expect(await storedFiles('uploads/')).toEqual([])
    },
  )

  it('replaces a file that arrived earlier at the first URL', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await putFile(track.first, 9)
    const { at, body, key } = await aPart(track, 12)
    await ok('POST', `${at}/complete`, { key, body })
    await track.isOnly(12, 'a.wav', [['a.wav', 9]])
  })

  it('that is deleted before its parts are joined makes the previous URL usable again', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const renewed = await track.renew({ file_name: 'b.wav' })
    const { at, key } = await aPart(track, 12)
    await ok('DELETE', at, { key })
    expect(await trackRow(track.track_id)).toMatchObject({ upload_path: pathOf(renewed), awaiting_upload: true })
    await putFile(renewed, 25)
    await track.complete()
    await track.isOnly(25, 'b.wav', [])
  })
})
