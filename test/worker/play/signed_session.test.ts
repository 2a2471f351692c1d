import { env } from 'cloudflare:workers'
import { verify } from 'hono/utils/jwt/jwt'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { newHourlyId } from '../../../src/adapters/crypto/id.ts'
import type { SignedSession } from '../../../src/client/sign.ts'
import { DEFAULT_VARIANTS } from '../../../src/contract/facts.ts'
import { verifyHeardToken } from '../../../src/resources/play/heard_grant.ts'
import { hashListener } from '../../../src/resources/play/listener_hash.ts'
import { rowReader, type SessionReader } from '../../../src/resources/play/session_reader.ts'
import { readSigned } from '../../../src/resources/play/signed_session.ts'
import { anApiKey, aPlaylist, aPlaySession, call, db, HOUR, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, stopTime } from '../support/fixtures.ts'
import { caching } from '../support/session_views.ts'
import { aSigner, randomNumbers, type Signer, signWith, statusOf, visit } from '../support/signed.ts'

/** Play sessions that a caller has signed (docs/signed_sessions.md, docs/decisions/0125). test/worker/keys/signing_key.test.ts tests their keys. */

let { key, organization_id, collection_id, playlist_id, ids, secret, aSigningKey, tokenOf } = {} as Signer
beforeEach(async () => {
  ;({ key, organization_id, collection_id, playlist_id, ids, secret, aSigningKey, tokenOf } = await aSigner())
})

const seconds = () => Math.floor(Date.now() / 1000)
const claims = () => ({ scope: 'collection', id: collection_id, iat: seconds(), exp: seconds() + 600, jti: 'one' })

