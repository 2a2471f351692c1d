import { describe, expect, test } from 'vitest'

import { acknowledge, end, heard, now, pause, play, read, renew, seek, track } from './heard_setup.ts'

/** The visits that the reports about the seconds that were heard belong to. */

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
  test.each([
    [1, 1500],
    [40, 150],
  ])('ends before it is too long for the service, with %i parts in each of %i listens', (parts, all) => {
    const [sizes, counts] = [new Map<string, number>(), new Map<string, number>()]
    for (let i = 0; i < all; i++) {
      const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
      track(id)
      for (let part = 0; part < parts; part++) {
        seek(part * 10)
        play(1)
      }
      const { visit, listens } = acknowledge()
      const size = JSON.stringify([id, listens.find(({ track }) => track === id)!.ranges]).length + 1
      sizes.set(visit, (sizes.get(visit) ?? 0) + size)
      counts.set(visit, (counts.get(visit) ?? 0) + 1)
    }
    expect(Math.max(...sizes.values())).toBeLessThan(12_000)
    expect(Math.max(...counts.values())).toBeLessThan(1000)
    expect(sizes.size).toBeLessThan(16)
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
    // A session can only report seconds that are not older than itself.
    pause(31 * 60)
    play(1)
    const report = heard.report(now)!
    expect(report.token).toBe('first')
    report.acknowledged()
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
  test('continues as another one with the same token if it is refused, a minute later', () => {
    play(60)
    const { visit } = acknowledge()
    play(700)
    heard.report(now)!.refused()
    play(59)
    expect(heard.isDue(now, true)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
    const report = heard.report(now)!
    expect(report.token).toBe('first')
    expect(read(report)).toMatchObject({ sequence: 1, first: 0, age: 760, listens: [{ ranges: [[60, 820]] }] })
    expect(read(report).visit).not.toBe(visit)
  })
  test('is given up if its first report is refused; the next one sends its first report after ten minutes', () => {
    play(60)
    heard.report(now)!.refused()
    expect(heard.report(now)).toBeNull()
    play(599)
    expect(heard.isDue(now, true)).toBe(false)
    play(1)
    expect(heard.isDue(now, false)).toBe(true)
    expect(read()).toMatchObject({ sequence: 1, age: 600, listens: [{ ranges: [[60, 660]] }] })
    acknowledge()
    play(30)
    expect(heard.isDue(now, true)).toBe(true)
  })
})
