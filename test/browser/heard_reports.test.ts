import { describe, expect, test } from 'vitest'

import { acknowledge, type Body, end, heard, listens, now, pause, play, read, track } from './heard_setup.ts'

/** The reports about the seconds that were heard. heard_visits.test.ts tests the visits that they belong to. */

describe('a report', () => {
  test('names the visit, its page and its age', () => {
    play(10)
    expect(read()).toEqual({
      visit: expect.stringMatching(/^[\da-f]{16}$/),
      sequence: 1,
      age: 10,
      first: 0,
      source: 'example.com',
      listens: [{ track: 'a', ranges: [[0, 10]] }],
    })
  })
  test('is made only if something is new', () => {
    expect(heard.report(now)).toBeNull()
    play(10)
    acknowledge()
    pause(5)
    expect(heard.report(now)).toBeNull()
  })
  test('contains everything since the start of its first listen', () => {
    play(10)
    acknowledge()
    play(10)
    expect(read()).toMatchObject({ sequence: 2, first: 0, age: 20, listens: [{ track: 'a', ranges: [[0, 20]] }] })
  })
  test('omits finished listens that the service has acknowledged', () => {
    play(5)
    end()
    play(5)
    acknowledge()
    play(5)
    expect(read()).toMatchObject({ sequence: 2, first: 1, listens: [{ ranges: [[0, 10]] }] })
  })
  test('repeats listens of reports that failed, or that may be lost', () => {
    play(5)
    end()
    heard.report(now)!.failed()
    play(5)
    heard.report(now)!.sent()
    play(1)
    expect(read()).toMatchObject({ sequence: 3, first: 0, listens: [{ ranges: [[0, 5]] }, { ranges: [[0, 6]] }] })
  })
  test('has at most 4,096 bytes; the rest follows in the next one', () => {
    for (let i = 0; i < 120; i++) {
      track(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)
      play(1)
    }
    const reports: Body[] = []
    for (let report = heard.report(now); report; report = heard.report(now)) {
      expect(report.body.length).toBeLessThan(4096)
      reports.push(read(report))
      report.acknowledged()
    }
    expect(reports.reduce((sum, { listens }) => sum + listens.length, 0)).toBe(120)
    expect(reports.length).toBeLessThan(6)
    for (const [i, { first, listens, sequence }] of reports.entries()) {
      expect([sequence, first + listens.length]).toEqual([i + 1, reports[i + 1]?.first ?? 120])
    }
  })
  test('is followed by a report of the rest, which contains the seconds until the response to the first', () => {
    for (let i = 0; i < 60; i++) {
      track(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)
      play(1)
    }
    const reports: Body[] = []
    for (let report = heard.report(now); report; report = report.rest(now)) {
      reports.push(read(report))
      play(1)
      report.acknowledged()
    }
    expect(reports.map(({ first, listens }) => first + listens.length)).toEqual([reports[1]!.first, 60])
    expect(reports[1]!.listens.at(-1)!.ranges).toEqual([[0, 2]])
    expect(listens()).toMatchObject([{ ranges: [[0, 3]] }])
  })
  test('has no rest if it was complete, although another track has started since', () => {
    play(31)
    end()
    const report = heard.report(now)!
    track('b')
    play(1)
    report.acknowledged()
    expect([report.rest(now), listens()]).toEqual([null, [{ track: 'b', ranges: [[0, 1]] }]])
  })
  test('can be split if no response is expected', () => {
    for (let i = 0; i < 60; i++) {
      track(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)
      play(1)
    }
    const firsts: number[] = []
    let report = heard.report(now)
    while (report) {
      firsts.push(read(report).first)
      report.sent()
      report = report.rest(now)
    }
    expect(firsts.length).toBeGreaterThan(1)
    expect(heard.report(now)).toBeNull()
  })
})

describe('a report is due', () => {
  test('after thirty seconds, then after ten minutes', () => {
    play(29)
    expect(heard.isDue(now, false)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
    acknowledge()
    play(599)
    expect(heard.isDue(now, false)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
  })
  test('after five finished listens', () => {
    play(30)
    acknowledge()
    for (let i = 1; i < 6; i++) {
      expect(heard.isDue(now, false)).toBe(false)
      track(`track ${i}`)
      play(7)
    }
    expect(heard.isDue(now, false)).toBe(true)
  })
  test('after five finished listens that were reported without a response', () => {
    for (let i = 1; i < 6; i++) {
      track(`track ${i}`)
      play(21)
      expect(heard.isDue(now, false)).toBe(false)
      heard.report(now)!.sent()
    }
    track('track 6')
    play(21)
    expect(heard.isDue(now, false)).toBe(true)
    acknowledge()
    play(21)
    expect(heard.isDue(now, false)).toBe(false)
  })
  test('at a pause after thirty unreported seconds', () => {
    play(30)
    acknowledge()
    play(29)
    expect(heard.isDue(now, true)).toBe(false)
    play(1)
    expect([heard.isDue(now, true), heard.isDue(now, false)]).toEqual([true, false])
  })
  test('a minute after one that failed', () => {
    play(30)
    heard.report(now)!.failed()
    play(59)
    expect(heard.isDue(now, false)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
  })
  test('never if nothing is new', () => {
    play(30)
    acknowledge()
    pause(3600)
    expect(heard.isDue(now, true)).toBe(false)
  })
})

test('forgets what must not be reported', () => {
  play(60)
  heard.forget()
  expect(heard.report(now)).toBeNull()
  play(20)
  expect(heard.isDue(now, true)).toBe(false)
  expect(listens()).toEqual([{ track: 'a', ranges: [[60, 80]] }])
})
