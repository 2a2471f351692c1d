import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import {
  chooseOption,
  chooseScope,
  choose,
  editText,
  holdSave,
  namesOf,
  newContext,
  newTab,
  openTab,
  rowOf,
  signInAfter,
  type Studio,
  TIMEOUT,
  untilPlaying,
  visit,
} from './studio_steps.ts'

/** The studio, from sign-in to a player on a third-party page. Each test has a separate organization. */

let stack: Shared
let browser: Browser
let context: BrowserContext
let studio: Studio | undefined
let page: Page
let client: Client
let host: HostPage
let problems: string[]

beforeAll(async () => {
  ;[browser, host] = await Promise.all([joinBrowser(), startHostPage()])
  context = await newContext(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
})
beforeEach(async ({ onTestFailed }) => {
  onTestFailed(() => (studio = undefined))
  problems = []
  stack = await joinStack()
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
})
afterEach(() => expect(problems).toEqual([]))
afterAll(() => Promise.all([closePages(), host?.close()]))

async function openStudio(api_key = stack.api_key): Promise<void> {
  studio = await signInAfter(studio, context, { ...stack, api_key })
  ;({ page, problems } = studio)
}
/** Opens the page of a collection with some tracks. */
async function openDemoTape(...names: string[]): Promise<string> {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Demo tape' } }))
  for (const name of names) await copyTrack(stack, collection_id, `${name}.mp3`, SONG)
  await openStudio()
  await visit(page, `#/collection/${collection_id}`, 'Demo tape')
  return collection_id
}
/** Opens the form to sign in, in a new tab. */
async function openForm(): Promise<void> {
  studio = undefined
  ;({ page, problems } = await newTab(context))
  await page.goto(stack.base_url)
}
/** Presses a copy button and returns the copied text. */
async function copied(label: string): Promise<string> {
  await page.getByRole('button', { name: `Copy ${label}`, exact: true }).click(TIMEOUT)
  await page.locator('#announcer').getByText(`${label} copied`).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

test('an invalid key and a key of another type are rejected with a reason', async () => {
  await openForm()
  const key = page.getByLabel('Server key')
  await key.fill('ta_sk_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This key is not valid.').waitFor()
  const { secret } = await must(client.post('/v1/api_key', { body: { title: 'Listener', type: 'player' } }))
  await key.fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The studio needs a server key').waitFor()
  // The browser logs the 401 and the 403.
  problems.length = 0
})

test('a server key signs in and is kept only in this tab', async () => {
  await openForm()
  await page.getByLabel('Server key').fill(stack.api_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Upload your first files' }).waitFor()
  const readKeys = () => [Object.values(sessionStorage), Object.values(localStorage), document.cookie]
  expect(await page.evaluate(readKeys)).toEqual([[stack.api_key], [], ''])
})

test('a new collection accepts three dropped files, which are uploaded and processed', async () => {
  const songs = { 'first.mp3': 'sin(t)', 'second.mp3': 'abs(sin(t/2))', 'third.mp3': '1' }
  const dropped = await Promise.all(
    Object.entries(songs).map(async ([name, shape]) => {
      const audio = await makeAudio('mp3', { seconds: 12, channels: 1, expression: `0.5*sin(2*PI*330*t)*${shape}` })
      return [name, audio.toString('base64')] as const
    }),
  )
  await openStudio()
  await visit(page, '#/library', 'Library')
  await page.getByRole('button', { name: 'New collection' }).first().click()
  await page.getByLabel('Title', { exact: true }).fill('Demo tape')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Demo tape' }).waitFor()
  // The upload engine must not poll the tracks, because the page does.
  const followed: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/v1/upload/')) followed.push(request.url())
  })
  const transfer = await page.evaluateHandle((contents) => {
    const data = new DataTransfer()
    for (const [name, text] of contents) {
      const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
      data.items.add(new File([bytes], name, { type: 'audio/mpeg' }))
    }
    return data
  }, dropped)
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer })
  expect(await page.locator('#drop-veil').getAttribute('class')).toBe('shown')
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await expect.poll(() => page.locator('.track[data-status=ready]').count(), TIMEOUT).toBe(3)
  expect(await namesOf(page)).toEqual(['first', 'second', 'third'])
  expect(followed).toEqual([])
  expect(await rowOf(page, 'first').locator('.duration').textContent()).toBe('0:12')
  await expect.poll(() => rowOf(page, 'third').locator('.loudness').textContent(), TIMEOUT).toMatch(/^−\d+\.\d LUFS$/)
  // A track that has neither a tag nor a subtitle shows its file name only once.
  expect(await rowOf(page, 'third').locator('.track-text').textContent()).toBe('third')
})

test('title, subtitle and color are saved while the user edits them, and shown in a player', async () => {
  const params = { collection_id: await openDemoTape('first') }
  // A change that is made while the previous one is being saved is not a conflict.
  const save = await holdSave(page, '**/v1/collection/*')
  await editText(page, 'Title', 'Demo tape 2')
  await save.held
  await editText(page, 'Artist', 'Ines Calder')
  await page.getByLabel('Another color').fill('#c0392b')
  await page.getByRole('button', { name: 'Add a color' }).click()
  save.release()
  await page.getByRole('heading', { level: 1, name: 'Demo tape 2' }).waitFor()
  await page.locator('.preview tonearm-player').getByText('Ines Calder').first().waitFor(TIMEOUT)
  const saved = async () => (await must(client.get('/v1/collection/{collection_id}', { params }))).collection
  await expect.poll(saved, TIMEOUT).toMatchObject({
    title: 'Demo tape 2',
    player_subtitle: 'Ines Calder',
    player_color: '#C0392B',
    theme: ['#2B3440'],
  })
})

