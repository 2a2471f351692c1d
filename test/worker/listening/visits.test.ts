import { describe, expect, it } from 'vitest'

import type { HeardReport } from '../../../src/contract/heard.ts'
import { MINUTE } from '../../../src/contract/time.ts'
import type { Difference } from '../../../src/listening/difference.ts'
import type { TrackFacts } from '../../../src/listening/visits.ts'
import { type Visit, Visits } from '../../../src/listening/visits.ts'
import { heardReport, type Ranges } from '../support/heard.ts'

/** The memory of open visits (docs/decisions/0102, docs/decisions/0110). */

const NOW = 60 * MINUTE
const track: TrackFacts = { id: '0003c1b2-0000-4000-8000-000000000000', collection: 'album', duration: 200 }
const tracks = new Map([[track.id, track]])
const sessionOf = (id: string) => ({
  id,
  created_at: 0,
  via: { scope: 'collection' as const, id: 'album', share: null },
})
const session = sessionOf('session')
const OPEN = { session, country: null, source: null, sequence: 1, age: 5, first: 0, finished: 0, collections: [] }
const listensOf = (...parts: Ranges[]) => parts.map((ranges) => ({ track: track.id, ranges }))

/** Returns functions that send reports of a session at an address. */
function sender(visits = new Visits(), id = 'session', client = '') {
  const differences: Difference[] = []
  const check = (report: Partial<HeardReport>, now = NOW) =>
    visits.check(heardReport(track.id, report), sessionOf(id), { country: null, client }, tracks, now)
  const send = (report: Partial<HeardReport>, now = NOW): string => {
    visits.close(now)
    const checked = check(report, now)
    if ('reason' in checked) return checked.reason
    visits.apply(
      checked,
      () => track,
      (difference) => void differences.push(difference),
    )
    visits.makeRoom(now)
    return 'ok'
  }
  return { check, send, differences, visits }
}
/** Ranges of a tenth of a second, in listens of fifty. */
const crumbs = (listens: number) =>
  listensOf(
    ...Array.from({ length: listens }, (_, at) =>
      Array.from({ length: 50 }, (_, index): [number, number] => {
        const from = (at * 50 + index) / 2
        return [from, from + 0.1]
      }),
    ),
  )

