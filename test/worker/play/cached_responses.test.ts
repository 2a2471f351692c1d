import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { newHourlyId } from '../../../src/adapters/crypto/id.ts'
import { collections, tracks } from '../../../src/adapters/db/schema/library.ts'
import { operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import worker from '../../../src/index.ts'
import { aCollection, anApiKey, anOrganization, aPlaySession, call, DAY, db, HOUR, UNKNOWN_ID } from '../support/api.ts'
import { pathIn } from '../support/contract_workspace.ts'
import { aReadyTrack, aTrackWithJob, stopTime } from '../support/fixtures.ts'
import { aLongTrack } from '../support/long_track.ts'
import { aPlayedTenant } from '../support/played_track.ts'
import { countRows } from '../support/row_counter.ts'
import { lossyResult, eventStream, startTranscoder } from '../support/transcoder.ts'

/** The isolate's cache of responses to listeners (docs/decisions/0028). */

const caching: Env = { ...env, REUSE_ANSWERS: 'true' }
const fetchUrl = async (url: string, init: RequestInit = {}, bindings = caching) =>
  worker.fetch(new Request(new URL(url, 'https://tonearm.test'), init), bindings, createExecutionContext())

/** Reads a URL; returns the response and the number of database statements that it needed. */
async function read(url: string, init?: RequestInit, bindings?: Env) {
  const { result: response, statements } = await countRows(() => fetchUrl(url, init, bindings))
  const text = await response.text()
  const body = text ? JSON.parse(text) : null
  return { status: response.status, headers: Object.fromEntries(response.headers), body, text, statements }
}

let tenant: Awaited<ReturnType<typeof aPlayedTenant>>
let view: string
beforeEach(async () => {
  tenant = await aPlayedTenant()
  view = `/v1/play/${tenant.play_session_id}/${tenant.track_id}`
})
const change = (method: string, path: string, body?: object) =>
  call(method, path, { key: tenant.key, body, bindings: caching })
const titleIn = async (path = view) => (await read(path)).body.track.player_title
const sessionOf = async (body?: object) =>
  (await aPlaySession(tenant.key, 'collection', tenant.collection_id, body)).play_session_id
const changeTitleInDatabase = (player_title: string) => db.update(tracks).set({ player_title })

describe.each(Object.entries(operations as Record<string, Operation>).filter(([, { reuse }]) => reuse))(
  '%s',
  (_, operation) => {
    it('returns the same response from the cache as a fresh one, except for the request id', async () => {
      const path = pathIn(tenant, operation.path)
      const [fresh, first, again] = [await read(path, {}, env), await read(path), await read(path)]
      expect([first.statements > 0, again.statements]).toEqual([true, 0])
      expect(again.headers).toEqual(fresh.headers)
      expect(again.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
      const idOf = ({ body }: typeof fresh) => body.api_request_id as string
      expect(new Set([fresh, first, again, await read(path)].map(idOf))).toHaveLength(4)
      expect(idOf(again)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      // The responses have the same text and not only equal values.
      expect(again.text.replace(idOf(again), '')).toBe(fresh.text.replace(idOf(fresh), ''))
      expect(operation.response.parse(again.body)).toEqual(again.body)
    })

    it('answers HEAD without a body, with a fresh and with a cached response', async () => {
      const path = pathIn(tenant, operation.path)
      const fresh = await read(path, { method: 'HEAD' }, env)
      for (const statements of [expect.any(Number), 0]) {
        const answer = await read(path, { method: 'HEAD' })
        expect(answer).toMatchObject({ status: 200, text: '', headers: fresh.headers, statements })
      }
      expect((await read(path)).body.ok).toBe(true)
    })

    it('does not share responses between base URLs, query strings and methods', async () => {
      const path = pathIn(tenant, operation.path)
      await read(path)
      // A fresh response contains URLs of the configured bucket; a cached response would contain those of the earlier bucket.
      for (const [at, url] of [`${path}?a=1`, `${path}?a=1`, `${path}?`, `http://tonearm.test${path}`].entries()) {
        const S3_ENDPOINT = `https://bucket-${at}.test`
        expect((await read(url, {}, { ...caching, S3_ENDPOINT })).text, url).toContain(S3_ENDPOINT)
      }
      const configured = { ...caching, PUBLIC_BASE_URL: 'https://configured.test' }
      expect((await read(path, {}, configured)).text).toContain('https://configured.test/cover/')
      expect((await read(path)).text).toContain('https://tonearm.test/cover/')
      expect((await read(`https://other.test${path}`)).text).toContain('https://other.test/cover/')
      expect((await read(path, { method: 'POST' })).status).toBe(405)
    })

    it('counts a cached response against the rate limit, and refuses it above the limit', async () => {
      const path = pathIn(tenant, operation.path)
      await read(path)
      const limit = vi.fn(async () => ({ success: true }))
      const headers = { 'cf-connecting-ip': '192.0.2.1' }
      await read(path, { headers }, { ...caching, PLAY_RATE_LIMIT: { limit } })
      expect(limit.mock.calls).toEqual([[{ key: `${tenant.play_session_id} 192.0.2.1` }]])
      const refusing = { limit: async () => ({ success: false }) }
      const refused = await read(path, {}, { ...caching, PLAY_RATE_LIMIT: refusing })
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'rate_limited', '60'])
    })

    it('caches a response until the millisecond in which its session ends, and for at most half a minute', async () => {
      stopTime()
      // The test starts at a whole second, because sessions end at whole seconds.
      const start = Math.ceil(Date.now() / 1000) * 1000
      vi.setSystemTime(start)
      const ids = { ...tenant, play_session_id: await sessionOf({ expires_in: 60 }) }
      const path = pathIn(ids, operation.path)
      const readAt = async (milliseconds: number) => {
        vi.setSystemTime(start + milliseconds)
        const { status, statements } = await read(path)
        return { status, isFresh: statements > 0 }
      }
      expect(await readAt(0)).toEqual({ status: 200, isFresh: true })
      expect(await readAt(29_999)).toEqual({ status: 200, isFresh: false })
      expect(await readAt(31_000)).toEqual({ status: 200, isFresh: true })
      expect(await readAt(59_999)).toEqual({ status: 200, isFresh: false })
      expect((await readAt(60_000)).status).toBe(410)
      expect((await readAt(60_000 + DAY)).status).toBe(404)
    })
  },
)

describe('a change', () => {
  it.each([
    ['its title', 'PUT', () => `/v1/track/${tenant.track_id}`, { title: 'Changed' }],
    ["the collection's appearance", 'PUT', () => `/v1/collection/${tenant.collection_id}`, { player_color: '#123456' }],
    ["the organization's appearance", 'PUT', () => '/v1/organization', { player_subtitle: 'Changed' }],
  ])('is visible at once in the isolate that handled the request: %s', async (_, method, path, body) => {
    const before = (await read(view)).body.track
    const organization = path() === '/v1/organization' ? `/v1/organization/${tenant.organization_id}` : path()
    expect((await change(method, organization, body)).status).toBe(200)
    expect((await read(view)).body.track).not.toEqual(before)
  })

  it('is visible in another isolate after half a minute at the latest', async () => {
    stopTime()
    const start = Date.now()
    const other = `/v1/play/${await sessionOf()}/${tenant.track_id}`
    await read(view)
    await changeTitleInDatabase('Changed')
    vi.setSystemTime(start + 29_000)
    await read(other)
    // The session and the track are both cached: reading them in another combination does not renew the cached track.
    expect(await titleIn()).not.toBe('Changed')
    vi.setSystemTime(start + 30_000)
    expect([await titleIn(), await titleIn(other)]).toEqual(['Changed', 'Changed'])
  })

  it('is visible at once when a track or its organization is deleted', async () => {
    await read(view)
    await change('DELETE', `/v1/track/${tenant.track_id}`)
    expect((await read(view)).body.code).toBe('not_found')
    const next = await aPlayedTenant()
    const path = `/v1/play/${next.play_session_id}/${next.track_id}`
    await read(path)
    const bindings = caching
    await call('DELETE', `/v1/organization/${next.organization_id}`, { key: env.ROOT_KEY, bindings })
    expect((await read(path)).status).toBe(404)
  })

  it('is visible at once when it is made by a job that this isolate followed', async () => {
    const work = await aTrackWithJob()
    const track_id = await aReadyTrack(work.key, work.collection_id)
    const { play_session_id } = await aPlaySession(work.key, 'collection', work.collection_id)
    const path = `/v1/play/${play_session_id}/${track_id}`
    await read(path)
    await db.update(tracks).set({ player_title: 'Changed' }).where(eq(tracks.id, track_id))
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await work.run()
    expect(await titleIn(path)).toBe('Changed')
  })

  it('does not clear the cache when it belongs to another organization or is a new play session', async () => {
    await read(view)
    const { key } = await anOrganization()
    await call('POST', '/v1/collection', { key, body: { title: 'Theirs' }, bindings: caching })
    await change('POST', '/v1/play_session/track', { track_id: tenant.track_id })
    expect((await read(view)).statements).toBe(0)
  })

  it('is not hidden by a view that was read before the change', async () => {
    const { promise: written, resolve } = Promise.withResolvers<void>()
    const { promise: started, resolve: start } = Promise.withResolvers<void>()
    // The view is read, then the title is changed, then the view is returned.
    const PLAY = { limit: async () => ({ success: true }) }
    const DB = new Proxy(env.DB, {
      get(database, name: keyof D1Database) {
        if (name !== 'withSession') return database[name].bind(database)
        return (...options: []) => {
          const session = database.withSession(...options)
          return { prepare: (text: string) => late(session.prepare(text)) }
        }
      },
    })
    const late = (statement: D1PreparedStatement): D1PreparedStatement =>
      new Proxy(statement, {
        get(real, name: 'bind' | 'raw') {
          if (name === 'bind') return (...values: unknown[]) => late(real.bind(...values))
          return async (...options: []) => {
            const rows = await real.raw(...options)
            start()
            await written
            return rows
          }
        },
      })
    const reading = read(view, {}, { ...caching, DB, PLAY_RATE_LIMIT: PLAY })
    await started
    await change('PUT', `/v1/track/${tenant.track_id}`, { title: 'Changed' })
    resolve()
    expect((await reading).body.track.player_title).not.toBe('Changed')
    expect(await titleIn()).toBe('Changed')
  })

  it('to a preliminary view is visible at once, because the view is never cached', async () => {
    const long = await aLongTrack()
    await long.startEarly()
    const { play_session_id } = await long.session()
    for (const path of [`/v1/play/${play_session_id}/${long.track_id}`, `/v1/play/${play_session_id}`]) {
      for (const _time of [1, 2]) expect((await read(path)).statements, path).toBeGreaterThan(0)
    }
    await long.leave()
  })

  it('that revokes a key takes effect at once, but existing sessions of the key continue to play', async () => {
    const { api_key_id, secret } = await anApiKey(tenant.key)
    const { play_session_id } = await aPlaySession(secret, 'track', tenant.track_id)
    const path = `/v1/play/${play_session_id}/${tenant.track_id}`
    await read(path)
    await change('DELETE', `/v1/api_key/${api_key_id}`)
    expect((await read(path)).status).toBe(200)
    const body = { track_id: tenant.track_id }
    const answer = await call('POST', '/v1/play_session/track', { key: secret, body, bindings: caching })
    expect(answer.status).toBe(401)
  })
})

describe('the cache', () => {
  it('serves a cached track to a cached session without a database query, although the session never played this track before', async () => {
    const other_id = await aReadyTrack(tenant.key, tenant.collection_id)
    const [first_session, second_session] = [tenant.play_session_id, await sessionOf()]
    expect((await read(`/v1/play/${first_session}/${tenant.track_id}`)).statements).toBe(1)
    expect((await read(`/v1/play/${second_session}/${other_id}`)).statements).toBe(1)
    const crossed = [`/v1/play/${first_session}/${other_id}`, `/v1/play/${second_session}/${tenant.track_id}`]
    for (const path of crossed) {
      const [again, fresh] = [await read(path), await read(path, {}, env)]
      expect([again.status, again.statements]).toEqual([200, 0])
      expect(again.body.track).toEqual(fresh.body.track)
    }
  })

  it('does not give a session access to a cached track that the session does not contain', async () => {
    const { id: collection_id } = await aCollection(tenant.key, { title: 'Other' })
    const other_id = await aReadyTrack(tenant.key, collection_id)
    const other = await aPlaySession(tenant.key, 'collection', collection_id)
    const single = await aPlaySession(tenant.key, 'track', tenant.track_id)
    const mix = await tenant.playPlaylist()
    const sessions = [other.play_session_id, single.play_session_id, mix.play_session_id, tenant.play_session_id]
    await Promise.all(
      [tenant.track_id, other_id].flatMap((track) => sessions.map((id) => read(`/v1/play/${id}/${track}`))),
    )
    const statuses = async (track: string) =>
      Promise.all(sessions.map(async (id) => (await read(`/v1/play/${id}/${track}`)).status))
    expect(await statuses(tenant.track_id)).toEqual([404, 200, 200, 200])
    expect(await statuses(other_id)).toEqual([200, 404, 404, 404])
  })

  it('is filled by one statement, which reads four rows', async () => {
    // The collection has its own cover, because a cover of the first track would cost one more row (tags.test.ts).
    await db.update(collections).set({ cover_path: 'media/own' })
    const { statements, read: rows } = await countRows(() => fetchUrl(view))
    expect({ statements, rows }).toEqual({ statements: 1, rows: 4 })
  })

  it('needs no query to reject an id that was never issued', async () => {
    for (const path of [crypto.randomUUID(), 'nonsense'].map((id) => `fff${id.slice(3)}`)) {
      for (const url of [`/v1/play/${path}`, `/v1/play/${path}/${tenant.track_id}`, `/v1/play/${path}/${path}`]) {
        expect(await read(url)).toMatchObject({ status: 404, statements: 0 })
      }
    }
    // A session with this id could exist, so the session is read from the replica and then from the primary.
    const possible = newHourlyId(Date.now() + HOUR)
    expect(await read(`/v1/play/${possible}/${UNKNOWN_ID}`)).toMatchObject({ status: 404, statements: 2 })
    // The id of a session contains the hour of its end. The hour in this id is impossible, so no session can have it.
    expect(await read(`/v1/play/${UNKNOWN_ID}/${UNKNOWN_ID}`)).toMatchObject({ status: 404, statements: 0 })
  })
})
