import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { newHourlyId } from '../../src/adapters/id.ts'
import { collections, tracks } from '../../src/adapters/schema.ts'
import { operations } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import worker from '../../src/index.ts'
import { aWorld, pathIn } from './contract_world.ts'
import { aReadyTrack, aTrackWithJob, stopTime } from './fixtures.ts'
import { aLongTrack } from './long_track.ts'
import { rowsOf } from './meter.ts'
import { anOrganization, call, db, ok, UNKNOWN_ID } from './support.ts'
import { result, events, startTranscoder } from './transcoder.ts'

/** What an isolate remembers of what listeners see (docs/decisions/0028). */

const remembering: Env = { ...env, REUSE_ANSWERS: 'true' }
const fetchIt = async (url: string, init: RequestInit = {}, bindings = remembering) =>
  worker.fetch(new Request(new URL(url, 'https://tonearm.test'), init), bindings, createExecutionContext())

/** An answer, and the statements that it took. */
async function read(url: string, init?: RequestInit, bindings?: Env) {
  const { result: response, statements } = await rowsOf(() => fetchIt(url, init, bindings))
  const text = await response.text()
  const body = text ? JSON.parse(text) : null
  return { status: response.status, headers: Object.fromEntries(response.headers), body, text, statements }
}

let world: Awaited<ReturnType<typeof aWorld>>
let view: string
beforeEach(async () => {
  world = await aWorld()
  view = `/v1/play/${world.play_session_id}/${world.track_id}`
})
const change = (method: string, path: string, body?: object) =>
  call(method, path, { key: world.key, body, bindings: remembering })
const titleIn = async (path = view) => (await read(path)).body.track.player_title
const sessionOf = async (body: object = {}) => {
  const sent = { collection_id: world.collection_id, ...body }
  return (await ok('POST', '/v1/play_session/collection', { key: world.key, body: sent })).play_session_id
}
const behindItsBack = (player_title: string) => db.update(tracks).set({ player_title })

describe.each(Object.entries(operations as Record<string, Operation>).filter(([, { reuse }]) => reuse))(
  '%s',
  (_, operation) => {
    it('is given again as a fresh one would be, but for the id of the request', async () => {
      const path = pathIn(world, operation.path)
      const [fresh, first, again] = [await read(path, {}, env), await read(path), await read(path)]
      expect([first.statements > 0, again.statements]).toEqual([true, 0])
      expect(again.headers).toEqual(fresh.headers)
      expect(again.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
      const idOf = ({ body }: typeof fresh) => body.api_request_id as string
      expect(new Set([fresh, first, again, await read(path)].map(idOf))).toHaveLength(4)
      expect(idOf(again)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      // Not only the same values: the same text.
      expect(again.text.replace(idOf(again), '')).toBe(fresh.text.replace(idOf(fresh), ''))
      expect(operation.response.parse(again.body)).toEqual(again.body)
    })

    it('answers HEAD without a body, first and again', async () => {
      const path = pathIn(world, operation.path)
      const fresh = await read(path, { method: 'HEAD' }, env)
      for (const statements of [expect.any(Number), 0]) {
        const answer = await read(path, { method: 'HEAD' })
        expect(answer).toMatchObject({ status: 200, text: '', headers: fresh.headers, statements })
      }
      expect((await read(path)).body.ok).toBe(true)
    })

    it('is made anew for another base URL, a query and another method', async () => {
      const path = pathIn(world, operation.path)
      await read(path)
      // Kept answers do not know of another bucket; those that are made do.
      for (const [at, url] of [`${path}?a=1`, `${path}?a=1`, `${path}?`, `http://tonearm.test${path}`].entries()) {
        const S3_ENDPOINT = `https://bucket-${at}.test`
        expect((await read(url, {}, { ...remembering, S3_ENDPOINT })).text, url).toContain(S3_ENDPOINT)
      }
      const configured = { ...remembering, PUBLIC_BASE_URL: 'https://configured.test' }
      expect((await read(path, {}, configured)).text).toContain('https://configured.test/cover/')
      expect((await read(path)).text).toContain('https://tonearm.test/cover/')
      expect((await read(`https://other.test${path}`)).text).toContain('https://other.test/cover/')
      expect((await read(path, { method: 'POST' })).status).toBe(405)
    })

    it('counts for the limit, which is kept', async () => {
      const path = pathIn(world, operation.path)
      await read(path)
      const limit = vi.fn(async () => ({ success: true }))
      const headers = { 'cf-connecting-ip': '192.0.2.1' }
      await read(path, { headers }, { ...remembering, PLAY_RATE_LIMIT: { limit } })
      expect(limit.mock.calls).toEqual([[{ key: `${world.play_session_id} 192.0.2.1` }]])
      const refusing = { limit: async () => ({ success: false }) }
      const refused = await read(path, {}, { ...remembering, PLAY_RATE_LIMIT: refusing })
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'rate_limited', '60'])
    })

    it('ends in the millisecond in which its session does, and after half a minute', async () => {
      stopTime()
      // Sessions end in whole seconds.
      const start = Math.ceil(Date.now() / 1000) * 1000
      vi.setSystemTime(start)
      const ids = { ...world, play_session_id: await sessionOf({ expires_in: 60 }) }
      const path = pathIn(ids, operation.path)
      const at = async (milliseconds: number) => {
        vi.setSystemTime(start + milliseconds)
        const { status, statements } = await read(path)
        return { status, asked: statements > 0 }
      }
      expect(await at(0)).toEqual({ status: 200, asked: true })
      expect(await at(29_999)).toEqual({ status: 200, asked: false })
      expect(await at(31_000)).toEqual({ status: 200, asked: true })
      expect(await at(59_999)).toEqual({ status: 200, asked: false })
      expect((await at(60_000)).status).toBe(410)
      expect((await at(60_000 + 24 * 3600_000)).status).toBe(404)
    })
  },
)

