import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { HeardReport } from '../../src/contract/heard.ts'
import { tone } from '../support/audio.ts'
import { collectReports, readMeasured, setVisibility, startMeasuring } from './listening_setup.ts'
import { type Album, type Opened, setUp, type Workspace } from './player_setup.ts'
import { TIMEOUT } from './steps.ts'

/** The seconds that Chromium plays, compared with the reports about them (docs/listening.md). The tests run at the same time, because they wait for sound. */

const CASES = ['Seeks', 'Restored', 'Tabs', 'Offline', 'Hidden'] as const
const TEN = 10
/** Seconds of a track of the album that is heard through. */
const SHORT = 1.2

let workspace: Workspace
let long: Album
let short: Album

beforeAll(async () => {
  workspace = await setUp()
  const aTone = (seconds: number) => ({ seconds, rate: 16_000, expression: tone(330, -6) })
  const names = Array.from({ length: TEN }, (_, i) => String(i))
  ;[long, short] = await Promise.all([
    workspace.anAlbum(Object.fromEntries(CASES.map((name) => [name, aTone(30)]))),
    workspace.anAlbum(Object.fromEntries(names.map((name) => [name, aTone(SHORT)]))),
  ])
}, TIMEOUT.timeout)
afterAll(() => workspace?.dispose())

interface Listener extends Opened {
  reports: HeardReport[]
}

/** Opens a player whose page measures, on one of the long tracks. */
async function aListener(name: (typeof CASES)[number], attributes: Record<string, string> = {}): Promise<Listener> {
  const track = String(CASES.indexOf(name) + 1)
  return listenTo(await workspace.aSession(long), { track, ...attributes })
}

async function listenTo(session: string, attributes: Record<string, string> = {}): Promise<Listener> {
  const opened = await workspace.open({})
  const reports = collectReports(opened.page.context())
  await startPlayer(opened.page, session, attributes)
  await opened.until('ready')
  return { ...opened, reports }
}

async function startPlayer(page: Page, session: string, attributes: Record<string, string>): Promise<void> {
  await page.addInitScript(startMeasuring)
  await page.reload()
  const all = Object.entries({ ...attributes, 'play-session-id': session })
  await page.locator('tonearm-player').evaluate((player, entries) => {
    for (const [key, value] of entries) player.setAttribute(key, value)
  }, all)
}

/** Plays from the position on for some seconds of the track. */
async function playFor({ call, untilTime, state }: Opened, seconds: number): Promise<void> {
  const { time } = await state()
  await call('play')
  await untilTime(time + seconds)
}

const lengthOf = (ranges: readonly number[][] = []) => ranges.reduce((sum, [from, to]) => sum + to! - from!, 0)

/** Hides the page, and returns the sums of the last reports of all visits. */
async function hide({ page, reports }: Listener) {
  const { length } = reports
  await setVisibility(page, 'hidden')
  await vi.waitFor(() => expect(reports.length).toBeGreaterThan(length), { ...TIMEOUT, interval: 20 })
  const visits = new Map(reports.map((report) => [report.visit, report.listens]))
  const listens = [...visits.values()].flat()
  const sum = (count: (listen: (typeof listens)[number]) => number) =>
    listens.reduce((all, each) => all + count(each), 0)
  return {
    visits: visits.size,
    listens,
    heard: sum(({ ranges, again }) => lengthOf(ranges) + lengthOf(again)),
    muted: sum(({ muted = 0 }) => muted),
    fast: sum(({ fast = 0 }) => fast),
  }
}

/** Expects sums that differ by at most one percent, or by the rounding of a short range. */
function expectSame(reported: number, measured: number) {
  expect(Math.abs(reported - measured), `${reported} of ${measured}`).toBeLessThan(Math.max(measured / 100, 0.1))
}

