import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { verifySessionToken } from '../../../src/resources/play/session_token.ts'
import { aPlaySession, call, ok, query } from '../support/api.ts'
import { eventually, stopTime } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { caching } from '../support/session_views.ts'
import { apiKeyIn, aShare, fakeRateLimit, sessionIn, showPage } from '../support/share_visitor.ts'
import { aSigner, randomNumbers, type Signer, signWith, statusOf, visit } from '../support/signed.ts'

/** The keys of signed play sessions, and tokens that they have not signed (docs/signed_sessions.md, docs/decisions/0125). */

let { key, collection_id, ids, secret, api_key_id, aSigningKey, tokenOf } = {} as Signer
beforeEach(async () => {
  ;({ key, collection_id, ids, secret, api_key_id, aSigningKey, tokenOf } = await aSigner())
})

describe('the token of a signing key', () => {
  it('is refused without a query when it is altered: 10,000 tokens', async () => {
    const now = Date.now()
    const random = randomNumbers()
    const below = (count: number) => Math.floor(random() * count)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const { slug } = await aShare(key, collection_id)
    const shared = sessionIn(await showPage(`/s/${slug}`))!.play_session_id
    const tokens = [await tokenOf(), await tokenOf({ expires_in: 60, listener: 'ana', is_downloadable: true }), shared]
    const alter = (token: string): string => {
      const parts = token.split('.')
      const [head, body, signature] = parts as [string, string, string]
      const at = below(token.length)
      const char = alphabet[below(64)]!
      return [
        () => token.slice(0, at) + char + token.slice(at + 1),
        () => token.slice(0, -1) + char,
        () => token.slice(0, at) + char + token.slice(at),
        () => token.slice(0, at) + token.slice(at + 1),
        () =>
          [
            head,
            btoa(JSON.stringify({ scope: 'collection', id: collection_id, jti: String(at) })).replaceAll('=', ''),
            signature,
          ].join('.'),
        () => [btoa(JSON.stringify({ alg: 'none' })).replaceAll('=', ''), body, signature].join('.'),
        () => [head, body, tokens.find((other) => other !== token)!.split('.')[2]].join('.'),
      ][below(7)]!()
    }
    let refused = 0
    while (refused < 10_000) {
      const token = tokens[below(3)]!
      const altered = alter(token)
      if (altered === token || altered.split('.').length !== 3) continue
      const error = await verifySessionToken(env, altered, now).catch((error: unknown) => error)
      if (!(error instanceof Error) || !('status' in error) || error.status !== 401)
        throw new Error(`${altered} is not refused: ${String(error)}`)
      refused++
    }
    for (let at = 0; at < 40; at++) {
      const token = tokens[(at % 2) * 2]!
      const altered = alter(token)
      if (altered === token || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(altered)) continue
      const path = [`/v1/play/${altered}`, `/v1/play/${altered}/${ids[0]}`, `/embed/${altered}`, `/zip/${altered}`][
        (at >> 1) % 4
      ]!
      const { status, statements } = await visit(path)
      expect([path, status, statements]).toEqual([path, 401, 0])
    }
  })

  it('is not valid with the kid of a share, and that of a share not with the kid of a key', async () => {
    const { slug } = await aShare(key, collection_id)
    const shared = sessionIn(await showPage(`/s/${slug}`))!.play_session_id
    const header = (token: string) => JSON.parse(atob(token.split('.')[0]!)) as { kid: string }
    const iat = Math.floor(Date.now() / 1000)
    const claims = { scope: 'collection', id: collection_id, iat, exp: iat + 600, jti: 'one' }
    for (const kid of [header(shared).kid, header(shared).kid.replace(/\w{16}/, '0'.repeat(16)), 'share'])
      expect([kid, await statusOf(`/v1/play/${await signWith(secret, claims, kid)}`)]).toEqual([kid, 401])
    const [, body, signature] = shared.split('.')
    expect(await statusOf(`/v1/play/${(await tokenOf()).split('.')[0]}.${body}.${signature}`)).toBe(401)
  })

  it('counts as a guess when it is altered, by its signature', async () => {
    const [good, bad] = [await tokenOf(), `${await tokenOf()}x`]
    const play = { limit: vi.fn(async () => ({ success: true })) }
    const bindings = { ...env, PLAY_RATE_LIMIT: play, MISS_RATE_LIMIT: fakeRateLimit(1) }
    const init = { bindings, headers: { 'cf-connecting-ip': '192.0.2.9' } }
    expect(await statusOf(`/v1/play/${good}`, init)).toBe(200)
    expect(play.limit.mock.calls).toEqual([[{ key: `${good.split('.')[2]} 192.0.2.9` }]])
    expect(await statusOf(`/v1/play/${bad}`, init)).toBe(401)
    expect(await statusOf(`/v1/play/${bad}`, init)).toBe(401)
    expect(await statusOf(`/v1/play/${good}`, init)).toBe(429)
  })

  it('writes nothing, and appears in no log line and no event, nor does that of a share', async () => {
    const lines: string[] = []
    for (const name of ['log', 'warn', 'error'] as const)
      vi.spyOn(console, name).mockImplementation((line: string) => void lines.push(line))
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const bindings = { ...env, REQUEST_LOG: 'true' }
    const { slug } = await aShare(key, collection_id)
    const page = await showPage(`/s/${slug}`, undefined, bindings)
    const body = { collection_id }
    const renewed = await call('POST', '/v1/play_session/collection', { key: apiKeyIn(page), body, bindings })
    const tokens = [await tokenOf(), sessionIn(page)!.play_session_id, renewed.body.play_session_id]
    for (const token of tokens)
      for (const path of [
        `/v1/play/${token}`,
        `/v1/play/${token}/${ids[0]}`,
        `/v1/play/${token}?views=x`,
        `/v1/play/${token}x`,
        `/v1/play/${token}/download`,
        `/embed/${token}`,
        `/zip/${token}`,
        `/oembed?url=${encodeURIComponent(`https://tonearm.test/embed/${token}`)}`,
      ]) {
        const { written, headers } = await visit(path, { bindings })
        expect([path, written]).toEqual([path, 0])
        // Neither caches nor the Referer header of a page get the token. An oEmbed description has only the address that was sent.
        if (path.startsWith('/embed/')) expect(headers.get('referrer-policy')).toBe('no-referrer')
        if (!path.startsWith('/oembed')) expect(headers.get('cache-control')).toBe('no-store')
      }
    expect(lines.length).toBe(2 + 8 * tokens.length)
    const stored = JSON.stringify(await query(`select group_concat(data) as data from events`))
    for (const token of tokens) {
      for (const part of token.split('.')) expect(lines.join()).not.toContain(part.slice(0, 30))
      expect(stored).not.toContain(token.split('.')[2])
    }
    expect([page.headers.get('cache-control'), page.headers.get('referrer-policy')]).toEqual([
      'no-store',
      'no-referrer',
    ])
  })
})

