import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import {
  anOrganization,
  aWaitingTrack,
  call,
  createTrack,
  expectError,
  ok,
  query,
  sortedStatuses,
} from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
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

describe('an organization', () => {
  it('gets its limit from the root key only', async () => {
    const path = `/v1/organization/${own.organization_id}`
    await expectError(403, 'insufficient_scope', 'PUT', path, { key, body: { max_bytes: 1 } })
    expect((await own.limitOrganization(1000)).organization.max_bytes).toBe(1000)
    expect((await ok('GET', path, { key })).organization.max_bytes).toBe(1000)
    expect((await ok('PUT', path, { key, body: { name: 'New' } })).organization.max_bytes).toBe(1000)
    expect((await own.limitOrganization(null)).organization.max_bytes).toBeNull()
    const created = await ok('POST', '/v1/organization', { key: env.ROOT_KEY, body: { name: 'x', max_bytes: 7 } })
    expect(created.organization.max_bytes).toBe(7)
    await expectError(404, 'not_found', 'PUT', `/v1/organization/${collection_id}`, {
      key: env.ROOT_KEY,
      body: { max_bytes: 7 },
    })
  })

  it('counts what it stores: files, the trash, and uploads; and not those of others', async () => {
    serveTranscoder((job) => completeResult(job))
    const other = await anOrganization()
    const track_id = await aWaitingTrack(key, collection_id, { file_size: 10 })
    await uploadAndProcess(key, track_id)
    const { usage, quota } = await ok('GET', '/v1/usage', { key })
    expect(usage.bytes.total).toBeGreaterThan(10)
    expect(quota).toEqual({ max_bytes: null, used_bytes: usage.bytes.total })
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    expect(await own.usedBytes()).toBe(usage.bytes.total)
    await ok('POST', `/v1/trash/${track_id}/restore`, { key })
    expect(await own.usedBytes()).toBe(usage.bytes.total)
    await own.limitOrganization(usage.bytes.total + 9)
    const isRejected = async () =>
      (await call('POST', '/v1/track', { key, body: { collection_id, file_name: 'a', file_size: 10 } })).status
    expect(await isRejected()).toBe(409)
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    expect(await isRejected()).toBe(409)
    await ok('DELETE', `/v1/trash/${track_id}`, { key })
    expect(await own.usedBytes()).toBe(0)
    expect(await isRejected()).toBe(200)
    expect(await own.usedBytes(other.key)).toBe(0)
  })

  it('does not take the quota of another', async () => {
    const other = await aTenant()
    await own.limitOrganization(10)
    await own.limitOrganization(10, other.organization_id)
    await createTrack(key, collection_id, { file_size: 10 })
    await createTrack(other.key, other.collection_id, { file_size: 10 })
    expect([await own.usedBytes(), await own.usedBytes(other.key)]).toEqual([10, 10])
  })

  it('is never exceeded by parallel requests with different keys', async () => {
    await own.limitOrganization(100)
    const { secret } = await own.anUploader()
    const session = await own.aSession(secret)
    const body = { collection_id, file_name: 'a.mp3', file_size: 9 }
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        n % 2 ? call('POST', '/v1/track', { key, body }) : own.add(secret, session, 9),
      ),
    )
    expect(sortedStatuses(answers)).toEqual([...Array(11).fill(200), ...Array(49).fill(409)])
    expect(await own.usedBytes()).toBe(99)
  })
})

describe('the events of quotas', () => {
  it('come once at 80 % and once when an upload finds no room', async () => {
    const { id, secret } = await own.anUploader({ max_bytes: 100, max_tracks: null })
    const session = await own.aSession(secret)
    await own.add(secret, session, 79)
    expect(await own.quotaEvents()).toEqual([])
    await own.add(secret, session, 1)
    await own.add(secret, session, 1)
    const event = (used_bytes: number) => ({
      subject: `api_key:${id}`,
      data: { scope: 'api_key', resource_id: id, max_bytes: 100, used_bytes, max_tracks: null, used_tracks: null },
    })
    expect(await own.quotaEvents()).toEqual([{ type: 'quota.warning', ...event(80) }])
    await Promise.all(Array.from({ length: 5 }, () => own.add(secret, session, 50)))
    expect((await own.quotaEvents()).map(({ type }) => type)).toEqual(['quota.warning', 'quota.reached'])
  })

  it('come at 100 % without a rejected upload, for tracks as well', async () => {
    const { secret } = await own.anUploader({ max_tracks: 2 })
    const session = await own.aSession(secret)
    await own.add(secret, session, 1)
    await own.add(secret, session, 1)
    expect((await own.quotaEvents()).map(({ type }) => type)).toEqual(['quota.reached'])
  })

  it('come again on the next day', async () => {
    const { secret } = await own.anUploader({ max_bytes: 10 })
    await own.add(secret, await own.aSession(secret), 10)
    await query('update reservations set day = day - 1')
    await query('update api_keys set quota_level = quota_level - 4')
    await own.add(secret, await own.aSession(secret), 10)
    expect((await own.quotaEvents()).map(({ type }) => type)).toEqual(['quota.reached', 'quota.reached'])
  })

  it('come again for an organization after less than 80 % were used', async () => {
    await own.limitOrganization(100)
    const create = (file_size: number) => createTrack(key, collection_id, { file_size })
    const { track_id } = await create(85)
    const subject = `organization:${own.organization_id}`
    expect(await own.quotaEvents()).toMatchObject([{ type: 'quota.warning', subject, data: { used_bytes: 85 } }])
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    await create(1)
    await create(90)
    await create(1)
    expect((await own.quotaEvents()).map(({ type }) => type)).toEqual(['quota.warning', 'quota.warning'])
  })

  it('do not come for a file that is too large for a quota that is hardly used', async () => {
    const { secret } = await own.anUploader({ max_bytes: 100 })
    expect((await own.add(secret, await own.aSession(secret), 101)).status).toBe(409)
    expect(await own.quotaEvents()).toEqual([])
  })
})
