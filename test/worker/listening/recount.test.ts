import { describe, expect, it } from 'vitest'

import type { Range } from '../../../src/contract/ranges.ts'
import type { StatsScope } from '../../../src/contract/stats_scope.ts'
import type { Difference, Listen } from '../../../src/listening/difference.ts'
import { accumulated } from '../../../src/listening/sums/curve.ts'
import { Sums } from '../../../src/listening/sums/sums.ts'
import { randomFrom } from '../../support/random.ts'
import { type CountedListen, inObject, recount, recountCurve, tenth, uuid } from '../support/listening_recount.ts'

/** The sums are compared with a naive count of the same listens, in the SQLite of a Durable Object. */

const DAYS = [20_000, 20_001, 20_002]
const [FIRST, LAST] = [DAYS[0]!, DAYS.at(-1)!]

const TRACKS = [7.3, 59.9, 1400.5].map((duration, at) => ({
  track: uuid(1, at),
  collection: uuid(2, at % 2),
  duration,
}))

type Random = () => number
const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]!

/** Disjoint ranges in order, within `within`. */
function someRanges(random: Random, within: Range[]): Range[] {
  return within
    .flatMap(([from, until]) => {
      const cuts = Array.from({ length: 2 * Math.floor(random() * 3) }, () => tenth(from + random() * (until - from)))
      const sorted = cuts.toSorted((a, b) => a - b)
      return Array.from({ length: sorted.length / 2 }, (_, at): Range => [sorted[2 * at]!, sorted[2 * at + 1]!])
    })
    .filter(([from, until]) => from < until)
}

/** Ranges that contain all of `ranges`, and more. */
function more(random: Random, ranges: Range[], end: number): Range[] {
  const grown = [...ranges, ...someRanges(random, [[0, end]])].toSorted(([a], [b]) => a - b)
  const joined: Range[] = []
  for (const [from, until] of grown) {
    const last = joined.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], until)
    else joined.push([from, until])
  }
  return joined
}

/** Random visits of several listens, each with up to three reports on one or more days. */
function someListens(random: Random, visits: number): CountedListen[] {
  return Array.from({ length: visits }, (_, at) => {
    const via = pick(random, [
      { scope: 'collection', id: uuid(2, 0), share: null },
      { scope: 'playlist', id: uuid(3, 0), share: uuid(4, 0) },
      { scope: 'track', id: uuid(1, 0), share: uuid(4, 1) },
    ] as const)
    const country = pick(random, ['DE', 'FR', 'JP', null])
    const source = pick(random, ['a.example', 'b.example', null])
    return Array.from({ length: 1 + Math.floor(random() * 4) }, (): CountedListen => {
      const track = pick(random, TRACKS)
      let listen: Listen = { ranges: [], again: [], muted: 0, fast: 0 }
      const states = DAYS.filter(() => random() < 0.6).map((day) => {
        const ranges = more(random, listen.ranges, tenth(Math.floor(track.duration * 10) / 10))
        const again = more(random, listen.again, 0).concat(listen.again.length > 0 ? [] : someRanges(random, ranges))
        listen = { ranges, again, muted: tenth(listen.muted + random() * 9), fast: tenth(listen.fast + random() * 9) }
        return { day, listen }
      })
      return { ...track, via, country, source, visit: `visit ${at}`, states }
    })
  }).flat()
}

/** Returns the changes by all reports, in the order of their days. */
function differencesOf(listens: CountedListen[]): Difference[] {
  const seen = new Set<string>()
  const isNew = (key: string) => !seen.has(key) && Boolean(seen.add(key))
  const current = new Map<CountedListen, Listen>()
  return DAYS.flatMap((day) =>
    listens.flatMap((each): Difference[] => {
      const state = each.states.find((one) => one.day === day)
      if (!state) return []
      const { states: _, visit, ...place } = each
      const others = listens
        .filter((one) => one !== each && one.visit === visit && one.track === each.track)
        .flatMap((one) => current.get(one)?.ranges ?? [])
      const before = current.get(each) ?? null
      current.set(each, state.listen)
      const flags = {
        isNewVisit: isNew(visit),
        isVote: true,
        isNewTrackInVisit: isNew(`${visit} ${each.track}`),
        isNewCollectionInVisit: isNew(`${visit} ${each.collection}`),
      }
      return [{ ...place, visit, day, before, after: state.listen, others, ...flags }]
    }),
  )
}

type Has = (one: CountedListen) => boolean
const subject = (scope: StatsScope, id: string, has: Has) => ({ scope, id, has })
const SUBJECTS = [
  subject('organization', 'any', () => true),
  ...TRACKS.map(({ track }) => subject('track', track, (one) => one.track === track)),
  ...[0, 1].map((at) => subject('collection', uuid(2, at), (one) => one.collection === uuid(2, at))),
  subject('playlist', uuid(3, 0), (one) => one.via.scope === 'playlist'),
  ...[0, 1].map((at) => subject('share', uuid(4, at), (one) => one.via.share === uuid(4, at))),
]

function expectEqual(sums: Sums, listens: CountedListen[]): void {
  const range = { from: FIRST, to: LAST }
  for (const { scope, id, has } of SUBJECTS) {
    const own = listens.filter(has)
    const stats = sums.stats({ scope, id, ...range, by: 'day' })
    expect([scope, id, stats.totals]).toEqual([scope, id, recount(own, LAST)])
    for (const [day, counts] of stats.rows) {
      const before = recount(own, Number(day) - 1)
      expect(counts).toEqual(recount(own, Number(day)).map((count, column) => count - before[column]!))
    }
    // The visits of a track's label are those of the listens with the label, because a visit has one country.
    for (const by of ['country', 'source'] as const)
      for (const [label, counts] of sums.stats({ scope, id, ...range, by }).rows)
        expect(counts).toEqual(
          recount(
            own.filter((one) => one[by] === label),
            LAST,
          ),
        )
  }
  for (const { track, duration } of TRACKS) {
    const { heard, times } = sums.curve({ track, duration, ...range })
    const own = listens.filter((one) => one.track === track)
    expect({ heard: accumulated(heard), times: accumulated(times) }).toEqual(recountCurve(own, LAST, duration))
  }
}

describe('the sums equal a naive count', () => {
  it.each([1, 2, 3, 4, 5, 6])('of random visits, folded at random times (%i)', async (seed) => {
    const random = randomFrom(seed)
    const listens = someListens(random, 25)
    await inObject((sql) => {
      const sums = new Sums(sql)
      for (const difference of differencesOf(listens)) {
        sums.add(difference)
        if (random() < 0.03) sums.fold()
      }
      expectEqual(sums, listens)
      sums.fold()
      expect(sums.isEmpty).toBe(true)
      expectEqual(sums, listens)
      // A new object reads the rows of the old one.
      expectEqual(new Sums(sql), listens)
    })
  })
})
