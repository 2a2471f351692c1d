import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'

import { MAX_HEARD_BYTES } from '../../../src/contract/facts.ts'
import worker from '../../../src/index.ts'
import { verifyHeardToken } from '../../../src/resources/play/heard_grant.ts'
import { heardToken } from '../../../src/resources/play/heard_token.ts'
import { aPlaySession, call, DAY, expectError, HOUR, ok, query } from '../support/api.ts'
import { aTenantWithTrack } from '../support/fixtures.ts'
import { heardReport } from '../support/heard.ts'
import { anAlbum, caching } from '../support/session_views.ts'
import { aShare, fakeRateLimit, showPage } from '../support/share_visitor.ts'

async function aListener() {
  const tenant = await aTenantWithTrack()
  const session = await aPlaySession(tenant.key, 'collection', tenant.collection_id)
  return { ...tenant, ...session, path: `/v1/heard/${session.heard_token}` }
}

const grantOf = (token: string, bindings = env) => verifyHeardToken(bindings, token, Date.now())

describe('the token for reports', () => {
  it('is the same in every response for a session, and contains the session', async () => {
    const { key, organization_id, collection_id, track_id, play_session_id, heard_token } = await aListener()
    const [own, session, view] = [
      await ok('GET', `/v1/play_session/${play_session_id}`, { key }),
      await ok('GET', `/v1/play/${play_session_id}`),
      await ok('GET', `/v1/play/${play_session_id}/${track_id}`),
    ]
    expect([own.heard_token, session.heard_token, view.heard_token]).toEqual(Array(3).fill(heard_token))
    const [{ created_at }] = (await query<{ created_at: number }>(
      'select created_at from play_sessions where id = ?',
      play_session_id,
    )) as [{ created_at: number }]
    const seconds = Math.floor(created_at / 1000) * 1000
    expect(await grantOf(heard_token)).toEqual({
      organization_id,
      session_id: play_session_id,
      created_at: seconds,
      scope: 'collection',
      resource_id: collection_id,
      share_id: null,
      listener: null,
      shards: 1,
    })
  })

  it('is in the page of a share, with the id of the share', async () => {
    const { key, collection_id } = await aTenantWithTrack()
    const { id, slug } = await aShare(key, collection_id)
    const { text } = await showPage(`/s/${slug}`)
    const [, token] = /"heard_token":"(\w+)"/.exec(text)!
    expect(await grantOf(token!)).toMatchObject({ share_id: id, scope: 'collection', resource_id: collection_id })
  })

  it('is valid for an hour after the end of a session that lasts a day, with the number of shards of the organization', async () => {
    const { key, collection_id, organization_id } = await aTenantWithTrack()
    await query('update organizations set listening_shards = 3 where id = ?', organization_id)
    const { heard_token } = await aPlaySession(key, 'collection', collection_id, { expires_in: 86_400 })
    const { shards, created_at } = await grantOf(heard_token)
    expect(shards).toBe(3)
    const at = (time: number) => verifyHeardToken(env, heard_token, time)
    await at(created_at + DAY + HOUR - 2000)
    await expect(at(created_at + DAY + HOUR + 2000)).rejects.toMatchObject({ code: 'session_expired' })
  })

  it('is kept with a cached session, until the organization has more shards', async () => {
    const { ids, tenant, pathOf } = await anAlbum()
    const [listener, other] = [
      await pathOf('collection', tenant.collection_id),
      await pathOf('collection', tenant.collection_id),
    ]
    const sign = vi.spyOn(crypto.subtle, 'sign')
    const readToken = async (track_id: string) => {
      // The other session caches the track.
      await ok('GET', `${other}/${track_id}`, { bindings: caching })
      sign.mockClear()
      const { heard_token } = await ok('GET', `${listener}/${track_id}`, { bindings: caching })
      const signed = sign.mock.calls.map(([, , bytes]) => new TextDecoder().decode(bytes as Uint8Array))
      // URLs are signed too.
      const signatures = signed.filter((text) => heard_token.startsWith(text)).length
      return { shards: (await grantOf(heard_token)).shards, signatures }
    }
    expect(await readToken(ids[0]!)).toEqual({ shards: 1, signatures: 1 })
    expect(await readToken(ids[1]!)).toEqual({ shards: 1, signatures: 0 })
    await query('update organizations set listening_shards = 2 where id = ?', tenant.organization_id)
    expect(await readToken(ids[2]!)).toEqual({ shards: 2, signatures: 1 })
  })

  it('is refused if it was changed, is malformed, or comes from another deployment', async () => {
    const { heard_token, track_id } = await aListener()
    const wrong = [
      ...Array.from(
        heard_token,
        (char, at) => heard_token.slice(0, at) + (char === '0' ? '1' : '0') + heard_token.slice(at + 1),
      ).filter((_, at) => at % 7 === 0),
      heard_token.slice(1),
      `${heard_token}AA`,
      heard_token.slice(0, -4),
      'nonsense',
      heard_token.toUpperCase(),
      '%20',
      'x'.repeat(255),
    ]
    for (const token of wrong)
      await expectError(404, 'not_found', 'POST', `/v1/heard/${token}`, { body: heardReport(track_id) })
    const bindings = { ...env, SIGNING_SECRET: 'another deployment' }
    await expectError(404, 'not_found', 'POST', `/v1/heard/${heard_token}`, { body: heardReport(track_id), bindings })
  })

  it('expires', async () => {
    const { heard_token, track_id } = await aListener()
    const { organization_id, session_id, ...grant } = await grantOf(heard_token)
    const session = { ...grant, id: session_id, organization_id, variants: [], is_downloadable: false }
    const created_at = grant.created_at - DAY
    const expired = await heardToken(env, { ...session, created_at, expires_at: created_at + HOUR }, 1)
    const path = `/v1/heard/${expired}`
    const { message } = await expectError(410, 'session_expired', 'POST', path, { body: heardReport(track_id) })
    expect(message).toBe(
      'The heard_token has expired. Create a play session, and begin a new visit with its heard_token',
    )
  })
})

