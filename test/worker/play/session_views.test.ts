import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { MAX_VIEWS } from '../../../src/contract/facts.ts'
import { ViewsQuery } from '../../../src/contract/play.ts'
import { aPlaylist, call, db, expectError, ok, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenantWithTrack, type Tenant } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { countRows } from '../support/row_counter.ts'
import { anAlbum, caching, readViews as read } from '../support/session_views.ts'
import { fakeRateLimit } from '../support/share_visitor.ts'

/** Several play views in one response for a session (docs/decisions/0086). */

let tenant: Tenant
let ids: string[]
let path: string
let pathOf: Awaited<ReturnType<typeof anAlbum>>['pathOf']
beforeEach(async () => {
  ;({ tenant, ids, path, pathOf } = await anAlbum())
})

describe('a session with play views', () => {
  it('contains the same views as the responses for the tracks, in one trip, and nothing else changes', async () => {
    const playlist = await aPlaylist(tenant.key, [ids[2]!, ids[0]!, ids[2]!, ids[1]!])
    for (const [session, url, expected] of [
      [path, '?views=5', ids],
      [path, '?views=2', ids.slice(0, 2)],
      [path, `?views=2&from=${ids[1]}`, ids.slice(1)],
      [path, `?views=5&from=${ids[2]!.toUpperCase()}`, [ids[2]]],
      [await pathOf('track', ids[1]!), '?views=5', [ids[1]]],
      [await pathOf('track', ids[1]!), `?views=1&from=${ids[1]}`, [ids[1]]],
      // A track that occurs twice is contained once, at its first place.
      [await pathOf('playlist', playlist), '?views=3', [ids[2], ids[0]]],
      [await pathOf('playlist', playlist), `?views=3&from=${ids[0]}`, [ids[0], ids[2], ids[1]]],
    ] as const) {
      const answer = await read(session + url, env)
      expect([url, answer.status, answer.ids, answer.trips, answer.statements]).toEqual([url, 200, expected, 1, 4])
      const { views, ...others } = answer.body
      const { body: plain } = await read(session, env)
      expect({ ...others, api_request_id: '' }).toEqual({ ...plain, api_request_id: '' })
      for (const view of views!) {
        const { ok: _, api_request_id: _id, heard_token, ...single } = await ok('GET', `${session}/${view.track_id}`)
        expect(JSON.stringify(view)).toBe(JSON.stringify(single))
        expect(heard_token).toMatch(/^[\da-f]{24}[tcp][\da-f]{128}$/)
      }
    }
  })

  it('reads at most ten rows more per view than without views, in a long list too', async () => {
    const row = await db.select().from(tracks).where(eq(tracks.id, ids[2]!)).get()
    const copies = Array.from({ length: 150 }, (_, at) => ({
      ...row!,
      id: `000${crypto.randomUUID().slice(3)}`,
      order: 10 + at,
      index: `copy-${at}`,
    }))
    for (const copy of copies) await db.insert(tracks).values(copy)
    const all = [...ids, ...copies.map(({ id }) => id)]
    for (const [session, listed] of [
      [path, all],
      [await pathOf('playlist', await aPlaylist(tenant.key, all)), all],
      [await pathOf('track', ids[1]!), [ids[1]]],
    ] as const) {
      const { read: plain } = await read(session, env)
      expect(plain).toBeGreaterThan(listed.length)
      for (const [url, views] of [
        ['?views=1', 1],
        ['?views=5', 5],
        [`?views=5&from=${listed.at(-5) ?? ids[1]}`, 5],
      ] as const) {
        const { ids: found, read: rows } = await read(session + url, env)
        expect(found).toHaveLength(Math.min(views, listed.length))
        // The first track of the list is read as well.
        expect(rows - plain, url).toBeLessThanOrEqual(10 * (views + 1))
      }
    }
  })

  it('leaves out tracks that cannot be played yet', async () => {
    await db.update(tracks).set({ files: null, status: 'processing' }).where(eq(tracks.id, ids[1]!))
    expect((await read(`${path}?views=2`)).ids).toEqual([ids[0]])
    expect(await read(`${path}?views=1&from=${ids[1]}`)).toMatchObject({ status: 200, ids: [] })
    // A failed track is not in the list.
    await db.update(tracks).set({ status: 'failed' }).where(eq(tracks.id, ids[1]!))
    expect((await read(`${path}?views=2`)).ids).toEqual([ids[0], ids[2]])
    expect(await read(`${path}?views=1&from=${ids[1]}`)).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('is read from the primary if the nearest replica does not have the track yet', async () => {
    await updateReplica()
    const added = await aReadyTrack(tenant.key, tenant.collection_id)
    const { bindings, primaryCalls } = laggingBindings()
    expect(await read(`${path}?views=1&from=${added}`, bindings)).toMatchObject({ status: 200, ids: [added] })
    expect(primaryCalls()).toBeGreaterThan(0)
  })

  it('ignores a query without `views`', async () => {
    for (const query of ['?from=x', '?from=a&from=b', '?a=1&a=2', '?view=6', '?%ff', '?']) {
      const { status, ids: found, body } = await read(path + query)
      expect([query, status, found, body.tracks.length]).toEqual([query, 200, undefined, 3])
    }
  })
})

describe('bad input', () => {
  const UUID = '11111111-1111-4111-8111-111111111111'
  it.each([
    ...['0', '6', '1000', 'x', '', '05', '1.0', '1e0', '+1', '%201', '-1', '٣', 'null', '%ff'].map((views) => [
      `views=${views}`,
      'invalid_request',
    ]),
    ['views=5&views=5', 'invalid_request'],
    ['views=5&views=x', 'invalid_request'],
    ['views', 'invalid_request'],
    ['views=5&from=', 'invalid_request'],
    ['views=5&from=x', 'invalid_request'],
    ['views=5&from=%ff', 'invalid_request'],
    [`views=5&from=${UUID}%00`, 'invalid_request'],
    [`views=5&from=${UUID}&from=${UUID}`, 'invalid_request'],
    ['views=5&form=1', 'unknown_field'],
    ['views=5&%ff=1', 'unknown_field'],
  ])('%s is rejected with 400 before the database is read, by both routes of the operation', async (query, code) => {
    const coded = path.replaceAll('-', '%2D')
    for (const url of [path, coded]) {
      const { status, body, statements } = await read(`${url}?${query}`)
      expect([status, body.code, statements]).toEqual([400, code, 0])
      expect(body.message).toMatch(/^\S+ (must|is not)/)
    }
    expect((await read(`${path}?${query}`, caching, 'HEAD')).status).toBe(400)
    const parameters = new URLSearchParams(query)
    const isRepeated = new Set(parameters.keys()).size < parameters.size
    expect(isRepeated || !ViewsQuery.safeParse(Object.fromEntries(parameters)).success).toBe(true)
  })

  it('returns 404 if `from` is not in the list: a track of another session, an unknown, deleted or trashed one', async () => {
    const { track_id: theirs } = await aTenantWithTrack()
    const single = await pathOf('track', ids[0]!)
    const mix = await pathOf('playlist', await aPlaylist(tenant.key, [ids[0]!]))
    await ok('DELETE', `/v1/track/${ids[2]}`, { key: tenant.key })
    for (const [session, from] of [
      [path, theirs],
      [path, UNKNOWN_ID],
      [path, UUID],
      [path, ids[2]],
      [single, ids[1]],
      [mix, ids[1]],
    ]) {
      for (const url of [`${session}?views=5&from=${from}`, `${session!.replaceAll('-', '%2D')}?views=5&from=${from}`])
        expect(await read(url)).toMatchObject({ status: 404, code: 'not_found', body: { message: 'track not found' } })
    }
    expect((await read(`${mix}?views=5&from=${ids[0]}`)).status).toBe(200)
    await ok('DELETE', `/v1/collection/${tenant.collection_id}?trash=true`, { key: tenant.key })
    expect((await read(`${path}?views=5&from=${ids[0]}`)).status).toBe(404)
    // For a client that guesses, each miss counts.
    const limited = { ...caching, MISS_RATE_LIMIT: fakeRateLimit(1) }
    const statuses = []
    for (let at = 0; at < 3; at++)
      statuses.push((await read(`${mix}?views=5&from=${theirs}`, limited, 'GET', '192.0.2.68')).status)
    expect(statuses).toEqual([404, 404, 429])
  })

  it.each([0, 6, 1000, 1.5, '5', null, [5]])('a new session with `views: %j` is rejected', async (views) => {
    const body = { collection_id: tenant.collection_id, views }
    await expectError(400, 'invalid_request', 'POST', '/v1/play_session/collection', { key: tenant.key, body })
  })
})

describe('a new session', () => {
  const create = async (body: object, headers: Record<string, string> = {}, bindings: Env = env) => {
    const sent = { collection_id: tenant.collection_id, ...body }
    const options = { key: tenant.key, body: sent, headers, bindings }
    const { result, trips } = await countRows(() => call('POST', '/v1/play_session/collection', options))
    return { ...result, trips }
  }

  it('contains the views of its first tracks, in the same trip, and counts them', async () => {
    const limit = vi.fn(async () => ({ success: true }))
    const counted = { ...env, PLAY_RATE_LIMIT: { limit } }
    const headers = { 'cf-connecting-ip': '192.0.2.1' }
    await create({}, headers, counted)
    expect(limit).not.toHaveBeenCalled()
    const plain = await create({})
    const { body, trips } = await create({ views: 2 }, headers, counted)
    expect([body.views!.map(({ track_id }) => track_id), trips]).toEqual([ids.slice(0, 2), plain.trips])
    expect(limit.mock.calls).toEqual(Array.from({ length: 2 }, () => [{ key: `${body.play_session_id} 192.0.2.1` }]))
    const { views } = await ok('GET', `/v1/play/${body.play_session_id}?views=2`)
    expect(JSON.stringify(body.views)).toBe(JSON.stringify(views))
    expect(Object.keys(plain.body)).toEqual(Object.keys(body).filter((name) => name !== 'views'))
  })

  it('contains the views again if the request is repeated', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create({ views: MAX_VIEWS }, headers)
    const again = await create({ views: MAX_VIEWS }, headers)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect({ ...again.body, api_request_id: '' }).toEqual({ ...first.body, api_request_id: '' })
    expect(again.body.views).toHaveLength(3)
    expect((await create({ views: 2 }, headers)).body.code).toBe('idempotency_key_reused')
  })
})
