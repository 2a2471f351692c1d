import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { launchBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { choose, namesOf, openTab, PATIENCE, signIn, visit } from './studio_steps.ts'

/** What becomes of uploads in the studio when something concerns them all. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let collection: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), launchBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await browser?.close()
  await stack?.dispose()
})

async function openNew(title: string) {
  collection = (await must(client.post('/v1/collection', { body: { title } }))).collection_id
  await visit(page, `#/collection/${collection}`, title)
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor(PATIENCE)
}
const choice = (...names: string[]) =>
  names.map((name) => ({ name: `${name}.mp3`, mimeType: 'audio/mpeg', buffer: Buffer.from('%PDF-1.7\n\0') }))
const add = (...names: string[]) => page.setInputFiles('.thing-text input[type=file]', choice(...names))

/** Whether the browser would ask before it leaves the page. */
const asks = () =>
  page.evaluate(() => {
    const event = new Event('beforeunload', { cancelable: true })
    dispatchEvent(event)
    return event.defaultPrevented
  })

test('uploads into a collection end when it is deleted, and the page can be left', async () => {
  await openNew('Short-lived')
  const held = Promise.withResolvers<void>()
  await page.route('**/uploads/**', async (route) => {
    await held.promise
    await route.continue().catch(() => {})
  })
  const sent = page.waitForRequest(/\/uploads\//, PATIENCE)
  await add('a', 'b', 'c', 'd')
  await sent
  expect(await asks()).toBe(true)
  await choose(page, 'More for Short-lived', 'Delete collection …')
  await page.getByRole('button', { name: 'Delete collection', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor(PATIENCE)
  expect(await asks()).toBe(false)
  held.resolve()
})

test('files that are uploaded together keep their order, whichever is there first', async () => {
  await openNew('Together')
  const held = Promise.withResolvers<void>()
  await page.route(
    /\/uploads\//,
    async (route) => {
      await held.promise
      await route.continue()
    },
    { times: 1 },
  )
  const sent = page.waitForRequest(/\/uploads\//, PATIENCE)
  await add('a')
  await sent
  await add('b')
  await expect.poll(() => namesOf(page), PATIENCE).toEqual(['b'])
  held.resolve()
  await expect.poll(() => namesOf(page), PATIENCE).toEqual(['a', 'b'])
})

test('what stops all uploads is said, and the next files take the others along', async () => {
  await openNew('Refused')
  const refusal = { ok: false, code: 'insufficient_scope', message: 'This key may not do that' }
  await page.route('**/v1/upload_session', (route) => route.fulfill({ status: 403, json: refusal }))
  await add('first')
  const said = page.getByRole('alert').getByText('The key of this page is not allowed to upload.')
  await said.waitFor(PATIENCE)
  await page.locator('#announcer').getByText('The key of this page is not allowed to upload.').waitFor()
  await page.unroute('**/v1/upload_session')
  await add('second')
  await expect.poll(() => namesOf(page), PATIENCE).toHaveLength(2)
  expect((await namesOf(page)).toSorted()).toEqual(['first', 'second'])
  expect([await said.count(), await asks()]).toEqual([0, false])
})

test('a collection that was deleted elsewhere takes no files; the page says so, and can be left', async () => {
  await openNew('Gone')
  await must(client.delete('/v1/collection/{collection_id}', { params: { collection_id: collection } }))
  await add('late')
  const said = page.locator('.problem').filter({ hasText: 'their collection does not exist any more' })
  await said.waitFor(PATIENCE)
  await said.getByRole('button', { name: 'Try again' }).click()
  await said.waitFor(PATIENCE)
  expect(await asks()).toBe(true)
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await page.getByText('This does not exist, or not any more.').waitFor(PATIENCE)
  // The uploads end after the page is drawn.
  await expect.poll(asks, PATIENCE).toBe(false)
})
