import { expect, it } from 'vitest'

import type { Range } from '../../../src/contract/ranges.ts'
import { STATS_SCOPES } from '../../../src/contract/stats_scope.ts'
import type { Difference } from '../../../src/listening/difference.ts'
import { accumulated, stepsOf } from '../../../src/listening/sums/curve.ts'
import { Sums } from '../../../src/listening/sums/sums.ts'
import { randomFrom } from '../../support/random.ts'
import { inObject, tenth, uuid } from '../support/listening_recount.ts'

const [FIRST, LAST] = [20_000, 20_002]
const RANGE = { from: FIRST, to: LAST }
const PLACE = {
  track: uuid(1, 9),
  collection: uuid(2, 0),
  via: { scope: 'track', id: uuid(1, 9), share: null },
} as const

/** A visit of one listen that heard these ranges. */
const aVisit = (ranges: Range[], fields: Partial<Difference> = {}): Difference => ({
  ...PLACE,
  duration: 200,
  visit: 'any',
  day: FIRST,
  country: null,
  source: null,
  before: null,
  after: { ranges, again: [], muted: 0, fast: 0 },
  others: [],
  isNewVisit: true,
  isVote: fields.source !== undefined,
  isNewTrackInVisit: true,
  isNewCollectionInVisit: true,
  ...fields,
})

it.each([40, 200, 4321.7])(
  'the curve of an audience that leaves at a known rate is right within 1 % (%i s)',
  async (duration) => {
    const random = randomFrom(7)
    const visits = 20_000
    await inObject((sql) => {
      const sums = new Sums(sql)
      // The share that remains at a time falls exponentially to 20 %.
      for (let visit = 0; visit < visits; visit++) {
        const end = Math.min(duration, (-Math.log(random()) / Math.log(5)) * duration)
        sums.add(aVisit([[0, tenth(end)]], { duration }))
        if (visit === visits / 2) sums.fold()
      }
      const { step } = stepsOf(duration)
      const heard = accumulated(sums.curve({ track: PLACE.track, duration, ...RANGE }).heard)
      for (const [at, count] of heard.entries()) {
        const middle = (at * step + Math.min(duration, (at + 1) * step)) / 2
        expect(Math.abs(count / visits - 5 ** (-middle / duration))).toBeLessThan(0.01)
      }
    })
  },
)

it('a play needs 30 seconds or half of a shorter track, a completion 90 %, and both count once per listen', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    const counted = (ranges: Range[], duration: number) => {
      const before = sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' }).totals
      sums.add(aVisit(ranges, { duration }))
      const { totals } = sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' })
      return [totals[0]! - before[0]!, totals[3]! - before[3]!]
    }
    expect(counted([[0, 29.9]], 200)).toEqual([0, 0])
    expect(
      counted(
        [
          [0, 15],
          [50, 65],
        ],
        200,
      ),
    ).toEqual([1, 0])
    expect(counted([[0, 9.9]], 20)).toEqual([0, 0])
    expect(counted([[3, 13]], 20)).toEqual([1, 0])
    expect(counted([[0, 179.9]], 200)).toEqual([1, 0])
    expect(
      counted(
        [
          [0, 100],
          [120, 200],
        ],
        200,
      ),
    ).toEqual([1, 1])
    expect(counted([], 0)).toEqual([0, 0])
    const grown = { before: { ranges: [[0, 190]] satisfies Range[], again: [], muted: 0, fast: 0 }, isNewVisit: false }
    const { totals } = sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' })
    sums.add(aVisit([[0, 200]], grown))
    const after = sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' }).totals
    expect(after.map((count, column) => count - totals[column]!)).toEqual([0, 0, 100, 0, 0, 0, 0])
  })
})

