import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { choose, editText, holdSave, namesOf, openTab, TIMEOUT, rowOf, untilPlaying, visit } from './studio_steps.ts'

/** The studio, from sign-in to a player on a third-party page. Each test continues in the state that the previous one left. */

let stack: Shared
let browser: Browser
let page: Page
let host: HostPage
let directory: string
let problems: string[]
let collection: string
let embed: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-studio-'))
  const songs = { 'first.mp3': 'sin(t)', 'second.mp3': 'abs(sin(t/2))', 'third.mp3': '1' }
  for (const [name, shape] of Object.entries(songs)) {
    const expression = `0.5*sin(2*PI*330*t)*${shape}`
    await writeFile(join(directory, name), await makeAudio('mp3', { seconds: 12, channels: 1, expression }))
  }
  await writeFile(join(directory, 'cover.png'), await makeImage('png'))
  ;[stack, browser, host] = await Promise.all([joinStack(), joinBrowser(), startHostPage()])
  ;({ page, problems } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] }))
})
afterAll(async () => {
  await closePages()
  await host?.close()
  await stack?.dispose()
  if (directory) await rm(directory, { recursive: true, force: true })
})

const files = (...names: string[]) => names.map((name) => join(directory, name))
const client = () => createClient({ base_url: stack.base_url, api_key: stack.api_key })
const listed = async () => {
  const params = { collection_id: collection }
  return (await must(client().get('/v1/collection/{collection_id}/track', { params }))).tracks
}
/** Presses a copy button and returns the copied text. */
async function copied(label: string): Promise<string> {
  await page.getByRole('button', { name: `Copy ${label}`, exact: true }).click(TIMEOUT)
  await page.locator('#announcer').getByText(`${label} copied`).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

test('an invalid key and a key of another type are rejected with a reason', async () => {
  await page.goto(stack.base_url)
  const key = page.getByLabel('Server key')
  await key.fill('ta_sk_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This key is not valid.').waitFor()
  const { secret } = await must(client().post('/v1/api_key', { body: { title: 'Listener', type: 'player' } }))
  await key.fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The studio needs a server key').waitFor()
  // The browser logs the 401 and the 403.
  problems.length = 0
})

test('a server key signs in and is kept only in this tab', async () => {
  await page.getByLabel('Server key').fill(stack.api_key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Upload your first files' }).waitFor()
  const storedKeys = await page.evaluate(() => [
    Object.values(sessionStorage),
    Object.values(localStorage),
    document.cookie,
  ])
  expect(storedKeys).toEqual([[stack.api_key], [], ''])
})

test('a new collection accepts three dropped files, which are uploaded and processed', async () => {
  await visit(page, '#/library', 'Library')
  await page.getByRole('button', { name: 'New collection' }).first().click()
  await page.getByLabel('Title', { exact: true }).fill('Demo tape')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Demo tape' }).waitFor()
  collection = new URL(page.url()).hash.split('/')[2] ?? ''
  // The upload engine must not poll the tracks, because the page does.
  const followed: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/v1/upload/')) followed.push(request.url())
  })
  const dropped = await Promise.all(
    files('first.mp3', 'second.mp3', 'third.mp3').map(async (path) => (await readFile(path)).toString('base64')),
  )
  const transfer = await page.evaluateHandle((contents) => {
    const data = new DataTransfer()
    for (const [at, text] of contents.entries()) {
      const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
      data.items.add(new File([bytes], ['first.mp3', 'second.mp3', 'third.mp3'][at]!, { type: 'audio/mpeg' }))
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
  const saved = async () =>
    (await must(client().get('/v1/collection/{collection_id}', { params: { collection_id: collection } }))).collection
  await expect.poll(saved, TIMEOUT).toMatchObject({
    title: 'Demo tape 2',
    player_subtitle: 'Ines Calder',
    player_color: '#C0392B',
    theme: ['#2B3440'],
  })
  await page.unroute('**/v1/collection/*')
  expect(problems).toEqual([])
})

test('a new cover appears on the page and in the list of collections', async () => {
  await page.setInputFiles('.cover-box input[type=file]', files('cover.png')[0]!)
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

test('a play session is created, and its codes can be copied', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape 2')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByText('Temporary link').click(TIMEOUT)
  await page.getByLabel('Ends after').selectOption({ label: '1 hour' })
  await page.getByLabel('MP3 128').check(TIMEOUT)
  await page.getByLabel('Listeners may download').check()
  await page.getByRole('button', { name: 'Create play session' }).click()
  const link = await copied('Temporary address')
  expect(link).toMatch(new RegExp(`^${stack.base_url}/embed/[0-9a-f-]{36}$`))
  embed = await copied('Frame')
  expect(embed).toContain(`<iframe src="${link}" title="Demo tape 2" width="480" height="440"`)
  const play_session_id = await copied('Play session')
  const { play_session } = await must(
    client().get('/v1/play_session/{play_session_id}', { params: { play_session_id } }),
  )
  expect(play_session).toMatchObject({ variants: ['mp3-128'], is_downloadable: true })
  const remaining = Date.parse(play_session.expires_at) - Date.now()
  expect([remaining > 3000_000, remaining <= 3600_000]).toEqual([true, true])
  expect(await copied('Player element')).toContain(`play-session-id="${play_session_id}" download>`)
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('the frame plays on a page of another origin', async () => {
  const { page: other, problems: faults } = await openTab(browser)
  const example = await readFile(join(import.meta.dirname, '../../examples/embed.html'), 'utf8')
  host.show(example.replace(/<iframe[^]*<\/iframe>/, embed))
  await other.goto(host.origin)
  const frame = other.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  await untilPlaying(frame, 0.3)
  const inner = other.frames().find((candidate) => candidate.url().startsWith(stack.base_url))
  expect(await inner?.title()).toBe('Demo tape 2')
  expect(faults).toEqual([])
  await other.context().close()
})

test('a new key is shown once, and its player works on the allowed page until the key is revoked', async () => {
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Title', { exact: true }).fill('Shop')
  await page.getByLabel('Opens').selectOption({ label: 'Demo tape 2' })
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

  await page.getByRole('row', { name: /Shop/ }).getByRole('link', { name: 'Demo tape 2' }).waitFor(TIMEOUT)
  await choose(page, 'More for Shop', 'Revoke key …')
  await page.getByRole('button', { name: 'Revoke key', exact: true }).click()
  await page.getByRole('row', { name: /Shop/ }).waitFor({ state: 'detached' })
  const revoked = createClient({ base_url: stack.base_url, api_key: secret })
  await expect.poll(async () => (await revoked.get('/v1/variant')).ok, TIMEOUT).toBe(false)
})

test('a deleted track is back after Undo, and a key revoked elsewhere asks for another one over the page', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape 2')
  const before = await namesOf(page)
  await choose(page, 'More for second', 'Delete track')
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(2)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
  expect(await listed()).toHaveLength(3)
  await choose(page, 'More for second', 'Delete track')
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(2)
  await rowOf(page, 'second').waitFor({ state: 'detached' })
  expect(problems).toEqual([])

  const spare = await must(client().post('/v1/api_key', { body: { title: 'Spare', type: 'server' } }))
  const { page: other } = await openTab(browser)
  await other.goto(`${stack.base_url}/#key=${spare.secret}`)
  await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor(TIMEOUT)
  await must(client().delete('/v1/api_key/{api_key_id}', { params: { api_key_id: spare.api_key_id } }))
  await expect
    .poll(async () => {
      await other
        .getByRole('link', { name: 'Variants' })
        .click({ timeout: 1000 })
        .catch(() => {})
      await other
        .getByRole('link', { name: 'Playlists' })
        .click({ timeout: 1000 })
        .catch(() => {})
      return await other.getByText('This key is no longer valid.').isVisible()
    }, TIMEOUT)
    .toBe(true)
  await other.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await other.getByRole('heading', { level: 1, name: 'Tonearm studio' }).waitFor(TIMEOUT)
  expect(await other.evaluate(() => Object.values(sessionStorage))).toEqual([])
  await other.context().close()
})
