import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { ANSWERS, button, player, type PlayerPage, setUp, TIMEOUT } from './player_fake_service.ts'

/** A player that cannot play: the reason, the button, and the parts that stay. */

let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())
beforeEach(() => Object.assign(alone.answers, ANSWERS))

const controls = (page: Page) => page.getByRole('button').allTextContents()

test('an expired session shows the reason and one button without controls, and play reports the expiry again', async () => {
  alone.answers.refusal = { status: 410, code: 'session_expired' }
  const page = await alone.open({ autoplay: '' })
  await page.getByRole('status').getByText('This player has expired.').waitFor()
  expect(await controls(page)).toEqual(['Reload the page'])
  expect(await page.getByRole('slider').count()).toBe(0)
  await page.evaluate(() => document.querySelector('tonearm-player')!.play())
  const expirations = () =>
    page.evaluate(
      () => (window as unknown as { seen: string[] }).seen.filter((name) => name === 'sessionexpired').length,
    )
  await expect.poll(expirations, TIMEOUT).toBe(2)
  alone.answers.refusal = null
  await button(page, 'Reload the page').click()
  await button(page, 'Next track').waitFor()
  await page.context().close()
})

test('a player keeps its cover and titles when its session expires, and the keys still work', async () => {
  const titles = Array.from({ length: 12 }, (_, i) => `Title ${i + 1}`)
  Object.assign(alone.answers, { titles, list: { title: 'Night bus', subtitle: 'Ines Calder' } })
  const page = await alone.open()
  await button(page, 'Next track').focus()
  alone.answers.refusal = { status: 410, code: 'session_expired' }
  await page.evaluate(() => document.querySelector('tonearm-player')!.select(9))
  await button(page, 'Reload the page').waitFor()
  expect(await controls(page)).toEqual(['Reload the page'])
  expect(await player(page).locator('[part=title]').textContent()).toBe('Title 9')
  expect(await player(page).locator('[part=cover]').isVisible()).toBe(true)
  expect(await findings(page)).toEqual([])
  alone.answers.refusal = null
  await page.keyboard.press('k')
  await button(page, 'Pause').waitFor()
  await page.context().close()
})

test('a track that is gone leaves the controls of the other tracks', async () => {
  Object.assign(alone.answers, { views: false })
  const page = await alone.open()
  await page.route(/\/v1\/play\/[^/]+\?/, (route) =>
    route.fulfill({ status: 404, json: { ok: false, message: 'No', code: 'not_found' } }),
  )
  await page.route(/\/v1\/play\/[^/?]+$/, (route) =>
    route.fulfill({ json: { ok: true, tracks: [], play_session: {} } }),
  )
  await page.evaluate(() => document.querySelector('tonearm-player')!.select(2))
  await page.getByRole('status').getByText('This audio is not available any more.').waitFor()
  expect(await button(page, 'Next track').count()).toBe(1)
  expect(await button(page, 'Try again').count()).toBe(0)
  await page.context().close()
})
