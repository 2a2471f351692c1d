import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { findings } from './axe.ts'
import {
  type PlayerPage,
  ANSWERS,
  button,
  CHAPTERS,
  TIMEOUT,
  player,
  setUp,
  untilSettled,
} from './player_fake_service.ts'

/** Player features besides playback: chapters, menu, links, memory, keys, and error messages. */

let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())
beforeEach(() => Object.assign(alone.answers, ANSWERS))

const timeOf = (page: Page) => page.evaluate(() => document.querySelector('tonearm-player')!.currentTime)
const untilTime = (page: Page, time: number) => expect.poll(() => timeOf(page), TIMEOUT).toBeCloseTo(time, 0)

test('the player and lock screen show album and artist, and the region is labeled with the track', async () => {
  alone.answers.list = { scope: 'collection', title: 'Night bus', subtitle: 'Ines Calder' }
  const page = await alone.open()
  expect(await player(page).locator('[part=album]').textContent()).toBe('Night bus')
  expect(await player(page).locator('[part=subtitle]').textContent()).toBe('Ines Calder')
  await page.getByRole('region', { name: 'Audio player: First' }).waitFor()
  await page.evaluate(() => document.querySelector('tonearm-player')!.play())
  const shown = () =>
    page.evaluate(() => [navigator.mediaSession.metadata?.artist, navigator.mediaSession.metadata?.album])
  await expect.poll(shown, TIMEOUT).toEqual(['Ines Calder', 'Night bus'])
  await page.context().close()
})

test('chapters are marked, listed and navigable, and a long track has skip buttons', async () => {
  Object.assign(alone.answers, { seconds: 700, chapters: CHAPTERS })
  const page = await alone.open()
  const list = page.getByRole('list', { name: 'Chapters' })
  expect(await list.getByRole('listitem').count()).toBe(3)
  expect(await player(page).locator('tonearm-waveform .marks i').count()).toBe(3)
  await list.getByRole('button', { name: /The long way round/ }).click()
  await untilTime(page, 120)
  expect(await player(page).locator('[part=chapter-title]').textContent()).toBe('The long way round')
  expect(await list.locator('[aria-current]').textContent()).toContain('The long way round')
  await page.keyboard.press(']')
  await untilTime(page, 400)
  await button(page, 'Back 15 seconds').click()
  await untilTime(page, 385)
  await button(page, 'Forward 30 seconds').click()
  await untilTime(page, 415)
  await page.keyboard.press('j')
  await untilTime(page, 400)
  await page.context().close()
  Object.assign(alone.answers, ANSWERS)
  const short = await alone.open()
  expect(await button(short, 'Back 15 seconds').count()).toBe(0)
  await player(short).evaluate((element) => element.setAttribute('skip', '5 10'))
  await button(short, 'Forward 10 seconds').click()
  await untilTime(short, 10)
  await short.context().close()
})

