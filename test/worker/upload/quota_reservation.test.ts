import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { aWaitingTrack, call, DAY, expectError, HOUR, ok, query, readTrack } from '../support/api.ts'
import { putUpload, runSweep, trackRow } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { aQuotaTenant, type QuotaTenant } from '../support/quotas.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

let own: QuotaTenant
let key: string
let collection_id: string
beforeEach(async () => {
  own = await aQuotaTenant()
  ;({ key, collection_id } = own)
})

describe('a reservation', () => {
  it('ends when its track is discarded', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 10 })
    const session = await own.aSession(secret)
    const { body } = await own.add(secret, session, 10)
    await ok('DELETE', `/v1/upload/${session}/track/${body.track_id}`, { key: secret })
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 0, used_tracks: 0 })
    expect((await own.add(secret, session, 10)).status).toBe(200)
  })

  it('ends with its upload URL, before a sweep', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 10 })
    const session = await own.aSession(secret)
    await own.add(secret, session, 10)
    await query('update reservations set expires_at = ?', Date.now() - 1)
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 0, used_tracks: 1 })
    expect(await own.usedBytes()).toBe(0)
    expect((await own.add(secret, session, 10)).status).toBe(200)
  })

  it('leaves no row when its upload URL has expired', async () => {
    const track_id = await aWaitingTrack(key, collection_id, { file_size: 10 })
    await query('update tracks set upload_expires_at = 1, next_check_at = 1 where id = ?', track_id)
    await runSweep()
    expect(await readTrack(key, track_id)).toMatchObject({
      status: 'failed',
      info: { error: { code: 'upload_expired' } },
    })
    expect(await query('select * from reservations')).toEqual([])
  })

  it('does not grow when its track gets another upload URL, unless the file is larger', async () => {
    await own.limitOrganization(100)
    const track_id = await aWaitingTrack(key, collection_id, { file_size: 60 })
    const renew = (file_size: number) => call('POST', `/v1/track/${track_id}/upload`, { key, body: { file_size } })
    expect((await renew(60)).status).toBe(200)
    // The first URL still accepts 60 bytes.
    expect((await renew(1)).status).toBe(200)
    expect(await own.usedBytes()).toBe(60)
    expect((await renew(100)).status).toBe(200)
    expect(await own.usedBytes()).toBe(100)
    const { upload_path } = await trackRow(track_id)
    expect((await renew(101)).body.quota).toMatchObject({
      scope: 'organization',
      limit: 100,
      used: 100,
      requested: 101,
    })
    expect((await trackRow(track_id)).upload_path).toBe(upload_path)
  })

  it('is that of an upload in parts, and ends when it is given up', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 100 })
    const session = await own.aSession(secret)
    const { body } = await own.add(secret, session, 10)
    const path = `/v1/upload/${session}/track/${body.track_id}/multipart`
    const start = (file_size: number) => call('POST', path, { key: secret, body: { file_size } })
    expect((await start(101)).body).toMatchObject({ code: 'quota_exceeded', quota: { used: 10, requested: 101 } })
    expect(await query('select id from multipart_uploads')).toEqual([])
    const started = await start(100)
    expect(started.status).toBe(200)
    expect((await own.quotaOfKey(id)).used_bytes).toBe(100)
    const end = async () => (await query<{ expires_at: number }>('select expires_at from reservations'))[0]!.expires_at
    expect(await end()).toBeGreaterThan(Date.now() + DAY - HOUR)
    await ok('DELETE', `${path}/${started.body.multipart_upload.id}`, { key: secret })
    // The first URL is still open.
    expect(await end()).toBeLessThan(Date.now() + HOUR)
    await query('update reservations set expires_at = 1')
    const again = await start(50)
    expect((await own.quotaOfKey(id)).used_bytes).toBe(50)
    await query('delete from upload_handles where path <> ?', (await trackRow(body.track_id)).upload_path)
    await ok('DELETE', `${path}/${again.body.multipart_upload.id}`, { key: secret })
    expect((await own.quotaOfKey(id)).used_bytes).toBe(0)
  })

  it('is counted once when the request is repeated', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 10 })
    const session = await own.aSession(secret)
    const headers = { 'idempotency-key': 'one' }
    const first = await own.add(secret, session, 10, headers)
    expect((await own.add(secret, session, 10, headers)).body.track_id).toBe(first.body.track_id)
    // The response of the first attempt was lost.
    await query(`update idempotency_keys set response = null, holder = ''`)
    expect((await own.add(secret, session, 10, headers)).body.track_id).toBe(first.body.track_id)
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 10, used_tracks: 1 })
  })

  it('is not left by a request that fails', async () => {
    const body = { collection_id: own.organization_id, file_name: 'a.mp3', file_size: 10 }
    await expectError(404, 'not_found', 'POST', '/v1/track', { key, body })
    expect(await query('select * from reservations')).toEqual([])
  })

  it('is deleted days later, when neither key nor session needs it', async () => {
    serveTranscoder((job) => completeResult(job))
    const { secret } = await own.anUploader()
    const session = await own.aSession(secret)
    const { body } = await own.add(secret, session, 10)
    const expired = await own.add(secret, session, 10)
    await uploadAndProcess(key, body.track_id)
    await query('update tracks set upload_expires_at = 1, next_check_at = 1 where id = ?', expired.body.track_id)
    await runSweep()
    const rows = () => query<{ track_id: string }>('select track_id from reservations')
    expect(await rows()).toHaveLength(2)
    await query('update reservations set day = day - 5')
    await runSweep()
    expect(await rows()).toEqual([])
  })
})

describe('a file that arrives', () => {
  it('is deleted if it is larger than its reservation and than the quota', async () => {
    const session = await own.aSession(key, { max_bytes: 8 })
    const { body } = await own.add(key, session, 4)
    await putUpload(await trackRow(body.track_id))
    const { track } = await ok('GET', `/v1/upload/${session}/track/${body.track_id}`, { key })
    expect(track).toMatchObject({ status: 'failed', error: { code: 'quota_exceeded' } })
    expect((await env.MEDIA.list({ prefix: 'uploads/' + own.organization_id })).objects).toEqual([])
    expect(await own.quotaOfSession(session)).toMatchObject({ used_bytes: 0, used_tracks: 1 })
  })

  it('is accepted if the quota has room for it, and counts with its real size', async () => {
    const session = await own.aSession(key, { max_bytes: 10 })
    const { body } = await own.add(key, session, 4)
    await putUpload(await trackRow(body.track_id))
    expect((await readTrack(key, body.track_id)).status).toBe('processing')
    expect(await own.quotaOfSession(session)).toMatchObject({ used_bytes: 10 })
    expect(await own.usedBytes()).toBe(10)
  })

  it('is accepted within its reservation, even if the limit has been lowered', async () => {
    const track_id = await aWaitingTrack(key, collection_id, { file_size: 10 })
    await own.limitOrganization(0)
    await putUpload(await trackRow(track_id))
    expect((await readTrack(key, track_id)).status).toBe('processing')
  })

  it('is rejected after its reservation has ended and the room was taken', async () => {
    await own.limitOrganization(15)
    const track_id = await aWaitingTrack(key, collection_id, { file_size: 10 })
    await query('update reservations set expires_at = 1')
    await aWaitingTrack(key, collection_id, { file_size: 10 })
    await putUpload(await trackRow(track_id))
    expect(await readTrack(key, track_id)).toMatchObject({ info: { error: { code: 'quota_exceeded' } } })
    expect(await own.usedBytes()).toBe(10)
  })
})
