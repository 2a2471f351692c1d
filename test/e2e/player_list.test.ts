import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { ANSWERS, CHAPTERS, player, type PlayerPage, setUp, TIMEOUT } from './player_fake_service.ts'

/** The list of tracks: its head, its end, its keys, and the field that finds a track. */

let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())
beforeEach(() => Object.assign(alone.answers, ANSWERS))

const WORDS = ['Harbor', 'Glass', 'Ember', 'Öland', 'Night']
const manyTitles = (count: number) =>
  Array.from({ length: count }, (_, i) => `${WORDS[i % WORDS.length]} study ${i + 1}`)
const rows = (page: Page) => player(page).locator('.track')
/** Returns the text of the element that has the focus, in any shadow tree. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const active = document.querySelector('tonearm-player')!.shadowRoot!.activeElement
    return active?.querySelector('.name')?.textContent ?? active?.getAttribute('aria-label') ?? active?.className
  })

test('the head of a list states its tracks and their duration, or its chapters, in the language of the player', async () => {
  Object.assign(alone.answers, { titles: manyTitles(12), seconds: 149, chapters: CHAPTERS })
  const page = await alone.open()
  const heads = () => player(page).locator('.count').allTextContents()
  expect(await heads()).toEqual(['3 chapters', '12 tracks · 30 min'])
  await player(page).evaluate((element) => element.setAttribute('locale', 'ja'))
  await expect.poll(heads, TIMEOUT).toEqual(['3チャプター', '12曲 · 30 分'])
  expect(await page.getByRole('searchbox').count()).toBe(0)
  await page.context().close()
})

test('a list that scrolls ends in the middle of a row and fades until its end is visible', async () => {
  for (const [count, height] of [
    [7, 7 * 40],
    [8, 6.5 * 40],
    [12, 6.5 * 40],
  ] as const) {
    alone.answers.titles = manyTitles(count)
    const page = await alone.open({}, { viewport: { width: 480, height: 900 } })
    const list = player(page).locator('[part=playlist]')
    const isFading = () => list.evaluate((each) => getComputedStyle(each).maskImage !== 'none')
    expect((await list.boundingBox())!.height, String(count)).toBe(height)
    await expect.poll(isFading, TIMEOUT).toBe(count > 7)
    await list.evaluate((each) => each.scrollTo(0, each.scrollHeight))
    await expect.poll(isFading, TIMEOUT).toBe(false)
    await page.context().close()
  }
})

test('a list of a thousand tracks is one Tab stop with arrows, Home, End and letters, and lays out only visible rows', async () => {
  alone.answers.titles = manyTitles(1000)
  const page = await alone.open({ track: '500' }, { viewport: { width: 480, height: 900 } })
  const list = player(page).locator('[part=playlist]')
  expect(await rows(page).count()).toBe(1000)
  expect(await player(page).locator('.track[tabindex="0"]').count()).toBe(1)
  const laidOut = () =>
    list.evaluate(
      (each) =>
        [...each.querySelectorAll('.name')].filter((name) => name.checkVisibility({ contentVisibilityAuto: true }))
          .length,
    )
  // Chromium also keeps the rows next to the visible ones.
  await expect.poll(laidOut, TIMEOUT).toBeLessThan(200)
  const box = (await list.boundingBox())!
  const current = (await player(page).locator('.track[aria-current]').boundingBox())!
  expect([current.y >= box.y, current.y + current.height <= box.y + box.height]).toEqual([true, true])

  await page.getByRole('searchbox').focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Night study 500')
  for (const [key, title] of [
    ['ArrowDown', 'Harbor study 501'],
    ['ArrowUp', 'Night study 500'],
    ['o', 'Öland study 504'],
    ['o', 'Öland study 509'],
    ['End', 'Night study 1000'],
    ['g', 'Glass study 2'],
    ['Home', 'Harbor study 1'],
    ['ArrowUp', 'Harbor study 1'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await focused(page), key).toBe(title)
  }
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Shift+Tab')
  expect(await focused(page)).toBe('Find in 1,000 tracks')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Glass study 2')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Audio player: Glass study 2' }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true)
  await page.context().close()
})

test('after a click on a row, letters are keys of the player', async () => {
  alone.answers.titles = manyTitles(12)
  const page = await alone.open()
  await rows(page).nth(2).click()
  await page.keyboard.press('m')
  await page.getByRole('button', { name: 'Unmute' }).waitFor()
  await page.context().close()
})

test('the field of a long list finds titles regardless of case and accents', async () => {
  alone.answers.titles = manyTitles(160)
  const page = await alone.open({}, { viewport: { width: 280, height: 900 } })
  const find = page.getByRole('searchbox', { name: 'Find in 160 tracks' })
  const shown = () => rows(page).filter({ visible: true }).locator('.name').allTextContents()
  await find.fill('LAND study 1')
  await expect.poll(shown, TIMEOUT).toEqual(expect.arrayContaining(['Öland study 14', 'Öland study 149']))
  expect((await shown()).every((title) => title.startsWith('Öland study 1'))).toBe(true)
  await find.press('ArrowDown')
  expect(await focused(page)).toBe('Öland study 14')
  await find.fill('nothing like this')
  await page.getByText('No track has this title.').waitFor()
  expect(await shown()).toEqual([])
  expect(await findings(page)).toEqual([])
  await find.fill('ember study 3')
  await find.press('Enter')
  await page.getByRole('region', { name: 'Audio player: Ember study 3' }).waitFor()
  // A track that the field has hidden is not the Tab stop while it is played.
  await page.getByRole('button', { name: 'Next track' }).click()
  await page.getByRole('region', { name: 'Audio player: Öland study 4' }).waitFor()
  await find.focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Ember study 3')
  await find.fill('')
  expect(await shown()).toHaveLength(160)
  await page.context().close()
})

test.each(['light', 'dark'])(
  'lists, popovers and errors have no axe violations from right to left, %s',
  async (theme) => {
    Object.assign(alone.answers, { titles: manyTitles(30), chapters: CHAPTERS })
    const page = await alone.open({ theme, share: '', locale: 'ar' }, { html: 'lang="ar" dir="rtl"' })
    await page.getByRole('button', { name: 'مؤقت النوم' }).click()
    await page.getByRole('button', { name: '15 دقيقة' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: /^السرعة/ }).click()
    await page.getByRole('slider', { name: 'السرعة' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Escape')
    alone.answers.refusal = { status: 410, code: 'session_expired' }
    await page.evaluate(() => document.querySelector('tonearm-player')!.select(29))
    await page.getByRole('button', { name: 'إعادة تحميل الصفحة' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  },
)
