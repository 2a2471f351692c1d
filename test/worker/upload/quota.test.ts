import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { anApiKey, call, DAY, expectError, ok, query, recordingBindings } from '../support/api.ts'
import { aQuotaTenant, type QuotaTenant } from '../support/quotas.ts'

const GB = 1_000_000_000

let own: QuotaTenant
let key: string
let collection_id: string
beforeEach(async () => {
  own = await aQuotaTenant()
  ;({ key, collection_id } = own)
})

describe('an uploader key', () => {
  it('accepts four files of 5 GB in one session, not 40', async () => {
    const { secret } = await own.anUploader()
    const session = await own.aSession(secret)
    const bindings = { ...recordingBindings, MAX_UPLOAD_BYTES: String(5 * GB) }
    const request = { key: secret, body: { file_name: 'a.mp3', file_size: 5 * GB }, bindings }
    const statuses = []
    for (let n = 0; n < 40; n++) statuses.push((await call('POST', `/v1/upload/${session}/track`, request)).status)
    expect(statuses).toEqual([...Array(4).fill(200), ...Array(36).fill(409)])
    expect(await query('select id from tracks where collection_id = ?', collection_id)).toHaveLength(4)
  })

  it('has 20 GB and 500 tracks a day, or what it was created or updated with', async () => {
    const of = async (body: object) => {
      const { api_key } = await anApiKey(key, { type: 'uploader', ...body })
      return [api_key.max_bytes, api_key.max_tracks]
    }
    expect(await of({})).toEqual([20 * GB, 500])
    expect(await of({ max_bytes: null, max_tracks: 3 })).toEqual([null, 3])
    const { id } = await own.anUploader()
    await ok('PUT', `/v1/api_key/${id}`, { key, body: { max_bytes: 5, max_tracks: null } })
    const { api_key, quota } = await ok('GET', `/v1/api_key/${id}`, { key })
    expect([api_key.max_bytes, api_key.max_tracks]).toEqual([5, null])
    const resets_at = new Date((Math.floor(Date.now() / DAY) + 1) * DAY).toISOString()
    expect(quota).toEqual({ max_bytes: 5, used_bytes: 0, max_tracks: null, used_tracks: 0, resets_at })
  })

  it('has a quota only if it is an uploader key', async () => {
    for (const type of ['server', 'player']) {
      const { api_key_id, api_key } = await anApiKey(key, { type })
      expect([api_key.max_bytes, api_key.max_tracks]).toEqual([null, null])
      expect(await own.quotaOfKey(api_key_id)).toBeNull()
      const body = { title: 'x', type, max_bytes: 1 }
      await expectError(400, 'invalid_request', 'POST', '/v1/api_key', { key, body })
      const limit = { max_tracks: 1 }
      await expectError(400, 'invalid_request', 'PUT', `/v1/api_key/${api_key_id}`, { key, body: limit })
    }
  })

  it('counts all its sessions together, and leaves other keys alone', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 100 })
    const other = await own.anUploader({ max_bytes: 100 })
    const [first, second] = [await own.aSession(secret), await own.aSession(secret)]
    expect((await own.add(secret, first, 60)).status).toBe(200)
    const resets_at = (await own.quotaOfKey(id)).resets_at
    expect(await own.rejection(secret, second, 41)).toEqual({
      scope: 'api_key',
      name: 'max_bytes',
      limit: 100,
      used: 60,
      requested: 41,
      resets_at,
    })
    expect((await own.add(secret, second, 40)).status).toBe(200)
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 100, used_tracks: 2 })
    expect((await own.add(other.secret, await own.aSession(other.secret), 100)).status).toBe(200)
    expect((await own.add(key, await own.aSession(key), 1000)).status).toBe(200)
  })

  it('counts tracks', async () => {
    const { id, secret } = await own.anUploader({ max_tracks: 2 })
    const session = await own.aSession(secret)
    for (let n = 0; n < 2; n++) expect((await own.add(secret, session, 1)).status).toBe(200)
    const quota = { scope: 'api_key', name: 'max_tracks', limit: 2, used: 2, requested: 1 }
    expect(await own.rejection(secret, session, 1)).toMatchObject(quota)
    expect(await own.quotaOfKey(id)).toMatchObject({ used_tracks: 2, used_bytes: 2 })
  })

  it('reserves the largest size for a file whose size is not known', async () => {
    const { id, secret } = await own.anUploader()
    const session = await own.aSession(secret)
    expect((await own.add(secret, session)).status).toBe(200)
    expect((await own.quotaOfKey(id)).used_bytes).toBe(Number(env.MAX_UPLOAD_BYTES))
  })

  it('is never exceeded by 1,000 requests of 50 parallel clients over several sessions', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 100, max_tracks: null })
    const sessions = await Promise.all(Array.from({ length: 5 }, () => own.aSession(secret)))
    const answers: Awaited<ReturnType<typeof own.add>>[] = []
    const request = async (session: string) => {
      for (let n = 0; n < 20; n++) answers.push(await own.add(secret, session, 7))
    }
    await Promise.all(Array.from({ length: 50 }, (_, n) => request(sessions[n % 5]!)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(14)
    expect(answers.filter(({ body }) => body.code === 'quota_exceeded')).toHaveLength(986)
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 98, used_tracks: 14 })
    expect(await query('select id from tracks where collection_id = ?', collection_id)).toHaveLength(14)
  })

  it('also has its quota in the session of a server key, and after it was revoked', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 10 })
    const session = await own.aSession(key)
    expect((await own.add(secret, session, 10)).status).toBe(200)
    expect(await own.rejection(secret, session, 1)).toMatchObject({ scope: 'api_key', used: 10 })
    // Another isolate may have the key in its cache for half a minute.
    await query('delete from api_keys where id = ?', id)
    expect((await own.add(secret, session, 1)).status).toBe(401)
  })

  it('has its quota again on the next day', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 10 })
    const session = await own.aSession(secret)
    expect((await own.add(secret, session, 10)).status).toBe(200)
    expect((await own.add(secret, session, 10)).status).toBe(409)
    await query('update reservations set day = day - 1')
    expect(await own.quotaOfKey(id)).toMatchObject({ used_bytes: 0, used_tracks: 0 })
    expect((await own.add(secret, session, 10)).status).toBe(200)
  })
})

