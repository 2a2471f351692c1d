import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { choose, chooseOption, chooseScope, openTab, TIMEOUT, signIn, visit } from './studio_steps.ts'

/** Tests the studio's dialogs with the keyboard: focus, Enter, and a question before input is discarded. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
const question = () => dialog('Discard what you entered?')
const press = (key: string) => page.keyboard.press(key)
const type = (text: string) => page.keyboard.type(text)
/** Returns the label of the focused field, or the text of the focused button. */
const focused = () =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null
    return element?.labels?.[0]?.textContent || element?.ariaLabel || element?.textContent
  })
const expectFocus = (label: string) => expect.poll(focused, TIMEOUT).toBe(label)
/** Submits the form with its button, which then has the focus. */
const create = () => dialog('New key').getByRole('button', { name: 'Create key' }).click()
const open = (name: string) => page.getByRole('button', { name, exact: true }).first().click()

/** The collections and playlists that are offered for a new key. */
const scopes = () => page.getByRole('listbox', { name: 'Opens' }).getByRole('option')

/** Answers the two questions before a player key is created, with the keyboard: which collection it opens, and on which sites. */
async function finishKey() {
  await expectFocus('Opens')
  await dialog('New key').getByText('Choose what the key opens.').waitFor(TIMEOUT)
  await type('nothing has this title')
  await press('Enter')
  // Neither the options of earlier words nor the widest scope are chosen by Enter alone.
  await press('Enter')
  expect(await page.getByLabel('Opens').first().inputValue()).toBe('nothing has this title')
  const marked = page.getByRole('listbox', { name: 'Opens' }).getByRole('option', { selected: true })
  await expect
    .poll(async () => {
      await press('ArrowDown')
      return marked.allTextContents()
    }, TIMEOUT)
    .toEqual(['Everything'])
  await press('Enter')
  await expect.poll(() => page.getByLabel('Opens').first().inputValue(), TIMEOUT).toBe('Everything')
  await press('Enter')
  await dialog('Any site?').waitFor(TIMEOUT)
  await expectFocus('Name sites')
  await press('Enter')
  await dialog('Any site?').waitFor({ state: 'detached' })
  expect((await must(client.get('/v1/api_key'))).count).toBe(1)
  await create()
  await dialog('Any site?').getByRole('button', { name: 'Create for any site' }).click(TIMEOUT)
  await dialog('The secret of Morning mix').getByRole('button', { name: 'Done' }).click(TIMEOUT)
}

test.each([
  ['#/library', 'Library', 'New collection', 'Title'],
  ['#/playlists', 'Playlists', 'New playlist', 'Title'],
  ['#/keys', 'Keys', 'New key', 'Title'],
  ['#/variants', 'Variants', 'New variant', 'Name'],
])(
  '%s: focuses the first field, asks before discarding input, and creates on Enter',
  async (route, heading, name, field) => {
    await visit(page, route, heading)
    await open(name)
    await expectFocus(field)
    // The dialog closes without a question, because nothing was typed.
    await press('Escape')
    await dialog(name).waitFor({ state: 'detached' })

    await open(name)
    await expectFocus(field)
    await type('Morning mix')
    // The ways to close a dialog. Escape is included twice, because browsers do not let a page block the second Escape in a row.
    const ways = [
      () => press('Escape'),
      () => press('Escape'),
      () => dialog(name).getByRole('button', { name: 'Close' }).click(),
      () => dialog(name).getByRole('button', { name: 'Cancel' }).click(),
      () => page.evaluate(() => history.back()),
    ]
    for (const close of ways) {
      await close()
      await question().waitFor()
      await expectFocus('Keep editing')
      await press('Escape')
      await question().waitFor({ state: 'detached' })
      await expectFocus(field)
    }
    expect(await dialog(name).getByLabel(field, { exact: true }).inputValue()).toBe('Morning mix')
    expect(new URL(page.url()).hash).toBe(route)

    await dialog(name).getByRole('button', { name: 'Close' }).click()
    await question().getByRole('button', { name: 'Discard' }).click()
    await dialog(name).waitFor({ state: 'detached' })

    // The test types without waiting until the dialog is open.
    await open(name)
    await type('Morning mix')
    await press('Enter')
    if (name === 'New key') await finishKey()
    await dialog(/./).waitFor({ state: 'detached' })
    await page.getByText('Morning mix').first().waitFor(TIMEOUT)
  },
)

test('a confirmation dialog focuses its Cancel button', async () => {
  await visit(page, '#/keys', 'Keys')
  await choose(page, 'More for Morning mix', 'Revoke key …')
  await expectFocus('Cancel')
  await press('Enter')
  await dialog('Revoke this key?').waitFor({ state: 'detached' })
  expect((await must(client.get('/v1/api_key'))).count).toBe(2)
})