describe('open visits', () => {
  const visitOf = (name: number) => name.toString(16).padStart(16, '0')
  const ROOM = 2_000_000
  /** Opens visits, in turns of the pairs. */
  const fill = (visits: Visits, pairs: [session: string, address: string][], count: number, listens = 4) => {
    for (let at = 0; at < count; at++) {
      const [id, client] = pairs[at % pairs.length]!
      sender(visits, id, client).send({ visit: visitOf(at + 1_000_000), age: 600, listens: crumbs(listens) })
    }
  }
  const ATTACKER: [string, string][] = [['attacker', 'a']]
  const isOpen = (visits: Visits, visit: string) => {
    const found = [...visits.values()].find(({ id }) => id === visit)
    return found !== undefined && !('closed_at' in found)
  }

  it('of those that take most of the room give way when there is no more', () => {
    const visits = new Visits(ROOM)
    const honest = sender(visits, 'honest', 'h')
    expect(honest.send({ visit: visitOf(1), listens: listensOf([[0, 4]]) })).toBe('ok')
    fill(visits, ATTACKER, 1000)
    expect(visits.length).toBeLessThanOrEqual(ROOM)
    expect([...visits.values()].some((visit) => 'closed_at' in visit)).toBe(true)
    expect(honest.send({ visit: visitOf(2) })).toBe('ok')
    expect([isOpen(visits, visitOf(1)), isOpen(visits, visitOf(2))]).toEqual([true, true])
    expect(honest.send({ visit: visitOf(1), sequence: 2, age: 8, listens: listensOf([[0, 8]]) })).toBe('ok')
  })

  it('of an address with many sessions give way before those of others, if each session is modest', () => {
    const visits = new Visits(ROOM)
    const pupils = Array.from({ length: 300 }, (_, at) => sender(visits, `pupil-${at}`, 'school'))
    for (const [at, pupil] of pupils.entries()) pupil.send({ visit: visitOf(at), listens: listensOf([[0, 4]]) })
    fill(
      visits,
      Array.from({ length: 1000 }, (_, at) => [`page-${at}`, 'a']),
      1000,
    )
    expect(visits.length).toBeLessThanOrEqual(ROOM)
    expect(pupils.every((_, at) => isOpen(visits, visitOf(at)))).toBe(true)
  })

  it('of one session at many addresses stay, after a start from the log too', () => {
    const visits = new Visits(ROOM)
    const listeners = Array.from({ length: 1000 }, (_, at) => sender(visits, 'embed', `address-${at}`))
    for (const [at, { send }] of listeners.entries()) send({ visit: visitOf(at), listens: listensOf([[0, 4]]) })
    const restored = new Visits(ROOM)
    for (const visit of visits.values()) restored.restore(visit)
    for (const each of [visits, restored]) {
      fill(each, ATTACKER, 1000)
      expect(listeners.every((_, at) => isOpen(each, visitOf(at)))).toBe(true)
    }
  })

  it('of a greedy sender give way before those of a school after a start from the log too, although they are silent', () => {
    const visits = new Visits(ROOM)
    const pupils = Array.from({ length: 300 }, (_, at) => `pupil-${at}`)
    for (const [at, id] of pupils.entries())
      sender(visits, id, 'school').send({ visit: visitOf(at), listens: listensOf([[0, 4]]) })
    fill(visits, ATTACKER, 1000, 1)
    const restored = new Visits(ROOM)
    for (const visit of visits.values()) restored.restore(JSON.parse(JSON.stringify(visit)) as Visit)
    expect(visits.demand()).toBe(restored.demand())
    for (const [at, id] of pupils.entries()) {
      const report = { visit: visitOf(at), sequence: 2, age: 8, listens: listensOf([[0, 8]]) }
      expect(sender(restored, id, 'school').send(report)).toBe('ok')
    }
    for (let at = 0; at < 300; at++)
      sender(restored, `page-${at}`, `b${at}`).send({ visit: visitOf(at + 5000), age: 600, listens: crumbs(1) })
    expect([...restored.values()].some((visit) => 'closed_at' in visit)).toBe(true)
    expect(pupils.every((_, at) => isOpen(restored, visitOf(at)))).toBe(true)
  })

  it('that were closed early do not count again, are in the log, and are forgotten after half an hour', () => {
    const visits = new Visits(ROOM)
    const attacker = sender(visits, 'attacker', 'a')
    const report = { visit: visitOf(1), age: 600, listens: crumbs(8) }
    attacker.send(report)
    fill(visits, ATTACKER, 1000)
    expect(isOpen(visits, visitOf(1))).toBe(false)
    const restored = new Visits(ROOM)
    for (const visit of visits.values()) restored.restore(JSON.parse(JSON.stringify(visit)) as Visit)
    for (const each of [visits, restored]) {
      const again = heardReport(track.id, report)
      expect(each.isOld(again, session)).toBe(true)
      expect(each.check({ ...again, sequence: 2 }, session, { country: null, client: 'a' }, tracks, NOW)).toEqual({
        reason: 'late',
        path: 'visit',
        message: 'was closed early, because too many or too large ones are open',
      })
      each.close(NOW + 31 * MINUTE)
      expect([each.size, each.length]).toEqual([0, 0])
    }
  })

  it('are closed half an hour after their last report', () => {
    const { send, visits } = sender()
    send({})
    const [visit] = visits.values()
    expect(visits.length).toBeGreaterThan(JSON.stringify(visit).length)
    visits.close(NOW + 31 * MINUTE)
    expect([visits.size, visits.length]).toEqual([0, 0])
  })

  it('of a session at an address can be 1,200 new ones in a minute, and more at other addresses', () => {
    const { send, check, visits } = sender(undefined, 'session', 'a')
    for (let at = 0; at < 1200; at++) expect(send({})).toBe('ok')
    expect(check({})).toEqual({
      reason: 'rate',
      path: 'visit',
      message: 'is one of more than 1200 that the session started in this minute',
    })
    expect(sender(visits, 'session', 'b').send({})).toBe('ok')
    expect(sender(visits, 'other', 'a').send({})).toBe('ok')
    expect(send({}, NOW + MINUTE)).toBe('ok')
  })
})