it('a day of a resource has 100 sources at most, those of links to files and those with the most votes, and all visits are in the totals', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    const download = (source: string) => sums.download({ ...PLACE, day: FIRST, country: null, source })
    download('file')
    for (let at = 0; at < 150; at++) sums.add(aVisit([[0, 40]], { source: `first${at}.example` }))
    download('feed')
    sums.fold()
    for (let at = 0; at < 50; at++)
      for (const _ of [1, 2]) sums.add(aVisit([[0, 40]], { source: `second${at}.example` }))
    sums.fold()
    const { totals, rows } = sums.stats({ scope: 'track', id: PLACE.track, ...RANGE, by: 'source' })
    expect(totals[1]).toBe(250)
    expect(rows).toHaveLength(100)
    expect(rows.filter(([source]) => source.startsWith('second'))).toHaveLength(50)
    expect(rows.flatMap(([source, counts]) => (counts[4] ? [[source, counts[4]]] : []))).toEqual([
      ['file', 1],
      ['feed', 1],
    ])
  })
})

it('the sums of one source are those of its row and of the memory', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    const hear = (source: string) => sums.add(aVisit([[0, 40]], { source }))
    hear('a.example')
    hear('b.example')
    sums.fold()
    hear('a.example')
    const only = (text: string) =>
      sums.stats({ scope: 'track', id: PLACE.track, ...RANGE, by: 'day', only: { kind: 'source', text } })
    const twice = [2, 2, 800, 0, 0, 0, 0]
    expect(only('a.example')).toMatchObject({ totals: twice, rows: [[String(FIRST), twice]] })
    expect(only('b.example').totals.slice(0, 2)).toEqual([1, 1])
    expect(only('toString').totals.slice(0, 2)).toEqual([0, 0])
  })
})

it('a row with too many details keeps the sources with the most visits, and all totals', async () => {
  const track = (number: number) => uuid(1, number * 1000)
  // JavaScript orders names that are whole numbers first.
  const source = (number: number) => (number === 98 ? '2024' : `${number}.`.padEnd(100, 'ü'))
  await inObject((sql) => {
    const sums = new Sums(sql)
    for (let number = 0; number < 80; number++)
      for (let at = 0; at < 100; at++) {
        const visits = at === 99 ? 3 : at === 98 ? 1 : 2
        for (let visit = 0; visit < visits; visit++)
          sums.add(aVisit([[0, at + 1.5]], { track: track(number), source: source(at) }))
      }
    sums.fold()
    const rows = sql
      .exec('select length(details) as size from day where scope = ?', STATS_SCOPES.indexOf('track'))
      .toArray()
    expect(rows).toEqual([{ size: expect.any(Number) }])
    expect(rows[0]!.size).toBeLessThan(600_000)
    const { totals, rows: sources } = sums.stats({ scope: 'track', id: track(7), ...RANGE, by: 'source' })
    expect(totals[1]).toBe(200)
    expect([sources.length, sources.map(([name]) => name).includes('2024')]).toEqual([50, false])
    expect(sources[0]![0]).toBe(source(99))
    expect(sums.curve({ track: track(7), duration: 200, ...RANGE }).visits).toBe(200)
  })
})

it('a curve continues when the exact duration of the file becomes known', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    const heard = (duration: number) => accumulated(sums.curve({ track: PLACE.track, duration, ...RANGE }).heard)
    for (const isFolded of [false, true, false]) {
      for (const duration of [200.04, 199.98]) sums.add(aVisit([[0, 40]], { duration }))
      if (isFolded) sums.fold()
    }
    expect(heard(199.98).slice(38, 42)).toEqual([6, 6, 0, 0])
    expect(heard(199.98)).toHaveLength(200)
  })
})

it('a file of another duration has another curve, and the counts continue', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    const visitsOf = (duration: number) => {
      const { heard, visits } = sums.curve({ track: PLACE.track, duration, ...RANGE })
      expect(visits).toBe(accumulated(heard)[0])
      return visits
    }
    sums.add(aVisit([[0, 40]]))
    sums.add(aVisit([[0, 40]], { duration: 100 }))
    // Another listen of the same visit is not another visit.
    sums.add(aVisit([[50, 60]], { duration: 100, others: [[0, 40]], isNewVisit: false, isNewTrackInVisit: false }))
    expect([visitsOf(200), visitsOf(100)]).toEqual([0, 1])
    sums.fold()
    sums.add(aVisit([[0, 40]], { duration: 300 }))
    sums.fold()
    expect([visitsOf(100), visitsOf(300)]).toEqual([0, 1])
    expect(sums.stats({ scope: 'track', id: PLACE.track, ...RANGE, by: 'day' }).totals[0]).toBe(3)
  })
})