test('a dialog accepts sites in common notations, and reports an invalid site once, at the field', async () => {
  await open('New key')
  await type('Shop')
  // Dropped files must be ignored now, because they would lead to another page.
  let made = 0
  page.on('request', (request) => request.url().endsWith('/v1/collection') && request.method() === 'POST' && made++)
  const dataTransfer = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['Dear diary, '], 'song.mp3', { type: 'audio/mpeg' }))
    return data
  })
  for (const event of ['dragover', 'drop']) await page.dispatchEvent('dialog', event, { dataTransfer })
  expect(await page.locator('#drop-veil.shown').count()).toBe(0)
  await chooseScope(page, 'Everything')
  const sites = page.getByLabel('Sites')
  await sites.fill('www.example.com, example')
  await create()
  await expectFocus('Sites')
  const message = '“example” is not the address of a site. Write it like www.example.com.'
  expect(await page.getByText(message).count()).toBe(1)
  expect(await sites.getAttribute('aria-invalid')).toBe('true')
  const note = await sites.getAttribute('aria-describedby')
  expect(await page.locator(`[id="${note}"]`).textContent()).toBe(message)
  await sites.fill('www.example.com, http://localhost:3000/shop')
  await press('Enter')
  await dialog('The secret of Shop').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Done' }).click()
  const { api_keys } = await must(client.get('/v1/api_key'))
  const allowed_origins = ['https://www.example.com', 'http://localhost:3000']
  expect(api_keys[0]).toMatchObject({ title: 'Shop', allowed_origins })
  expect(made).toBe(0)
})

test('a new key finds its collection or playlist by title, and those with the same title differ by the time of their creation', async () => {
  for (const title of ['Twins', 'Twins', 'Single']) await must(client.post('/v1/collection', { body: { title } }))
  await must(client.post('/v1/playlist', { body: { title: 'Single' } }))
  await open('New key')
  const found = scopes()
  await page.getByLabel('Opens').first().fill('single')
  await expect
    .poll(() => found.allTextContents(), TIMEOUT)
    .toEqual(['SingleCollection · 0 tracks', 'SinglePlaylist · 0 tracks', 'Everything'])
  await page.getByLabel('Opens').first().fill('twins')
  await expect.poll(() => found.filter({ hasText: /^TwinsCollection · .+ · [\da-f]{8}$/ }).count(), TIMEOUT).toBe(2)
  expect(new Set(await found.allTextContents()).size).toBe(3)
  // Uploader keys cannot open playlists.
  await chooseOption(page.getByRole('combobox', { name: 'Kind' }), 'Uploader: uploads, in browsers and apps')
  await page.getByLabel('Opens').first().fill('single')
  await expect.poll(() => found.allTextContents(), TIMEOUT).toEqual(['SingleCollection · 0 tracks', 'Any collection'])
  await page.getByLabel('Opens').first().press('Escape')
  await press('Escape')
})

test('a dialog shows an error of the service at the field that caused it', async () => {
  await open('New key')
  const title = page.getByLabel('Title', { exact: true })
  // Without this attribute, the service receives a value that is too long, as it would from a browser that counts the length differently.
  await title.evaluate((field) => field.removeAttribute('maxlength'))
  await title.fill('x'.repeat(256))
  await chooseScope(page, 'Everything')
  await page.getByLabel('Sites').fill('www.example.com')
  await create()
  await dialog('New key').getByText('Must be between 1 and 255 characters, not 256.').waitFor(TIMEOUT)
  await expectFocus('Title')
  expect(await dialog('New key').getByRole('alert').allTextContents()).toEqual([
    'Must be between 1 and 255 characters, not 256.',
  ])
  await title.fill('Slow')
  // The browser logs each failed response.
  problems.length = 0
})

test('a dialog stays open while a key is created, and asks before its secret disappears', async () => {
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/api_key', async (route) => {
    await held.promise
    await route.continue()
  })
  // Waits until the previous submission has ended, because a busy form ignores Enter.
  await expect.poll(() => page.locator('form[aria-busy=true]').count(), TIMEOUT).toBe(0)
  const sent = page.waitForRequest('**/v1/api_key')
  await page.getByLabel('Title', { exact: true }).press('Enter')
  await sent
  await expect.poll(() => page.locator('form[aria-busy=true]').count(), TIMEOUT).toBe(1)
  const asksToLeave = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  expect(await asksToLeave()).toBe(true)
  await press('Escape')
  await press('Escape')
  await dialog('New key').getByRole('button', { name: 'Close' }).click()
  expect(await dialog('New key').getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  expect(await question().count()).toBe(0)
  held.resolve()
  const shown = dialog('The secret of Slow')
  await shown.getByText(/^ta_pk_/).waitFor(TIMEOUT)
  // An extra Enter has no effect.
  await press('Enter')
  await press('Escape')
  await dialog('Have you kept the secret?').getByRole('button', { name: 'Back to the secret' }).click()
  await shown.getByText(/^ta_pk_/).waitFor()
  expect(await asksToLeave()).toBe(true)
  await shown.getByRole('button', { name: 'Done' }).click()
  await shown.waitFor({ state: 'detached' })
  expect(await asksToLeave()).toBe(false)
  expect(problems).toEqual([])
})
