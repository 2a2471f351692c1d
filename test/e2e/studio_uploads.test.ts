import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { choose, namesOf, openTab, TIMEOUT, rowOf, signIn, visit } from './studio_steps.ts'

/** Tests events in the studio that affect uploads: a reload, signing out, and deletions. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let collection: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

async function openNew(title: string) {
  collection = (await must(client.post('/v1/collection', { body: { title } }))).collection_id
  await visit(page, `#/collection/${collection}`, title)
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor(TIMEOUT)
}
const choice = (...names: string[]) =>
  names.map((name) => ({ name: `${name}.mp3`, mimeType: 'audio/mpeg', buffer: Buffer.from('%PDF-1.7\n\0') }))
const add = (...names: string[]) => page.setInputFiles('.thing-text input[type=file]', choice(...names))

/** Selects another file with the button of a row. */
async function chooseFor(button: string, name: string) {
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: button }).click()
  await (await chooser).setFiles(choice(name)[0]!)
}

/** Whether the browser would ask before leaving the page. */
const asks = () =>
  page.evaluate(() => {
    const event = new Event('beforeunload', { cancelable: true })
    dispatchEvent(event)
    return event.defaultPrevented
  })

test('files chosen on the empty home page create a collection', async () => {
  await page.getByRole('button', { name: 'Choose files' }).waitFor(TIMEOUT)
  await page.setInputFiles('.first-drop input[type=file]', choice('one', 'two'))
  await page.getByRole('heading', { level: 1, name: 'New collection' }).waitFor(TIMEOUT)
  await expect.poll(async () => (await namesOf(page)).toSorted(), TIMEOUT).toEqual(['one', 'two'])
})

