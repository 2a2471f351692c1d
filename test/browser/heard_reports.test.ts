import { describe, expect, test } from 'vitest'

import {
  acknowledge,
  type Body,
  end,
  heard,
  listens,
  now,
  pause,
  play,
  read,
  renew,
  seek,
  track,
} from './heard_setup.ts'

/** The reports about the seconds that were heard, and the visits that they belong to. */

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
      report = heard.report(now, report.next)
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

describe('a visit', () => {
  test('ends after 30 minutes in which nothing was heard', () => {
    play(10)
    const before = acknowledge()
    pause(31 * 60)
    play(5)
    const after = read()
    expect(after.visit).not.toBe(before.visit)
    expect(after).toMatchObject({ sequence: 1, first: 0, age: 5, listens: [{ track: 'a', ranges: [[10, 15]] }] })
  })
  test('ends after 25 minutes without a report', () => {
    play(60)
    heard.report(now)!.sent()
    seek(10)
    play(4)
    pause(26 * 60)
    play(5)
    const { sequence, age, listens } = read()
    // The new visit includes the time of the unreported seconds.
    expect([sequence, age]).toEqual([1, 4 + 26 * 60 + 5])
    expect(listens).toEqual([{ track: 'a', ranges: [[10, 19]] }])
  })
  test('keeps everything that has not reached the service', () => {
    play(60)
    end()
    for (let i = 0; i < 30; i++) {
      play(60)
      heard.report(now)!.failed()
    }
    expect(read().listens).toMatchObject([{ ranges: [[0, 60]] }, { ranges: [[0, 1800]] }])
  })
  test('does not end while its report waits for a response', () => {
    play(10)
    pause(40 * 60)
    play(1)
    const report = heard.report(now)!
    play(5)
    report.acknowledged()
    play(5)
    const { visit } = read(report)
    expect(read()).toMatchObject({ visit, sequence: 2, listens: [{ track: 'a', ranges: [[0, 21]] }] })
  })
  test('that is old sends its report once a minute while the service refuses it', () => {
    play(10)
    pause(40 * 60)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
    heard.report(now)!.failed()
    play(59)
    expect(heard.isDue(now, false)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
    expect(read()).toMatchObject({ sequence: 1, listens: [{ track: 'a', ranges: [[0, 71]] }] })
  })
  test('ends while the device sleeps, even if the clock does not advance', () => {
    play(60)
    const { visit } = acknowledge()
    heard.sleep(20 * 60)
    play(1)
    expect(read().visit).toBe(visit)
    heard.sleep(6 * 60)
    play(1)
    expect(read()).toMatchObject({ sequence: 1, listens: [{ ranges: [[60, 62]] }] })
  })
  test('ends after 900 finished listens', () => {
    const visits = new Set<string>()
    for (let i = 0; i < 1000; i++) {
      track(`track ${i}`)
      play(1)
      visits.add(acknowledge().visit)
    }
    expect(visits.size).toBe(2)
  })
  test('continues otherwise', () => {
    play(60)
    const { visit } = acknowledge()
    pause(24 * 60)
    play(5)
    expect(read()).toMatchObject({ visit, sequence: 2, age: 60 + 24 * 60 + 5 })
  })
  test('keeps its first token', () => {
    play(60)
    renew()
    expect(heard.report(now)!.token).toBe('first')
    pause(31 * 60)
    play(1)
    expect(heard.report(now)!.token).toBe('second')
  })
  test('continues as another one if its token is refused and there is a new one', () => {
    play(60)
    acknowledge()
    play(10)
    renew()
    heard.report(now)!.refused()
    const report = heard.report(now)!
    expect(report.token).toBe('second')
    expect(read(report)).toMatchObject({ sequence: 1, listens: [{ track: 'a', ranges: [[60, 70]] }] })
  })
  test('is given up if its token is refused and there is no other', () => {
    play(60)
    heard.report(now)!.refused()
    expect(heard.report(now)).toBeNull()
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
