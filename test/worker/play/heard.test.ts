import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { MAX_HEARD_BYTES } from '../../../src/contract/facts.ts'
import { HeardReport } from '../../../src/contract/heard.ts'
import { ApiError } from '../../../src/core/errors.ts'
import { readReport } from '../../../src/http/api/heard_report.ts'
import { parseJson } from '../../../src/http/api/json_body.ts'
import worker from '../../../src/index.ts'
import { heardHandlers } from '../../../src/resources/play/heard.ts'
import { verifyHeardToken } from '../../../src/resources/play/heard_grant.ts'
import { heardToken } from '../../../src/resources/play/heard_token.ts'
import { randomFrom } from '../../support/random.ts'
import { aPlaySession, call, DAY, expectError, HOUR, ok, query } from '../support/api.ts'
import { aTenantWithTrack } from '../support/fixtures.ts'
import { aListener as aListenerOfLongTrack, heardReport } from '../support/heard.ts'
import { fuzzedReports } from '../support/heard_fuzz.ts'
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

  it('is answered 503 with the reason if too many visits are open', async () => {
    const { path, track_id } = await aListener()
    const refusal = { reason: 'full', path: 'visit', message: 'has no room' }
    const LISTENING = { getByName: () => ({ call: async () => refusal }) } as unknown as Env['LISTENING']
    const answer = await call('POST', path, { body: heardReport(track_id), bindings: { ...env, LISTENING } })
    const message = 'visit: has no room. Send the report again in a minute'
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60'])
    expect(answer.body).toMatchObject({ code: 'unavailable', reason: 'full', message })
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

  it('is limited per token and client', async () => {
    const { path, track_id, key, collection_id } = await aListener()
    const other = `/v1/heard/${(await aPlaySession(key, 'collection', collection_id)).heard_token}`
    const bindings = { ...env, HEARD_RATE_LIMIT: fakeRateLimit(2) }
    const send = async (to: string, client: string) => {
      const headers = { 'cf-connecting-ip': client }
      return (await call('POST', to, { body: heardReport(track_id), bindings, headers })).status
    }
    const [one, two] = ['192.0.2.1', '192.0.2.2']
    expect([await send(path, one), await send(path, one), await send(path, one)]).toEqual([204, 204, 429])
    expect([await send(path, two), await send(other, one), await send(path, one)]).toEqual([204, 204, 429])
  })
})

describe('the parser without zod', () => {
  it('accepts the same of 10,000 fuzzed reports as the schema, and returns the same values', () => {
    const texts = fuzzedReports(randomFrom(1), 10_000, '00011111-1111-4111-8111-11111111111a')
    const values = texts.map((text) => JSON.parse(text) as unknown)
    const expected = values.map((value) => HeardReport.safeParse(value).data ?? null)
    const read = values.map((value) => readReport(value))
    const differing = texts.filter((_, at) => JSON.stringify(read[at]) !== JSON.stringify(expected[at]))
    expect(differing.slice(0, 5)).toEqual([])
    expect(expected.filter((report) => report === null).length).toBeGreaterThan(3000)
    expect(expected.filter((report) => report !== null).length).toBeGreaterThan(5000)
  })

  it('gives 300 fuzzed reports the response and the counts that they have with the schema', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const [sender, other] = [await aListenerOfLongTrack(), await aListenerOfLongTrack()]
    const bindings = { ...env, HEARD_RATE_LIMIT: fakeRateLimit(Infinity) }
    /** Counts a report that is parsed with the schema, for the other listener. Returns the status, the code and the reason of its response. */
    const answerOf = async (text: string) => {
      const bytes = new TextEncoder().encode(text)
      if (bytes.length > MAX_HEARD_BYTES) return [413, 'payload_too_large']
      try {
        const { data, error } = HeardReport.safeParse(parseJson(bytes, 'application/json'))
        const isUnknownField = error?.issues.every(({ code }) => code === 'unrecognized_keys')
        if (error) return [400, isUnknownField ? 'unknown_field' : 'invalid_request']
        const input = { params: { token: other.path.split('/').at(-1)! }, body: data }
        await heardHandlers.reportHeard(input, { env, now: Date.now() })
        return [204]
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        return [error.status, error.code, error.details.reason, error.message]
      }
    }
    const kinds = new Set<string>()
    const mark = '00011111-1111-4111-8111-111111111111'
    for (const text of fuzzedReports(randomFrom(2), 300, mark)) {
      // Reports that arrive at the same time wait for each other.
      vi.setSystemTime(Date.now() + 1000)
      const { status, body } = await call('POST', sender.path, {
        body: text.replaceAll(mark, sender.track_id),
        bindings,
      })
      const expected = await answerOf(text.replaceAll(mark, other.track_id))
      const answer = [status, body?.code, body?.reason, body?.message].slice(0, expected.length)
      expect([text, ...answer]).toEqual([text, ...expected])
      kinds.add(answer.slice(0, 3).filter(Boolean).join(' '))
    }
    const common = ['204', '400 invalid_request', '400 invalid_request ranges', '400 unknown_field']
    expect([...kinds].toSorted()).toEqual(expect.arrayContaining(common))
    expect(await sender.sums()).toEqual(await other.sums())
    expect(await sender.sums('track')).toEqual(await other.sums('track'))
  })
})