describe('a report', () => {
  it.each(['text/plain;charset=UTF-8', 'text/plain', 'application/json'])('is accepted as %s', async (type) => {
    const { path, track_id } = await aListener()
    const answer = await call('POST', path, { body: heardReport(track_id), headers: { 'content-type': type } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })

  it('is answered 429 with the reason if its session started too many visits in this minute', async () => {
    const { path, track_id } = await aListener()
    const refusal = { reason: 'rate', path: 'visit', message: 'is one too many' }
    const LISTENING = { getByName: () => ({ call: async () => refusal }) } as unknown as Env['LISTENING']
    const answer = await call('POST', path, { body: heardReport(track_id), bindings: { ...env, LISTENING } })
    const message = 'visit: is one too many. Send the report again in a minute'
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60'])
    expect(answer.body).toMatchObject({ code: 'rate_limited', reason: 'rate', message })
  })

  it('is accepted with escaped characters in its path', async () => {
    const { heard_token, track_id } = await aListener()
    const escaped = `%${heard_token.charCodeAt(0).toString(16)}${heard_token.slice(1)}`
    expect((await call('POST', `/v1/heard/${escaped}`, { body: heardReport(track_id) })).status).toBe(204)
  })

  it('is answered 413 if it is too large, with and without a known length', async () => {
    const { path, track_id } = await aListener()
    const padded = (size: number) => new TextEncoder().encode(JSON.stringify(heardReport(track_id)).padEnd(size))
    const inParts = (bytes: Uint8Array) =>
      new ReadableStream<Uint8Array>({
        start(stream) {
          for (let at = 0; at < bytes.length; at += 1000) stream.enqueue(bytes.slice(at, at + 1000))
          stream.close()
        },
      })
    const statusOf = async (body: BodyInit) => {
      const headers = { 'content-type': 'text/plain' }
      const request = new Request(new URL(path, 'https://tonearm.test'), { method: 'POST', headers, body })
      return (await worker.fetch(request, env, createExecutionContext())).status
    }
    const [fitting, large] = [padded(MAX_HEARD_BYTES), padded(MAX_HEARD_BYTES + 1)]
    expect(await statusOf(fitting)).toBe(204)
    expect(await statusOf(inParts(fitting))).toBe(204)
    expect(await statusOf(large)).toBe(413)
    expect(await statusOf(inParts(large))).toBe(413)
  })

  it('is answered 503 with the name of a setting that the Worker lacks', async () => {
    const { path, track_id } = await aListener()
    const bindings = { ...env, SIGNING_SECRET: '' }
    const answer = await expectError(503, 'not_configured', 'POST', path, { body: heardReport(track_id), bindings })
    expect(answer.message).toContain('SIGNING_SECRET')
  })

  const from = (client: string) => ({ 'cf-connecting-ip': client })
  // Other test files use the first addresses, which a guess would block for a minute.
  const [one, two] = ['192.0.2.71', '192.0.2.72']

  it('is limited per address and share, whatever its token is, and per address and organization', async () => {
    const { key, collection_id, track_id, path: single } = await aListener()
    const tokenOf = async (share: { slug: string }) =>
      /"heard_token":"(\w+)"/.exec((await showPage(`/s/${share.slug}`)).text)![1]!
    const [share, other] = [await aShare(key, collection_id), await aShare(key, collection_id)]
    const [first, second, third] = [await tokenOf(share), await tokenOf(share), await tokenOf(other)]
    const stranger = await aListener()
    const bindings = {
      ...env,
      HEARD_RATE_LIMIT: fakeRateLimit(2),
      HEARD_ORGANIZATION_RATE_LIMIT: fakeRateLimit(4),
    }
    const send = async (token: string, client: string, track = track_id) =>
      (await call('POST', `/v1/heard/${token}`, { body: heardReport(track), bindings, headers: from(client) })).status
    expect([await send(first, one), await send(second, one), await send(second, one)]).toEqual([204, 204, 429])
    expect([await send(third, one), await send(first, two), await send(third, one)]).toEqual([204, 204, 204])
    const { status } = await call('POST', single, { body: heardReport(track_id), bindings, headers: from(one) })
    expect([status, await send(stranger.heard_token, one, stranger.track_id)]).toEqual([429, 204])
    // No address is known.
    const local = { ...bindings, CLIENT_IP_HEADER: '' }
    for (let times = 0; times < 6; times++)
      expect((await call('POST', single, { body: heardReport(track_id), bindings: local })).status).toBe(204)
  })

  it('with a wrong token counts as a guess of its address, and does not use up the limits of others', async () => {
    const { path, track_id } = await aListener()
    const limited = fakeRateLimit(0)
    const bindings = { ...caching, MISS_RATE_LIMIT: fakeRateLimit(2), HEARD_RATE_LIMIT: limited }
    const send = async (to: string, client: string) =>
      (await call('POST', to, { body: heardReport(track_id), bindings, headers: from(client) })).status
    const wrong = `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`
    const statuses: number[] = []
    for (let times = 0; times < 4; times++) statuses.push(await send(wrong, one))
    expect(statuses).toEqual([404, 404, 404, 429])
    expect([await send(wrong, two), await send(path, two)]).toEqual([404, 429])
  })

  it('comes from the site of its Origin, and from the page that it names if that is a page of the service', async () => {
    const { key, path, organization_id, track_id } = await aListener()
    const origins = ['https://magazine.example', 'https://tonearm.test', 'null', undefined]
    for (const [at, origin] of origins.entries()) {
      const headers: Record<string, string> = origin === undefined ? {} : { origin }
      const body = heardReport(track_id, { source: `claim-${at}.example` })
      expect((await call('POST', path, { body, headers })).status).toBe(204)
    }
    const { rows } = await ok('GET', `/v1/stats/organization/${organization_id}?by=source`, { key })
    const keys = new Set(rows.map((row: { key: string | null }) => row.key))
    expect(keys).toEqual(new Set(['claim-1.example', 'claim-2.example', 'claim-3.example', 'magazine.example']))
  })
})
