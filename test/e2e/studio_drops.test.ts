import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { editText, namesOf, openTab, signIn, TIMEOUT, untilStill, visit } from './studio_steps.ts'

/** Tests uploads in the studio: dropped files and folders, the tray, and a key that is refused meanwhile. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-drops-'))
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
  if (directory) await rm(directory, { recursive: true, force: true })
})

/** Drops a file or folder of this machine on the window, as a file manager does. */
async function drop(path: string) {
  // Chromium forgets a drag if the element below the pointer changes.
  await untilStill(page)
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data })
  await session.detach()
}

/** Creates a folder of songs with tags. */
async function aFolder(name: string, songs: Record<string, Record<string, string>>) {
  const folder = join(directory, name)
  await mkdir(folder, { recursive: true })
  for (const [file, tags] of Object.entries(songs)) {
    const flags = Object.entries(tags).flatMap(([tag, value]) => ['-metadata', `${tag}=${value}`])
    await writeFile(join(folder, file), await makeAudio('mp3', { seconds: 2, channels: 1 }, flags))
  }
  return folder
}

const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const collectionOf = async () =>
  (await must(client.get('/v1/collection', { query: { limit: 1, include: ['artwork'] } }))).collections[0]!

test('an album dropped on the overview gets its title, artist, order and cover from its files, and Undo restores the folder’s name', async () => {
  const album = { album: 'Tidal Rooms', album_artist: 'Nina Vale', artist: 'Nina Vale' }
  const folder = await aFolder('downloads 7', {
    'a.mp3': { ...album, title: 'Third', disc: '2', track: '1' },
    'b.mp3': { ...album, title: 'Second', disc: '1', track: '2' },
    'c.mp3': { ...album, title: 'First', disc: '1', track: '1' },
  })
  await writeFile(join(folder, 'folder.png'), await makeImage('png', 500, 500))
  await writeFile(join(folder, 'rip.log'), 'A log')
  await drop(folder)
  await heading('downloads 7').or(heading('Tidal Rooms')).waitFor(TIMEOUT)
  await heading('Tidal Rooms').waitFor(TIMEOUT)
  await page.getByTitle('Edit: Artist').getByText('Nina Vale').waitFor(TIMEOUT)
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['First', 'Second', 'Third'])
  expect(await collectionOf()).toMatchObject({ title: 'Tidal Rooms', player_subtitle: 'Nina Vale' })
  // The page shows the picture of the folder without a reload, as soon as the service has it.
  const pathOf = (url: string | null | undefined) => url && new URL(url, stack.base_url).pathname
  const pictures = async () => [
    pathOf(await page.locator('.cover-box img').getAttribute('src')),
    pathOf((await collectionOf()).artwork?.regular.url),
  ]
  await expect
    .poll(async () => {
      const [shown, stored] = await pictures()
      return shown === stored && !shown?.startsWith('/cover/')
    }, TIMEOUT)
    .toBe(true)

  await page.getByText('Named from the files’ tags').waitFor(TIMEOUT)
  await page.locator('.thing-text').getByRole('button', { name: 'Undo' }).click()
  await heading('downloads 7').waitFor(TIMEOUT)
  expect(await page.getByText('Named from the files’ tags').count()).toBe(0)
  expect(await collectionOf()).toMatchObject({ title: 'downloads 7', player_subtitle: '' })
})

