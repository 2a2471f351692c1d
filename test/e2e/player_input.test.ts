import { afterAll, beforeAll, expect, test } from 'vitest'

import { button, openReady, PATIENCE, position, setUp, type Workspace, TWO_TRACKS } from './player_setup.ts'

/** Input: pointer, touch, keyboard, and lock screen. */

let workspace: Workspace
let play_session_id: string

beforeAll(async () => {
  workspace = await setUp()
  const album = await workspace.anAlbum(TWO_TRACKS)
  play_session_id = await workspace.aSession(album)
})
afterAll(() => workspace?.dispose())

const open = (...openArgs: [attributes?: Record<string, string>, options?: Parameters<Workspace['open']>[1]]) =>
  openReady(workspace, play_session_id, ...openArgs)

test('a pointer seeks on the waveform and shows the time', async () => {
  const opened = await open()
  const { width } = (await position(opened).boundingBox())!
  await position(opened).hover({ position: { x: width / 3, y: 20 } })
  expect(await opened.page.locator('tonearm-waveform .time').textContent()).toBe('0:10')
  await position(opened).click({ position: { x: width / 2, y: 20 } })
  expect((await opened.state()).time).toBeCloseTo(15, 0)
  expect(await position(opened).getAttribute('aria-valuetext')).toBe('15 seconds of 30 seconds')
  await opened.call('play')
  await opened.untilTime(15.5)
  await opened.close()
})

test('keys control the player regardless of the focus: space, arrows, Home, End and M', async () => {
  const opened = await open()
  const { keyboard } = opened.page
  const time = async () => (await opened.state()).time
  await opened.page.locator('tonearm-player').getByText('First').first().click()
  await keyboard.press('ArrowRight')
  expect(await time()).toBeCloseTo(5, 1)
  await keyboard.press('End')
  expect(await time()).toBeGreaterThan(29)
  await keyboard.press('Home')
  expect(await time()).toBe(0)
  await position(opened).focus()
  await keyboard.press('PageUp')
  expect(await time()).toBeCloseTo(3, 1)
  await keyboard.press('m')
  expect(await button(opened, 'Unmute').count()).toBe(1)
  await keyboard.press('m')
  await keyboard.press(' ')
  await opened.untilTime(3.2)
  // If a button has the focus, the space bar presses that button.
  await button(opened, 'Shuffle').focus()
  await keyboard.press(' ')
  expect(await button(opened, 'Shuffle').getAttribute('aria-pressed')).toBe('true')
  expect((await opened.state()).paused).toBe(false)
  await opened.close()
})

test('the lock screen shows and controls the track', async () => {
  const opened = await open()
  await opened.page.evaluate(() => {
    const handlers: Record<string, unknown> = {}
    Object.assign(window, { handlers })
    const set = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession)
    navigator.mediaSession.setActionHandler = (name, handler) => {
      handlers[name] = handler
      set(name, handler)
    }
  })
  await opened.call('play')
  await opened.untilTime(0.3)
  const shown = () =>
    opened.page.evaluate(() => {
      const { metadata, playbackState } = navigator.mediaSession
      return {
        title: metadata?.title,
        artwork: metadata?.artwork.map(({ sizes, type }) => `${sizes} ${type}`),
        playbackState,
      }
    })
  await expect.poll(shown, PATIENCE).toEqual({
    title: 'First',
    artwork: ['80x80', '200x200', '400x400'].map((size) => `${size} image/png`),
    playbackState: 'playing',
  })
  const press = (name: string, details: object = {}) =>
    opened.page.evaluate(
      ([action, details]) =>
        (window as unknown as { handlers: Record<string, (details: object) => void> }).handlers[action]!(details),
      [name, details] as const,
    )
  await press('seekto', { seekTime: 20 })
  await opened.untilTime(19.9)
  await press('nexttrack')
  expect((await opened.state()).title).toBe('Second')
  await press('pause')
  expect((await opened.state()).paused).toBe(true)
  await opened.close()
})