describe('what changed', () => {
  it.each([
    ['its title', 'PUT', () => `/v1/track/${world.track_id}`, { title: 'Changed' }],
    ["the collection's look", 'PUT', () => `/v1/collection/${world.collection_id}`, { player_color: '#123456' }],
    ["the organization's look", 'PUT', () => '/v1/organization', { player_subtitle: 'Changed' }],
  ])('is seen at once where it was changed: %s', async (_, method, path, body) => {
    const before = (await read(view)).body.track
    const organization = path() === '/v1/organization' ? `/v1/organization/${world.organization_id}` : path()
    expect((await change(method, organization, body)).status).toBe(200)
    expect((await read(view)).body.track).not.toEqual(before)
  })

  it('is seen after half a minute elsewhere, never twice that', async () => {
    stopTime()
    const start = Date.now()
    const other = `/v1/play/${await sessionOf()}/${world.track_id}`
    await read(view)
    await behindItsBack('Changed')
    vi.setSystemTime(start + 29_000)
    await read(other)
    // Known: neither the session nor the track are asked for, and the track is as old as it is.
    expect(await titleIn()).not.toBe('Changed')
    vi.setSystemTime(start + 30_000)
    expect([await titleIn(), await titleIn(other)]).toEqual(['Changed', 'Changed'])
  })

  it('is seen at once when a track is deleted, or its organization', async () => {
    await read(view)
    await change('DELETE', `/v1/track/${world.track_id}`)
    expect((await read(view)).body.code).toBe('not_found')
    const next = await aWorld()
    const path = `/v1/play/${next.play_session_id}/${next.track_id}`
    await read(path)
    const bindings = remembering
    await call('DELETE', `/v1/organization/${next.organization_id}`, { key: env.ROOT_KEY, bindings })
    expect((await read(path)).status).toBe(404)
  })

  it('is seen at once when a job ends that this isolate followed', async () => {
    const work = await aTrackWithJob()
    const track_id = await aReadyTrack(work.key, work.collection_id)
    const body = { collection_id: work.collection_id }
    const { play_session_id } = await ok('POST', '/v1/play_session/collection', { key: work.key, body })
    const path = `/v1/play/${play_session_id}/${track_id}`
    await read(path)
    await db.update(tracks).set({ player_title: 'Changed' }).where(eq(tracks.id, track_id))
    startTranscoder({ transcode: () => events(result()) })
    await work.run()
    expect(await titleIn(path)).toBe('Changed')
  })

  it("is none of another organization's business, and a new play session changes nothing", async () => {
    await read(view)
    const { key } = await anOrganization()
    await call('POST', '/v1/collection', { key, body: { title: 'Theirs' }, bindings: remembering })
    await change('POST', '/v1/play_session/track', { track_id: world.track_id })
    expect((await read(view)).statements).toBe(0)
  })

  it('does not come back with a view that was read before it', async () => {
    const { promise: written, resolve } = Promise.withResolvers<void>()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    // The view is read, then the title changes, then the view is answered.
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
            ask()
            await written
            return rows
          }
        },
      })
    const reading = read(view, {}, { ...remembering, DB, PLAY_RATE_LIMIT: PLAY })
    await asked
    await change('PUT', `/v1/track/${world.track_id}`, { title: 'Changed' })
    resolve()
    expect((await reading).body.track.player_title).not.toBe('Changed')
    expect(await titleIn()).toBe('Changed')
  })

  it('a preliminary view is made anew each time', async () => {
    const long = await aLongTrack()
    await long.startEarly()
    const { play_session_id } = await long.session()
    for (const path of [`/v1/play/${play_session_id}/${long.track_id}`, `/v1/play/${play_session_id}`]) {
      for (const _time of [1, 2]) expect((await read(path)).statements, path).toBeGreaterThan(0)
    }
    await long.leave()
  })

  it('does not matter to a key that is revoked: its sessions play on, and it opens nothing', async () => {
    const { api_key_id, secret } = await ok('POST', '/v1/api_key', {
      key: world.key,
      body: { title: 'a', type: 'player' },
    })
    const body = { track_id: world.track_id }
    const { play_session_id } = await ok('POST', '/v1/play_session/track', { key: secret, body })
    const path = `/v1/play/${play_session_id}/${world.track_id}`
    await read(path)
    await change('DELETE', `/v1/api_key/${api_key_id}`)
    expect((await read(path)).status).toBe(200)
    const answer = await call('POST', '/v1/play_session/track', { key: secret, body, bindings: remembering })
    expect(answer.status).toBe(401)
  })
})

