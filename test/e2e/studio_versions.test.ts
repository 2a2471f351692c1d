import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { openTab, signIn, TIMEOUT, visit } from './studio_steps.ts'

/** Two people change the same resource in forms of the studio, each in a tab. */

let stack: Shared
let browser: Browser
let client: Client
let tabs: [Page, Page]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const opened = await Promise.all([openTab(browser), openTab(browser)])
  tabs = [opened[0].page, opened[1].page]
  await Promise.all(tabs.map((page) => signIn(page, stack)))
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const both = (work: (page: Page) => Promise<unknown>) => Promise.all(tabs.map(work))

test('settings that someone else has changed are not overwritten unless the user decides so', async () => {
  await both((page) => visit(page, '#/settings', 'Settings'))
  const [first, second] = tabs
  const subtitle = (page: Page) => page.getByLabel('Subtitle')
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click(TIMEOUT)
  const saved = (page: Page) =>
    page
      .locator('#announcer')
      .getByText('Settings saved')
      .waitFor({ state: 'attached', ...TIMEOUT })
  const notice = second.getByText('Someone else has changed the same settings meanwhile.')
  await both((page) => subtitle(page).waitFor(TIMEOUT))
  await subtitle(first).fill('Of the first')
  await save(first)
  await saved(first)
  // Another field is saved without a question.
  await second.getByRole('checkbox', { name: 'Collections may have colors of their own' }).uncheck()
  await save(second)
  await saved(second)
  expect(await subtitle(second).inputValue()).toBe('Of the first')

  await subtitle(first).fill('Of the first again')
  await save(first)
  await saved(first)
  await subtitle(second).fill('Of the second')
  await save(second)
  await notice.waitFor(TIMEOUT)
  expect(await subtitle(second).inputValue()).toBe('Of the second')
  await second.getByRole('button', { name: 'Keep theirs' }).click()
  expect(await subtitle(second).inputValue()).toBe('Of the first again')

  await subtitle(first).fill('Of the first at last')
  await save(first)
  await expect.poll(() => first.getByRole('button', { name: 'Discard' }).count(), TIMEOUT).toBe(0)
  await subtitle(second).fill('Of the second')
  await save(second)
  await second.getByRole('button', { name: 'Use mine' }).click(TIMEOUT)
  await notice.waitFor({ state: 'detached', ...TIMEOUT })
  await first.reload()
  await expect.poll(() => subtitle(first).inputValue(), TIMEOUT).toBe('Of the second')
})

test('a color that someone else has chosen is not overwritten unless the user decides so', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Colors' } }))
  const params = { collection_id }
  const stored = async () =>
    (await must(client.get('/v1/collection/{collection_id}', { params }))).collection.player_color
  await both((page) => visit(page, `#/collection/${collection_id}`, 'Colors'))
  const [first, second] = tabs
  const color = (page: Page) => page.getByLabel('Another color')
  const notice = second.getByText('Someone else has changed the same values meanwhile.')
  await both((page) => color(page).waitFor(TIMEOUT))
  await color(first).fill('#112233')
  await expect.poll(stored, TIMEOUT).toBe('#112233')
  await color(second).fill('#445566')
  await notice.waitFor(TIMEOUT)
  expect(await stored()).toBe('#112233')
  await second.getByRole('button', { name: 'Keep theirs' }).click()
  expect(await color(second).inputValue()).toBe('#112233')

  await color(first).fill('#223344')
  await expect.poll(stored, TIMEOUT).toBe('#223344')
  await color(second).fill('#445566')
  await second.getByRole('button', { name: 'Use mine' }).click(TIMEOUT)
  await expect.poll(stored, TIMEOUT).toBe('#445566')

  // A page that is left during a conflict does not overwrite it.
  await color(first).fill('#556677')
  await notice.waitFor({ state: 'detached', ...TIMEOUT })
  await first.getByRole('button', { name: 'Use mine' }).click(TIMEOUT)
  await expect.poll(stored, TIMEOUT).toBe('#556677')
  await color(second).fill('#778899')
  await notice.waitFor(TIMEOUT)
  await visit(second, '#/library', 'Library')
  await second.reload()
  await second.getByRole('heading', { level: 1, name: 'Library' }).waitFor(TIMEOUT)
  expect(await stored()).toBe('#556677')
})
