import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { type PlayerPage, ANSWERS, TIMEOUT, SESSION, setUp } from './player_fake_service.ts'

/** What happens when a player fails or is removed from its page: to the lock screen, the position, and the memory. */

let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())
beforeEach(() => Object.assign(alone.answers, ANSWERS))

test('the lock screen is updated after a failure and after an expiry', async () => {
  // Without views that were read ahead, each selection needs a response.
  Object.assign(alone.answers, { views: false })
  const page = await alone.open()
  const shown = () =>
    page.evaluate(() => {
      const { playbackState, metadata } = navigator.mediaSession
      return [playbackState, metadata?.title]
    })
  const select = (track: number) =>
    page.evaluate((number) => document.querySelector('tonearm-player')!.select(number), track)
  await page.evaluate(() => document.querySelector('tonearm-player')!.play())
  await expect.poll(shown, TIMEOUT).toEqual(['playing', 'First'])
  alone.answers.refusal = { status: 403, code: 'insufficient_scope' }
  await select(3)
  await expect.poll(shown, TIMEOUT).toEqual(['paused', 'Third'])
  alone.answers.refusal = null
  await select(1)
  await expect.poll(shown, TIMEOUT).toEqual(['playing', 'First'])
  alone.answers.refusal = { status: 410, code: 'session_expired' }
  await select(2)
  await expect.poll(shown, TIMEOUT).toEqual(['paused', 'Second'])
  Object.assign(alone.answers, ANSWERS)
  await page.context().close()
})

test('a removed player stops, and keeps its position when it is reinserted', async () => {
  const page = await alone.open({ autoplay: '', start: '10' })
  await page.evaluate(() => {
    const element = document.querySelector('tonearm-player')!
    Object.assign(window, { element, pauses: 0 })
    element.addEventListener('tonearm-pause', () => (window as unknown as { pauses: number }).pauses++)
    element.select(2)
    element.currentTime = 40
  })
  await page.waitForFunction(() => document.querySelector('tonearm-player')!.currentTime > 40.1, null, TIMEOUT)
  const takeOut = () =>
    page.evaluate(() => {
      const seen = window as unknown as { element: HTMLElement; pauses: number }
      seen.element.remove()
      return new Promise((resolve) =>
        setTimeout(() => resolve([seen.pauses, seen.element.shadowRoot!.querySelectorAll('audio').length])),
      )
    })
  expect(await takeOut()).toEqual([1, 0])
  const putBack = (act: 'play' | 'nothing') =>
    page.evaluate((name) => {
      const { element } = window as unknown as { element: HTMLElementTagNameMap['tonearm-player'] }
      if (name === 'play') void element.play()
      document.querySelector('main')!.append(element)
    }, act)
  const state = () =>
    page.evaluate(() => {
      const { track, currentTime, paused } = document.querySelector('tonearm-player')!
      const { pauses } = window as unknown as { pauses: number }
      return [track?.player_title, Math.floor(currentTime / 10), paused, pauses]
    })
  await putBack('nothing')
  await expect.poll(state, TIMEOUT).toEqual(['Second', 4, true, 1])
  // Methods that are called while the player is removed take effect when it is reinserted.
  await takeOut()
  await putBack('play')
  await expect.poll(state, TIMEOUT).toEqual(['Second', 4, false, 1])
  await page.context().close()
})

test('a player that is removed before it has a session keeps its autoplay', async () => {
  const page = await alone.open()
  await page.evaluate(async (session) => {
    const element = document.createElement('tonearm-player')
    element.setAttribute('autoplay', '')
    document.body.append(element)
    element.remove()
    // The removed player closes in a microtask, which runs here.
    await Promise.resolve()
    element.setAttribute('play-session-id', session)
    document.querySelector('tonearm-player')!.replaceWith(element)
  }, SESSION)
  await page.waitForFunction(() => document.querySelector('tonearm-player')!.currentTime > 0, null, TIMEOUT)
  await page.context().close()
})

test('the memory of removed players is freed', async () => {
  const page = await alone.open()
  const devtools = await page.context().newCDPSession(page)
  await page.evaluate(async (session) => {
    const players: WeakRef<Element>[] = []
    Object.assign(window, { players })
    for (let i = 0; i < 5; i++) {
      const element = document.createElement('tonearm-player')
      const isHeard = new Promise((resolve) => element.addEventListener('tonearm-timeupdate', resolve, { once: true }))
      element.setAttribute('play-session-id', session)
      document.body.append(element)
      void element.play()
      await isHeard
      players.push(new WeakRef(element))
      element.remove()
    }
  }, SESSION)
  const alive = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    return page.evaluate(
      () => (window as unknown as { players: WeakRef<Element>[] }).players.filter((player) => player.deref()).length,
    )
  }
  await expect.poll(alive, TIMEOUT).toBe(0)
  await page.context().close()
})