test('files without an album take the folder’s name, and a title that was typed stays', async () => {
  const plain = await aFolder('Field notes', { 'one.mp3': {}, 'two.mp3': {} })
  await visit(page, '#/library', 'Library')
  await drop(plain)
  await heading('Field notes').waitFor(TIMEOUT)
  await expect.poll(() => page.locator('.track[data-status=ready]').count(), TIMEOUT).toBe(2)

  const tagged = await aFolder('unsorted', { 'x.mp3': { album: 'Ambers' }, 'y.mp3': { album: 'Ambers' } })
  const held = Promise.withResolvers<void>()
  await page.route('**/uploads/**', async (route) => {
    await held.promise
    await route.continue().catch(() => {})
  })
  await visit(page, '#/library/tracks', 'Library')
  await drop(tagged)
  await heading('unsorted').waitFor(TIMEOUT)
  await editText(page, 'Title', 'My own title')
  await heading('My own title').waitFor(TIMEOUT)
  held.resolve()
  await expect.poll(() => page.locator('.track[data-status=ready]').count(), TIMEOUT).toBe(2)
  expect(await collectionOf()).toMatchObject({ title: 'My own title' })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the list of uploads is on every page, shows failures first, and is cleared', async () => {
  const { page: other } = await openTab(browser)
  await signIn(other, stack)
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Two songs' } }))
  await visit(other, `#/collection/${collection_id}`, 'Two songs')
  const held = Promise.withResolvers<void>()
  await other.route('**/uploads/**', async (route) => {
    await held.promise
    await route.continue().catch(() => {})
  })
  const good = { name: 'good.mp3', mimeType: 'audio/mpeg', buffer: await makeAudio('mp3', { seconds: 2 }) }
  const broken = { name: 'broken.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('%PDF-1.7\n\0') }
  await other.setInputFiles('.thing-text input[type=file]', [good, broken])
  await other.getByRole('group', { name: 'Uploads' }).getByText('0 of 2 ready').waitFor(TIMEOUT)
  await visit(other, '#/keys', 'Keys')
  await other.getByRole('button', { name: '2 working' }).click(TIMEOUT)
  const rows = other.locator('.upload-tray li')
  await expect.poll(() => rows.count(), TIMEOUT).toBe(2)
  held.resolve()
  await expect.poll(() => rows.locator('.name').allTextContents(), TIMEOUT).toEqual(['broken', 'good'])
  await rows.nth(1).getByText('Ready · Two songs').waitFor(TIMEOUT)
  await rows.first().getByRole('button', { name: 'Replace file' }).waitFor()
  await other.getByRole('button', { name: '1 failed · 1 ready' }).waitFor(TIMEOUT)
  expect(await findings(other)).toEqual([])
  await other.getByRole('button', { name: 'Clear finished' }).click()
  await other.getByText('Nothing is uploaded or processed.').waitFor(TIMEOUT)
  await other.keyboard.press('Escape')
  await expect.poll(() => other.locator('.uploads').count(), TIMEOUT).toBe(0)
  await other.unrouteAll({ behavior: 'ignoreErrors' })
  await other.context().close()
})

/** Signs in with a key that the test revokes. Returns the function that revokes it. */
async function withSpareKey(other: Page) {
  const spare = await must(client.post('/v1/api_key', { body: { title: 'Spare', type: 'server' } }))
  const revoked = createClient({ base_url: stack.base_url, api_key: spare.secret })
  await signIn(other, { ...stack, api_key: spare.secret })
  return async () => {
    await must(client.delete('/v1/api_key/{api_key_id}', { params: { api_key_id: spare.api_key_id } }))
    await expect.poll(async () => (await revoked.get('/v1/variant')).ok, TIMEOUT).toBe(false)
  }
}

async function signInAgain(other: Page, key: string) {
  const dialog = other.getByRole('dialog', { name: 'Sign in again' })
  await dialog.getByText('This key is no longer valid.').waitFor(TIMEOUT)
  await dialog.getByLabel('Server key').fill(key)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached', ...TIMEOUT })
}

test('files are counted and numbered from the first moment, and one that was sent is not asked for again', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Five' } }))
  await visit(page, `#/collection/${collection_id}`, 'Five')
  const names = ['one', 'two', 'three', 'four', 'five']
  const [uploads, reports] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let sent = 0
  await page.route('**/uploads/**', async (route) => {
    if (++sent > 2) await uploads.promise
    await route.continue().catch(() => {})
  })
  // The service notices a file when its arrival is reported, or when its track is read.
  await page.route(/\/v1\/track\/[^/?]+(\/upload_complete)?$/, async (route) => {
    await reports.promise
    await route.continue().catch(() => {})
  })
  const buffer = Buffer.from('%PDF-1.7\n\0')
  const files = names.map((name) => ({ name: `${name}.mp3`, mimeType: 'audio/mpeg', buffer }))
  await page.setInputFiles('.thing-text input[type=file]', files)
  const strip = page.getByRole('group', { name: 'Uploads' })
  const cells = (name: string) => page.locator(`.track .${name}`)
  const asked = () => page.getByRole('button', { name: /^Choose the file/ }).count()
  const numbers = ['1', '2', '3', '4', '5']
  const notes = async () => (await cells('note').allTextContents()).toSorted()
  await strip.getByText(/^0 of 5 ready/).waitFor(TIMEOUT)
  await expect.poll(notes, TIMEOUT).toEqual(['Finishing …', 'Finishing …', 'Starting …', 'Starting …', 'Starting …'])
  // The number of a row that can be moved is not part of its text.
  await expect.poll(() => page.locator('.track [data-place]').count(), TIMEOUT).toBe(2)
  const shown = await cells('number').evaluateAll((all) =>
    all.map((cell) => cell.textContent || cell.querySelector<HTMLElement>('[data-place]')!.dataset.place),
  )
  expect([shown, await cells('name').allTextContents(), await asked()]).toEqual([numbers, names, 0])

  // The list is read several times meanwhile.
  uploads.resolve()
  await expect.poll(notes, TIMEOUT).toEqual(Array.from({ length: 5 }, () => 'Finishing …'))
  for (let reads = 0; reads < 2; reads++) await page.waitForResponse(/\/v1\/collection\/[^/]+\/track/, TIMEOUT)
  await expect.poll(notes, TIMEOUT).toEqual(Array.from({ length: 5 }, () => 'Finishing …'))
  expect(await asked()).toBe(0)
  await strip.getByText(/^0 of 5 ready/).waitFor(TIMEOUT)
  // The reports of the files are lost with this page. The next one finds out that the files have arrived.
  await page.reload()
  reports.resolve()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await expect.poll(() => page.locator('.track[data-status=failed]').count(), TIMEOUT).toBe(5)
})

