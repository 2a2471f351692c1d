import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { openTab, signIn, TIMEOUT } from './studio_steps.ts'

/** Tests the forms of the API reference that send requests. */

let stack: Shared
let browser: Browser

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('Try it sends requests with the key of the studio, knows created ids, and asks before it deletes', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  const opened = page.waitForEvent('popup')
  await page.evaluate(() => void open('/docs', '_blank'))
  const docs = await opened
  await docs.getByRole('button', { name: `Key …${stack.api_key.slice(-4)}` }).waitFor(TIMEOUT)
  await docs.goto(`${stack.base_url}/docs/api/collections#createCollection`)
  const create = docs.locator('#createCollection')
  await create.getByRole('button', { name: /^Try it/ }).press('Enter')
  await create.getByLabel('Body').fill('{"title": "Tried"}')
  await create.getByRole('button', { name: 'Send POST' }).press('Enter')
  await create.getByText(/^200 OK/).waitFor(TIMEOUT)
  const created = JSON.parse((await create.getByRole('region', { name: 'Response' }).textContent())!) as {
    collection_id: string
  }
  expect(await findings(docs)).toEqual([])
  const remove = docs.locator('#deleteCollection')
  await remove.getByRole('button', { name: /^Try it/ }).click()
  expect(await remove.getByLabel('collection_id').inputValue()).toBe(created.collection_id)
  const statusOf = async () => {
    const headers = { authorization: `Bearer ${stack.api_key}` }
    return (await fetch(`${stack.base_url}/v1/collection/${created.collection_id}`, { headers })).status
  }
  await remove.getByRole('button', { name: 'Send DELETE' }).click()
  expect(await statusOf()).toBe(200)
  await remove.getByRole('button', { name: /Really\?$/ }).click()
  await remove.getByText(/^200 OK/).waitFor(TIMEOUT)
  expect(await statusOf()).toBe(404)
  expect(problems).toEqual([])
  await page.context().close()
})

test('without a key, Try it asks for one', async () => {
  const { page } = await openTab(browser)
  await page.goto(`${stack.base_url}/docs/api/limits#listLimits`)
  const section = page.locator('#listLimits')
  await section.getByRole('button', { name: /^Try it/ }).click()
  await section.getByRole('button', { name: 'Send GET' }).click()
  const field = page.getByLabel('API key', { exact: true })
  await field.waitFor(TIMEOUT)
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
  await page.keyboard.insertText(stack.api_key)
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await section.getByRole('button', { name: 'Send GET' }).click()
  await section.getByText(/^200 OK/).waitFor(TIMEOUT)
  await page.context().close()
})

test('Try it shows a response without a body, and each form has another visit', async () => {
  const { page, problems } = await openTab(browser)
  await page.goto(`${stack.base_url}/docs/api/listening#reportHeard`)
  const section = page.locator('#reportHeard')
  const visitOf = async () => {
    await section.getByRole('button', { name: /^Try it/ }).click()
    const body = await section.getByLabel('Body').inputValue()
    return (JSON.parse(body) as { visit: string }).visit
  }
  const first = await visitOf()
  expect(first).toMatch(/^[\da-f]{16}$/)
  await page.reload()
  expect(await visitOf()).not.toBe(first)
  await page.route('**/v1/heard/*', (route) => route.fulfill({ status: 204 }))
  await section.getByRole('button', { name: 'Send POST' }).click()
  const status = section.getByRole('status')
  await expect.poll(() => status.textContent(), TIMEOUT).toMatch(/^204 No Content · \d+ ms$/)
  expect(await status.getAttribute('class')).toBe('good')
  expect(await section.getByRole('region', { name: 'Response' }).isVisible()).toBe(false)
  expect(problems).toEqual([])
  await page.context().close()
})