it('downloads and refused reports are counted, a ZIP for the collection and the share', async () => {
  await inObject(async (sql) => {
    const sums = new Sums(sql)
    const via = { scope: 'collection', id: PLACE.collection, share: uuid(4, 0) } as const
    const place = { day: FIRST, collection: PLACE.collection, via, country: 'DE', source: null }
    sums.download({ ...place, track: PLACE.track })
    sums.refuse(FIRST, 'time', 2)
    sums.fold()
    sums.download({ ...place, track: null })
    sums.refuse(FIRST, 'time', 1)
    sums.refuse(LAST, 'late', 1)
    const downloads = (scope: 'organization' | 'track' | 'collection' | 'share', id: string) =>
      sums.stats({ scope, id, ...RANGE, by: 'country' }).rows.map(([country, counts]) => [country, counts[4]])
    expect(downloads('organization', '')).toEqual([['DE', 2]])
    expect(downloads('track', PLACE.track)).toEqual([['DE', 1]])
    expect(downloads('collection', PLACE.collection)).toEqual([['DE', 2]])
    expect(downloads('share', uuid(4, 0))).toEqual([['DE', 2]])
    const { refused } = sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' })
    expect(refused).toEqual({ time: 3, late: 1 })
  })
})

it('the resources with the most plays are found in rows and in memory', async () => {
  await inObject(async (sql) => {
    const sums = new Sums(sql)
    const play = (number: number, day: number) => sums.add(aVisit([[0, 40]], { track: uuid(1, number), day }))
    for (let number = 1; number <= 30; number++) for (let at = 0; at < number; at++) play(number, FIRST)
    sums.fold()
    for (let at = 0; at < 25; at++) play(7, LAST)
    const query = { scope: 'track', ...RANGE } as const
    expect(await sums.top({ ...query, limit: 3 })).toEqual([
      [uuid(1, 7), 32],
      [uuid(1, 30), 30],
      [uuid(1, 29), 29],
    ])
    const counts = await sums.counts({ ...query, ids: [uuid(1, 7), uuid(1, 30), uuid(1, 99)] })
    expect(new Map(counts.map(([id, [plays, visits, tenths]]) => [id, [plays, visits, tenths]]))).toEqual(
      new Map([
        [uuid(1, 7), [32, 32, 12_800]],
        [uuid(1, 30), [30, 30, 12_000]],
      ]),
    )
  })
})

it('the memory of many tracks that are heard once is folded in time', async () => {
  await inObject((sql) => {
    const sums = new Sums(sql)
    let [folds, most, number] = [0, 0, 0]
    for (; number < 300_000 && (folds === 0 || sums.bytes < 1e6); number++) {
      const end = tenth((number * 37) % 200)
      const labels = { country: ['DE', 'FR', 'US'][number % 3]!, source: `${number % 11}.example` }
      sums.add(aVisit([[0, end]], { ...labels, track: uuid(1, number * 7919) }))
      most = Math.max(most, sums.bytes)
      if (!sums.isFull) continue
      sums.fold()
      folds++
    }
    expect(most).toBeLessThan(32e6)
    expect(folds).toBe(1)
    expect(number).toBeGreaterThan(10_000)
    sums.fold()
    expect(sums.bytes).toBeLessThan(10_000)
    expect(sums.stats({ scope: 'organization', id: '', ...RANGE, by: 'day' }).totals[1]).toBe(number)
    expect(sql.exec('select count(*) as n from day').one().n).toBeLessThan(1100)
  })
})
