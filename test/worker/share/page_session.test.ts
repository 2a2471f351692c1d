import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { GROWTH_UNTIL, SHARE_SESSION_TTL } from '../../../src/contract/facts.ts'
import worker from '../../../src/index.ts'
import { aPlaylist, aPlaySession, call, db, ok, query } from '../support/api.ts'
import { faultyDatabase } from '../support/faulty_database.ts'
import { aReadyTrack, aTenant, stopTime } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { countRows } from '../support/row_counter.ts'
import { apiKeyIn, aShare, openPage, PROTECTED_TEXT, sessionIn, showPage } from '../support/share_visitor.ts'

/**
 * The session that the page of an embed or share carries for its player, so that the player needs no request for it (docs/decisions/0083).
 * share_session.test.ts tests what becomes of it.
 */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So "What" </script><b>&\u2028' })
})

/** Headers of requests whose response is not shown at once. */
const PREVIEWS: Record<string, string>[] = [
  {},
  { 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch' },
]

/** The response of `GET /v1/play/{play_session_id}` in the form of `sessionIn`. */
async function publicView(play_session_id: string) {
  const { api_request_id, ...session } = await ok('GET', `/v1/play/${play_session_id}`)
  return { ...session, hasRequestId: typeof api_request_id === 'string' }
}
/** The payload of a signed session. */
const claimsOf = (token: string) => JSON.parse(atob(token.split('.')[1]!)) as Record<string, unknown>
const sessionCount = async () => (await query<{ n: number }>('select count(*) as n from play_sessions'))[0]!.n

describe('the page of an embed', () => {
  it('carries the response of the session, and connects to the storage early, in one trip', async () => {
    const playlist_id = await aPlaylist(key, [track_id, track_id])
    for (const [scope, id] of [
      ['collection', collection_id],
      ['track', track_id],
      ['playlist', playlist_id],
    ] as const) {
      const { play_session_id } = await aPlaySession(key, scope, id)
      const { result: page, trips, written } = await countRows(() => showPage(`/embed/${play_session_id}?theme=dark`))
      expect([page.status, trips, written]).toEqual([200, 1, 0])
      expect(sessionIn(page)).toEqual(await publicView(play_session_id))
      expect(page.text).toContain('<link rel="preconnect" href="http://localhost:8787" />')
      expect(page.text).not.toMatch(/<\/script><b>/)
    }
  })

  it('carries a session without a playable track, of which the player asks again', async () => {
    const { play_session_id } = await aPlaySession(key, 'track', track_id)
    await db.update(tracks).set({ files: null, status: 'processing' }).where(eq(tracks.id, track_id))
    expect(sessionIn(await showPage(`/embed/${play_session_id}`))).toMatchObject({ first_track: null, tracks: [{}] })
  })

  it('carries nothing for those who only read its link preview, or prefetch it', async () => {
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    for (const headers of PREVIEWS) {
      const page = await openPage(`/embed/${play_session_id}`, undefined, undefined, undefined, headers)
      expect([page.status, page.text.includes('application/json"'), sessionIn(page)]).toEqual([200, false, undefined])
    }
  })
})

describe.each(['/s', '/embed/s'])('the page of a share at %s', (path) => {
  it('carries a signed session without a row, in the trip that reads the share', async () => {
    const { slug } = await aShare(key, collection_id, { variants: ['original', 'mp3-128'], is_downloadable: true })
    stopTime()
    const { result: page, trips, written } = await countRows(() => showPage(`${path}/${slug}`))
    expect([page.status, trips, written]).toEqual([200, 1, 0])
    const session = sessionIn(page)!
    expect(session.play_session_id).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]{43}$/)
    expect(session).toEqual(await publicView(session.play_session_id))
    // The player's own request gets the same session.
    const body = {
      collection_id,
      variants: ['original', 'mp3-128'],
      is_downloadable: true,
      expires_in: SHARE_SESSION_TTL,
    }
    const renewed = await countRows(() => ok('POST', '/v1/play_session/collection', { key: apiKeyIn(page), body }))
    expect(renewed.written).toBe(0)
    const { variants, is_downloadable, expires_at } = renewed.result.play_session
    expect(session).toMatchObject({ play_session: { variants, is_downloadable, expires_at } })
    expect(variants).toEqual(['original', 'mp3-128'])
    expect(claimsOf(renewed.result.play_session_id)).toEqual({
      ...claimsOf(session.play_session_id),
      jti: expect.any(String),
    })
    expect(await sessionCount()).toBe(0)
  })

  it('carries a session with the default variants that ends with the share', async () => {
    const expires_at = `${new Date(Date.now() + 100_000).toISOString().slice(0, 19)}.700Z`
    const { slug } = await aShare(key, collection_id, { scope: 'track', id: track_id, expires_at })
    const { play_session } = (await aPlaySession(key, 'track', track_id)) as { play_session: { variants: string[] } }
    expect(sessionIn(await showPage(`${path}/${slug}`))).toMatchObject({
      list: null,
      first_track: { track_id },
      play_session: { variants: play_session.variants, expires_at: expires_at.replace('.700Z', '.000Z') },
    })
  })

  it('carries no session for those who only read its link preview, or prefetch it', async () => {
    const { slug } = await aShare(key, collection_id)
    for (const headers of PREVIEWS) {
      const page = await openPage(`${path}/${slug}`, undefined, undefined, undefined, headers)
      expect([page.status, sessionIn(page)]).toEqual([200, undefined])
    }
    const shown = { 'sec-fetch-dest': 'document' }
    const head = new Request(`https://tonearm.test${path}/${slug}`, { method: 'HEAD', headers: shown })
    expect((await worker.fetch(head, env, createExecutionContext())).status).toBe(200)
  })

  it('carries nothing before the password, and a session after it', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    for (const [password, status] of [
      [undefined, 200],
      ['sword', 403],
    ] as const) {
      const { result: page, written } = await countRows(() => showPage(`${path}/${slug}`, password))
      expect([page.status, written, sessionIn(page)]).toEqual([status, 0, undefined])
      expect(page.text).not.toMatch(PROTECTED_TEXT)
      expect(page.text).not.toMatch(/application\/json|preconnect|play_session/)
    }
    const session = sessionIn(await showPage(`${path}/${slug}`, 'swordfish'))!
    expect(session).toEqual(await publicView(session.play_session_id))
    expect(await sessionCount()).toBe(0)
  })

  it('carries no session after the share was revoked, renamed or has ended', async () => {
    const revoked = await aShare(key, collection_id)
    const renamed = await aShare(key, collection_id)
    const ended = await aShare(key, collection_id, { expires_at: new Date(Date.now() + 60_000).toISOString() })
    await updateReplica()
    await ok('DELETE', `/v1/share/${revoked.id}`, { key })
    await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: `new-${renamed.slug}`.slice(0, 60) } })
    stopTime()
    vi.setSystemTime(Date.now() + 61_000)
    // A replica that lags behind does not decide about it.
    for (const { slug } of [revoked, renamed, ended]) {
      const page = await showPage(`${path}/${slug}`, undefined, laggingBindings().bindings)
      expect([page.status, sessionIn(page), PROTECTED_TEXT.test(page.text)]).toEqual([410, undefined, false])
    }
  })

  it('asks for a password that was set a moment ago, although a replica does not have it', async () => {
    const { id, slug } = await aShare(key, collection_id)
    await updateReplica()
    await ok('PUT', `/v1/share/${id}`, { key, body: { password: 'swordfish' } })
    const page = await showPage(`${path}/${slug}`, undefined, laggingBindings().bindings)
    expect([page.status, sessionIn(page), PROTECTED_TEXT.test(page.text)]).toEqual([200, undefined, false])
    expect(page.text).toContain('This is protected by a password')
  })

  it('plays while the database is full, and so do its renewals', async () => {
    const { slug } = await aShare(key, collection_id)
    const size = (await env.DB.prepare('select 1').run()).meta.size_after
    const full = { ...env, DATABASE_LIMIT_BYTES: String(Math.floor(size / (GROWTH_UNTIL.session + 0.005))) }
    stopTime()
    const post = async (secret: string) =>
      (await call('POST', '/v1/play_session/collection', { key: secret, body: { collection_id }, bindings: full }))
        .status
    // The first call with a row finds out that there is no room.
    await post(key)
    const page = await showPage(`${path}/${slug}`, undefined, full)
    expect(sessionIn(page)).toMatchObject({ tracks: [{ id: track_id }] })
    expect([page.status, await post(key), await post(apiKeyIn(page))]).toEqual([200, 507, 200])
  })

  it('carries a session after a lost response, and is a 503 during an outage', async () => {
    vi.spyOn(scheduler, 'wait').mockResolvedValue()
    onTestFinished(() => void vi.restoreAllMocks())
    const { slug } = await aShare(key, collection_id)
    for (const moment of ['before', 'after'] as const) {
      const DB = faultyDatabase(env.DB, (at) => (at === 1 ? moment : null))
      const session = sessionIn(await showPage(`${path}/${slug}`, undefined, { ...env, DB }))!
      expect(session).toEqual(await publicView(session.play_session_id))
    }
    const DB = faultyDatabase(env.DB, () => 'before')
    const { status, headers, text } = await showPage(`${path}/${slug}`, undefined, { ...env, DB })
    expect([status, headers.get('retry-after'), PROTECTED_TEXT.test(text)]).toEqual([503, '1', false])
  })
})
