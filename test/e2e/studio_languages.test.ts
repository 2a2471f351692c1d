import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LOCALES } from '../../src/elements/texts/languages.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { COLOR_RULES, findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { fillOrganization, type StudioPage, type StudioPages } from './studio_library.ts'
import { expectNoOverflow, openTab, signIn, TIMEOUT, untilStill } from './studio_steps.ts'

/** Every page of the studio in every language: it fits, and passes axe from right to left. */

let stack: Shared
let browser: Browser
let places: StudioPages

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  places = await fillOrganization(stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

/** Chooses a language as the page Settings does. */
async function choose(page: Page, language: string) {
  await page.evaluate((stored) => localStorage.setItem('tonearm.preferences', stored), JSON.stringify({ language }))
  await page.reload()
  await page.locator(`html[lang=${language}]`).waitFor({ state: 'attached', ...TIMEOUT })
  await page.locator('main h1').waitFor(TIMEOUT)
}

describe.each([
  ['a desktop', {}],
  ['a phone', { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true }],
])('on %s', (_, screen) => {
  test('every page fits in every language, and passes axe in Arabic', async () => {
    const { page, problems } = await openTab(browser, { ...screen, reducedMotion: 'reduce' })
    await signIn(page, stack)
    for (const language of LOCALES.slice(1)) {
      await choose(page, language)
      for (const [name, [route]] of Object.entries<StudioPage>(places)) {
        await page.evaluate((hash) => {
          location.hash = hash
          return new Promise(requestAnimationFrame)
        }, route)
        await page.locator('main h1').waitFor(TIMEOUT)
        await untilStill(page)
        // The states of deliveries change while they are measured.
        if (name !== 'webhook') await expectNoOverflow(page, `${name} in ${language}`)
        if (language !== 'ar') continue
        for (const [colorScheme, rules] of [['light'], ['dark', COLOR_RULES]] as const) {
          await page.emulateMedia({ colorScheme })
          expect([name, colorScheme, await findings(page, rules)]).toEqual([name, colorScheme, []])
        }
      }
    }
    expect(problems).toEqual([])
    await page.context().close()
  })
})

test('the studio has the language of the browser, and another one at once when it is chosen', async () => {
  const { page, problems } = await openTab(browser, { locale: 'de-AT' })
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('heading', { level: 1, name: 'Übersicht' }).waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await page.evaluate(() => (location.hash = '#/settings'))
  await page.getByRole('main').getByRole('combobox').first().selectOption('ar')
  await page.getByRole('heading', { level: 1, name: 'الإعدادات' }).waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'الإعدادات' }).waitFor(TIMEOUT)
  await page.getByLabel('اللغة').selectOption('')
  await page.locator('html[lang=de]').waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('dir')).toBe('ltr')
  expect(problems).toEqual([])
  await page.context().close()
})
