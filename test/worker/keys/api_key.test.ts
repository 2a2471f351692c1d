import { describe, expect, it, vi } from 'vitest'

import { isSecret, sha256 } from '../../../src/adapters/crypto/secret.ts'
import { EFFECTS } from '../../../src/contract/effect.ts'
import {
  anApiKey,
  anOrganization,
  aPlaylist,
  aWaitingTrack,
  call,
  expectError,
  HOUR,
  ok,
  query,
} from '../support/api.ts'
import { aTenant, eventually, stopTime } from '../support/fixtures.ts'
import { countRows, countCallRows } from '../support/row_counter.ts'

const works = async (secret: string) => (await call('GET', '/v1/limits', { key: secret })).status === 200

describe('an API key', () => {
  it.each([
    ['server', 'ta_sk_'],
    ['player', 'ta_pk_'],
    ['uploader', 'ta_uk_'],
  ])('(%s) has a secret with the prefix %s, 43 random characters and a checksum', async (type, prefix) => {
    const { key } = await anOrganization()
    const { secret, api_key } = await anApiKey(key, { type })
    expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`))
    expect(isSecret(secret)).toBe(true)
    expect(isSecret(secret.replace(/.$/, (c: string) => (c === 'a' ? 'b' : 'a')))).toBe(false)
    expect(api_key).toMatchObject({ type, hint: secret.slice(0, 10), last_used_at: null, expires_at: null })
    expect(await works(secret)).toBe(true)
  })

  it('is returned with its secret once, and only the hash of the secret is stored', async () => {
    const { key } = await anOrganization()
    const { secret, api_key_id } = await anApiKey(key)
    const single = await ok('GET', `/v1/api_key/${api_key_id}`, { key })
    const list = await ok('GET', '/v1/api_key', { key })
    expect(JSON.stringify([single, list])).not.toContain(secret.slice(6, 40))
    const rows = await query('select * from api_keys')
    expect(JSON.stringify(rows)).not.toContain(secret.slice(10, 40))
    expect(rows.find(({ id }) => id === api_key_id)).toMatchObject({ hash: await sha256(secret) })
    expect(JSON.stringify([single, list])).not.toContain(await sha256(secret))
  })

  it('is rejected without a query when its checksum is wrong', async () => {
    const { key } = await anOrganization()
    const typo = `${key.slice(0, 20)}${key[20] === 'x' ? 'y' : 'x'}${key.slice(21)}`
    const { result, statements } = await countRows(() => call('GET', '/v1/limits', { key: typo }))
    expect([result.status, result.body.code, statements]).toEqual([401, 'unauthorized', 0])
  })

  it('can be listed, read and updated, and loses a restriction that is set to null', async () => {
    const { key } = await anOrganization()
    const expires_at = new Date(Date.now() + HOUR).toISOString()
    const settings = {
      variants: ['mp3-128'],
      is_downloadable: true,
      allowed_origins: ['https://a.example'],
      expires_at,
    }
    const { api_key_id, api_key } = await anApiKey(key, settings)
    expect(api_key).toMatchObject(settings)
    const { count, api_keys } = await ok('GET', '/v1/api_key', { key })
    expect([count, api_keys[0]!.id, api_keys[1]!.type]).toEqual([2, api_key_id, 'server'])
    const none = { variants: null, is_downloadable: false, allowed_origins: null, expires_at: null, title: 'Open' }
    const updated = await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body: none })
    expect(updated.api_key).toMatchObject(none)
    expect((await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body: {} })).api_key).toEqual(updated.api_key)
  })

  it('is updated at once, even if it was just used', async () => {
    const { key } = await anOrganization()
    const { api_key_id, secret } = await anApiKey(key)
    const headers = { origin: 'https://evil.example' }
    await ok('GET', '/v1/limits', { key: secret, headers })
    await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body: { allowed_origins: ['https://a.example'] } })
    expect((await call('GET', '/v1/limits', { key: secret, headers })).body.code).toBe('origin_not_allowed')
  })

  it('stops working when it expires', async () => {
    const { key } = await anOrganization()
    stopTime()
    const { secret } = await anApiKey(key, { expires_at: new Date(Date.now() + 300).toISOString() })
    expect(await works(secret)).toBe(true)
    vi.setSystemTime(Date.now() + 300)
    expect(await works(secret)).toBe(false)
  })

  it('cannot expire in the past or after the year 9999', async () => {
    const { key } = await anOrganization()
    const { api_key_id } = await anApiKey(key)
    for (const expires_at of [new Date().toISOString(), '1999-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59']) {
      for (const [method, path] of [
        ['POST', '/v1/api_key'],
        ['PUT', `/v1/api_key/${api_key_id}`],
      ] as const) {
        const body = { expires_at, title: 'Late', ...(method === 'POST' && { type: 'player' }) }
        const { status, body: answer } = await call(method, path, { key, body })
        expect([status, answer.errors]).toEqual([400, [{ path: 'expires_at', message: expect.any(String) }]])
      }
    }
    expect((await ok('GET', '/v1/api_key', { key })).count).toBe(2)
  })

  it('can be bound only to existing resources that fit its type', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const playlist_id = await aPlaylist(key)
    const bound = async (body: object) => {
      const { status, body: answer } = await call('POST', '/v1/api_key', { key, body: { title: 'B', ...body } })
      return 'errors' in answer ? answer.errors[0]!.path : status
    }
    for (const binding of [{ collection_id }, { track_id }, { playlist_id }, { collection_id: null, track_id }]) {
      expect(await bound({ type: 'player', ...binding })).toBe(200)
    }
    expect(await bound({ type: 'uploader', collection_id })).toBe(200)
    expect(await bound({ type: 'uploader', track_id })).toBe('track_id')
    expect(await bound({ type: 'uploader', playlist_id })).toBe('playlist_id')
    expect(await bound({ type: 'server', collection_id })).toBe('collection_id')
    expect(await bound({ type: 'player', collection_id, track_id })).toBe('track_id')
    const other = await aTenant()
    expect(await bound({ type: 'player', collection_id: other.collection_id })).toBe(404)
    expect(await bound({ type: 'player', variants: ['flac-9000'] })).toBe('variants.0')
  })

  it('keeps its old secret during the grace period after a rotation, but no longer', async () => {
    const { key } = await anOrganization()
    const { api_key_id, secret } = await anApiKey(key)
    await works(secret)
    const rotate = async (grace_seconds?: number) =>
      (await ok('POST', `/v1/api_key/${api_key_id}/rotate`, { key, body: { grace_seconds } })).secret
    const second = await rotate(3600)
    expect([await works(secret), await works(second), second === secret]).toEqual([true, true, false])
    const third = await rotate()
    // Only the most recent of the old secrets has a grace period.
    expect([await works(secret), await works(second), await works(third)]).toEqual([false, true, true])
    const fourth = await rotate(0)
    expect([await works(third), await works(fourth)]).toEqual([false, true])
    stopTime()
    const fifth = await rotate(1)
    expect([await works(fourth), await works(fifth)]).toEqual([true, true])
    vi.setSystemTime(Date.now() + 1000)
    expect([await works(fourth), await works(fifth)]).toEqual([false, true])
  })

  it('is revoked at once in the isolate that just used it, and then returns 404', async () => {
    const { key } = await anOrganization()
    const { api_key_id, secret } = await anApiKey(key)
    expect(await works(secret)).toBe(true)
    const { deleted_api_key } = await ok('DELETE', `/v1/api_key/${api_key_id}`, { key })
    expect(deleted_api_key.id).toBe(api_key_id)
    expect(await works(secret)).toBe(false)
    for (const method of ['GET', 'DELETE']) {
      expect((await call(method, `/v1/api_key/${api_key_id}`, { key })).status).toBe(404)
    }
    expect((await ok('GET', '/v1/api_key', { key })).count).toBe(1)
  })

  it('cannot be set to expire if it is the last server key that does not expire', async () => {
    const { key } = await anOrganization()
    const first = (await ok('GET', '/v1/api_key', { key })).api_keys[0]!.id
    const body = { expires_at: new Date(Date.now() + 60_000).toISOString() }
    const refused = await call('PUT', `/v1/api_key/${first}`, { key, body })
    expect([refused.status, refused.body.code]).toEqual([409, 'last_server_key'])
    await anApiKey(key, { type: 'server', ...body })
    expect((await call('PUT', `/v1/api_key/${first}`, { key, body })).status).toBe(409)
    await anApiKey(key, { type: 'server' })
    await ok('PUT', `/v1/api_key/${first}`, { key, body })
  })

  it('cannot be revoked when it is the last working server key', async () => {
    const { key } = await anOrganization()
    await anApiKey(key)
    const first = (await ok('GET', '/v1/api_key', { key })).api_keys[1]!.id
    const refused = async (id: string) => (await call('DELETE', `/v1/api_key/${id}`, { key })).body.code
    expect(await refused(first)).toBe('last_server_key')
    const second = await anApiKey(key, { type: 'server' })
    await query('update api_keys set expires_at = 1 where id = ?', second.api_key_id)
    expect(await refused(first)).toBe('last_server_key')
    const third = await anApiKey(key, { type: 'server' })
    const both = await Promise.all([first, third.api_key_id].map(refused))
    // The key that authenticates the second request may have been revoked by the first request.
    expect(both.filter((code) => code !== undefined).length).toBe(1)
    const remaining = await query(`select id from api_keys where type = 'server' and expires_at is null`)
    expect(remaining.length).toBe(1)
  })

  it('reports its last use, which the queue records later, so that no request writes to the database', async () => {
    const { key } = await anOrganization()
    const { api_key_id, secret } = await anApiKey(key)
    const { written } = await countCallRows('GET', '/v1/limits', { key: secret })
    expect(written).toBe(0)
    const read = async () => (await ok('GET', `/v1/api_key/${api_key_id}`, { key })).api_key.last_used_at
    await eventually(async () => (await read()) !== null)
    expect(Math.abs(Date.parse((await read())!) - Date.now())).toBeLessThan(60_000)
  })
})

describe('`may`', () => {
  it('is everything by default, and null for keys that are no server keys', async () => {
    const { key } = await anOrganization()
    const mayOf = async (body: object) => (await anApiKey(key, body)).api_key.may
    expect(await mayOf({ type: 'server' })).toEqual([...EFFECTS])
    expect(await mayOf({ type: 'server', may: ['delete', 'read', 'delete'] })).toEqual(['read', 'delete'])
    for (const type of ['player', 'uploader', 'signing']) expect(await mayOf({ type })).toBeNull()
    const { api_keys } = await ok('GET', '/v1/api_key', { key })
    expect(api_keys.at(-1)!.may).toEqual([...EFFECTS])
  })

  it.each(['player', 'uploader', 'signing'])('cannot be set for a %s key', async (type) => {
    const { key } = await anOrganization()
    const { api_key_id } = await anApiKey(key, { type })
    const requests = [
      ['POST', '/v1/api_key', { title: 'K', type, may: ['read'] }],
      ['PUT', `/v1/api_key/${api_key_id}`, { may: [...EFFECTS] }],
    ] as const
    for (const [method, path, body] of requests)
      expect(await expectError(400, 'invalid_request', method, path, { key, body })).toMatchObject({
        errors: [{ path: 'may', message: 'can be set for server keys only' }],
      })
  })

  it.each([[[]], [['admin']], ['read'], [null], [{ read: true }], [[['read']]]])('cannot be %j', async (may) => {
    const { key } = await anOrganization()
    const body = { title: 'K', type: 'server', may }
    await expectError(400, 'invalid_request', 'POST', '/v1/api_key', { key, body })
  })

  it('of the last server key that may do everything and never expires cannot be narrowed', async () => {
    const { key } = await anOrganization()
    const first = (await ok('GET', '/v1/api_key/self', { key })).api_key_id
    const narrow = (id: string) => call('PUT', `/v1/api_key/${id}`, { key, body: { may: ['read'] } })
    await anApiKey(key, { type: 'server', may: ['read', 'write'] })
    await anApiKey(key, { type: 'server', expires_at: new Date(Date.now() + 60_000).toISOString() })
    for (const request of [
      () => narrow(first),
      () => call('DELETE', `/v1/api_key/${first}`, { key }),
      () => call('PUT', `/v1/api_key/${first}`, { key, body: { expires_at: '2100-01-01T00:00:00Z' } }),
    ]) {
      const { status, body } = await request()
      expect([status, body.code]).toEqual([409, 'last_server_key'])
    }
    const second = await anApiKey(key, { type: 'server' })
    const both = await Promise.all([narrow(second.api_key_id), narrow(first)])
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1)
    const full = await query(`select id from api_keys where type = 'server' and may is null and expires_at is null`)
    expect(full).toHaveLength(1)
  })

  it('of a key that may do less says nothing about the last server key', async () => {
    const { key } = await anOrganization()
    const { api_key_id } = await anApiKey(key, { type: 'server', may: ['read', 'write'] })
    const body = { may: ['read'], expires_at: '2100-01-01T00:00:00Z' }
    expect((await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body })).api_key).toMatchObject({ may: ['read'] })
    await ok('DELETE', `/v1/api_key/${api_key_id}`, { key })
  })
})