test('an upload interrupted by a reload asks for its file again and continues the same track', async () => {
  await openNew('Interrupted')
  const held = Promise.withResolvers<void>()
  const hold = (route: Route) => void held.promise.then(() => route.abort().catch(() => {}))
  await page.route('**/uploads/**', hold)
  const sent = page.waitForRequest(/\/uploads\//, TIMEOUT)
  await add('song')
  await sent
  const row = page.locator('.track')
  const listed = async () =>
    (await must(client.get('/v1/collection/{collection_id}/track', { params: { collection_id: collection } }))).tracks
  const [track] = await listed()

  // An active upload has only one row, even after the user has left the page and returned to it.
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await expect.poll(() => row.allTextContents(), TIMEOUT).toEqual([expect.stringContaining('Starting')])
  await page.getByText('1 track', { exact: true }).waitFor(TIMEOUT)
  expect(await row.count()).toBe(1)
  // Another tab cannot resume this upload and asks for its file.
  const { page: other } = await openTab(browser)
  await signIn(other, stack)
  await visit(other, `#/collection/${collection}`, 'Interrupted')
  await other.locator('.track').getByText('Waiting for its file').waitFor(TIMEOUT)
  await other.getByRole('button', { name: 'Choose the file: song.mp3' }).waitFor()
  await other.context().close()

  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await row.getByText('The upload was interrupted. Choose song.mp3 again to send it.').waitFor(TIMEOUT)

  // Signing out ends active uploads, and the next user sees no interrupted ones.
  const second = page.waitForRequest(/\/uploads\//, TIMEOUT)
  await add('second')
  await second
  const over = page.waitForEvent('requestfailed', { predicate: (r) => r.url().includes('/uploads/'), ...TIMEOUT })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await over
  expect(await asks()).toBe(false)
  await page.getByLabel('Server key').fill(stack.api_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await row.getByText('Waiting for its file').nth(1).waitFor(TIMEOUT)

  // An upload that continued with a file selected again can be interrupted again.
  const again = page.waitForRequest(/\/uploads\//, TIMEOUT)
  await chooseFor('Choose the file: song.mp3', 'other')
  await again
  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  held.resolve()
  await row.getByText('The upload was interrupted. Choose other.mp3 again to send it.').waitFor(TIMEOUT)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await chooseFor('Choose the file: other.mp3', 'third')
  const ended = rowOf(page, 'third')
  await expect.poll(() => ended.getAttribute('data-status'), TIMEOUT).toBe('failed')
  await ended.getByText(/document/).waitFor(TIMEOUT)
  expect(await listed()).toMatchObject([{ id: track?.id, file_name: 'third.mp3' }, { file_name: 'second.mp3' }])
})

test('a file that has changed since its selection must be selected again, and offers no retry', async () => {
  await openNew('Changed')
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-changed-'))
  const path = join(directory, 'song.mp3')
  await writeFile(path, '%PDF-1.7\n\0')
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/upload/*/track', async (route) => {
    await held.promise
    await route.continue()
  })
  const requested = page.waitForRequest('**/v1/upload/*/track')
  await page.setInputFiles('.thing-text input[type=file]', path)
  await requested
  await writeFile(path, '%PDF-1.7\n\0, changed')
  held.resolve()
  await page.getByText('The file was changed or moved since it was chosen.').waitFor(TIMEOUT)
  expect(await page.getByRole('button', { name: /^Try again/ }).count()).toBe(0)
  await chooseFor('Choose the file: song.mp3', 'song')
  const row = page.locator('.track')
  await expect.poll(() => row.getAttribute('data-status'), TIMEOUT).toBe('failed')
  await row.getByText(/document/).waitFor(TIMEOUT)
  expect(await row.count()).toBe(1)
  await rm(directory, { recursive: true })
})

test('a canceled upload does not count as interrupted, and deleting a track ends its upload', async () => {
  await openNew('Cancelled')
  const held = Promise.withResolvers<void>()
  await page.route('**/uploads/**', (route) => void held.promise.then(() => route.abort().catch(() => {})))
  const sending = () => page.waitForRequest(/\/uploads\//, TIMEOUT)
  const ended = () =>
    page.waitForEvent('requestfailed', { predicate: (r) => r.url().includes('/uploads/'), ...TIMEOUT })
  let sent = sending()
  await add('song')
  await sent
  let over = ended()
  await page.getByRole('button', { name: 'Cancel: song.mp3' }).click()
  await over
  const row = page.locator('.track')
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await row.getByText('Waiting for its file').waitFor(TIMEOUT)
  // Text is rejected before any of it is sent.
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose the file: song.mp3' }).click()
  await (await chooser).setFiles({ name: 'song.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('Dear diary, ') })
  await page.locator('#announcer').getByText('This is text, not audio.').waitFor(TIMEOUT)

  // On the page of a track, selecting another file replaces the active upload.
  sent = sending()
  await add('second')
  await sent
  const { tracks } = await must(
    client.get('/v1/collection/{collection_id}/track', { params: { collection_id: collection } }),
  )
  await visit(page, `#/track/${tracks[1]!.id}`, 'second')
  over = ended()
  sent = sending()
  const another = page.waitForEvent('filechooser')
  await choose(page, 'More for second', 'Replace the file …')
  await (await another).setFiles(choice('other')[0]!)
  await Promise.all([over, sent])
  await visit(page, `#/collection/${collection}`, 'Cancelled')
  await row.getByRole('progressbar', { name: 'Upload of' }).waitFor(TIMEOUT)
  expect(await row.count()).toBe(2)
  expect(await page.getByRole('button', { name: /^Cancel:/ }).count()).toBe(0)
  expect(await asks()).toBe(true)
  over = ended()
  await choose(page, 'More for other', 'Delete track')
  await over
  await expect.poll(asks, TIMEOUT).toBe(false)
  expect(await page.locator('#announcer').textContent()).toBe('other deleted')
  expect(await page.evaluate(() => sessionStorage.getItem('tonearm.unfinished'))).toBe('[]')

  // An upload also ends when its track is deleted on the page of the track.
  await visit(page, `#/track/${tracks[0]!.id}`, 'song')
  sent = sending()
  const last = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose the file' }).click()
  await (await last).setFiles(choice('last')[0]!)
  await sent
  over = ended()
  await choose(page, 'More for song', 'Delete track')
  await over
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor(TIMEOUT)
  await expect.poll(asks, TIMEOUT).toBe(false)
  held.resolve()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('uploads end when their collection is deleted, and the page can be left', async () => {
  await openNew('Short-lived')
  const held = Promise.withResolvers<void>()
  await page.route('**/uploads/**', async (route) => {
    await held.promise
    await route.continue().catch(() => {})
  })
  const sent = page.waitForRequest(/\/uploads\//, TIMEOUT)
  await add('a', 'b', 'c', 'd')
  await sent
  expect(await asks()).toBe(true)
  await choose(page, 'More for Short-lived', 'Delete collection')
  await page.getByText('4 uploads into it end.').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Delete collection', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor(TIMEOUT)
  expect(await asks()).toBe(false)
  held.resolve()
})

test('files uploaded together keep their order, whichever finishes first', async () => {
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
  const sent = page.waitForRequest(/\/uploads\//, TIMEOUT)
  await add('a')
  await sent
  await add('b')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['b'])
  held.resolve()
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['a', 'b'])
})

test('an error that stops all uploads is shown, and adding files also restarts the stopped uploads', async () => {
  await openNew('Refused')
  const refusal = { ok: false, code: 'insufficient_scope', message: 'This key may not do that' }
  await page.route('**/v1/upload_session', (route) => route.fulfill({ status: 403, json: refusal }))
  await add('first')
  const problem = page.getByRole('alert').getByText('The key of this page is not allowed to upload.')
  await problem.waitFor(TIMEOUT)
  await page.locator('#announcer').getByText('The key of this page is not allowed to upload.').waitFor()
  await page.unroute('**/v1/upload_session')
  await add('second')
  await expect.poll(() => namesOf(page), TIMEOUT).toHaveLength(2)
  expect((await namesOf(page)).toSorted()).toEqual(['first', 'second'])
  expect([await problem.count(), await asks()]).toEqual([0, false])
})

test('a collection deleted elsewhere rejects files with a message, and the page can be left', async () => {
  await openNew('Gone')
  await must(client.delete('/v1/collection/{collection_id}', { params: { collection_id: collection } }))
  await add('late')
  const problem = page.locator('.problem').filter({ hasText: 'their collection no longer exists' })
  await problem.waitFor(TIMEOUT)
  await problem.getByRole('button', { name: 'Try again' }).click()
  await problem.waitFor(TIMEOUT)
  expect(await asks()).toBe(true)
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await page.getByText('This does not exist, or no longer exists.').waitFor(TIMEOUT)
  // The uploads end after the page is drawn.
  await expect.poll(asks, TIMEOUT).toBe(false)
})
