import { beforeEach, describe, expect, it, vi } from 'vitest'

import { SHARE_SESSION_TTL } from '../../../src/contract/facts.ts'
import { aPlaySession, call, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, stopTime } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { countAllRows } from '../support/row_counter.ts'
import { caching } from '../support/session_views.ts'
import { apiKeyIn, aShare, openPage, sessionIn, showPage } from '../support/share_visitor.ts'
import { visit } from '../support/signed.ts'

/** The sessions of shares, which the service signs (docs/decisions/0125). */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id)
})

describe('the audience of a share', () => {
  /** Returns the number of rows in each table. */
  async function rowsOfAll() {
    const tables = await query<{ name: string }>(
      `select name from sqlite_schema where type = 'table' and name not like 'search%' and name not like '\\_%' escape '\\' and name not like 'sqlite%'`,
    )
    const counts = tables.map(({ name }) => `select '${name}' as name, count(*) as rows from "${name}"`)
    const rows: object[] = []
    for (let at = 0; at < counts.length; at += 5)
      rows.push(...(await query(counts.slice(at, at + 5).join(' union all '))))
    return rows
  }

  it('writes no rows, however many listen: 24 pages and frames, each with a renewal and play views', async () => {
    const { slug } = await aShare(key, collection_id, { is_downloadable: true })
    const before = await rowsOfAll()
    const { written } = await countAllRows(async () => {
      for (let at = 0; at < 24; at++) {
        const page = await showPage(`${at % 2 ? '/s' : '/embed/s'}/${slug}`)
        const opened = sessionIn(page)!.play_session_id
        // Clients send this header with each POST.
        const headers = { 'idempotency-key': `listener-${at}` }
        const body = { collection_id, views: 5, is_downloadable: true, expires_in: SHARE_SESSION_TTL }
        const renewed = await ok('POST', '/v1/play_session/collection', { key: apiKeyIn(page), body, headers })
        for (const session of [opened, renewed.play_session_id]) {
          const { track_id: played } = await ok('GET', `/v1/play/${session}/${track_id}`)
          expect([played, (await showPage(`/embed/${session}`)).status]).toEqual([track_id, 200])
        }
      }
    })
    expect(written).toBe(0)
    expect(await rowsOfAll()).toEqual(before)
  })
})

describe('a session of a share', () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const { status, statements } = await visit(path, { bindings: caching, headers })
    return `${status}${statements > 0 ? '' : ' cached'}`
  }
  const opened = async (body: object = {}, password?: string) => {
    const share = await aShare(key, collection_id, body)
    const page = await showPage(`/s/${share.slug}`, password)
    return { ...share, secret: apiKeyIn(page), token: sessionIn(page)!.play_session_id }
  }

  it.each([
    ['revoked', {}, 'delete from shares where id = ?'],
    ['renamed', {}, `update shares set slug = 'moved' where id = ?`],
    ['given a password', {}, `update shares set password_hash = '1.00.00' where id = ?`],
    ['given another password', { password: 'swordfish' }, `update shares set password_hash = '1.00.00' where id = ?`],
    ['ended', {}, 'update shares set expires_at = 1 where id = ?'],
  ])('ends everywhere within half a minute after the share was %s, whatever is cached', async (_, body, change) => {
    const { id, secret, token } = await opened(body, 'swordfish')
    stopTime()
    const start = Date.now()
    const paths = [`/v1/play/${token}`, `/v1/play/${token}/${track_id}`, `/v1/play/${token}?views=1`]
    // The session is cached with the first view, and the others are built with it later.
    expect(await read(paths[1]!)).toBe('200')
    vi.setSystemTime(start + 20_000)
    expect(await read(paths[0]!)).toBe('200')
    await query(change, id)
    vi.setSystemTime(start + 24_999)
    expect([await read(paths[1]!), await read(paths[0]!)]).toEqual(['200 cached', '200 cached'])
    // Renewals are checked at once, although this isolate has cached the key.
    expect((await call('POST', '/v1/play_session/collection', { key: secret, body: { collection_id } })).status).toBe(
      401,
    )
    vi.setSystemTime(start + 25_000)
    expect([await read(paths[1]!), await read(paths[2]!), await read(`/embed/${token}`)]).toEqual(['410', '410', '410'])
    vi.setSystemTime(start + 45_000)
    expect(await read(paths[0]!)).toBe('410')
  })

  it('ends or changes at once in the isolate that changes the share', async () => {
    const variants = ['mp3-128', 'aac-160']
    const { id, token } = await opened({ variants, is_downloadable: true })
    const path = `/v1/play/${token}/${track_id}`
    const session = async () => (await visit(path, { bindings: caching })).body.play_session
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    // Caches the track again, which a change of a share removes from the cache.
    const cacheTrack = () => visit(`/v1/play/${play_session_id}/${track_id}`, { bindings: caching })
    const update = async (body: object) => {
      await call('PUT', `/v1/share/${id}`, { key, body, bindings: caching })
      await cacheTrack()
    }
    expect(await session()).toMatchObject({ variants, is_downloadable: true })
    expect(await read(path)).toBe('200 cached')
    await update({ variants: ['mp3-128'], is_downloadable: false })
    expect(await session()).toMatchObject({ variants: ['mp3-128'], is_downloadable: false })
    expect(await read(`/v1/play/${token}/${track_id}/mp3-128/download`)).toBe('403 cached')
    await update({ slug: 'another' })
    expect(await read(path)).toBe('410')
    const { id: revoked, token: other } = await opened()
    expect(await read(`/v1/play/${other}/${track_id}`)).toBe('200')
    await call('DELETE', `/v1/share/${revoked}`, { key, bindings: caching })
    await cacheTrack()
    expect(await read(`/v1/play/${other}/${track_id}`)).toBe('410')
  })

  it('plays only on the sites of the share, and on its page after the password', async () => {
    const allowed_origins = ['https://shop.example']
    const { slug } = await aShare(key, collection_id, { allowed_origins, password: 'swordfish' })
    // Browsers send this header with the form, because the page sends no referrer.
    const page = await openPage(`/s/${slug}`, 'swordfish', undefined, undefined, {
      'sec-fetch-dest': 'document',
      origin: 'null',
    })
    const { play_session_id } = sessionIn(page)!
    for (const path of [`/v1/play/${play_session_id}`, `/v1/play/${play_session_id}/${track_id}`])
      for (const [origin, answer] of [
        ['https://evil.example', '403'],
        ['https://shop.example', '200'],
        ['https://tonearm.test', '200'],
      ] as const)
        expect([path, origin, (await read(path, { origin })).slice(0, 3)]).toEqual([path, origin, answer])
    const frame = await visit(`/embed/${play_session_id}`)
    expect(frame.headers.get('content-security-policy')).toContain("frame-ancestors 'self' https://shop.example")
  })

  it('works at the primary while the nearest replica does not have the share yet', async () => {
    await updateReplica()
    const { token } = await opened()
    const { bindings } = laggingBindings()
    for (const path of [`/v1/play/${token}`, `/v1/play/${token}/${track_id}`, `/embed/${token}`])
      expect([path, (await visit(path, { bindings })).status]).toEqual([path, 200])
  })

  it('cannot be created with fields that need a row', async () => {
    const { secret } = await opened()
    for (const more of [{ metadata: { a: 1 } }, { creator_id: crypto.randomUUID() }, { organization_index: 'a' }]) {
      const body = { collection_id, ...more }
      const { status, body: answer } = await call('POST', '/v1/play_session/collection', { key: secret, body })
      expect([status, answer.code]).toEqual([403, 'insufficient_scope'])
    }
  })
})
