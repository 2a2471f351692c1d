import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import worker from '../../../src/index.ts'
import { namedRows } from '../../../src/resources/play/stats.ts'
import { randomFrom } from '../../support/random.ts'
import { aCollection, aPlaylist, call, DAY, expectError, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { hearVisit, type HeardVisit } from '../support/heard_visit.ts'
import { tenth } from '../support/listening_recount.ts'
import { aShare } from '../support/share_visitor.ts'

let key: string
let organization_id: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, organization_id, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So What' })
  await query('update tracks set duration = 200 where id = ?', track_id)
})
const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
const get = (path: string) => ok('GET', path, { key })
const readCsv = async (path: string, accept = 'text/csv') => {
  const headers = { authorization: `Bearer ${key}`, accept }
  const response = await worker.fetch(
    new Request(`https://tonearm.test${path}`, { headers }),
    env,
    createExecutionContext(),
  )
  return { type: response.headers.get('content-type'), text: await response.text() }
}

describe('the days of statistics', () => {
  it('are the last 30 by default, and every day has a row', async () => {
    const { rows, from, to } = await get(`/v1/stats/track/${track_id}`)
    expect([from, to]).toEqual([daysAgo(29), daysAgo(0)])
    expect(rows.map((row: { key: string }) => row.key)).toEqual(Array.from({ length: 30 }, (_, at) => daysAgo(29 - at)))
  })

  it('are 400 at most, in order and not in the future', async () => {
    const path = `/v1/stats/collection/${collection_id}`
    expect((await get(`${path}?from=${daysAgo(399)}`)).rows).toHaveLength(400)
    const messageOf = async (query: string) =>
      (await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key })).message
    const between = (first: number, last: number) => `must be between ${daysAgo(first)} and ${daysAgo(last)}`
    expect(await messageOf(`from=${daysAgo(400)}`)).toBe(
      `from ${between(399, 0)}, not ${daysAgo(400)}, or set an earlier to`,
    )
    expect(await messageOf(`from=${daysAgo(-1)}`)).toBe(`from ${between(399, 0)}, not ${daysAgo(-1)}`)
    expect(await messageOf(`from=${daysAgo(1)}&to=${daysAgo(2)}`)).toBe(`from ${between(401, 2)}, not ${daysAgo(1)}`)
    for (const to of [daysAgo(-1), '0000-01-15'])
      expect(await messageOf(`to=${to}`)).toBe(`to must be between 1970-01-01 and ${daysAgo(0)}, not ${to}`)
    for (const query of ['from=yesterday', 'by=week', 'to=2026-02-30'])
      await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key })
  })
})

describe('statistics as CSV', () => {
  it('have the names of the columns in the first line', async () => {
    const day = daysAgo(0)
    const { type, text } = await readCsv(`/v1/stats/track/${track_id}?from=${day}`)
    expect(type).toBe('text/csv; charset=utf-8')
    expect(text).toBe(
      `key,plays,visits,seconds,completions,downloads,muted_seconds,fast_seconds\r\n${day},0,0,0,0,0,0,0\r\n`,
    )
  })

  it('have the seconds of a curve in milliseconds', async () => {
    await query('update tracks set duration = 1234.567 where id = ?', track_id)
    const { text } = await readCsv(`/v1/track/${track_id}/retention`)
    const days = `${daysAgo(29)},${daysAgo(0)}`
    expect(text.split('\r\n').slice(1, 5)).toEqual(['0', '1.235', '2.469', '3.704'].map((at) => `${at},0,0,${days}`))
  })

  it('are sent only to callers that prefer them to JSON', async () => {
    const path = `/v1/track/${track_id}/retention`
    expect((await readCsv(path, 'text/csv;q=0.9, application/json')).text).toMatch(/^second,heard,times,from,to\r\n/)
    for (const accept of ['application/json, text/csv', '*/*'])
      expect((await readCsv(path, accept)).type).toBe('application/json')
  })
})

it('statistics of an unknown resource, and of another organization, return 404', async () => {
  const other = await aTenant()
  const paths = [
    `/v1/stats/organization/${other.organization_id}`,
    `/v1/stats/collection/${other.collection_id}`,
    `/v1/stats/share/${UNKNOWN_ID}`,
    `/v1/stats/playlist/${UNKNOWN_ID}`,
    `/v1/stats/collection/${track_id}`,
    `/v1/track/${UNKNOWN_ID}/retention`,
  ]
  const messages: string[] = []
  for (const path of paths) messages.push((await expectError(404, 'not_found', 'GET', path, { key })).message)
  const resources = Array<string>(4).fill('resource not found')
  expect(messages).toEqual(['organization not found', ...resources, 'track not found'])
  expect((await call('GET', `/v1/stats/album/${collection_id}`, { key })).status).toBe(400)
})

