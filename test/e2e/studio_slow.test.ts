import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, send, settle, upload } from './steps.ts'
import { choose, chooseOption, editText, openTab, TIMEOUT, rowOf, signIn, untilPlaying, visit } from './studio_steps.ts'

/** Tests the studio with slow and failed responses. */

let stack: Shared
let browser: Browser
let page: Page
let client: Client
let collection: string
let playlist: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  collection = (await must(client.post('/v1/collection', { body: { title: 'Demo tape' } }))).collection_id
  playlist = (await must(client.post('/v1/playlist', { body: { title: 'Mix' } }))).playlist_id
  const { track_id } = await copyTrack(stack, collection, 'song.mp3', SONG)
  const params = { playlist_id: playlist }
  await must(client.post('/v1/playlist/{playlist_id}/track', { params, body: { track_ids: [track_id] } }))
  ;({ page } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

/** Holds the requests with a method; `release` lets them continue and returns their number. */
async function hold(url: string, method: string) {
  const held = Promise.withResolvers<void>()
  let count = 0
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    count++
    await held.promise
    await route.continue()
  })
  return {
    started: () => expect.poll(() => count, TIMEOUT).toBeGreaterThan(0),
    release() {
      held.resolve()
      return count
    },
  }
}
const cut = (url: string, method: string) =>
  page.route(url, (route) => (route.request().method() === method ? route.abort() : route.fallback()))

test('a double click sends one request', async () => {
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await chooseOption(page.getByRole('combobox', { name: 'Kind' }), 'Server: everything; keep it on your server')
  await page.getByLabel('Title', { exact: true }).fill('Once')
  const making = await hold('**/v1/api_key', 'POST')
  await page.getByRole('button', { name: 'Create key' }).dblclick()
  await page.getByLabel('Title', { exact: true }).press('Enter')
  await making.started()
  expect(making.release()).toBe(1)
  await page.getByRole('button', { name: 'Done' }).click(TIMEOUT)

  await choose(page, 'More for Once', 'New secret …')
  const rotating = await hold('**/v1/api_key/*/rotate', 'POST')
  await page.getByRole('button', { name: 'Make new secret' }).dblclick()
  await rotating.started()
  expect(rotating.release()).toBe(1)
  await page.getByRole('button', { name: 'Done' }).click(TIMEOUT)
  const { api_keys } = await must(client.get('/v1/api_key'))
  expect(api_keys.filter(({ title }) => title === 'Once')).toHaveLength(1)

  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await choose(page, 'More for song', 'Add to a playlist …')
  const adding = await hold('**/v1/playlist/*/track', 'POST')
  await page.getByRole('button', { name: /^Mix/ }).dblclick()
  await adding.started()
  expect(adding.release()).toBe(1)
  await page.getByRole('dialog').waitFor({ state: 'detached', ...TIMEOUT })
})

const saved = async () =>
  (await must(client.get('/v1/collection/{collection_id}', { params: { collection_id: collection } }))).collection

test('a text that could not be saved stays and is sent again, and a color is saved with the next change', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await cut('**/v1/collection/*', 'PUT')
  await editText(page, 'Artist', 'Ines Calder')
  await page.getByRole('alert').getByText('Not saved yet, but it is sent again.').waitFor(TIMEOUT)
  await page.getByLabel('Another color').fill('#c0392b')
  await page.getByRole('form', { name: 'Look' }).getByText('The service cannot be reached').waitFor(TIMEOUT)
  await page.unroute('**/v1/collection/*')
  // The browser dispatches this event when its connection is back.
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.getByLabel('Another color').fill('#c0392c')
  await expect.poll(saved, TIMEOUT).toMatchObject({ player_subtitle: 'Ines Calder', player_color: '#C0392C' })
})

test('changes are sent one by one, and the last change is sent even after leaving the page', async () => {
  const saving = await hold('**/v1/collection/*', 'PUT')
  await editText(page, 'Artist', 'Early')
  await saving.started()
  await page.getByTitle('Edit: Artist').click()
  await page.getByLabel('Artist', { exact: true }).fill('Late')
  await page.getByRole('link', { name: 'Keys' }).click()
  // The keys are requested after the page is removed, so all its requests have been counted when they appear.
  await page.locator('.key-table tbody tr').first().waitFor(TIMEOUT)
  expect(saving.release()).toBe(1)
  await expect.poll(async () => (await saved()).player_subtitle, TIMEOUT).toBe('Late')
  await page.unrouteAll({ behavior: 'wait' })
})

test('a text is saved even if the page is loaded again while it is typed', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  for (const title of ['Demo tape 2', 'Demo tape']) {
    await page.getByTitle('Edit: Title').click(TIMEOUT)
    await page.getByLabel('Title', { exact: true }).fill(title)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor(TIMEOUT)
    await expect.poll(async () => (await saved()).title, TIMEOUT).toBe(title)
  }
})

test('a rejected text stays in its field with the reason, Escape restores the saved one, and a title is required', async () => {
  const artist = page.getByLabel('Artist', { exact: true })
  await page.getByTitle('Edit: Artist').click()
  // Without this attribute, the service receives a value that is too long, as it would from a browser that counts the length differently.
  await artist.evaluate((field) => field.removeAttribute('maxlength'))
  await artist.fill('x'.repeat(256))
  await artist.press('Enter')
  await page.getByRole('alert').getByText('Must be at most 255 characters, not 256.').waitFor(TIMEOUT)
  expect(await artist.inputValue()).toBe('x'.repeat(256))
  await artist.press('Escape')
  await page.getByTitle('Edit: Artist').getByText('Late').waitFor()
  await page.getByTitle('Edit: Title').click()
  await page.getByLabel('Title', { exact: true }).fill(' ')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('This must not be empty.').waitFor()
  await page.keyboard.press('Escape')
  expect(await saved()).toMatchObject({ title: 'Demo tape', player_subtitle: 'Late' })
})

