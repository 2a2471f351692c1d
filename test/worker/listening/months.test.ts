import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import type { Range } from '../../../src/contract/ranges.ts'
import { STATS_SCOPES, type StatsScope } from '../../../src/contract/stats_scope.ts'
import worker from '../../../src/index.ts'
import { listeningObject } from '../../../src/listening/call_object.ts'
import type { Difference } from '../../../src/listening/difference.ts'
import { accumulated } from '../../../src/listening/sums/curve.ts'
import { Sums } from '../../../src/listening/sums/sums.ts'
import { randomFrom } from '../../support/random.ts'
import { DAY, expectError, HOUR, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { heardReport } from '../support/heard.ts'
import { inObject, tenth, uuid } from '../support/listening_recount.ts'

/** Days that become months (docs/counting.md#days-and-months). */

const TRACK = uuid(1, 9)
/** A visit of one listen that heard these ranges. */
const aVisit = (ranges: Range[], fields: Partial<Difference>): Difference => ({
  track: TRACK,
  collection: uuid(2, 0),
  via: { scope: 'track', id: TRACK, share: null },
  duration: 200,
  visit: 'any',
  day: 0,
  country: null,
  source: null,
  isVote: false,
  before: null,
  after: { ranges, again: [], muted: 0, fast: 0 },
  others: [],
  isNewVisit: true,
  isNewTrackInVisit: true,
  isNewCollectionInVisit: true,
  ...fields,
})

interface Row {
  key: string
  plays: number
}

describe('the rows of months', () => {
  const day = (date: string) => Date.parse(date) / 86_400_000
  const today = day('2027-06-20')
  const KEPT = day('2027-04-01')
  const TRACKS = Array.from({ length: 4 }, (_, at) => ({ track: uuid(1, at), collection: uuid(2, at % 2) }))
  const everything = { from: day('2026-03-01'), to: today }

  /** Adds visits on random days of fifteen months. */
  function hear(sums: Sums) {
    const random = randomFrom(5)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
    for (let at = 0; at < 300; at++) {
      const { track, collection } = pick(TRACKS)
      const scope = pick(['track', 'playlist', 'collection'] as const)
      const via = { scope, id: scope === 'track' ? track : uuid(3, 0), share: pick([uuid(4, 0), null]) }
      const end = tenth(1 + random() * 199)
      sums.add(
        aVisit([[0, end]], {
          track,
          collection,
          via,
          day: everything.from + Math.floor(random() * (today - everything.from)),
          country: pick(['DE', 'FR', null]),
          source: pick(['a.example', 'b.example', null]),
          isNewVisit: random() < 0.5,
        }),
      )
      if (at % 50 === 0) sums.fold()
    }
    sums.refuse(day('2026-04-03'), 'time', 3)
    sums.fold()
  }
  const sorted = (rows: [string, number[]][]) => rows.toSorted(([a], [b]) => (a < b ? -1 : 1))
  const keptOf = (scope: StatsScope) => (scope === 'track' ? KEPT : day('2026-05-01'))
  /** Ranges of whole months before the days that are kept. */
  const RANGES = [
    everything,
    { from: day('2026-04-01'), to: day('2026-04-30') },
    { from: day('2027-03-01'), to: day('2027-04-20') },
    { from: day('2027-05-20'), to: today },
  ]
  const answers = async (sums: Sums) => {
    const all: unknown[] = []
    for (const range of RANGES) {
      for (const scope of STATS_SCOPES) {
        const id = uuid({ organization: 0, collection: 2, track: 1, playlist: 3, share: 4 }[scope], 0)
        for (const by of ['country', 'source'] as const) {
          const { totals, rows, refused } = sums.stats({ scope, id, by, kept: keptOf(scope), ...range })
          all.push([scope, by, totals, sorted(rows), refused])
        }
      }
      all.push(await sums.top({ scope: 'track', limit: 10, ...range }))
      const ids = TRACKS.map(({ track }) => track)
      all.push(sorted(await sums.counts({ scope: 'track', ids, ...range })))
      const { visits, heard, times } = sums.curve({ track: uuid(1, 0), duration: 200, kept: KEPT, ...range })
      all.push([visits, accumulated(heard), accumulated(times)])
    }
    return all
  }
  const firstDay = (sql: SqlStorage, scope: StatsScope) => {
    const query = 'select min(day) as day from day where scope = ?'
    return sql.exec<{ day: number }>(query, STATS_SCOPES.indexOf(scope)).one().day
  }

  it('have the sums of their days, of which those of tracks are deleted after 60 days, and others after 400', async () => {
    await inObject(async (sql) => {
      const sums = new Sums(sql)
      hear(sums)
      const before = await answers(sums)
      expect(await sums.close(today)).toBe(false)
      expect(await answers(sums)).toEqual(before)
      // The days are deleted at the next call. This one also repeats what a kill has interrupted: half of a month.
      const march = 57 * 12 + 2
      sql.exec('delete from closed where month >= ?', march)
      sql.exec('delete from month where month = ? and bucket % 2 = 1', march)
      expect(await sums.close(today)).toBe(false)
      expect(await sums.close(today)).toBe(false)
      expect(await answers(new Sums(sql))).toEqual(before)
      expect(firstDay(sql, 'track')).toBeGreaterThanOrEqual(KEPT)
      for (const scope of STATS_SCOPES.filter((one) => one !== 'track')) {
        expect(firstDay(sql, scope)).toBeGreaterThanOrEqual(keptOf(scope))
        expect(firstDay(sql, scope)).toBeLessThan(day('2026-10-01'))
      }
    })
  })

  it('end a day before they are summed, and have the 20 sources of links to files and with the most votes and visits', async () => {
    await inObject(async (sql) => {
      const sums = new Sums(sql)
      const via = { scope: 'track', id: TRACK, share: null } as const
      sums.download({ track: TRACK, collection: null, via, day: day('2027-03-01'), country: null, source: 'feed' })
      for (const at of Array.from({ length: 30 }).keys())
        for (let visit = 0; visit <= at; visit++)
          sums.add(aVisit([[0, 40]], { day: day('2027-03-01') + at, source: `${at}.example` }))
      for (const date of ['2027-03-10', '2027-03-11', '2027-03-20']) {
        sums.add(aVisit([[0, 40]], { day: day(date), source: 'voted.example', isVote: true }))
        sums.fold()
      }
      const months = () => sql.exec('select 1 from closed').toArray().length
      await sums.close(day('2027-04-01'))
      expect(months()).toBe(0)
      await new Sums(sql).close(day('2027-04-02'))
      expect(months()).toBe(1)
      expect(sql.exec('select 1 from vote').toArray()).toHaveLength(3)
      await sums.close(day('2027-04-03'))
      expect(sql.exec('select 1 from vote').toArray()).toEqual([])
      const range = { from: day('2027-03-01'), to: day('2027-03-31'), by: 'source', kept: KEPT } as const
      const { totals, rows } = sums.stats({ scope: 'track', id: TRACK, ...range })
      expect([totals[1], rows.length]).toEqual([468, 20])
      expect(rows.map(([key]) => key)).toEqual(expect.arrayContaining(['feed', 'voted.example', '29.example']))
      expect(sums.curve({ track: TRACK, duration: 200, ...range }).visits).toBe(468)
    })
  })
})

describe('statistics of earlier months', () => {
  let [key, organization_id, collection_id, track_id] = ['', '', '', '']
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
  const get = (path: string) => ok('GET', path, { key })
  /** Sends the report of a new visit, as `POST /v1/heard/{token}` does. */
  const hear = () => {
    const listens = [{ track: track_id, ranges: [[0, 40]] as [number, number][] }]
    const via = { scope: 'collection', id: collection_id, share: null } as const
    return listeningObject(
      env,
      organization_id,
      0,
    )('heard', {
      organization_id,
      shard: 0,
      shards: 1,
      report: heardReport(track_id, { age: 300, source: 'a.example', listens }),
      session: { id: crypto.randomUUID(), created_at: Date.now() - HOUR, via },
      country: 'DE',
      client: '',
    })
  }
  const readCsv = async (path: string) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'text/csv' }
    const request = new Request(`https://tonearm.test${path}`, { headers })
    return (await worker.fetch(request, env, createExecutionContext())).text()
  }
  const HEARD = 100
  const monthsAgo = (days: number) => {
    const [year, month] = daysAgo(days).split('-').map(Number) as [number, number]
    const last = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
    return { month: last.slice(0, 7), first: `${last.slice(0, 7)}-01`, last }
  }
  const { month, first, last } = monthsAgo(HEARD)

  beforeEach(async () => {
    ;({ key, organization_id, collection_id } = await aTenant())
    track_id = await aReadyTrack(key, collection_id, { player_title: 'So What' })
    await query('update tracks set duration = 200 where id = ?', track_id)
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const now = Date.now()
    vi.setSystemTime(now - HEARD * DAY)
    await Promise.all(Array.from({ length: 6 }, hear))
    vi.setSystemTime(now)
    const alarm = () => listeningObject(env, organization_id, 0)('alarm')
    // The first alarm closes the month, the second one deletes its days.
    await alarm()
    await alarm()
  })

  it('are months for a track, and days for its collection', async () => {
    const of = async (path: string, days: string) => {
      const { rows, totals, from, to, is_rounded } = await get(`/v1/stats/${path}?${days}`)
      const heard = rows.filter(({ plays }: { plays: number }) => plays > 0)
      return {
        range: [from, to, is_rounded],
        plays: totals.plays,
        heard: heard.map(({ key: name, plays }: Row) => [name, plays]),
      }
    }
    const since = daysAgo(HEARD - 1)
    const heard = { plays: 6, heard: [[month, 6]] }
    expect(await of(`track/${track_id}`, `from=${since}`)).toEqual({ range: [first, daysAgo(0), true], ...heard })
    expect(await of(`track/${track_id}`, `from=${first}&to=${since}`)).toEqual({ range: [first, last, true], ...heard })
    expect(await of(`track/${track_id}`, `from=${first}&to=${last}`)).toEqual({ range: [first, last, false], ...heard })
    for (const path of [`collection/${collection_id}`, `organization/${organization_id}`]) {
      const days = { range: [daysAgo(HEARD), daysAgo(0), false], plays: 6, heard: [[daysAgo(HEARD), 6]] }
      expect(await of(path, `from=${daysAgo(HEARD)}`)).toEqual(days)
      expect((await of(path, `from=${since}`)).plays).toBe(0)
    }
    const { rows } = await get(`/v1/stats/track/${track_id}?from=${since}`)
    const kept = rows.findIndex(({ key: name }: Row) => name.length === 10)
    expect([rows[0].key, rows[kept].key.slice(8)]).toEqual([month, '01'])
    expect(rows.at(-1).key).toBe(daysAgo(0))
  })

  it('have countries, sources, the curve and the most played tracks, and CSV says which days it covers', async () => {
    const since = daysAgo(HEARD - 1)
    for (const by of ['country', 'source']) {
      const { rows } = await get(`/v1/stats/track/${track_id}?from=${since}&by=${by}`)
      expect(rows).toMatchObject([{ key: by === 'country' ? 'DE' : 'a.example', visits: 6 }])
    }
    expect(await get(`/v1/track/${track_id}/retention?from=${since}`)).toMatchObject({ visits: 6, is_rounded: true })
    const top = await get(`/v1/stats/top?from=${since}`)
    expect(top).toMatchObject({ from: first, is_rounded: true, rows: [{ id: track_id, plays: 6 }] })
    const text = async (path: string) => (await readCsv(path)).split('\r\n').slice(0, 2)
    const columns = 'plays,visits,seconds,completions,downloads,muted_seconds,fast_seconds'
    const range = `${first},${daysAgo(0)}`
    expect(await text(`/v1/stats/track/${track_id}?from=${since}&by=source`)).toEqual([
      `key,${columns},from,to`,
      `a.example,6,6,240,0,0,0,0,${range}`,
    ])
    expect(await text(`/v1/stats/top?from=${since}`)).toEqual([
      `id,title,${columns},from,to`,
      `${track_id},So What,6,6,240,0,0,0,0,${range}`,
    ])
    expect(await text(`/v1/stats/track/${track_id}?from=${since}`)).toEqual([
      `key,${columns}`,
      `${month},6,6,240,0,0,0,0`,
    ])
  })

  it('of a deleted track are the same for days with and without plays', async () => {
    await query('delete from tracks where id = ?', track_id)
    const totals = async (range: string) => (await get(`/v1/stats/track/${track_id}?${range}`)).totals.plays
    expect([await totals(`from=${first}`), await totals(''), await totals(`to=${daysAgo(200)}`)]).toEqual([6, 0, 0])
    await expectError(404, 'not_found', 'GET', `/v1/stats/track/${UNKNOWN_ID}`, { key })
  })
})
