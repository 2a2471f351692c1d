import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { sha256 } from '../../../src/adapters/crypto/secret.ts'
import { anOrganization, call, ok, query } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'

const idempotencyHeader = (idempotency_key: string) => ({ 'idempotency-key': idempotency_key })

/** A response body without its request id, which differs in each response. */
const comparableBody = ({ body }: { body: Record<string, unknown> }) => ({ ...body, api_request_id: undefined })

describe('Idempotency-Key', () => {
  it('returns the same response to the same request, and executes it once', async () => {
    const { key } = await anOrganization()
    const send = () => call('POST', '/v1/collection', { key, body: { title: 'Once' }, headers: idempotencyHeader('a') })
    const [first, second] = [await send(), await send()]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(comparableBody(second)).toEqual(comparableBody(first))
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expect((await ok('GET', '/v1/collection', { key })).count).toBe(1)
    expect(second.body.api_request_id).not.toBe(first.body.api_request_id)
  })

  it('rejects another body or another path with 422', async () => {
    const { key } = await anOrganization()
    await ok('POST', '/v1/collection', { key, body: { title: 'One' }, headers: idempotencyHeader('a') })
    for (const [path, title] of [
      ['/v1/collection', 'Two'],
      ['/v1/playlist', 'One'],
    ] as const) {
      const { status, body } = await call('POST', path, { key, body: { title }, headers: idempotencyHeader('a') })
      expect([status, body.code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect((await ok('GET', '/v1/playlist', { key })).count).toBe(0)
  })

  it('is stored with a keyed hash of the request, from which the request body cannot be guessed', async () => {
    const { key } = await anOrganization()
    const body = { title: 'Guess' }
    await ok('POST', '/v1/collection', { key, body, headers: idempotencyHeader('a') })
    const [row] = await query<{ request_hash: string }>('select request_hash from idempotency_keys')
    expect(row!.request_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(row!.request_hash).not.toBe(await sha256(`/v1/collection\n${JSON.stringify(body)}`))
  })

  it('rejects a request with 422 when the stored hash was computed with another SIGNING_SECRET, or without a secret', async () => {
    const { key } = await anOrganization()
    const body = { title: 'Once' }
    const send = (bindings: Env) =>
      call('POST', '/v1/collection', { key, body, headers: idempotencyHeader('a'), bindings })
    const other = { ...env, SIGNING_SECRET: 'the secret after' }
    await send(env)
    const refused = await send(other)
    await query(`update idempotency_keys set request_hash = ?`, await sha256(`/v1/collection\n${JSON.stringify(body)}`))
    for (const { status, body } of [refused, await send(env), await send(other)])
      expect([status, body.code]).toEqual([422, 'idempotency_key_reused'])
    expect((await ok('GET', '/v1/collection', { key })).count).toBe(1)
  })

  it('creates exactly one resource for many simultaneous requests, in 30 rounds', async () => {
    const { key } = await anOrganization()
    for (let round = 1; round <= 30; round++) {
      const headers = idempotencyHeader(`round-${round}`)
      const body = { title: `Round ${round}` }
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => call('POST', '/v1/playlist', { key, body, headers })))
      const done = answers.filter(({ status }) => status === 200)
      const others = answers.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body.code])
      expect(done.length).toBeGreaterThan(0)
      expect(new Set(done.map((answer) => answer.body.playlist_id)).size).toBe(1)
      expect(others).toEqual(others.map(() => [409, 'request_in_flight']))
      expect((await ok('GET', '/v1/playlist', { key })).count).toBe(round)
      expect((await call('POST', '/v1/playlist', { key, body, headers })).body.playlist_id).toBe(
        done[0]!.body.playlist_id,
      )
    }
  })

  it('returns 409 while the first request runs, and executes the request again if the first request died', async () => {
    const { key } = await anOrganization()
    const send = () => call('POST', '/v1/collection', { key, body: { title: 'Slow' }, headers: idempotencyHeader('a') })
    await send()
    await query('update idempotency_keys set response = null')
    const { status, body, headers } = await send()
    expect([status, body.code, headers.get('retry-after')]).toEqual([409, 'request_in_flight', '1'])
    await query('update idempotency_keys set created_at = created_at - 61000')
    expect((await send()).status).toBe(200)
    expect((await send()).headers.get('idempotency-replayed')).toBe('true')
  })

  it('can be used again after a failed request, even with another body', async () => {
    const { key, collection_id } = await aTenant()
    const track = (body: object) => call('POST', '/v1/track', { key, body, headers: idempotencyHeader('a') })
    const unknown_id = '000fffff-ffff-4fff-bfff-ffffffffffff'
    expect((await track({ collection_id: unknown_id, file_name: 'a.mp3' })).status).toBe(404)
    expect((await track({ collection_id })).status).toBe(400)
    expect((await track({ collection_id, file_name: 'a.mp3' })).status).toBe(200)
    expect(await query('select id from tracks')).toHaveLength(1)
  })
})