test('only the collection or playlist that was started last plays, and a failure to play is announced', async () => {
  const play = () => page.getByRole('button', { name: 'Play', exact: true }).first().click(TIMEOUT)
  await visit(page, `#/playlist/${playlist}`, 'Mix')
  await cut('**/v1/play_session/playlist', 'POST')
  await play()
  await page.locator('#announcer').getByText('The service cannot be reached').waitFor(TIMEOUT)
  await page.unroute('**/v1/play_session/playlist')

  const opening = await hold('**/v1/play_session/playlist', 'POST')
  await play()
  await opening.started()
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await play()
  await untilPlaying(page.locator('.dock'), 0.1)
  const chosen = await page.locator('.dock tonearm-player').elementHandle()
  const responded = page.waitForResponse('**/v1/play_session/playlist')
  opening.release()
  await (await responded).finished()
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  expect(await chosen?.evaluate((player) => player.isConnected)).toBe(true)
  await page.getByRole('button', { name: 'Close the player' }).click()
})

test('a page waiting for a track shows a failure, recovers, and accepts responses slower than its polling', async () => {
  const body = { collection_id: collection, file_name: 'late.mp3' }
  const { track_id, track_upload } = await must(client.post('/v1/track', { body }))
  await visit(page, `#/track/${track_id}`, 'late')
  await page.getByRole('button', { name: 'Choose the file' }).waitFor()
  await page.getByTitle('Edit: Artist').click()
  await page.getByLabel('Artist', { exact: true }).fill('Typed meanwhile')
  let [slow, failed] = [false, 0]
  await page.route(`**/v1/track/${track_id}`, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    if (!slow) {
      failed++
      return route.abort()
    }
    const response = await route.fetch()
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await route.fulfill({ response }).catch(() => {})
  })
  // Each call makes three attempts, so a fourth request shows that the page continues to poll.
  await expect.poll(() => failed, TIMEOUT).toBeGreaterThan(3)
  expect(await page.getByLabel('Artist', { exact: true }).inputValue()).toBe('Typed meanwhile')
  await page.locator('.problem').getByText('The service cannot be reached').waitFor(TIMEOUT)
  slow = true
  // The service recognizes an empty file by itself and needs no transcoder for that.
  await send(track_upload, new Uint8Array(0))
  await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  await page.locator('.failed-card').getByText('The uploaded file is empty (0 bytes)').waitFor(TIMEOUT)
  expect(await page.locator('.problem').count()).toBe(0)
  await page.unroute(`**/v1/track/${track_id}`)
})

test('a replaced file shows its new loudness or its new error', async () => {
  const diary = Buffer.from('Dear diary, '.repeat(200))
  await settle(client, (await upload(client, collection, 'diary.mp3', diary)).track_id)
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  const [song, failed] = [rowOf(page, 'song'), rowOf(page, 'diary')]
  const loudness = () => song.locator('.loudness').textContent()
  await expect.poll(loudness, TIMEOUT).toMatch(/LUFS/)
  const before = await loudness()
  const replace = async (name: string, buffer: Buffer) => {
    const chooser = page.waitForEvent('filechooser')
    await choose(page, `More for ${name}`, 'Replace the file …')
    await (await chooser).setFiles({ name: `${name}.mp3`, mimeType: 'audio/mpeg', buffer })
  }
  const loud = await makeAudio('mp3', { seconds: 3, expression: '0.9*sin(2*PI*330*t)' })
  await replace('song', loud)
  await song.locator('.duration').getByText('0:03').waitFor(TIMEOUT)
  await expect.poll(loudness, TIMEOUT).toMatch(/LUFS/)
  expect(await loudness()).not.toBe(before)
  await failed.getByText(/text/).waitFor(TIMEOUT)
  await replace('diary', Buffer.alloc(0))
  await failed.getByText('The uploaded file is empty (0 bytes)').waitFor(TIMEOUT)
  // The error is still shown after the list has been read again.
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await failed.getByText('The uploaded file is empty (0 bytes)').waitFor(TIMEOUT)
  // The row offers a replacement and no retry, because the file itself caused the error.
  const chooser = page.waitForEvent('filechooser')
  await failed.getByRole('button', { name: 'Replace file' }).click()
  await (await chooser).setFiles({ name: 'diary.mp3', mimeType: 'audio/mpeg', buffer: loud })
  await failed.locator('.duration').getByText('0:03').waitFor(TIMEOUT)
})

test('a list that was read before a deletion does not show the track again', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Old reads' } }))
  await copyTrack(stack, collection_id, 'gone.mp3', SONG)
  await visit(page, `#/collection/${collection_id}`, 'Old reads')
  await rowOf(page, 'gone').waitFor(TIMEOUT)
  await visit(page, '#/library', 'Library')
  const [read, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answered = Promise.withResolvers<void>()
  const late = async (route: Route) => {
    const response = await route.fetch()
    read.resolve()
    await shown.promise
    // The studio may have aborted the request.
    await route.fulfill({ response }).catch(() => {})
    answered.resolve()
  }
  await page.route('**/v1/collection/*/track?*', late, { times: 1 })
  await visit(page, `#/collection/${collection_id}`, 'Old reads')
  await read.promise
  await choose(page, 'More for gone', 'Delete track')
  await page.getByText('gone deleted').waitFor(TIMEOUT)
  shown.resolve()
  await answered.promise
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
  expect(await rowOf(page, 'gone').count()).toBe(0)
})
