import { readFile, rm } from 'node:fs/promises'

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { openTab, signIn, visit } from './studio_steps.ts'
import { countStoredParts, TIMEOUT, type Uploader } from './uploader_page.ts'
import { type UploaderWorkspace, choose, setUp, sha256 } from './uploader_setup.ts'

/** Large files are sent in parts: after a lost connection, a reload or a crash, only parts are sent again and not the whole file. */

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

const PART = 5 * 1024 * 1024
/** Sizes of files in bytes. At a pause, up to three parts are in flight and still finish, so a file needs more parts than the pause and those. A file of less
 * than 32 MiB is sent as one. */
const [SEVEN_PARTS, NINE_PARTS] = [34_000_000, 43_000_000]
/** Counts how often each part was stored. */
function countParts(page: Page): Map<string, number> {
  const arrived = new Map<string, number>()
  page.context().on('response', (response) => {
    const part = new URL(response.url()).searchParams.get('partNumber')
    if (part && response.ok()) arrived.set(part, (arrived.get(part) ?? 0) + 1)
  })
  return arrived
}

const remembered = (page: Page) => page.evaluate(countStoredParts)

/** Waits until all active uploads are held and the ledger contains every stored part. */
async function untilStill(page: Page, arrived: Map<string, number>): Promise<void> {
  await expect.poll(bench.network.isStill, TIMEOUT).toBe(true)
  await expect.poll(async () => (await remembered(page)) - arrived.size, TIMEOUT).toBe(0)
  expect(arrived.size).toBeGreaterThan(0)
}

async function expectWhole({ files }: Uploader, name: string, path: string): Promise<void> {
  const track_id = (await files()).find((file) => file.name === name)!.trackId!
  expect(await bench.hashOf(track_id)).toBe(sha256(await readFile(path)))
  expect((await bench.trackNames()).filter((each) => each === name)).toHaveLength(1)
}

test('a large file arrives over a connection that is cut repeatedly, and only the interrupted parts are sent twice', async () => {
  const uploader = await bench.open()
  // Simulates a browser that has no space for the ledger.
  await uploader.page.evaluate(() => {
    type Put = (this: IDBObjectStore, value: unknown) => IDBRequest<IDBValidKey>
    const { value: put } = Object.getOwnPropertyDescriptor(IDBObjectStore.prototype, 'put') as { value: Put }
    IDBObjectStore.prototype.put = function (value) {
      const request = put.call(this, value)
      this.transaction.abort()
      return request
    }
  })
  const path = await bench.aHeavySong('cut.wav', 50_000_000)
  const arrived = countParts(uploader.page)
  bench.network.cutEvery(12_000_000)
  await choose(uploader, path)
  await expect.poll(() => arrived.size, TIMEOUT).toBeGreaterThan(3)
  expect(await remembered(uploader.page)).toBe(0)
  await uploader.untilSent('cut.wav')
  expect(bench.network.cuts()).toBeGreaterThanOrEqual(4)
  expect(uploader.problems).toEqual([])
  await uploader.until('cut.wav', 'ready')
  expect(arrived.size).toBe(Math.ceil((await readFile(path)).length / PART))
  const twice = [...arrived.values()].reduce((sum, times) => sum + times - 1, 0)
  expect(twice).toBeLessThanOrEqual(bench.network.cuts())
  await expectWhole(uploader, 'cut.wav', path)
})

test('a pause loses nothing, and selecting the file again after a reload continues the same track', async () => {
  const uploader = await bench.open()
  const { page, row } = uploader
  const path = await bench.aHeavySong('album.wav', NINE_PARTS)
  const arrived = countParts(page)
  bench.network.hold(20_000_000)
  await choose(uploader, path)
  await untilStill(page, arrived)
  await row('album.wav').getByRole('button', { name: 'Pause' }).click()
  // The parts that are already being sent still finish.
  await row('album.wav')
    .getByText(/^Pausing at \d+% …$/)
    .waitFor()
  bench.network.flow()
  await row('album.wav')
    .getByText(/^Paused at \d+%\.$/)
    .waitFor(TIMEOUT)
  expect(arrived.size).toBeLessThan(9)

  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await row('album.wav')
    .getByText(/^Choose album.wav again to go on at \d+%\.$/)
    .waitFor(TIMEOUT)
  expect(await uploader.asks()).toBe(false)
  const other = await bench.aHeavySong('other.wav', NINE_PARTS)
  const chooseAgain = async (again: string) => {
    const chooser = page.waitForEvent('filechooser')
    await row('album.wav').getByRole('button', { name: 'Choose the file' }).click()
    await (await chooser).setFiles(again)
  }
  await chooseAgain(other)
  await row('album.wav').getByText('This is not the same file as album.wav.').waitFor()
  await chooseAgain(path)
  await uploader.until('album.wav', 'ready')
  expect([arrived.size, [...arrived.values()].filter((times) => times > 1)]).toEqual([9, []])
  await expectWhole(uploader, 'album.wav', path)
  // The list is still there after a reload, until it is cleared. An empty summary takes no space.
  await page.reload()
  await row('album.wav')
    .getByText(/^Ready/)
    .waitFor(TIMEOUT)
  await uploader.element.getByText('1 file ready').waitFor()
  expect(await findings(page)).toEqual([])
  await uploader.element.getByRole('button', { name: 'Clear list' }).click()
  await page.reload()
  await uploader.element.getByText('Drop audio files here').waitFor()
  expect(await uploader.element.getByRole('listitem').count()).toBe(0)
  expect(await uploader.element.locator('.summary').isVisible()).toBe(false)
})