test('popovers set the speed and the sleep timer, copy links and list the keys', async () => {
  const page = await alone.open({ share: '' }, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.evaluate(() => document.querySelector('tonearm-player')!.seek(75))
  const rate = () => page.evaluate(() => document.querySelector('tonearm-player')!.rate)
  await button(page, 'Speed: 1×').click()
  const speed = page.getByRole('dialog', { name: 'Speed' })
  await speed.getByRole('slider', { name: 'Speed' }).press('ArrowRight')
  expect(await rate()).toBe(1.05)
  await speed.getByRole('button', { name: '1.2' }).click()
  expect([await rate(), await speed.getByRole('slider').getAttribute('aria-valuetext')]).toEqual([1.2, '1.2×'])
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await button(page, 'Speed: 1.2×').waitFor()

  await button(page, 'Share').click()
  const share = page.getByRole('dialog', { name: 'Share' })
  const copied = async (name: string) => {
    await share.getByRole('button', { name, exact: true }).click()
    await share.getByRole('button', { name: 'Copied' }).waitFor()
    return new URL(await page.evaluate(() => navigator.clipboard.readText())).hash
  }
  expect(await copied('Copy link at 1:15')).toBe('#track=1&t=75')
  expect(await copied('Copy link')).toBe('#track=1')
  expect(await findings(page)).toEqual([])

  await button(page, 'Sleep timer').click()
  await share.waitFor({ state: 'hidden' })
  const sleep = page.getByRole('dialog', { name: 'Sleep timer' })
  expect(await findings(page)).toEqual([])
  await sleep.getByRole('button', { name: '30 minutes' }).click()
  await sleep.waitFor({ state: 'hidden' })
  // The popover shows the choice and has the focus on it.
  await button(page, 'Sleep timer').press('Enter')
  const chosen = sleep.getByRole('button', { pressed: true })
  await expect.poll(() => chosen.textContent(), TIMEOUT).toMatch(/^30 minutes\d+:\d+/)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await sleep.waitFor({ state: 'hidden' })
  await page.evaluate(() => document.querySelector('tonearm-player')!.seek(99.5))
  await button(page, 'Play').click()
  await page.waitForFunction(() => (window as unknown as { seen: string[] }).seen.includes('pause'), null, TIMEOUT)
  expect(await page.evaluate(() => document.querySelector('tonearm-player')!.track?.player_title)).toBe('Second')

  await page.keyboard.press('?')
  const menu = page.getByRole('dialog', { name: 'More' })
  await menu.getByText('Previous chapter / Next chapter').waitFor()
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'hidden' })
  // Pressing the button of an open popover closes the popover and does not open it again.
  for (const state of ['visible', 'hidden'] as const) {
    await button(page, 'More').click()
    await menu.waitFor({ state })
  }
  await page.context().close()
})

test('a popover that does not load shows a message', async () => {
  const page = await alone.open()
  await page.context().route('**/assets/menus-*.js', (route) => route.abort())
  await button(page, 'More').click()
  await page.getByText('The connection is lost.').waitFor(TIMEOUT)
  await page.context().close()
})

test('the menu contains the controls for which a layout has no room', async () => {
  const page = await alone.open({ share: '', layout: 'cover' }, { viewport: { width: 216, height: 500 } })
  await button(page, 'More').click()
  const menu = page.getByRole('dialog', { name: 'More' })
  const entries = () => menu.getByRole('button').allTextContents()
  await expect.poll(entries, TIMEOUT).toEqual(['Speed', 'Sleep timer', 'Share'])
  await menu.getByRole('button', { name: 'Share' }).click()
  await page.getByRole('dialog', { name: 'Share' }).getByRole('button', { name: 'Copy link', exact: true }).waitFor()
  await menu.waitFor({ state: 'hidden' })
  await page.context().close()
})

test('the menu offers other devices if the browser reports any', async () => {
  const page = await alone.open({ 'play-session-id': '' })
  await page.evaluate(() => {
    const remote = {
      state: 'disconnected',
      watchAvailability: async (tell: (is: boolean) => void) => tell(true),
      cancelWatchAvailability: async () => {},
      prompt: async () => document.body.setAttribute('data-prompted', ''),
    }
    Object.defineProperty(HTMLMediaElement.prototype, 'remote', { value: remote })
    document.querySelector('tonearm-player')!.setAttribute('play-session-id', crypto.randomUUID())
  })
  await untilSettled(page)
  await button(page, 'More').click()
  await button(page, 'Play on another device').click()
  await page.locator('body[data-prompted]').waitFor()
  await page.context().close()
})

test('the address of the page sets the start, and a change to it seeks', async () => {
  const page = await alone.open({ share: '' }, { hash: '#track=2&t=0:20' })
  expect(await timeOf(page)).toBe(20)
  const title = () => page.evaluate(() => document.querySelector('tonearm-player')!.track?.player_title)
  expect(await title()).toBe('Second')
  await page.evaluate(() => (location.hash = '#track=3&t=40'))
  await expect.poll(title, TIMEOUT).toBe('Third')
  await untilTime(page, 40)
  await page.context().close()
  // Without the attribute the player ignores the address.
  const other = await alone.open({}, { hash: '#t=20' })
  expect(await timeOf(other)).toBe(0)
  await other.context().close()
})

