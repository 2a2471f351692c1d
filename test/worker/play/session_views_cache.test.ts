import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { aPlaySession, call, db } from '../support/api.ts'
import { aTenantWithTrack, stopTime, type Tenant } from '../support/fixtures.ts'
import { aLongTrack } from '../support/long_track.ts'
import { anAlbum, caching, readViews as read } from '../support/session_views.ts'
import { fakeRateLimit } from '../support/share_visitor.ts'

/** The rate limit and the cache of responses with several play views (docs/decisions/0086). */

let tenant: Tenant
let ids: string[]
let path: string
let pathOf: Awaited<ReturnType<typeof anAlbum>>['pathOf']
beforeEach(async () => {
  ;({ tenant, ids, path, pathOf } = await anAlbum())
})

describe('the rate limit', () => {
  it('counts each view once, in fresh and in cached responses, and a response without views once', async () => {
    await db.update(tracks).set({ files: null, status: 'processing' }).where(eq(tracks.id, ids[2]!))
    const secret = path.split('/').at(-1)
    for (const [query, times] of [
      [`?views=2`, 2],
      [`?views=1&from=${ids[0]}`, 1],
      // Two views are wanted, but there is only one.
      [`?views=2&from=${ids[1]}`, 1],
      [`?views=5&from=${ids[2]}`, 1],
      ['', 1],
    ] as const) {
      for (const bindings of [env, caching, caching]) {
        const [play, audience] = [vi.fn(async () => ({ success: true })), vi.fn(async () => ({ success: true }))]
        const limits = { PLAY_RATE_LIMIT: { limit: play }, AUDIENCE_RATE_LIMIT: { limit: audience } }
        const { statements } = await read(path + query, { ...bindings, ...limits })
        expect(play.mock.calls).toEqual(Array.from({ length: times }, () => [{ key: `${secret} 192.0.2.1` }]))
        // Like other cached responses, those with views do not count for the whole audience.
        expect(audience).toHaveBeenCalledTimes(statements > 0 ? times : 0)
      }
    }
  })

  it('refuses views above the limit, fresh and cached', async () => {
    for (const bindings of [env, caching]) {
      const limited = { ...bindings, PLAY_RATE_LIMIT: fakeRateLimit(7) }
      const statuses = []
      for (let at = 0; at < 4; at++) statuses.push((await read(`${path}?views=3`, limited)).status)
      expect(statuses).toEqual([200, 200, 429, 429])
    }
    const audience = { ...env, AUDIENCE_RATE_LIMIT: fakeRateLimit(5) }
    // The first refusal is the last request that is counted.
    const full = { limit: vi.fn(async () => ({ success: false })) }
    expect((await read(`${path}?views=3`, { ...caching, PLAY_RATE_LIMIT: full })).status).toBe(429)
    // Once for the cached response, and once for the request that its refusal leaves to the app.
    expect(full.limit).toHaveBeenCalledTimes(2)
    expect([
      (await read(`${path}?views=3`, audience)).status,
      (await read(`${path}?views=3`, audience)).status,
    ]).toEqual([200, 429])
  })
})

describe('the cache', () => {
  const isCached = async (url: string) => {
    await read(url)
    return (await read(url)).statements === 0
  }

  it('keeps only responses to the query that players send', async () => {
    expect(await isCached(`${path}?views=3`)).toBe(true)
    expect(await isCached(`${path}?views=3&from=${ids[0]}`)).toBe(true)
    for (const query of [
      `from=${ids[0]}&views=3`,
      `views=3&from=${ids[0]!.toUpperCase()}`,
      'views=%33',
      'views=3&',
      '&views=3',
      'a=1',
    ]) {
      expect([query, await isCached(`${path}?${query}`)]).toEqual([query, false])
    }
    // A request for a track ignores the query. Its response is not cached with one either.
    expect((await read(`${path}/${ids[0]}?views=3`)).status).toBe(200)
    expect((await read(`${path}/${ids[0]}?views=4`)).statements).toBe(0)
  })

  it('does not keep views of a track that is deleted, moved or hidden by a request to this isolate', async () => {
    const url = `${path}?views=3`
    const change = (method: string, to: string, body?: object) =>
      call(method, to, { key: tenant.key, body, bindings: caching })
    expect((await read(url)).ids).toEqual(ids)
    await change('DELETE', `/v1/track/${ids[1]}`)
    expect((await read(url)).ids).toEqual([ids[0], ids[2]])
    await change('PUT', `/v1/track/${ids[2]}`, { title: 'Changed' })
    expect(JSON.stringify((await read(url)).body.views)).toContain('Changed')
    await change('DELETE', `/v1/collection/${tenant.collection_id}`)
    expect((await read(url)).ids).toEqual([])
    const next = await aTenantWithTrack()
    const { play_session_id } = await aPlaySession(next.key, 'track', next.track_id)
    expect(await isCached(`/v1/play/${play_session_id}?views=1`)).toBe(true)
    await call('DELETE', `/v1/organization/${next.organization_id}`, { key: env.ROOT_KEY, bindings: caching })
    expect((await read(`/v1/play/${play_session_id}?views=1`)).status).toBe(404)
  })

  it('forgets views after half a minute, and in the millisecond in which their session ends', async () => {
    stopTime()
    const start = Math.ceil(Date.now() / 1000) * 1000
    vi.setSystemTime(start)
    const url = `${await pathOf('collection', tenant.collection_id, { expires_in: 60 })}?views=3`
    const readAt = async (milliseconds: number) => {
      vi.setSystemTime(start + milliseconds)
      const { status, statements, ids: found } = await read(url)
      return { status, isFresh: statements > 0, count: found?.length }
    }
    expect(await readAt(0)).toEqual({ status: 200, isFresh: true, count: 3 })
    // A deletion in another isolate.
    await db.delete(tracks).where(eq(tracks.id, ids[2]!))
    expect(await readAt(29_999)).toEqual({ status: 200, isFresh: false, count: 3 })
    expect(await readAt(30_000)).toEqual({ status: 200, isFresh: true, count: 2 })
    expect(await readAt(59_999)).toEqual({ status: 200, isFresh: false, count: 2 })
    expect(await readAt(60_000)).toMatchObject({ status: 410, isFresh: true })
  })

  it('never keeps a response in which a track is missing because it cannot be played yet, or is preliminary', async () => {
    await db.update(tracks).set({ files: null, status: 'processing' }).where(eq(tracks.id, ids[1]!))
    expect(await isCached(`${path}?views=2`)).toBe(false)
    expect(await isCached(`${path}?views=1&from=${ids[1]}`)).toBe(false)
    expect(await isCached(`${path}?views=1`)).toBe(true)
    const long = await aLongTrack()
    await long.startEarly()
    const { play_session_id } = await long.session()
    const url = `/v1/play/${play_session_id}?views=5`
    expect([(await read(url)).ids, await isCached(url)]).toEqual([[long.track_id], false])
    await long.leave()
  })
})