test('two tabs never send the same file: the second shows a message, and continues the upload after the first has crashed', async () => {
  const first = await bench.open()
  const path = await bench.aHeavySong('crashed.wav', NINE_PARTS)
  const arrived = countParts(first.page)
  bench.network.hold(34_000_000)
  await choose(first, path)
  await untilStill(first.page, arrived)
  const [sent] = await first.files()
  const second = await first.page.context().newPage()
  await second.goto(bench.shop.origin)
  const element = second.locator('tonearm-uploader')
  await element.getByRole('button', { name: 'Choose files' }).waitFor()
  expect(await element.getByRole('listitem').count()).toBe(0)
  await element.locator('input[type=file][multiple]').setInputFiles(path)
  await element.getByText(/^This file is being sent in another tab\. Choose crashed\.wav again/).waitFor(TIMEOUT)
  // Closes the tab without cleanup, like a crash.
  await first.page.close({ runBeforeUnload: false })
  bench.network.flow()
  await element.locator('li[data-state=ready]').waitFor(TIMEOUT)
  const ids = await second.evaluate(() =>
    document.querySelector('tonearm-uploader')!.files.map(({ trackId }) => trackId),
  )
  expect(ids).toEqual([sent!.trackId])
  expect([arrived.size, [...arrived.values()].filter((times) => times > 1)]).toEqual([9, []])
  expect(await bench.hashOf(sent!.trackId!)).toBe(sha256(await readFile(path)))
})

test('setting a key after the page has loaded resumes the interrupted file', async () => {
  const uploader = await bench.open()
  const { page, row } = uploader
  const path = await bench.aHeavySong('late.wav', SEVEN_PARTS)
  const arrived = countParts(page)
  bench.network.hold(30_000_000)
  await choose(uploader, path)
  await untilStill(page, arrived)
  await uploader.visit({ 'collection-id': bench.collection_id })
  await row('late.wav')
    .getByText(/again to go on at \d+%/)
    .waitFor(TIMEOUT)
  await uploader.element.evaluate((element, key) => element.setAttribute('api-key', key), bench.key)
  bench.network.flow()
  await choose(uploader, path)
  await uploader.until('late.wav', 'ready')
  expect((await uploader.events()).filter(({ type }) => type === 'upload-error')).toEqual([])
  expect([...arrived.values()].filter((times) => times > 1)).toEqual([])
  await expectWhole(uploader, 'late.wav', path)
})

test('a file that is removed from the list or is no longer available leaves no track', async () => {
  const uploader = await bench.open({ manual: '' })
  const path = await bench.aHeavySong('removed.wav', SEVEN_PARTS)
  const vanishing = await bench.aSong('vanished.wav', 1)
  bench.network.hold(10_000_000)
  await choose(uploader, vanishing, path)
  await rm(vanishing)
  await uploader.element.getByRole('button', { name: 'Upload 2 files' }).click()
  await uploader.until('vanished.wav', 'failed')
  await expect.poll(bench.trackNames, TIMEOUT).toContain('removed.wav')
  await uploader.row('removed.wav').getByRole('button', { name: 'Cancel' }).click()
  await uploader.row('removed.wav').getByRole('button', { name: 'Remove from the list' }).click()
  const names = async () => (await bench.trackNames()).filter((name) => /^(removed|vanished)/.test(name))
  await expect.poll(names, TIMEOUT).toEqual([])
})

test('the studio also resumes a file interrupted by a reload when it is selected again', async () => {
  const { page } = await openTab(bench.browser, { proxy: { server: bench.network.server } })
  await signIn(page, bench.stack)
  await visit(page, `#/collection/${bench.collection_id}`, 'Inbox')
  const path = await bench.aHeavySong('studio.wav', SEVEN_PARTS)
  const arrived = countParts(page)
  bench.network.hold(34_000_000)
  await page.setInputFiles('.thing-text input[type=file]', path)
  await untilStill(page, arrived)
  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.getByText('The upload was interrupted. Choose studio.wav again to send it.').waitFor(TIMEOUT)
  bench.network.flow()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose the file: studio.wav' }).click()
  await (await chooser).setFiles(path)
  await page.locator('.track[data-status=ready]', { hasText: 'studio' }).waitFor(TIMEOUT)
  expect([arrived.size, [...arrived.values()].filter((times) => times > 1)]).toEqual([7, []])
  expect((await bench.trackNames()).filter((name) => name === 'studio.wav')).toHaveLength(1)
})