describe('a signing key', () => {
  it('calls no operation, and keeps its secret out of the database', async () => {
    expect(secret).toMatch(/^ta_sg_[0-9A-Za-z]{8}\.000[\da-f-]{33}_[0-9A-Za-z]{49}$/)
    const { status, body } = await call('GET', '/v1/limits', { key: secret })
    expect([status, body]).toMatchObject([
      403,
      { code: 'insufficient_scope', message: expect.stringContaining('sign') },
    ])
    expect((await call('GET', '/v1/limits', { key: `${secret.slice(0, -7)}xxxxxxx` })).status).toBe(401)
    const rows = JSON.stringify(await query('select * from api_keys'))
    expect(rows).not.toContain(secret.slice(-49))
    await visit(`/v1/play/${await tokenOf()}`)
    await eventually(async () => {
      return (await ok('GET', `/v1/api_key/${api_key_id}`, { key })).api_key.last_used_at !== null
    })
  })

  it('keeps its previous secret for the grace period after a rotation', async () => {
    stopTime()
    const first = await tokenOf()
    const rotate = async (grace_seconds: number) =>
      (await ok('POST', `/v1/api_key/${api_key_id}/rotate`, { key, body: { grace_seconds } })).secret
    const second = await tokenOf({}, await rotate(5))
    const statuses = async () => [await statusOf(`/v1/play/${first}`), await statusOf(`/v1/play/${second}`)]
    expect(await statuses()).toEqual([200, 200])
    vi.setSystemTime(Date.now() + 5000)
    expect(await statuses()).toEqual([410, 200])
    await rotate(0)
    expect(await statuses()).toEqual([410, 410])
  })

  it('stops everywhere within half a minute after it was revoked, whatever is cached', async () => {
    stopTime()
    const start = Date.now()
    const token = await tokenOf()
    const paths = [`/v1/play/${token}`, `/v1/play/${token}/${ids[0]}`, `/v1/play/${token}/${ids[1]}`]
    const read = async (path: string) => {
      const { status, statements } = await visit(path, { bindings: caching })
      return `${status}${statements > 0 ? '' : ' cached'}`
    }
    // The session is cached with the first view, and the other views are built with it later.
    expect(await read(paths[1]!)).toBe('200')
    vi.setSystemTime(start + 20_000)
    expect(await read(paths[0]!)).toBe('200')
    await query('delete from api_keys where id = ?', api_key_id)
    vi.setSystemTime(start + 24_999)
    expect(await read(paths[1]!)).toBe('200 cached')
    expect(await read(paths[0]!)).toBe('200 cached')
    vi.setSystemTime(start + 25_000)
    expect(await read(paths[1]!)).toBe('410')
    expect(await read(paths[2]!)).toBe('410')
    vi.setSystemTime(start + 45_000)
    expect(await read(paths[0]!)).toBe('410')
  })

  it('stops at once in the isolate that revokes or changes it', async () => {
    const token = await tokenOf({ variants: ['mp3-128', 'preview'] })
    const path = `/v1/play/${token}/${ids[0]}`
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    const variants = async () => {
      // Caches the track again, which a change of a key removes from the cache.
      await visit(`/v1/play/${play_session_id}/${ids[0]}`, { bindings: caching })
      return (await visit(path, { bindings: caching })).body.play_session?.['variants']
    }
    expect(await variants()).toEqual(['mp3-128', 'preview'])
    expect((await visit(path, { bindings: caching })).statements).toBe(0)
    await call('PUT', `/v1/api_key/${api_key_id}`, { key, body: { variants: ['preview'] }, bindings: caching })
    expect(await variants()).toEqual(['preview'])
    await call('DELETE', `/v1/api_key/${api_key_id}`, { key, bindings: caching })
    expect(await variants()).toBeUndefined()
    expect(await statusOf(path, { bindings: caching })).toBe(410)
  })

  it('works at the primary while the nearest replica does not have it yet', async () => {
    await updateReplica()
    const token = await tokenOf({}, (await aSigningKey()).secret)
    const { bindings } = laggingBindings()
    expect(await statusOf(`/v1/play/${token}`, { bindings })).toBe(200)
    expect(await statusOf(`/v1/play/${token}/${ids[0]}`, { bindings })).toBe(200)
  })
})