test('a new cover appears on the page and in the list of collections', async () => {
  await openDemoTape('first')
  const cover = { name: 'cover.png', mimeType: 'image/png', buffer: await makeImage('png') }
  await page.setInputFiles('.cover-box input[type=file]', cover)
  const redLeft = (selector: string) =>
    page.waitForFunction(
      (place) => {
        const image = document.querySelector<HTMLImageElement>(place)
        return image?.complete && image.naturalWidth === 400 && !image.src.endsWith('/regular.png')
      },
      selector,
      TIMEOUT,
    )
  await redLeft('.cover-box img')
  const previewed = () => page.locator('.preview tonearm-player img').first().getAttribute('src')
  await expect.poll(previewed, TIMEOUT).toContain('X-Amz-Signature')
  await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: 'Library' }).click()
  await redLeft('.cover-card img')
})

test('a play session is created, its codes can be copied, and its frame plays on a page of another origin', async () => {
  await openDemoTape('first', 'second', 'third')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByText('Temporary link').click(TIMEOUT)
  await chooseOption(page.getByLabel('Ends after'), '1 hour')
  for (const name of ['MP3 128', 'Listeners may download']) await page.getByLabel(name).check(TIMEOUT)
  await page.getByRole('button', { name: 'Create play session' }).click()
  const link = await copied('Temporary address')
  expect(link).toMatch(new RegExp(`^${stack.base_url}/embed/[0-9a-f-]{36}$`))
  const embed = await copied('Frame')
  expect(embed).toContain(`<iframe src="${link}" title="Demo tape" width="480" height="440"`)
  const play_session_id = await copied('Play session')
  const params = { play_session_id }
  const { play_session } = await must(client.get('/v1/play_session/{play_session_id}', { params }))
  expect(play_session).toMatchObject({ variants: ['mp3-128'], is_downloadable: true })
  const remaining = Date.parse(play_session.expires_at) - Date.now()
  expect([remaining > 3000_000, remaining <= 3600_000]).toEqual([true, true])
  expect(await copied('Player element')).toContain(`play-session-id="${play_session_id}" download>`)
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const { page: other, problems: faults } = await openTab(browser)
  const example = await readFile(join(import.meta.dirname, '../../examples/embed.html'), 'utf8')
  host.show(example.replace(/<iframe[^]*<\/iframe>/, embed))
  await other.goto(host.origin)
  const frame = other.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  await untilPlaying(frame, 0.3)
  const inner = other.frames().find((candidate) => candidate.url().startsWith(stack.base_url))
  expect(await inner?.title()).toBe('Demo tape')
  expect(faults).toEqual([])
  await other.context().close()
})

test('a new key is shown once, and its player works on the allowed page until the key is revoked', async () => {
  await openDemoTape('first')
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Title', { exact: true }).fill('Shop')
  await chooseScope(page, /^Demo tape/, 'demo')
  await page.getByLabel('Sites').fill(`${host.origin}/`)
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = await copied('Secret')
  expect(secret).toMatch(/^ta_pk_/)
  const code = await copied('For your page')
  await page.getByRole('button', { name: 'Test it' }).click()
  await page.getByText('The key works.').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(secret)

  const { page: shop, problems: faults } = await openTab(browser)
  // The player uses the language of the page and not that of the browser.
  host.show(`<!doctype html><html lang="en"><title>Shop</title>${code}`)
  // A button that is pressed before the player has a session takes effect later.
  const session = Promise.withResolvers<void>()
  await shop.route('**/v1/play_session/*', async (route) => {
    await session.promise
    await route.continue()
  })
  await shop.goto(host.origin)
  await shop.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  session.resolve()
  await untilPlaying(shop, 0.2)
  expect(faults).toEqual([])
  await shop.context().close()

  await page.getByRole('row', { name: /Shop/ }).getByRole('link', { name: 'Demo tape' }).waitFor(TIMEOUT)
  await choose(page, 'More for Shop', 'Revoke key …')
  await page.getByRole('button', { name: 'Revoke key', exact: true }).click()
  await page.getByRole('row', { name: /Shop/ }).waitFor({ state: 'detached' })
  const revoked = createClient({ base_url: stack.base_url, api_key: secret })
  await expect.poll(async () => (await revoked.get('/v1/variant')).ok, TIMEOUT).toBe(false)
})

test('a deleted track is back after Undo', async () => {
  const params = { collection_id: await openDemoTape('first', 'second', 'third') }
  const listed = async () => (await must(client.get('/v1/collection/{collection_id}/track', { params }))).tracks
  await rowOf(page, 'third').waitFor(TIMEOUT)
  await choose(page, 'More for second', 'Delete track')
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(2)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['first', 'second', 'third'])
  expect(await listed()).toHaveLength(3)
  await choose(page, 'More for second', 'Delete track')
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(2)
  await rowOf(page, 'second').waitFor({ state: 'detached' })
})

test('a key revoked elsewhere asks for another one over the page', async () => {
  const spare = await must(client.post('/v1/api_key', { body: { title: 'Spare', type: 'server' } }))
  await openStudio(spare.secret)
  await must(client.delete('/v1/api_key/{api_key_id}', { params: { api_key_id: spare.api_key_id } }))
  const isAsked = async () => {
    const links = ['Variants', 'Playlists'].map((name) => page.getByRole('link', { name }))
    for (const link of links) await link.click({ timeout: 3000 }).catch(() => {})
    return await page.getByText('This key is no longer valid.').isVisible()
  }
  await expect.poll(isAsked, TIMEOUT).toBe(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tonearm studio' }).waitFor(TIMEOUT)
  expect(await page.evaluate(() => Object.values(sessionStorage))).toEqual([])
  // The browser logs the rejected requests.
  problems.length = 0
  studio = undefined
})
