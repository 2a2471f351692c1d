import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { must } from './steps.ts'
import { chooseScope, openTab, signIn, visit } from './studio_steps.ts'
import { TIMEOUT } from './uploader_page.ts'
import { type UploaderWorkspace, choose, setUp } from './uploader_setup.ts'

/** `<tonearm-uploader>` in unusual situations: on a page without https, before its script has loaded, and moved during an upload. */

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

/** Removes the APIs that browsers hide from pages without https, as on a local network; 127.0.0.1 counts as secure. */
function withoutSecureContext(): void {
  delete (Crypto.prototype as Partial<Crypto>).randomUUID
  delete (Navigator.prototype as { clipboard?: Clipboard }).clipboard
}

test('the uploader opens a session and uploads without https', async () => {
  const uploader = await bench.open()
  await uploader.page.addInitScript(withoutSecureContext)
  await uploader.page.reload()
  await choose(uploader, await bench.aSong('open.wav', 1))
  await uploader.untilSent('open.wav')
  expect(uploader.problems).toEqual([])
})

test('the studio creates a key without https, and selects its secret for manual copying', async () => {
  const { page, problems } = await openTab(bench.browser)
  await page.addInitScript(withoutSecureContext)
  await signIn(page, bench.stack)
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Title', { exact: true }).fill('Shop')
  await chooseScope(page, 'Everything')
  await page.getByLabel('Sites').fill('https://shop.example')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Copy Secret' }).click(TIMEOUT)
  await expect.poll(() => page.evaluate(() => String(getSelection())), TIMEOUT).toMatch(/^ta_pk_/)
  expect(problems).toEqual([])
  await page.context().close()
})

test('properties set before the script has loaded are kept', async () => {
  const uploader = await bench.open()
  await uploader.page.evaluate(() => {
    const old = document.querySelector('tonearm-uploader')!
    // The element is created in a document that does not define our elements, so it is upgraded only when it is added to the page.
    const early = document.implementation.createHTMLDocument().createElement('tonearm-uploader')
    for (const { name, value } of old.attributes) early.setAttribute(name, value)
    Object.assign(early, { describe: () => ({ organizationIndex: 'early' }), texts: { browse: 'Pick songs' } })
    old.replaceWith(early)
  })
  await uploader.element.getByRole('button', { name: 'Pick songs' }).waitFor()
  await choose(uploader, await bench.aSong('early.wav', 1))
  await uploader.untilSent('early.wav')
  const [view] = await uploader.files()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: view!.trackId! } }))
  expect(track).toMatchObject({ organization_index: 'early' })
})

test('an element that is moved within its page continues its uploads and handles each paste only once', async () => {
  const uploader = await bench.open()
  bench.network.hold()
  await choose(uploader, await bench.aHeavySong('carried.wav'))
  await uploader.row('carried.wav').getByText('%').waitFor(TIMEOUT)
  await uploader.page.evaluate(() => {
    document.body.appendChild(document.createElement('aside')).append(document.querySelector('tonearm-uploader')!)
    const data = new DataTransfer()
    data.items.add(new File(['Dear diary'], 'pasted.txt'))
    document.body.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, clipboardData: data }))
  })
  await uploader.until('pasted.txt', 'rejected')
  expect(await uploader.element.getByRole('listitem').count()).toBe(2)
  bench.network.flow()
  await uploader.untilSent('carried.wav')
  expect((await uploader.events()).filter(({ type }) => type === 'upload-start')).toHaveLength(1)
})