describe('an upload session', () => {
  it('has its own quota', async () => {
    const session = await own.aSession(key, { max_bytes: 100, max_tracks: 2 })
    expect((await own.add(key, session, 90)).status).toBe(200)
    const quota = { scope: 'upload_session', name: 'max_bytes', limit: 100, used: 90, requested: 11, resets_at: null }
    expect(await own.rejection(key, session, 11)).toEqual(quota)
    expect((await own.add(key, session, 5)).status).toBe(200)
    expect(await own.rejection(key, session, 1)).toMatchObject({ name: 'max_tracks', limit: 2, used: 2, requested: 1 })
    const used = { max_bytes: 100, used_bytes: 95, max_tracks: 2, used_tracks: 2, resets_at: null }
    expect(await own.quotaOfSession(session)).toEqual(used)
    const { upload_session } = await ok('GET', `/v1/upload_session/${session}`, { key })
    expect(upload_session).toMatchObject({ max_bytes: 100, max_tracks: 2 })
  })

  it('never has more than its uploader key', async () => {
    const { secret } = await own.anUploader({ max_bytes: 100 })
    const session = await own.aSession(secret, { max_bytes: 1000, max_tracks: null })
    expect(await own.rejection(secret, session, 101)).toMatchObject({ scope: 'api_key', limit: 100 })
    expect(await own.quotaOfSession(session, secret)).toMatchObject({ max_bytes: 100, max_tracks: 500 })
    const small = await own.aSession(secret, { max_bytes: 10 })
    expect(await own.rejection(secret, small, 11)).toMatchObject({ scope: 'upload_session', limit: 10 })
    expect(await own.quotaOfSession(small, secret)).toMatchObject({ max_bytes: 10, max_tracks: 500 })
  })

  it.each([-1, 1.5, '5', 2 ** 53])('rejects the limit %j', async (max_bytes) => {
    await expectError(400, 'invalid_request', 'POST', '/v1/upload_session', { key, body: { collection_id, max_bytes } })
  })
})
