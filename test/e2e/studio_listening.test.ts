import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { expectNoOverflow, openTab, signIn, TIMEOUT, untilStill, visit } from './studio_steps.ts'

/** Tests the listening statistics in the studio. */

let stack: Shared
let browser: Browser
let page: Page
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('before anything was heard, the page explains what is counted', async () => {
  await visit(page, '#/listening?days=365', 'Listening')
  await page.getByRole('heading', { name: 'Nothing was heard yet' }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: '7 days' }).click()
  await page.getByRole('heading', { name: 'Nothing was heard in these days' }).waitFor(TIMEOUT)
  expect(new URL(page.url()).hash).toBe('#/listening?days=7')
  await untilStill(page)
  await expectNoOverflow(page, 'listening')
  expect(await findings(page)).toEqual([])
  expect(problems).toEqual([])
})
