import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { HeardReport } from '../../src/contract/heard.ts'
import { tone } from '../support/audio.ts'
import { collectReports, readMeasured, setVisibility, startMeasuring } from './listening_setup.ts'
import { type Album, type Opened, setUp, type Workspace } from './player_setup.ts'
import { must, TIMEOUT } from './steps.ts'

/**
 * Listeners in Chromium, and the statistics about them: the seconds that their pages measured independently of the player, and those that the
 * service has counted. The tests run at the same time, because they wait for sound.
 */

const CASES = ['Seeks', 'Restored', 'Part', 'Tabs', 'Offline', 'Killed'] as const
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

/** Pauses, leaves the page, and returns the seconds that it has measured. */
async function leave({ page, call }: Opened) {
  await call('pause')
  const measured = await readMeasured(page)
  await page.goto('about:blank')
  return measured
}

interface Sums {
  visits: number
  heard: number
  muted?: number
  fast?: number
}
/** The sums of all pages. */
const all: Required<Sums> = { visits: 0, heard: 0, muted: 0, fast: 0 }

/** Expects the sums of a resource to differ by at most one percent, or by the rounding of the ends of its ranges, in seconds. */
async function expectSums(
  scope: 'track' | 'collection' | 'organization',
  resource_id: string,
  expected: Sums,
  rounding = 0.1,
) {
  const { visits, heard, muted = 0, fast = 0 } = expected
  if (scope !== 'organization') for (const [name, sum] of Object.entries(expected)) all[name as keyof Sums] += sum
  const isNear = (counted: number, measured: number, most: number) =>
    expect(Math.abs(counted - measured), `${counted} of ${measured} s`).toBeLessThan(Math.max(measured / 100, most))
  // Beacons have no response, so the last one may still be on its way.
  await vi.waitFor(
    async () => {
      const { totals } = await must(
        workspace.server.get('/v1/stats/{scope}/{resource_id}', { params: { scope, resource_id } }),
      )
      expect(totals.visits).toBe(visits)
      isNear(totals.seconds, heard, rounding)
      isNear(totals.muted_seconds, muted, 0.25)
      isNear(totals.fast_seconds, fast, 0.25)
    },
    { timeout: 20_000, interval: 200 },
  )
}
const idOf = (name: (typeof CASES)[number]) => long.track_ids[CASES.indexOf(name)]!

describe.concurrent('the statistics contain the seconds that were heard', () => {
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
    const before = await readMeasured(page)
    await untilTime(7)
    const { heard } = await leave(listener)
    await expectSums('track', idOf('Seeks'), { visits: 1, heard, fast: heard - before.heard }, 0.25)
  })
  test('from a restored position, without the muted seconds', TIMEOUT, async () => {
    const listener = await aListener('Restored', { start: '20' })
    const mute = (muted: boolean) =>
      listener.page.locator('tonearm-player').evaluate((player, on) => Object.assign(player, { muted: on }), muted)
    await playFor(listener, 2)
    await mute(true)
    await playFor(listener, 2)
    await mute(false)
    await playFor(listener, 1)
    await expectSums('track', idOf('Restored'), { visits: 1, ...(await leave(listener)) }, 0.25)
  })
  test('of a part, which ends within a few hundredths of a second', TIMEOUT, async () => {
    const listener = await aListener('Part', { start: '20', end: '21.5' })
    await listener.call('play')
    await listener.until('pause')
    const { heard } = await leave(listener)
    expect(heard).toBeCloseTo(1.5, 1)
    await expectSums('track', idOf('Part'), { visits: 1, heard })
  })
  test('of two tabs, as two visits', TIMEOUT, async () => {
    const session = await workspace.aSession(long)
    const attributes = { track: String(CASES.indexOf('Tabs') + 1) }
    const first = await listenTo(session, attributes)
    const second = await listenTo(session, attributes)
    await Promise.all([playFor(first, 3), playFor(second, 3)])
    const measured = await Promise.all([leave(first), leave(second)])
    await expectSums('track', idOf('Tabs'), { visits: 2, heard: measured[0].heard + measured[1].heard })
  })
  test('without a connection, once it is back', TIMEOUT, async () => {
    const listener = await aListener('Offline')
    const { page } = listener
    await playFor(listener, 1)
    await page.context().setOffline(true)
    await playFor(listener, 2)
    await setVisibility(page, 'hidden')
    await setVisibility(page, 'visible')
    await playFor(listener, 1)
    await page.context().setOffline(false)
    await expectSums('track', idOf('Offline'), { visits: 1, ...(await leave(listener)) })
  })
  test('in a hidden page, until the last report before the browser is killed', TIMEOUT, async () => {
    const listener = await aListener('Killed')
    const { page } = listener
    await playFor(listener, 1)
    await setVisibility(page, 'hidden')
    await playFor(listener, 2)
    await listener.call('pause')
    const { heard } = await readMeasured(page)
    await setVisibility(page, 'hidden')
    await playFor(listener, 1)
    const crashed = page.waitForEvent('crash')
    await Promise.all([crashed, page.goto('chrome://crash').catch(() => {})])
    await expectSums('track', idOf('Killed'), { visits: 1, heard })
  })
  test('of an album that is heard through', TIMEOUT, async () => {
    const listener = await listenTo(await workspace.aSession(short))
    await listener.call('play')
    await listener.until('ended', TEN)
    await leave(listener)
    await expectSums('collection', short.collection_id, { visits: 1, heard: TEN * SHORT })
    const params = { scope: 'collection', resource_id: short.collection_id } as const
    const { totals } = await must(workspace.server.get('/v1/stats/{scope}/{resource_id}', { params }))
    expect(totals).toMatchObject({ plays: TEN, completions: TEN })
  })
})

test('the sums of the organization are those of all pages', TIMEOUT, async () => {
  const resource_id = workspace.stack.organization_id
  await expectSums('organization', resource_id, all)
  const params = { scope: 'organization', resource_id } as const
  const { rows } = await must(
    workspace.server.get('/v1/stats/{scope}/{resource_id}', { params, query: { by: 'source' } }),
  )
  expect(rows.map(({ key }) => key)).toEqual([new URL(workspace.host.origin).hostname])
})

test('no-statistics turns reports off', TIMEOUT, async () => {
  const listener = await listenTo(await workspace.aSession(short), { 'no-statistics': '' })
  await listener.call('play')
  await listener.until('ended')
  // Playwright shows the report of a hidden page, but not that of a page that is left.
  await setVisibility(listener.page, 'hidden')
  await leave(listener)
  expect(listener.reports).toEqual([])
  await listener.close()
})
