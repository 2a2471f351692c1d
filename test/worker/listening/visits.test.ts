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
  expect(check(now + MINUTE)).toMatchObject({ reason: 'full' })
  visits.close(now + 31 * MINUTE)
  expect([visits.size, visits.length]).toEqual([0, 0])
  const report = check(now + 31 * MINUTE)
  expect(report).toMatchObject({ listens: [[track.id, [[0, 4]], [], 0, 0]] })
  if ('reason' in report) throw new Error(report.message)
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
  if ('reason' in first) throw new Error(first.message)
  visits.apply(
    first,
    () => track,
    () => undefined,
  )
  const room = MAX_OPEN_SIZE - visits.length - 600
  for (let at = 0; at < 500; at++) visits.restore(aVisit(now + at, Math.floor(room / 500) - 500))
  expect(visits.check(heardReport(track.id), session, null, tracks, now)).not.toHaveProperty('reason')
  visits.restore(aVisit(now + 500, MAX_OPEN_SIZE - visits.length - 550))
  expect(visits.check({ ...report(1, 99), visit: 'b'.repeat(16) }, session, null, tracks, now)).toMatchObject({
    reason: 'full',
  })
  expect(check(2, 100)).toMatchObject({ sequence: 2 })
})

it('a visit has a maximum number of listens, and of their characters', () => {
  const visits = new Visits()
  const now = 60 * MINUTE
  const visit = 'c'.repeat(16)
  const check = (first: number, count: number) => {
    const listens = Array.from({ length: count }, () => ({ track: track.id, ranges: [[0, 1]] }))
    return visits.check(
      heardReport(track.id, { visit, sequence: 2, age: 600, first, listens }),
      session,
      null,
      tracks,
      now,
    )
  }
  const open = (length: number) => {
    const listens = JSON.stringify({ open: [], past: [['x'.repeat(length), []]] })
    visits.restore({ ...OPEN, id: visit, at: now, started_at: now - 600_000, first: 980, listens })
  }
  open(10)
  expect(check(980, 20)).not.toHaveProperty('reason')
  const message = 'must be at most 1000 in a visit, not 1001'
  expect(check(980, 21)).toEqual({ reason: 'visit', path: 'listens', message })
  open(63_900)
  expect(check(980, 1)).not.toHaveProperty('reason')
  const tooLarge = 'must be at most 64000 characters of JSON in a visit'
  expect(check(980, 2)).toEqual({ reason: 'visit', path: 'listens', message: tooLarge })
})
