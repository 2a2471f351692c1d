import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { editText, namesOf, openTab, signIn, TIMEOUT, visit } from './studio_steps.ts'

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
  (await must(client.get('/v1/collection', { query: { limit: 1, include: 'artwork' } }))).collections[0]!

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
  const made = await collectionOf()
  expect(made).toMatchObject({ title: 'Tidal Rooms', player_subtitle: 'Nina Vale' })
  // The page shows the picture of the folder without a reload.
  const image = page.locator('.cover-box img')
  const pathOf = (url: string | null) => url && new URL(url, stack.base_url).pathname
  expect(made.artwork?.regular.url).not.toContain('/cover/')
  await expect
    .poll(async () => pathOf(await image.getAttribute('src')), TIMEOUT)
    .toBe(pathOf(made.artwork!.regular.url))

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