test('volume, speed and the position in a long track survive a reload unless memory is off', async () => {
  alone.answers.seconds = 700
  const page = await alone.open()
  await page.getByRole('slider', { name: 'Volume' }).fill('0.4')
  await button(page, 'Speed: 1×').click()
  await button(page, '1.5').click()
  await page.keyboard.press('Escape')
  await page.evaluate(() => document.querySelector('tonearm-player')!.seek(300))
  await untilTime(page, 300)
  const state = () =>
    page.evaluate(() => {
      const { volume, rate, currentTime } = document.querySelector('tonearm-player')!
      return [volume, rate, Math.round(currentTime)]
    })
  await page.reload()
  await untilSettled(page)
  expect(await state()).toEqual([0.4, 1.5, 300])
  await page.evaluate(() => {
    const element = document.createElement('tonearm-player')
    element.setAttribute('no-memory', '')
    element.setAttribute('play-session-id', crypto.randomUUID())
    document.querySelector('tonearm-player')!.replaceWith(element)
  })
  await expect.poll(state, TIMEOUT).toEqual([1, 1, 0])
  await page.context().close()
})

test('the console explains setup errors and their fixes', async () => {
  alone.answers.refusal = { status: 403, code: 'origin_not_allowed' }
  const page = await alone.open({ 'play-session-id': '' })
  const warnings: string[] = []
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
  const set = (attributes: Record<string, string>) =>
    player(page).evaluate((element, all) => {
      for (const [name, value] of Object.entries(all)) element.setAttribute(name, value)
    }, attributes)
  await set({ 'play-session-id': 'PLAY_SESSION_ID', theme: 'drak' })
  await expect.poll(() => warnings.join('\n'), TIMEOUT).toMatch(/theme="drak" is not understood/)
  await expect.poll(() => warnings.join('\n'), TIMEOUT).toMatch(/PLAY_SESSION_ID" is no id.*POST/)
  await expect.poll(() => warnings.join('\n'), TIMEOUT).toMatch(/allowed_origins/)
  await page.context().close()
})

test('a page controls the player in its frame, receives its events, and lets the frame grow', async () => {
  const page = await alone.open()
  await page.goto(new URL('/around', page.url()).href)
  // The code is a string, because the test runner would rewrite its import().
  await page.evaluate(`(async () => {
    const { EmbeddedPlayer } = await import('/elements/embed.js')
    const embedded = new EmbeddedPlayer(document.querySelector('iframe'), { autoHeight: true })
    const heard = []
    Object.assign(window, { embedded, heard })
    embedded.on('play', ({ track }) => heard.push('play ' + track.player_title))
    embedded.on('pause', () => heard.push('pause'))
    embedded.select(2)
  })()`)
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard)
  await expect.poll(heard, TIMEOUT).toEqual(['play Second'])
  await page.evaluate(() => (window as unknown as { embedded: { pause: () => void } }).embedded.pause())
  await expect.poll(heard, TIMEOUT).toEqual(['play Second', 'pause'])
  expect(await page.locator('iframe').getAttribute('height')).toBe('440')
  await page.context().close()
})

test('a page selects a track in a frame whose session is still loading', async () => {
  const page = await alone.open()
  const late = Promise.withResolvers<void>()
  await page.route('**/v1/play/**', async (route) => {
    await late.promise
    await route.continue()
  })
  await page.goto(new URL('/around', page.url()).href)
  await page.evaluate(`(async () => {
    const { EmbeddedPlayer } = await import('/elements/embed.js')
    const embedded = new EmbeddedPlayer(document.querySelector('iframe'))
    // The frame answers a greeting; its session has not come.
    const { track } = await new Promise((resolve) => embedded.on('trackchange', resolve))
    embedded.select(2)
    embedded.next()
    embedded.play()
    window.early = track
  })()`)
  expect(await page.evaluate(() => (window as unknown as { early: unknown }).early)).toBeNull()
  late.resolve()
  const state = () =>
    page.frames()[1]!.evaluate(() => {
      const { track, paused } = document.querySelector('tonearm-player')!
      return [track?.player_title, paused]
    })
  await expect.poll(state, TIMEOUT).toEqual(['Third', false])
  await page.context().close()
})