/** Reads a path. Returns the text of the response with `ID` instead of the id, the status, and the trips to the database. */
async function answerOf(path: string, id: string) {
  const headers = { authorization: `Bearer ${key}`, 'sec-fetch-dest': 'iframe' }
  const answer = await visit(path, { headers, method: path.startsWith('/zip/') ? 'HEAD' : 'GET' })
  const { status, trips } = answer
  const heard = /"heard_token": ?"(\w+)"/.exec(answer.text)?.[1]
  const grant = heard && { ...(await verifyHeardToken(env, heard, Date.now())), session_id: '' }
  const text = (answer.text || JSON.stringify([...answer.headers]))
    .replace(heard ?? 'none', JSON.stringify(grant))
    .replaceAll(id, 'ID')
    .replaceAll(/(nonce[=-]"?|api_request_id":")[\da-f-]{36}/g, '')
  return { status, trips, text }
}

describe('a signed play session', () => {
  it('answers like a row, with the token as its id: 1,000 random ones', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000
    stopTime()
    vi.setSystemTime(now)
    const random = randomNumbers()
    const oneOf = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!
    const [{ listener_key }] = (await query(
      'select listener_key from organizations where id = ?',
      organization_id,
    )) as [{ listener_key: string }]
    const signed: { token: string; id: string }[] = []
    const rows: unknown[] = []
    for (let at = 0; at < 1000; at++) {
      const scope = oneOf(['collection', 'track', 'playlist'] as const)
      const resource = { collection: collection_id, playlist: playlist_id, track: oneOf(ids) }[scope]
      const variants = oneOf([undefined, ['mp3-128'], ['original', 'opus-96'], ['preview', 'aac-160', 'nothing']])
      const expires_in = 60 + Math.floor(random() * 86_000)
      const is_downloadable = random() < 0.5
      const listener = oneOf([undefined, 'ana', 'bé 7'])
      const token = await tokenOf({
        scope,
        id: random() < 0.5 ? resource : resource.toUpperCase(),
        expires_in,
        is_downloadable,
        ...(variants && { variants }),
        ...(listener !== undefined && { listener }),
      })
      const id = newHourlyId(now + expires_in * 1000)
      rows.push({
        id,
        scope,
        resource_id: resource,
        variants: JSON.stringify(variants ?? DEFAULT_VARIANTS),
        is_downloadable: is_downloadable ? 1 : 0,
        expires_at: now + expires_in * 1000,
        listener: listener === undefined ? null : await hashListener(listener_key, listener),
      })
      signed.push({ token, id })
    }
    const value = (name: string) => `value ->> '${name}'`
    await query(
      `insert into play_sessions (id, organization_id, scope, resource_id, metadata, variants, is_downloadable, expires_at, created_at, listener)
        select ${value('id')}, ?1, ${value('scope')}, ${value('resource_id')}, '{}', ${value('variants')}, ${value('is_downloadable')},
          ${value('expires_at')}, ?2, ${value('listener')} from json_each(?3)`,
      organization_id,
      now,
      JSON.stringify(rows),
    )
    const paths = [
      (id: string) => `/v1/play/${id}`,
      (id: string) => `/v1/play/${id}?views=2&from=${ids[1]}`,
      (id: string) => `/v1/play/${id}?views=2`,
      (id: string) => `/v1/play/${id}/${ids[0]}`,
      (id: string) => `/v1/play/${id}/${ids[1]}?x=1`,
      (id: string) => `/v1/play/${id}/download`,
      (id: string) => `/v1/play/${id}/${ids[0]}/mp3-128/download`,
      (id: string) => `/v1/play/${id}/${ids[0]}/chapters.json`,
      (id: string) => `/v1/play_session/${id}`,
      (id: string) => `/embed/${id}?theme=dark`,
      (id: string) => `/oembed?url=${encodeURIComponent(`https://tonearm.test/embed/${id}`)}`,
      (id: string) => `/zip/${id}?variant=mp3-128`,
      (id: string) => `/v1/play/${id}/${collection_id}`,
    ]
    // The responses are functions of these rows, so a fifth of the sessions also compares the responses.
    for (const { token, id } of signed) {
      const track_id = oneOf(ids)
      const rowOf = async (reader: SessionReader) => {
        const { session, ...others } = (await reader.readTrack(db, track_id))!
        return { ...others, session: { ...session, id: '', signed: undefined } }
      }
      expect(await rowOf(await readSigned(env, token, now))).toEqual(await rowOf(rowReader(id)))
    }
    const statuses = new Set<number>()
    for (const { token, id } of signed.filter((_, at) => at % 5 === 0)) {
      const pathOf = oneOf(paths)
      const [one, two] = [await answerOf(pathOf(id), id), await answerOf(pathOf(token), token)]
      expect([pathOf('ID'), two.status, two.text]).toEqual([pathOf('ID'), one.status, one.text])
      expect(two.trips).toBeLessThanOrEqual(one.trips)
      statuses.add(one.status)
    }
    expect(statuses).toEqual(new Set([200, 403, 404]))
    expect((await query('select count(*) as rows from play_sessions'))[0]).toEqual({ rows: 1000 })
  })

  it('can be made and checked by another JWT library', async () => {
    const token = await signWith(secret, claims())
    expect((await visit(`/v1/play/${token}`)).body).toMatchObject({ play_session_id: token })
    const own = await tokenOf({ listener: 'ana', variants: ['mp3-128'], expires_in: 90 })
    const payload = await verify(own, secret, 'HS256')
    expect(payload).toEqual({
      scope: 'collection',
      id: collection_id,
      listener: 'ana',
      variants: ['mp3-128'],
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 90,
      jti: expect.stringMatching(/^[\da-f-]{36}$/),
    })
    await expect(tokenOf({}, key)).rejects.toThrow('must be that of a signing key')
  })

  it('has claims in a strict form, and a message for each wrong one', async () => {
    const answerOf = async (changes: object) => {
      const { status, body } = await visit(`/v1/play/${await signWith(secret, { ...claims(), ...changes })}`)
      return [status, (body.errors as unknown as { path: string }[] | undefined)?.[0]?.path ?? body.code]
    }
    const hour = HOUR / 1000
    const now = seconds()
    for (const [changes, ...expected] of [
      [{ iat: now + 50 }, 200, undefined],
      [{ iat: now - hour, exp: now + 23 * hour, nbf: now - 5 }, 200, undefined],
      [{ iat: now + 120 }, 401, 'unauthorized'],
      [{ nbf: now + 120 }, 401, 'unauthorized'],
      [{ iat: now - 20, exp: now - 10 }, 410, 'session_expired'],
      [{ iat: now - hour, exp: now + 23 * hour + 1 }, 400, 'exp'],
      [{ exp: now - 10 }, 400, 'exp'],
      [{ exp: undefined }, 400, 'exp'],
      [{ iat: '5' }, 400, 'iat'],
      [{ jti: undefined }, 400, 'jti'],
      [{ scope: 'folder' }, 400, 'scope'],
      [{ id: 'x' }, 400, 'id'],
      [{ id: '11111111-1111-4111-8111-111111111111' }, 404, 'not_found'],
      [{ downloadable: false }, 400, 'downloadable'],
      [{ is_downloadable: 'no' }, 400, 'is_downloadable'],
      [{ variants: 'mp3-128' }, 400, 'variants'],
      [{ listener: 'x'.repeat(65) }, 400, 'listener'],
    ] as const)
      expect([changes, ...(await answerOf(changes))]).toEqual([changes, ...expected])
    // Longer than 1 KB, and with another form: like an unknown id.
    for (const text of [await signWith(secret, { ...claims(), jti: 'x'.repeat(900) }), 'a.b', 'a.b.c.d', 'a.b.c!'])
      expect(await statusOf(`/v1/play/${text}`)).toBe(404)
  })

  it('is limited to the resource, the variants, the downloads and the end of its key', async () => {
    const other = await aTenant()
    const foreign = await aReadyTrack(other.key, other.collection_id)
    const bound = (await aSigningKey({ collection_id, variants: ['mp3-128', 'preview'] })).secret
    const [first] = ids as [string]
    const statusFor = async (session: Partial<SignedSession>, by: string) =>
      statusOf(`/v1/play/${await tokenOf(session, by)}`)
    expect(await statusFor({ scope: 'track', id: foreign }, secret)).toBe(404)
    expect(await statusFor({ id: other.collection_id }, secret)).toBe(404)
    expect(await statusFor({ scope: 'playlist', id: await aPlaylist(other.key, [foreign]) }, secret)).toBe(404)
    expect(await statusFor({ scope: 'playlist', id: playlist_id }, bound)).toBe(404)
    expect(await statusFor({ scope: 'track', id: first }, bound)).toBe(200)
    const inPlaylist = (await aSigningKey({ playlist_id })).secret
    expect(await statusFor({ scope: 'track', id: first }, inPlaylist)).toBe(200)
    expect(await statusFor({}, inPlaylist)).toBe(404)
    const forTrack = (await aSigningKey({ track_id: first })).secret
    expect(await statusFor({ scope: 'track', id: first }, forTrack)).toBe(200)
    expect(await statusFor({ scope: 'track', id: ids[1]! }, forTrack)).toBe(404)

    const sessionOf = async (session: Partial<SignedSession>, by: string) =>
      (await visit(`/v1/play/${await tokenOf(session, by)}`)).body.play_session
    expect(await sessionOf({ variants: ['original', 'preview'], is_downloadable: true }, bound)).toMatchObject({
      variants: ['preview'],
      is_downloadable: false,
    })
    expect(await sessionOf({}, bound)).toMatchObject({ variants: ['mp3-128'] })
    const { status, body } = await visit(`/v1/play/${await tokenOf({ variants: ['original'] }, bound)}`)
    expect([status, body.code]).toEqual([403, 'insufficient_scope'])
    const expires_at = new Date(Math.floor(Date.now() / 1000) * 1000 + 100_000).toISOString()
    const ending = (await aSigningKey({ expires_at })).secret
    expect(await sessionOf({}, ending)).toMatchObject({ expires_at })
    expect((await visit(`/v1/play/${await tokenOf({}, ending)}/${ids[0]}`)).body.play_session).toMatchObject({
      expires_at,
    })
    await query('update api_keys set expires_at = 1 where expires_at is not null')
    expect(await statusFor({}, ending)).toBe(410)
  })

  it('plays only on the sites of its key, also from the cache', async () => {
    const allowed_origins = ['https://shop.example']
    const token = await tokenOf({}, (await aSigningKey({ allowed_origins })).secret)
    const from = (path: string, origin?: string) =>
      statusOf(path, { bindings: caching, headers: { ...(origin && { origin }) } })
    for (const path of [`/v1/play/${token}`, `/v1/play/${token}/${ids[0]}`, `/v1/play/${token}?views=2`])
      for (const [origin, status] of [
        ['https://evil.example', 403],
        ['https://shop.example', 200],
        [undefined, 200],
        ['https://evil.example', 403],
        ['https://tonearm.test', 200],
      ] as const)
        expect([path, origin, await from(path, origin)]).toEqual([path, origin, status])
    const page = await visit(`/embed/${token}`)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'self' https://shop.example")
  })

  it('returns 404 when its resource was deleted or is in the trash, and to keys of other organizations', async () => {
    const token = await tokenOf({ scope: 'track', id: ids[0]! })
    const path = `/v1/play_session/${token}`
    expect((await ok('GET', path, { key })).play_session).toMatchObject({ id: token, creator_id: null, metadata: {} })
    const other = await aTenant()
    expect((await call('GET', path, { key: other.key })).status).toBe(404)
    expect((await call('GET', path, { key: (await anApiKey(key, { track_id: ids[1] })).secret })).status).toBe(404)
    await ok('DELETE', `/v1/track/${ids[0]}?trash=true`, { key })
    for (const path of [`/v1/play/${token}`, `/v1/play/${token}/${ids[0]}`, `/embed/${token}`])
      expect(await statusOf(path)).toBe(404)
    const all = await tokenOf()
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    expect(await statusOf(`/v1/play/${all}`)).toBe(404)
  })

  it('keeps its session, its listener and its organization in listening reports', async () => {
    const token = await tokenOf({ listener: 'ana', is_downloadable: true })
    const row = await aPlaySession(key, 'collection', collection_id, { listener: 'ana' })
    const grantOf = async (heard_token: string) => verifyHeardToken(env, heard_token, Date.now())
    const heard = async () => grantOf((await ok('GET', `/v1/play/${token}`)).heard_token)
    const grant = await heard()
    expect(grant).toEqual({
      ...(await grantOf(row.heard_token)),
      session_id: expect.stringMatching(/^000[\da-f]{5}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/),
      created_at: expect.any(Number),
    })
    expect(await heard()).toEqual(grant)
    expect((await grantOf((await ok('GET', `/v1/play/${token}/${ids[0]}`)).heard_token)).session_id).toBe(
      grant.session_id,
    )
    expect((await grantOf((await ok('GET', `/v1/play/${await tokenOf()}`)).heard_token)).listener).toBeNull()
  })
})
