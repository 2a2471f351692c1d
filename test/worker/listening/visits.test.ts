import { expect, it } from 'vitest'

import type { TrackFacts } from '../../../src/pipeline/listening/visits.ts'
import { MAX_OPEN_SIZE, type Visit, Visits } from '../../../src/pipeline/listening/visits.ts'
import { heardReport } from '../support/heard.ts'

/** The memory of open visits (docs/decisions/0102). */

const MINUTE = 60_000
const track: TrackFacts = { id: '0003c1b2-0000-4000-8000-000000000000', collection: 'album', duration: 200 }
const session = { id: 'session', created_at: 0, via: { scope: 'collection' as const, id: 'album', share: null } }
const tracks = new Map([[track.id, track]])
const OPEN = { session, country: null, source: null, sequence: 1, age: 5, first: 0, finished: 0, collections: [] }
const aVisit = (at: number, length: number): Visit => {
  const id = String(at)
  return { ...OPEN, id, at, started_at: at - 5000, listens: 'x'.repeat(length) }
}

it('open visits have a maximum size in all; closed ones make room', () => {
  const visits = new Visits()
  const now = 60 * MINUTE
  const check = (at: number) => visits.check(heardReport(track.id), session, null, tracks, at)
  for (let at = 1; at * 60_000 < MAX_OPEN_SIZE; at++) visits.restore(aVisit(now + at, 60_000))
  expect(check(now + MINUTE)).toBe('full')
  visits.close(now + 31 * MINUTE)
  expect([visits.size, visits.length]).toEqual([0, 0])
  const report = check(now + 31 * MINUTE)
  expect(report).toMatchObject({ listens: [[track.id, [[0, 4]], [], 0, 0]] })
  if (typeof report === 'string') throw new Error(report)
  visits.apply(
    report,
    () => track,
    () => undefined,
  )
  const [visit] = visits.values()
  expect(visits.length).toBeGreaterThan(JSON.stringify(visit).length)
})

it('a report that hardly changes its visit is accepted although there is no more room', () => {
  const visits = new Visits()
  const now = 60 * MINUTE
  const report = (sequence: number, until: number) => {
    const ranges = Array.from({ length: 50 }, (_, at) => [at * 2, at * 2 + 1])
    const listens = [{ track: track.id, ranges: [...ranges.slice(0, -1), [98, until]] }]
    return heardReport(track.id, { visit: 'a'.repeat(16), sequence, age: 100, listens })
  }
  const check = (sequence: number, until: number) => visits.check(report(sequence, until), session, null, tracks, now)
  const first = check(1, 99)
  if (typeof first === 'string') throw new Error(first)
  visits.apply(
    first,
    () => track,
    () => undefined,
  )
  const room = MAX_OPEN_SIZE - visits.length - 600
  for (let at = 0; at < 500; at++) visits.restore(aVisit(now + at, Math.floor(room / 500) - 500))
  expect(visits.check(heardReport(track.id), session, null, tracks, now)).not.toBe('full')
  visits.restore(aVisit(now + 500, MAX_OPEN_SIZE - visits.length - 550))
  expect(visits.check({ ...report(1, 99), visit: 'b'.repeat(16) }, session, null, tracks, now)).toBe('full')
  expect(check(2, 100)).toMatchObject({ sequence: 2 })
})