test('a key revoked during an upload and while typing costs nothing: the page is kept, and both continue with the next key', async () => {
  const { page: other } = await openTab(browser)
  const revoke = await withSpareKey(other)
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Before' } }))
  await visit(other, `#/collection/${collection_id}`, 'Before')
  const large = join(directory, 'long take.wav')
  await writeFile(large, await makeAudio('wav24', { seconds: 20, rate: 96_000, channels: 6 }))
  // The first part arrives with the first key, and the others are held until it is revoked.
  const held = Promise.withResolvers<void>()
  const parts: string[] = []
  await other.route('**/uploads/**', async (route) => {
    parts.push(new URL(route.request().url()).searchParams.get('partNumber') ?? 'whole')
    if (parts.length > 1) await held.promise
    await route.continue().catch(() => {})
  })
  await other.setInputFiles('.thing-text input[type=file]', large)
  await expect.poll(() => parts.length, TIMEOUT).toBeGreaterThan(1)
  await revoke()
  held.resolve()
  const form = other.getByRole('dialog', { name: 'Sign in again' })
  await form.waitFor(TIMEOUT)
  // The page is still there, under the form.
  expect(await other.locator('h1').textContent()).toContain('Before')
  expect(await other.locator('.track').count()).toBe(1)
  await signInAgain(other, stack.api_key)
  await expect.poll(() => other.locator('.track').getAttribute('data-status'), TIMEOUT).toMatch(/processing|ready/)
  const params = { collection_id }
  const { tracks } = await must(client.get('/v1/collection/{collection_id}/track', { params }))
  expect(tracks).toMatchObject([{ file_name: 'long take.wav' }])
  expect(parts.toSorted()).toEqual([...new Set(parts)].toSorted())

  const next = await must(client.post('/v1/api_key', { body: { title: 'Next', type: 'server' } }))
  await other.context().close()

  const { page: third } = await openTab(browser)
  const revokeAgain = await withSpareKey(third)
  await visit(third, `#/collection/${collection_id}`, 'Before')
  await third.getByTitle('Edit: Title').click(TIMEOUT)
  await third.getByLabel('Title', { exact: true }).fill('Typed without a key')
  await revokeAgain()
  await third.keyboard.press('Enter')
  await signInAgain(third, next.secret)
  await third.getByRole('heading', { level: 1, name: 'Typed without a key' }).waitFor(TIMEOUT)
  await expect
    .poll(async () => (await must(client.get('/v1/collection/{collection_id}', { params }))).collection.title, TIMEOUT)
    .toBe('Typed without a key')
  await third.context().close()
})

test('a key of another organization shows that organization', async () => {
  const { page: other } = await openTab(browser)
  const revoke = await withSpareKey(other)
  await visit(other, '#/library', 'Library')
  await revoke()
  const stranger = await joinStack()
  await other.evaluate(() => (location.hash = '#/playlists'))
  await signInAgain(other, stranger.api_key)
  await other.evaluate(() => (location.hash = '#/overview'))
  await other.getByRole('heading', { name: 'Upload your first files' }).waitFor(TIMEOUT)
  expect(await other.evaluate(() => sessionStorage.getItem('tonearm.key'))).toBe(stranger.api_key)
  await other.context().close()
})
