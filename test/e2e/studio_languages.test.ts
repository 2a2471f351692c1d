import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { LOCALES } from '../../src/contract/facts.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { COLOR_RULES, findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { fillOrganization, type StudioPage, type StudioPages } from './studio_library.ts'
import { chooseOption, expectNoOverflow, openTab, signIn, TIMEOUT, untilStill } from './studio_steps.ts'

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

const SCREENS = {
  desktop: { width: 1200, height: 900, mobile: false },
  phone: { width: 375, height: 760, mobile: true },
}

test('every page fits in every language on a desktop and on a phone, and passes axe in Arabic', async () => {
  const { page, problems } = await openTab(browser, { reducedMotion: 'reduce' })
  // Changes what Playwright's `viewport` and `isMobile` set for a whole context, so that a page is loaded once for both screens.
  const devtools = await page.context().newCDPSession(page)
  const show = (screen: object) =>
    devtools.send('Emulation.setDeviceMetricsOverride', { ...SCREENS.desktop, deviceScaleFactor: 1, ...screen })
  await signIn(page, stack)
  // Half of the pages are loaded on a phone, because the screens take turns in being the first.
  let screens = Object.entries(SCREENS)
  for (const language of LOCALES.slice(1)) {
    await choose(page, language)
    for (const [name, [route]] of Object.entries<StudioPage>(places)) {
      await page.evaluate((hash) => {
        location.hash = hash
        return new Promise(requestAnimationFrame)
      }, route)
      screens = screens.toReversed()
      for (const [screen, size] of screens) {
        await show(size)
        await page.locator('main h1').waitFor(TIMEOUT)
        await untilStill(page)
        const place = `${name} in ${language} on a ${screen}`
        // The states of deliveries change while they are measured.
        if (name !== 'webhook') await expectNoOverflow(page, place, size.width)
        if (language !== 'ar') continue
        for (const [colorScheme, rules] of [['light'], ['dark', COLOR_RULES]] as const) {
          await page.emulateMedia({ colorScheme })
          expect([place, colorScheme, await findings(page, rules)]).toEqual([place, colorScheme, []])
        }
      }
    }
  }
  expect(problems).toEqual([])
  await page.context().close()
})

test('the studio has the language of the browser, and another one at once when it is chosen', async () => {
  const { page, problems } = await openTab(browser, { locale: 'de-AT' })
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('heading', { level: 1, name: 'Übersicht' }).waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await page.evaluate(() => (location.hash = '#/settings'))
  await chooseOption(page.getByRole('main').getByRole('combobox').first(), 'العربية')
  await page.getByRole('heading', { level: 1, name: 'الإعدادات' }).waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'الإعدادات' }).waitFor(TIMEOUT)
  await chooseOption(page.getByLabel('اللغة'), 'مثل المتصفح')
  await page.locator('html[lang=de]').waitFor(TIMEOUT)
  expect(await page.locator('html').getAttribute('dir')).toBe('ltr')
  expect(problems).toEqual([])
  await page.context().close()
})
