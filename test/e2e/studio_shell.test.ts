import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { hold, openTab, requestsIn, signIn, TIMEOUT, visit } from './studio_steps.ts'

/** Tests the frame of the studio's pages: the field that searches and jumps, shortcuts, and settings. */

let stack: Shared
let browser: Browser
let page: Page
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Harbor Songs' } }))
  await must(client.post('/v1/track', { body: { collection_id, file_name: 'Harbor.wav' } }))
  await must(client.post('/v1/track', { body: { collection_id, file_name: 'Harbor Lights.wav' } }))
  await must(client.post('/v1/playlist', { body: { title: 'Harbor Nights' } }))
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const field = () => page.getByRole('combobox', { name: 'Search or jump' })
const marked = () => page.locator('[role=option][aria-selected=true]').textContent()

test('the search field opens with a key, and finds collections, tracks, playlists and pages by keyboard alone', async () => {
  await page.keyboard.press('/')
  await field().waitFor(TIMEOUT)
  await page.keyboard.type('harbor')
  await page.getByRole('option', { name: /Harbor Nights/ }).waitFor(TIMEOUT)
  expect(await page.getByRole('option').allTextContents()).toEqual([
    // The title that is typed is first.
    'HarborTrack',
    'Harbor SongsCollection',
    'Harbor LightsTrack',
    'Harbor NightsPlaylist',
    'All results for “harbor”',
  ])
  expect(await marked()).toBe('HarborTrack')
  await page.keyboard.press('ArrowDown')
  expect(await marked()).toBe('Harbor SongsCollection')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Harbor Songs' }).waitFor(TIMEOUT)

  // Enter waits for the best result.
  await page.keyboard.press('/')
  await page.keyboard.type('harbor lights')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Harbor Lights' }).waitFor(TIMEOUT)

  // All results are the last entry. Going back from one of them returns to the words.
  await page.keyboard.press('/')
  await page.keyboard.type('harbor')
  await page.getByRole('option', { name: /Harbor Nights/ }).waitFor(TIMEOUT)
  await page.keyboard.press('ArrowUp')
  expect(await marked()).toBe('All results for “harbor”')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Harbor Nights' }).click(TIMEOUT)
  await page.getByRole('heading', { level: 1, name: 'Harbor Nights' }).waitFor(TIMEOUT)
  await page.goBack()
  await page.getByRole('region', { name: 'Collections' }).getByRole('link').waitFor(TIMEOUT)
  expect(await page.getByRole('searchbox', { name: 'Search everything' }).inputValue()).toBe('harbor')

  // Words with a typo are corrected; the dialog stays open.
  await page.keyboard.press('/')
  await field().waitFor(TIMEOUT)
  await page.keyboard.type('harbor knights')
  await page.getByRole('option', { name: 'Did you mean “harbor nights”?' }).waitFor(TIMEOUT)
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: /^Harbor Nights/ }).waitFor(TIMEOUT)
  expect(await field().inputValue()).toBe('harbor nights')

  // A press on the suggestion leaves the focus in the field.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('harbor knights')
  await page.getByRole('option', { name: 'Did you mean “harbor nights”?' }).click(TIMEOUT)
  expect(await field().evaluate((element) => element === document.activeElement)).toBe(true)

  // While more is typed, Enter does not choose the suggestion for the earlier words. It opens the best result of the last ones.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('harbor knights')
  await page.getByRole('option', { name: 'Did you mean “harbor nights”?' }).waitFor(TIMEOUT)
  await page.keyboard.press('ControlOrMeta+a')
  const release = await hold(page, /[?&]q=harbor(\+|%20)nights/)
  await page.keyboard.type('harbor nights')
  await page.keyboard.press('Enter')
  expect(await field().inputValue()).toBe('harbor nights')
  await release()
  await page.getByRole('heading', { level: 1, name: 'Harbor Nights' }).waitFor(TIMEOUT)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('webhook')
  await page.getByRole('option', { name: 'Webhooks' }).waitFor(TIMEOUT)
  await expect.poll(() => page.getByRole('listbox').getAttribute('aria-busy'), TIMEOUT).toBe('false')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor(TIMEOUT)
})

test('no key after the first / or Control-K of a visit is lost, although no more modules can be loaded', async () => {
  const { page } = await openTab(browser)
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('button', { name: 'Search or jump' }).waitFor(TIMEOUT)
  expect((await requestsIn(page, '/assets/')).filter((url) => url.endsWith('.js'))).toHaveLength(1)
  await page.route('**/assets/**', (route) => route.abort())
  const field = page.getByRole('combobox', { name: 'Search or jump' })
  await page.keyboard.type('/salt door')
  expect(await field.inputValue()).toBe('salt door')
  await page.unrouteAll()
  await page.reload()
  await page.getByRole('button', { name: 'Search or jump' }).waitFor(TIMEOUT)
  await page.route('**/assets/**', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.keyboard.type('harbor')
  expect(await field.inputValue()).toBe('harbor')
  await page.context().close()
})

test('keys do nothing while the user types in a field', async () => {
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog', { name: 'New collection' })
  await dialog.waitFor(TIMEOUT)
  await page.keyboard.type('n/u?')
  expect(await dialog.getByLabel('Title').inputValue()).toBe('n/u?')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: 'n/u?' }).waitFor(TIMEOUT)
})

test('the theme is kept after a reload, and the name of the organization is shown at once', async () => {
  await visit(page, '#/settings', 'Settings')
  await page.getByRole('radio', { name: 'Dark' }).click()
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  await expect.poll(ground, TIMEOUT).toBe('rgb(18, 19, 22)')
  await page.reload()
  await page.getByLabel('Name').waitFor(TIMEOUT)
  expect(await ground()).toBe('rgb(18, 19, 22)')
  expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true)

  await page.getByLabel('Name').fill('Salt & Wind <b>')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('banner').getByText('Salt & Wind <b>').waitFor(TIMEOUT)
  await page.getByLabel('Name').fill(' ')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(await page.getByLabel('Name').inputValue()).toBe('Salt & Wind <b>')
})

test('routes such as #/constructor show Page not found', async () => {
  for (const route of ['#/toString', '#/constructor', '#/__proto__']) {
    await page.evaluate((hash) => (location.hash = hash), route)
    await page.getByText('Page not found').waitFor(TIMEOUT)
  }
  expect(problems.filter((problem) => !problem.includes('400'))).toEqual([])
})
