import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { holdSave, openTab, signIn, TIMEOUT, visit } from './studio_steps.ts'

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
  const saved = (page: Page) => page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached', ...TIMEOUT })
  const notice = second.getByText('Someone else has changed the same values.')
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
  await saved(first)
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
  const notice = second.getByText('Someone else has changed the same values.')
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

test('changes during a save wait for the decision of the user if the save is a conflict', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'In flight' } }))
  const params = { collection_id }
  const stored = async () => {
    const { player_color, is_cover_overridable } = (
      await must(client.get('/v1/collection/{collection_id}', { params }))
    ).collection
    return [player_color, is_cover_overridable]
  }
  const page = tabs[0]
  await visit(page, `#/collection/${collection_id}`, 'In flight')
  const color = page.getByLabel('Another color')
  const covers = page.getByRole('checkbox', { name: 'Cover', exact: true })
  const notice = page.getByText('Someone else has changed the same values.')
  await color.waitFor(TIMEOUT)
  const before = await covers.isChecked()
  await must(client.put('/v1/collection/{collection_id}', { params, body: { player_color: '#112233' } }))
  const first = await holdSave(page, '**/v1/collection/*')
  await color.fill('#445566')
  await first.held
  await covers.click()
  first.release()
  await notice.waitFor(TIMEOUT)
  // Longer than the pause after which a change is saved.
  await page.waitForTimeout(600)
  expect(await stored()).toEqual(['#112233', before])

  const second = await holdSave(page, '**/v1/collection/*')
  await page.getByRole('button', { name: 'Use mine' }).click()
  await second.held
  await color.fill('#778899')
  second.release()
  await expect.poll(stored, TIMEOUT).toEqual(['#778899', !before])
  await notice.waitFor({ state: 'detached', ...TIMEOUT })
})

test('a change whose save becomes a conflict after the page was left is announced', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Left' } }))
  const params = { collection_id }
  const page = tabs[0]
  await visit(page, `#/collection/${collection_id}`, 'Left')
  const color = page.getByLabel('Another color')
  await color.waitFor(TIMEOUT)
  await must(client.put('/v1/collection/{collection_id}', { params, body: { player_color: '#112233' } }))
  const save = await holdSave(page, '**/v1/collection/*')
  await color.fill('#445566')
  await save.held
  await visit(page, '#/library', 'Library')
  save.release()
  await page
    .locator('#announcer')
    .getByText('Someone else has changed the same values. Your changes were not saved.')
    .waitFor({ state: 'attached', ...TIMEOUT })
  const { collection } = await must(client.get('/v1/collection/{collection_id}', { params }))
  expect(collection.player_color).toBe('#112233')
})