describe('a visit', () => {
  const visit = 'c'.repeat(16)

  it('has a maximum number of listens, and of their characters', () => {
    const { check, visits } = sender()
    const next = (first: number, count: number) => {
      const listens = listensOf(...Array.from({ length: count }, (): Ranges => [[0, 1]]))
      return check({ visit, sequence: 2, age: 600, first, listens })
    }
    const open = (length: number) => {
      const listens = JSON.stringify({ open: [], past: [['x'.repeat(length), []]] })
      visits.restore({ ...OPEN, id: visit, at: NOW, started_at: NOW - 600_000, first: 980, listens })
    }
    open(10)
    expect(next(980, 20)).not.toHaveProperty('reason')
    const message = 'must be at most 1000 in a visit, not 1001'
    expect(next(980, 21)).toEqual({ reason: 'visit', path: 'listens', message })
    open(15_900)
    expect(next(980, 1)).not.toHaveProperty('reason')
    const tooLarge = 'must be at most 16000 characters of JSON in a visit'
    expect(next(980, 2)).toEqual({ reason: 'visit', path: 'listens', message: tooLarge })
  })

  it('joins the ranges of a track in finished listens where they are closest, so it stays small', () => {
    const { send, visits } = sender()
    for (let at = 0; at < 20; at++) {
      const listens = listensOf(
        Array.from({ length: 50 }, (_, index): [number, number] => {
          const from = index * 4 + at / 10
          return [from, from + 0.1]
        }),
      )
      expect(send({ visit, sequence: at + 1, first: at, age: 600, listens })).toBe('ok')
    }
    const [open] = [...visits.values()] as Visit[]
    const { past } = JSON.parse(open!.listens) as { past: [string, Ranges][] }
    expect(past.map(([, ranges]) => ranges.length)).toEqual([50])
    expect(visits.length).toBeLessThan(4000)
  })

  it('never loses seconds, heard again, muted or fast, by a later report', () => {
    const { send, check, differences } = sender()
    const listen = (more: object) => ({ visit, age: 600, listens: [{ track: track.id, ranges: [], ...more }] })
    const all = { ranges: [[0, 100]], again: [[0, 10]], muted: 5, fast: 90 }
    expect(send({ sequence: 1, ...listen(all) })).toBe('ok')
    const forged: [object, number][] = [
      [{ ranges: [[190, 191]], muted: 200 }, 110],
      [{ ...all, ranges: [[50, 191]], again: [[50, 60]] }, 60],
      [{ ...all, again: [[20, 60]] }, 10],
      [{ ...all, ranges: [[0, 190]], muted: 0 }, 5],
    ]
    for (const [more, lacking] of forged)
      expect(check({ sequence: 2, ...listen(more) })).toEqual({
        reason: 'ranges',
        path: 'listens.0',
        message: `lacks ${lacking} seconds that were reported before`,
      })
    const estimated = { ranges: [[0, 99.8]], again: [[0.2, 10]], muted: 5, fast: 0 }
    expect(send({ sequence: 2, ...listen(estimated) })).toBe('ok')
    expect(send({ sequence: 3, ...listen({ ...all, ranges: [[0, 110]] }) })).toBe('ok')
    const known = { ranges: [[0, 100]], again: [[0, 10]], muted: 5, fast: 90 }
    expect(differences.map(({ before, after }) => ({ before, after }))).toEqual([
      { before: null, after: known },
      { before: known, after: { ...known, ranges: [[0, 110]] } },
    ])
  })
})