type Visit = Partial<HeardVisit>
const hear = (visit: Visit = {}) => hearVisit(organization_id, { track: track_id, id: collection_id, ...visit })
const repeat = (times: number, visit: Visit) => Promise.all(Array.from({ length: times }, () => hear(visit)))

describe('statistics', () => {
  it('count a listen for the organization, the track, its collection, and the playlist and share of the session', async () => {
    const playlist_id = await aPlaylist(key, [track_id])
    const share_id = (await aShare(key, collection_id, { scope: 'playlist', id: playlist_id })).id
    await hear({ scope: 'playlist', id: playlist_id, share: share_id })
    await hear({ ranges: [[0, 20.5]] })
    const totals = async (path: string) => {
      const { plays, visits, seconds } = (await get(`/v1/stats/${path}`)).totals
      return { plays, visits, seconds }
    }
    const [all, first] = [
      { plays: 1, visits: 2, seconds: 60.5 },
      { plays: 1, visits: 1, seconds: 40 },
    ]
    for (const path of [`organization/${organization_id}`, `track/${track_id}`, `collection/${collection_id}`])
      expect([path, await totals(path)]).toEqual([path, all])
    for (const path of [`playlist/${playlist_id}`, `share/${share_id}`])
      expect([path, await totals(path)]).toEqual([path, first])
  })

  it('name a country from five visits on, and sum everything else in a last row', async () => {
    await repeat(3, { country: 'FR', source: 'b.example' })
    await repeat(4, { country: 'JP', source: 'a.example' })
    await repeat(5, { country: 'DE', source: 'a.example' })
    await hear()
    const rows = async (by: string) =>
      (await get(`/v1/stats/track/${track_id}?by=${by}`)).rows.map((row: Record<string, unknown>) => [
        row.key,
        row.visits,
      ])
    expect(await rows('country')).toEqual([
      ['DE', 5],
      [null, 8],
    ])
    expect(await rows('source')).toEqual([
      ['a.example', 9],
      ['b.example', 3],
      [null, 1],
    ])
    expect((await rows('day')).at(-1)).toEqual([daysAgo(0), 13])
    await hear({ country: 'JP' })
    expect(await rows('country')).toEqual([
      ['DE', 5],
      ['JP', 5],
      [null, 4],
    ])
  })

  it('of one country or one source have its counts by day, of a country from five visits on', async () => {
    await repeat(4, { country: 'JP', source: 'a.example' })
    await repeat(5, { country: 'DE', source: 'a.example' })
    await repeat(2, { source: 'constructor' })
    const path = `/v1/stats/organization/${organization_id}`
    const days = async (filter: string) => {
      const { totals, rows, refused } = await get(`${path}?${filter}`)
      return [totals.visits, rows.length, rows.at(-1).visits, refused]
    }
    const filters = ['country=DE', 'country=JP', 'source=a.example', 'source=constructor', 'source=toString']
    expect(await Promise.all(filters.map(days))).toEqual([5, 0, 9, 2, 0].map((n) => [n, 30, n, undefined]))
    const wrong = [
      'country=DE&by=source',
      'source=a.example&by=country',
      'country=DE&source=a',
      'source=https://a',
      'country=de',
    ]
    for (const filter of wrong) await expectError(400, 'invalid_request', 'GET', `${path}?${filter}`, { key })
  })

  it('name the 100 sources with the most plays, and those of links to files, which have none', () => {
    const sites = Array.from({ length: 150 }, (_, at): [string, number[]] => [`${at}.example`, [150 - at]])
    const rows = namedRows('source', new Map([['feed', [0, 0, 0, 0, 7]], ...sites]), [11_325, 0, 0, 0, 7])
    expect([rows.length, rows[0], rows[99]]).toEqual([102, sites[0], sites[99]])
    expect(rows.slice(100)).toEqual([
      ['feed', [0, 0, 0, 0, 7]],
      [null, [1275, 0, 0, 0, 0]],
    ])
  })

  it('are sums over all objects of an organization', async () => {
    const other = await aReadyTrack(key, collection_id, { player_title: 'Blue in Green' })
    await query('update tracks set duration = 200 where id = ?', other)
    await query('update organizations set listening_shards = 2 where id = ?', organization_id)
    await repeat(3, { shard: 0, country: 'DE' })
    await repeat(2, { shard: 1, country: 'DE' })
    await repeat(4, { shard: 1, track: other })
    const { totals, rows } = await get(`/v1/stats/track/${track_id}?by=country`)
    expect([totals.plays, rows.map((row: { key: string }) => row.key)]).toEqual([5, ['DE']])
    const top = (await get('/v1/stats/top?limit=1')).rows
    expect(top).toMatchObject([{ id: track_id, title: 'So What', plays: 5, visits: 5, seconds: 200 }])
    const pictured = (await get('/v1/stats/top?include=artwork')).rows
    expect(pictured.map(({ artwork }: { artwork: object }) => Object.keys(artwork))).toHaveLength(2)
    await query(`update tracks set player_title = null, file_name = 'So What.wav' where id = ?`, track_id)
    expect((await get('/v1/stats/top?limit=1')).rows[0].title).toBe('So What')
    const { visits, heard } = await get(`/v1/track/${track_id}/retention`)
    expect([visits, heard[0], heard[39], heard[40]]).toEqual([5, 5, 5, 0])
    // The visits to another recording of the track are not in its curve.
    await query('update tracks set duration = 90 where id = ?', track_id)
    expect((await get(`/v1/track/${track_id}/retention`)).visits).toBe(0)
  })

  it('of the tracks of a collection are in one response, including those without plays', async () => {
    const [second, third] = [await aReadyTrack(key, collection_id), await aReadyTrack(key, collection_id)]
    const elsewhere = await aReadyTrack(key, (await aCollection(key)).id)
    await query('update tracks set duration = 200, player_title = id')
    await query('update organizations set listening_shards = 2 where id = ?', organization_id)
    await hear({ track: third, shard: 0 })
    await repeat(2, { track: third, shard: 1 })
    await hear()
    await repeat(4, { track: elsewhere })
    const path = `/v1/stats/top?collection_id=${collection_id}`
    const plays = async (more = '') =>
      (await get(path + more)).rows.map((row: Record<string, unknown>) => [row.id, row.title, row.plays, row.seconds])
    const rows = [
      [third, third, 3, 120],
      [track_id, track_id, 1, 40],
      [second, second, 0, 0],
    ]
    expect(await plays()).toEqual(rows)
    expect(await plays('&limit=2')).toEqual(rows.slice(0, 2))
    expect((await get(`${path}&include=artwork`)).rows[2].artwork).toHaveProperty('icon')
    const silent = await plays(`&to=${daysAgo(1)}`)
    expect(silent.map(([id]: string[]) => id)).toEqual([track_id, second, third])
    expect((await readCsv(path)).text.split('\r\n')).toHaveLength(5)
    await expectError(400, 'invalid_request', 'GET', `${path}&scope=share`, { key })
    await expectError(404, 'not_found', 'GET', path, { key: (await aTenant()).key })
  })

  it('show refused reports of the organization by reason', async () => {
    await hear({ ranges: [[0, 900]] })
    await repeat(2, { track: UNKNOWN_ID })
    await hear()
    const { totals, refused } = await get(`/v1/stats/organization/${organization_id}`)
    expect(totals.visits).toBe(1)
    expect(refused).toEqual([
      { reason: 'track', reports: 2 },
      { reason: 'ranges', reports: 1 },
    ])
    expect((await get(`/v1/stats/track/${track_id}`)).refused).toBeUndefined()
  })

  it('of a deleted track remain, without its title', async () => {
    const other = await aReadyTrack(key, collection_id)
    await query('update tracks set duration = 200 where id = ?', other)
    await repeat(2, { track: other })
    await hear()
    await ok('DELETE', `/v1/track/${other}`, { key })
    const { rows } = await get('/v1/stats/top')
    expect(rows.map((row: Record<string, unknown>) => [row.id, row.title, row.plays])).toEqual([
      [other, null, 2],
      [track_id, 'So What', 1],
    ])
    expect((await get(`/v1/stats/track/${other}`)).totals.plays).toBe(2)
    expect((await get('/v1/stats/top?scope=collection')).rows[0].plays).toBe(3)
    const foreign = await aTenant()
    await expectError(404, 'not_found', 'GET', `/v1/stats/track/${other}`, { key: foreign.key })
  })
})

it('the retention of an audience that leaves at a known rate is right within 1 %', async () => {
  const random = randomFrom(3)
  // One visit for each thousandth of the audience: the rate at which it leaves is exact, and the order is random.
  const ends = Array.from({ length: 1000 }, (_, at) => [random(), tenth(200 * (1 - ((at + 0.5) / 1000) ** 2))] as const)
  await Promise.all(ends.toSorted(([a], [b]) => a - b).map(([, end]) => hear({ ranges: [[0, end]] })))
  const { visits, step, heard, times } = await get(`/v1/track/${track_id}/retention`)
  expect([visits, step, heard.length]).toEqual([1000, 1, 200])
  expect(times).toEqual(heard)
  for (const [at, count] of heard.entries())
    expect(Math.abs(count / 1000 - Math.sqrt(1 - (at + 0.5) / 200))).toBeLessThan(0.01)
  const { text } = await readCsv(`/v1/track/${track_id}/retention`)
  expect(text.split('\r\n').slice(0, 2)).toEqual([
    'second,heard,times,from,to',
    `0,${heard[0]},${times[0]},${daysAgo(29)},${daysAgo(0)}`,
  ])
})
