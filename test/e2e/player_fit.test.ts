import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LOCALES } from '../../src/contract/facts.ts'
import { textDirection } from '../../src/contract/text.ts'
import { findings } from './axe.ts'
import {
  type PlayerPage,
  button,
  CHAPTERS,
  EXPIRED,
  TIMEOUT,
  setUp,
  player as players,
  UNKNOWN,
} from './player_fake_service.ts'

/** Tests the layout of the player at every width, with mouse and touch, in every language and theme. */

const player = (page: Page) => players(page).first()
let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())

describe('the player', () => {
  /** Returns the controls that overlap or extend beyond the player, and the touch targets that are too small. */
  const misfits = (page: Page, least: number) =>
    page.evaluate((size) => {
      const root = document.querySelector('tonearm-player')!.shadowRoot!
      const all = [...root.querySelectorAll('.controls :is(button, input), .retry, .clip-button')]
      const shown = all.filter((each) => each.checkVisibility({ visibilityProperty: true }))
      const boxes = shown.map((each) => ({ name: each.className, box: each.getBoundingClientRect() }))
      const base = root.querySelector('.base')!.getBoundingClientRect()
      const found: string[] = []
      for (const [i, { name, box }] of boxes.entries()) {
        if (box.left < base.left || box.right > base.right) found.push(`${name} sticks out`)
        if (box.width < size || box.height < size) found.push(`${name} is ${box.width} × ${box.height}`)
        for (const { name: other, box: b } of boxes.slice(i + 1))
          if (
            box.left < b.right - 0.5 &&
            b.left < box.right - 0.5 &&
            box.top < b.bottom - 0.5 &&
            b.top < box.bottom - 0.5
          )
            found.push(`${name} on ${other}`)
      }
      return found
    }, least)

  test('fits every width with mouse and touch, in all layouts', async () => {
    alone.answers.seconds = 700
    for (const [hasTouch, titles, seconds, fontSize] of [
      [false, ['First', 'Second'], 700, 15],
      [true, ['First', 'Second'], 700, 15],
      // The large font size stands for the widest font, because the available fonts depend on the machine.
      [true, ['First', 'Second'], 700, 18],
      [false, ['Only'], 700, 15],
      [true, ['Only'], 700, 15],
      [true, ['Only'], 100, 15],
    ] as const) {
      Object.assign(alone.answers, { titles, seconds })
      const attributes = { download: '', share: '', start: '62', end: '75' }
      const page = await alone.open(attributes, { hasTouch, isMobile: hasTouch })
      await player(page).evaluate((element, size) => (element.style.fontSize = `${size}px`), fontSize)
      for (const layout of ['full', 'compact', 'cover', 'low'])
        for (const width of [200, 260, 290, 330, 375, 420, 480, 560, 580, 660, 740, 800]) {
          await page.setViewportSize({ width, height: layout === 'low' ? 176 : 700 })
          await player(page).evaluate((element, value) => element.setAttribute('layout', value), layout)
          const least = hasTouch && layout !== 'compact' ? 44 : 20
          expect(
            await misfits(page, least),
            `${layout} ${width} ${hasTouch} ${titles.length} ${seconds} ${fontSize}`,
          ).toEqual([])
          expect(
            await page.evaluate(() => document.documentElement.scrollWidth),
            `${layout} ${width}`,
          ).toBeLessThanOrEqual(width)
        }
      await page.context().close()
    }
  })

  test('looks the same on a page without a doctype, in both layouts', async () => {
    Object.assign(alone.answers, { titles: ['First', 'Second'], seconds: 100 })
    const heights = async (doctype: string) => {
      const page = await alone.open({}, { doctype, viewport: { width: 480, height: 1200 } })
      const seen: number[] = []
      for (const layout of ['full', 'compact'])
        seen.push(
          await player(page).evaluate((element, value) => {
            element.setAttribute('layout', value)
            return element.shadowRoot!.querySelector('.base')!.getBoundingClientRect().height
          }, layout),
        )
      expect(await page.evaluate(() => document.compatMode)).toBe(doctype ? 'CSS1Compat' : 'BackCompat')
      await page.context().close()
      return seen
    }
    expect(await heights('')).toEqual(await heights('<!doctype html>'))
  })

  /** Returns the parts that are cut off or wrapped letter by letter, in the menu and in the messages of a second player. */
  const cutOff = (page: Page) =>
    page.evaluate(() => {
      const [first, second] = [...document.querySelectorAll('tonearm-player')].map(({ shadowRoot }) => shadowRoot!)
      const menu = first!.querySelector('.menu:popover-open')!
      const status = second!.querySelector('.status')!.getBoundingClientRect()
      const retry = second!.querySelector('.retry')!
      const { left, right, bottom } = retry.getBoundingClientRect()
      return [
        ...(menu.scrollWidth > menu.clientWidth ? ['menu'] : []),
        ...([...menu.querySelectorAll('button')].some((each) => each.scrollWidth > each.clientWidth) ? ['entry'] : []),
        ...(retry.checkVisibility() && (left < status.left || right > status.right || bottom > status.bottom)
          ? ['try again']
          : []),
      ]
    })

  test('fits every language without axe violations', async () => {
    Object.assign(alone.answers, {
      titles: ['First', 'Second'],
      seconds: 700,
      list: { title: 'Night bus' },
      chapters: CHAPTERS,
    })
    const page = await alone.open({ share: '' }, { viewport: { width: 480, height: 800 } })
    // A second player shows an error and a retry button.
    await page.evaluate(() => document.querySelector('main')!.append(document.createElement('tonearm-player')))
    const second = players(page).nth(1)
    await button(page, 'Share').first().click()
    await button(page, 'Link to a part').click()
    const names = new Set<string>()
    for (const locale of LOCALES) {
      await page.evaluate(
        ({ lang, dir }) => {
          Object.assign(document.documentElement, { lang, dir })
          for (const each of document.querySelectorAll('tonearm-player')) each.setAttribute('locale', lang)
        },
        { lang: locale, dir: textDirection(locale) },
      )
      const name = () => player(page).locator('.play-button').getAttribute('aria-label')
      await expect.poll(async () => names.has((await name())!), TIMEOUT).toBe(false)
      names.add((await name())!)
      for (const theme of ['light', 'dark']) {
        await player(page).evaluate((element, value) => element.setAttribute('theme', value), theme)
        const appearance = {
          theme,
          ...(theme === 'dark' ? { id: UNKNOWN, layout: 'compact' } : { id: EXPIRED, layout: 'full' }),
        }
        await second.evaluate((element, { id, theme, layout }) => {
          element.setAttribute('theme', theme)
          element.setAttribute('layout', layout)
          element.setAttribute('play-session-id', id)
        }, appearance)
        // A session that does not exist has no button.
        const over = theme === 'dark' ? '.status p' : '.retry'
        await second.locator(over).waitFor(TIMEOUT)
        expect(await findings(page), `${locale} ${theme}`).toEqual([])
        await page.setViewportSize({ width: 216, height: 800 })
        expect(await cutOff(page), `${locale} ${theme}`).toEqual([])
        await page.setViewportSize({ width: 480, height: 800 })
      }
    }
    await page.context().close()
  })
})