describe('what is known', () => {
  it('costs no statement: a track that another session played, in a session that played another track', async () => {
    const other_id = await aReadyTrack(world.key, world.collection_id)
    const [one, two] = [world.play_session_id, await sessionOf()]
    expect((await read(`/v1/play/${one}/${world.track_id}`)).statements).toBe(1)
    expect((await read(`/v1/play/${two}/${other_id}`)).statements).toBe(1)
    const crossed = [`/v1/play/${one}/${other_id}`, `/v1/play/${two}/${world.track_id}`]
    for (const path of crossed) {
      const [again, fresh] = [await read(path), await read(path, {}, env)]
      expect([again.status, again.statements]).toEqual([200, 0])
      expect(again.body.track).toEqual(fresh.body.track)
    }
  })

  it('opens no track to a session that does not play it', async () => {
    const { collection_id } = await ok('POST', '/v1/collection', { key: world.key, body: { title: 'Other' } })
    const other_id = await aReadyTrack(world.key, collection_id)
    const other = await ok('POST', '/v1/play_session/collection', { key: world.key, body: { collection_id } })
    const single = await ok('POST', '/v1/play_session/track', { key: world.key, body: { track_id: world.track_id } })
    const { playlist_id } = world
    const mix = await ok('POST', '/v1/play_session/playlist', { key: world.key, body: { playlist_id } })
    const sessions = [other.play_session_id, single.play_session_id, mix.play_session_id, world.play_session_id]
    await Promise.all(
      [world.track_id, other_id].flatMap((track) => sessions.map((id) => read(`/v1/play/${id}/${track}`))),
    )
    const statuses = async (track: string) =>
      Promise.all(sessions.map(async (id) => (await read(`/v1/play/${id}/${track}`)).status))
    expect(await statuses(world.track_id)).toEqual([404, 200, 200, 200])
    expect(await statuses(other_id)).toEqual([200, 404, 404, 404])
  })

  it('is asked for in one statement that reads four rows', async () => {
    // The one that takes its first track's reads that too (tags.test.ts).
    await db.update(collections).set({ cover_path: 'media/own' })
    const { statements, read: rows } = await rowsOf(() => fetchIt(view))
    expect({ statements, rows }).toEqual({ statements: 1, rows: 4 })
  })

  it('is no id that was never given out: nobody looks for it', async () => {
    for (const path of [crypto.randomUUID(), 'nonsense'].map((id) => `fff${id.slice(3)}`)) {
      for (const url of [`/v1/play/${path}`, `/v1/play/${path}/${world.track_id}`, `/v1/play/${path}/${path}`]) {
        expect(await read(url)).toMatchObject({ status: 404, statements: 0 })
      }
    }
    // A session that could exist is read from the replica, then from the primary.
    const possible = newHourlyId(Date.now() + 3600_000)
    expect(await read(`/v1/play/${possible}/${UNKNOWN_ID}`)).toMatchObject({ status: 404, statements: 2 })
    // A session's id names its hour, so this one cannot be a session's.
    expect(await read(`/v1/play/${UNKNOWN_ID}/${UNKNOWN_ID}`)).toMatchObject({ status: 404, statements: 0 })
  })
})