describe.concurrent('the reports contain what was heard', () => {
  test('with seeks, repetitions and a higher rate', TIMEOUT, async () => {
    const listener = await aListener('Seeks')
    const { page, call, untilTime } = listener
    await playFor(listener, 2)
    for (const to of [10, 4, 20]) {
      await call('seek', to)
      await untilTime(to + 2)
    }
    await page.locator('tonearm-player').evaluate((player) => Object.assign(player, { rate: 2 }))
    await call('seek', 3)
    await untilTime(7)
    await call('pause')
    const { heard, fast, listens } = await hide(listener)
    expectSame(heard, (await readMeasured(page)).heard)
    expect(Math.round(fast)).toBe(4)
    // The seconds 4 to 6 were heard twice.
    expect(lengthOf(listens[0]!.again)).toBeCloseTo(2, 0)
    await listener.close()
  })
  test('from a restored position, without the muted seconds', TIMEOUT, async () => {
    const listener = await aListener('Restored', { start: '20' })
    const { page } = listener
    const mute = (muted: boolean) =>
      page.locator('tonearm-player').evaluate((player, on) => Object.assign(player, { muted: on }), muted)
    await playFor(listener, 2)
    await mute(true)
    await playFor(listener, 2)
    await mute(false)
    await playFor(listener, 1)
    await listener.call('pause')
    const { heard, muted, listens } = await hide(listener)
    const measured = await readMeasured(page)
    expectSame(heard, measured.heard)
    expectSame(muted, measured.muted)
    expect(listens[0]!.ranges[0]![0]).toBe(20)
    await listener.close()
  })
  test('of two tabs, as two visits', TIMEOUT, async () => {
    const session = await workspace.aSession(long)
    const attributes = { track: String(CASES.indexOf('Tabs') + 1) }
    const first = await listenTo(session, attributes)
    const page = await first.page.context().newPage()
    await page.goto(first.page.url())
    await startPlayer(page, session, attributes)
    const play = () => page.evaluate(() => document.querySelector('tonearm-player')!.play())
    await Promise.all([playFor(first, 3), play()])
    await first.call('pause')
    await page.evaluate(() => document.querySelector('tonearm-player')!.pause())
    await setVisibility(page, 'hidden')
    await vi.waitFor(() => expect(first.reports).toHaveLength(1), { ...TIMEOUT, interval: 20 })
    const { visits, heard } = await hide(first)
    const measured = await Promise.all([first.page, page].map(readMeasured))
    expect(visits).toBe(2)
    expectSame(heard, measured[0]!.heard + measured[1]!.heard)
    await first.close()
  })
  test('without a connection', TIMEOUT, async () => {
    const listener = await aListener('Offline')
    const { page } = listener
    await playFor(listener, 1)
    await page.context().setOffline(true)
    await playFor(listener, 2)
    await setVisibility(page, 'hidden')
    await setVisibility(page, 'visible')
    await playFor(listener, 1)
    await listener.call('pause')
    await page.context().setOffline(false)
    listener.reports.length = 0
    const { visits, heard } = await hide(listener)
    expect(visits).toBe(1)
    expectSame(heard, (await readMeasured(page)).heard)
    await listener.close()
  })
  test('in a page that is hidden and shown again', TIMEOUT, async () => {
    const listener = await aListener('Hidden')
    const { page } = listener
    await playFor(listener, 1)
    await hide(listener)
    await playFor(listener, 2)
    await setVisibility(page, 'visible')
    await listener.call('pause')
    const { visits, heard } = await hide(listener)
    const measured = await readMeasured(page)
    expect(visits).toBe(1)
    expectSame(heard, measured.heard)
    await listener.close()
  })
  test('of an album that is heard through', TIMEOUT, async () => {
    const listener = await listenTo(await workspace.aSession(short))
    await listener.call('play')
    await listener.until('ended', TEN)
    const { listens } = await hide(listener)
    expect(listens.map(({ track }) => track)).toEqual(short.track_ids)
    for (const { ranges, again } of listens) {
      expect(ranges).toEqual([[0, SHORT]])
      expect(again).toBeUndefined()
    }
    await listener.close()
  })
})

test('a page that never plays loads and sends nothing, and no-statistics turns reports off', TIMEOUT, async () => {
  const listener = await listenTo(await workspace.aSession(short), { 'no-statistics': '' })
  const loaded = () =>
    listener.page.evaluate(
      () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/report')).length,
    )
  await listener.call('seek', 0.5)
  expect(await loaded()).toBe(0)
  await listener.call('play')
  await listener.until('ended')
  await setVisibility(listener.page, 'hidden')
  expect(listener.reports).toEqual([])
  await listener.close()
})
