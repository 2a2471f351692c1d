import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { openTab, signIn, visit } from './studio_steps.ts'
import { PATIENCE } from './uploader_page.ts'
import { type Bench, choose, setUp } from './uploader_setup.ts'

/** Pages without https, as on a machine of the local network: browsers keep some of their functions from them. */

let bench: Bench

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

/** Takes away what a page has in secure contexts only; 127.0.0.1 counts as one. */
function withoutSecureContext(): void {
  delete (Crypto.prototype as Partial<Crypto>).randomUUID
  delete (Navigator.prototype as { clipboard?: Clipboard }).clipboard
}

test('the uploader opens its session there, and sends', async () => {
  const uploader = await bench.open()
  await uploader.page.addInitScript(withoutSecureContext)
  await uploader.page.reload()
  await choose(uploader, await bench.aSong('open.wav', 1))
  await uploader.untilSent('open.wav')
  expect(uploader.problems).toEqual([])
})

test('the studio makes a key there, and selects its secret to be copied by hand', async () => {
  const { page, problems } = await openTab(bench.browser)
  await page.addInitScript(withoutSecureContext)
  await signIn(page, bench.stack)
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Title', { exact: true }).fill('Shop')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Copy Secret' }).click(PATIENCE)
  await expect.poll(() => page.evaluate(() => String(getSelection())), PATIENCE).toMatch(/^ta_pk_/)
  expect(problems).toEqual([])
  await page.context().close()
})
