import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

import type { TonearmPlayer } from '../../src/elements/player/element.ts'
import { showLog } from '../support/logs.ts'
import type { Shared } from './shared_stack.ts'
import { TIMEOUT } from './steps.ts'

export { TIMEOUT }

/** Steps that the tests of the studio share. */

export interface Studio {
  page: Page
  /** Errors of the page so far; a test that causes an error clears this list. */
  problems: string[]
}

/** The size of the window in pixels. */
const SIZE = { width: 1200, height: 900 }

export const newContext = (browser: Browser, options: BrowserContextOptions = {}) =>
  browser.newContext({ viewport: SIZE, ...options })

/** Opens a tab, in a new context, that records the errors of its page. */
export async function openTab(browser: Browser, options?: BrowserContextOptions): Promise<Studio> {
  // Without motion, a position that a test reads is the final one.
  return newTab(await newContext(browser, { reducedMotion: 'reduce', ...options }))
}

/** Opens a tab in a context and closes the others, which can be in any state after a test. The context keeps the code of the studio in its cache. */
export async function newTab(context: BrowserContext): Promise<Studio> {
  for (const open of context.pages()) await open.close()
  const page = await context.newPage()
  const problems: string[] = []
  let faults = ''
  showLog('what went wrong on the service’s side', () => faults)
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('response', async (response) => {
    if (response.status() >= 500) faults += `${response.url()}: ${await response.text().catch(String)}\n`
  })
  return { page, problems }
}

/** Opens the studio with the link that `npm start` prints. */
export async function signIn(page: Page, { base_url, api_key }: Shared): Promise<void> {
  await page.goto(`${base_url}/#key=${api_key}`)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor(TIMEOUT)
}

/**
 * Signs in to another organization in the tab of a test that has passed, because loading the studio takes a second of CPU time. The studio forgets
 * everything when the user signs out. Without a previous tab, it opens one.
 */
export async function signInAfter(previous: Studio | undefined, context: BrowserContext, stack: Shared) {
  const studio = previous ?? (await newTab(context))
  const { page } = studio
  if (!previous) await signIn(page, stack)
  else {
    await page.unrouteAll()
    await page.setViewportSize(SIZE)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Server key').fill(stack.api_key)
    await page.evaluate(() => (location.hash = '#/'))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor(TIMEOUT)
  }
  return studio
}

/** Opens the studio in a new tab. */
export async function openStudio(browser: Browser, stack: Shared, options?: BrowserContextOptions): Promise<Studio> {
  const studio = await openTab(browser, options)
  await signIn(studio.page, stack)
  return studio
}

/** Chooses an option of a select. */
export async function chooseOption(select: Locator, name: string): Promise<void> {
  await select.click()
  await select.page().getByRole('option', { name, exact: true }).click(TIMEOUT)
}

/** Delays some requests until the returned function is called, which removes all routes of the page. */
export async function hold(page: Page, url: RegExp): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await held.promise
    await route.continue()
  })
  return async () => {
    held.resolve()
    await page.unrouteAll({ behavior: 'wait' })
  }
}

/** Holds the next request to a URL that changes something. `held` resolves when it is sent, and `release` lets it continue. */
export async function holdSave(page: Page, url: string) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isTaken = false
  await page.route(url, async (route) => {
    if (isTaken || route.request().method() === 'GET') return route.fallback()
    isTaken = true
    held.resolve()
    await released.promise
    await route.continue()
  })
  return { held: held.promise, release: released.resolve }
}

/** Answers some requests with a failure that is not retried automatically, until the returned function is called. */
export async function refuse(page: Page, url: RegExp): Promise<() => Promise<void>> {
  await page.route(url, (route) => route.fulfill({ status: 403, json: { code: 'forbidden', message: 'Refused.' } }))
  return () => page.unroute(url)
}

/** Navigates to a page of the studio as a link does. */
export async function visit(page: Page, route: string, heading: string | RegExp): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), route)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor(TIMEOUT)
}

/** Finds the row of a track. */
export const rowOf = (page: Page, name: string | RegExp): Locator =>
  page.locator('.track[data-status]').filter({ hasText: name })

/** Returns the names of the rows from top to bottom. */
export const namesOf = (page: Page) => page.locator('.track a.name').allTextContents()

/** Chooses an entry from a menu. */
export async function choose(page: Page, menu: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

/** Chooses what a new key opens. Without words, the newest collections and playlists are offered. */
export async function chooseScope(page: Page, name: string | RegExp, words = ''): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Opens' })
  await field.click(TIMEOUT)
  if (words) await field.fill(words)
  await page.getByRole('listbox', { name: 'Opens' }).getByRole('option', { name }).click(TIMEOUT)
}

/** Edits a text in place, such as the title of the page. */
export async function editText(page: Page, label: string, text: string): Promise<void> {
  await page.getByTitle(`Edit: ${label}`).click(TIMEOUT)
  await page.getByLabel(label, { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

/** Waits until an audio element, in any shadow tree, has passed a time in seconds. */
export async function untilPlaying(place: { locator: Page['locator'] }, seconds: number): Promise<void> {
  const audio = place.locator('audio').first()
  const position = () => audio.evaluate((element) => (element as HTMLAudioElement).currentTime)
  await expect.poll(position, { ...TIMEOUT, interval: 100 }).toBeGreaterThan(seconds)
}

/** Returns the URLs containing `part` that a page or frame has requested so far. */
export const requestsIn = (place: { locator: Page['locator'] }, part: string): Promise<string[]> =>
  place.locator('html').evaluate((_, wanted) => {
    const urls = performance.getEntriesByType('resource').map(({ name }) => name)
    return urls.filter((url) => url.includes(wanted))
  }, part)

/** Expects that the page does not overflow horizontally. `width` is that of the screen in pixels. */
export async function expectNoOverflow(page: Page, name: string, width = page.viewportSize()!.width): Promise<void> {
  const found = await page.evaluate(() => document.documentElement.scrollWidth)
  expect([name, found]).toEqual([name, width])
}

/** Waits until a page is complete: nothing loads, and images, waveforms and players are present. */
export async function untilStill(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.loading:not(.part-states *)').count(), TIMEOUT).toBe(0)
  const still = () =>
    // A browser does not load a lazy image that is hidden, for example in another tab, or far below the window.
    [...document.images].every(
      (image) =>
        image.complete ||
        (image.loading === 'lazy' && (!image.checkVisibility() || image.getBoundingClientRect().top > innerHeight)),
    ) &&
    [...document.querySelectorAll('.cover')].every((cover) => cover.querySelector('img')) &&
    [...document.querySelectorAll('.preview')].every(
      (preview) => preview.querySelector<TonearmPlayer>('tonearm-player')?.track,
    ) &&
    [...document.querySelectorAll('.track-table:not(.no-wave) .track[data-status=ready]')].every((row) =>
      row.querySelector('.wave path, canvas'),
    )
  // Polling on each frame would force the page to paint.
  await page.waitForFunction(still, undefined, { ...TIMEOUT, polling: 50 })
}
