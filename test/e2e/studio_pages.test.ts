import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { launchBrowser } from '../support/browser.ts'
import { startStack, type Stack } from '../support/stack.ts'
import { seriousFindings } from './axe.ts'
import { bytes, must, send, settle, upload } from './steps.ts'
import { expectNoOverflow, namesOf, openTab, PATIENCE, rowOf, signIn, visit } from './studio_steps.ts'

/** Every page of the studio as people see it: empty, full, failing, light, dark, on a phone. */

let stack: Stack
let browser: Browser
let client: Client
/** The routes of all pages, with their headings. */
let pages: Record<string, [route: string, heading: string]>
let album: string
let empty: string
let failed: string
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([startStack(), launchBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const made = await must(
    client.post('/v1/collection', { body: { title: 'A collection whose title is longer than a phone is wide' } }),
  )
  album = made.collection_id
  await send(made.collection_cover_upload, bytes(await makeImage('png')))
  const song = await makeAudio('mp3', { seconds: 6 })
  const { track_id } = await upload(client, album, 'A song with a name-that-goes-on-and-on-without-a-space.mp3', song)
  failed = (await upload(client, album, 'diary.mp3', Buffer.from('Dear diary, '.repeat(200)))).track_id
  await must(client.post('/v1/track', { body: { collection_id: album, file_name: 'on-its-way.wav' } }))
  empty = (await must(client.post('/v1/collection', { body: { title: 'Empty' } }))).collection_id
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'Mix' } }))
  const body = { track_ids: [track_id, track_id] }
  await must(client.post('/v1/playlist/{playlist_id}/track', { params: { playlist_id }, body }))
  await must(
    client.post('/v1/api_key', {
      body: { title: 'Web', type: 'player', collection_id: album, allowed_origins: ['https://www.example.com'] },
    }),
  )
  await settle(client, track_id)
  await settle(client, failed)
  const title = made.collection.title
  const song_name = 'A song with a name-that-goes-on-and-on-without-a-space'
  pages = {
    collections: ['#/collections', 'Collections'],
    collection: [`#/collection/${album}`, title],
    look: [`#/collection/${album}/look`, title],
    share: [`#/collection/${album}/share`, title],
    empty: [`#/collection/${empty}`, 'Empty'],
    track: [`#/track/${track_id}`, song_name],
    'track look': [`#/track/${track_id}/look`, song_name],
    failed: [`#/track/${failed}`, 'diary'],
    playlists: ['#/playlists', 'Playlists'],
    playlist: [`#/playlist/${playlist_id}`, 'Mix'],
    keys: ['#/keys', 'Keys'],
    variants: ['#/variants', 'Variants'],
  }
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await stack?.dispose()
})

describe.each(['light', 'dark', 'phone'] as const)('%s', (mode) => {
  test('every page and dialog is without serious findings of axe, and nothing lies beside the screen', async () => {
    const { page, problems } = await openTab(browser, {
      colorScheme: mode === 'dark' ? 'dark' : 'light',
      reducedMotion: 'reduce',
      ...(mode === 'phone' && { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true }),
    })
    if (SCREENSHOTS) await mkdir(SCREENSHOTS, { recursive: true })
    const judge = async (name: string) => {
      if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `studio-${name}-${mode}.png`), fullPage: true })
      await expectNoOverflow(page, name)
      expect([name, await seriousFindings(page)]).toEqual([name, []])
    }
    await page.goto(stack.base_url)
    await page.getByLabel('Server key').waitFor()
    await judge('sign in')
    await signIn(page, stack)
    for (const [name, [route, heading]] of Object.entries(pages)) {
      await visit(page, route, heading)
      // What is read later is judged too.
      await page.waitForLoadState('networkidle')
      await judge(name)
    }
    await visit(page, ...pages.share!)
    await page.getByRole('button', { name: 'Create play session' }).click()
    await page.getByRole('heading', { name: 'Embed code' }).waitFor(PATIENCE)
    await judge('codes')
    await visit(page, ...pages.keys!)
    await page.getByRole('button', { name: 'New key' }).click()
    await judge('new key')
    await page.keyboard.press('Escape')
    await visit(page, ...pages.collection!)
    const row = rowOf(page, 'A song')
    await row.getByRole('button', { name: /^Play A song/ }).click(PATIENCE)
    await page.locator('.dock').getByRole('button', { name: 'Pause' }).waitFor(PATIENCE)
    await judge('playing')
    await row.getByRole('button', { name: /^More for A song/ }).click()
    await page.getByRole('menuitem', { name: 'Details' }).waitFor()
    await judge('menu')
    await page.getByRole('menuitem', { name: 'Add to a playlist …' }).click()
    await page.getByRole('button', { name: /^Mix/ }).waitFor(PATIENCE)
    await judge('add to a playlist')
    expect(problems).toEqual([])
    await page.context().close()
  })
})

test('the back button leads back, and a reload stays where it is', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await page.getByRole('link', { name: /A collection whose/ }).click()
  await page.getByRole('link', { name: 'Look' }).click()
  await page.getByRole('heading', { name: 'Preview' }).waitFor()
  await page.goBack()
  await rowOf(page, 'diary').waitFor()
  await page.reload()
  await rowOf(page, 'diary').waitFor(PATIENCE)
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor()
  expect(await page.title()).toBe('Collections · Tonearm')
  await page.context().close()
})

test('a failed track says why, in its list and on its page, and can be tried again', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...pages.collection!)
  const row = rowOf(page, 'diary')
  await row.getByText(/^Failed\. .*text/).waitFor(PATIENCE)
  await row.getByRole('button', { name: 'Try again' }).click()
  const status = () => row.getAttribute('data-status')
  await expect.poll(status, PATIENCE).not.toBe('failed')
  await expect.poll(status, PATIENCE).toBe('failed')
  await visit(page, ...pages.failed!)
  await page.getByRole('heading', { name: 'What went wrong' }).waitFor(PATIENCE)
  await page.context().close()
})

test('empty places say what to do, and unknown ones that there is nothing', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...pages.empty!)
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor(PATIENCE)
  await page.getByRole('button', { name: 'Choose files' }).waitFor()
  await page.evaluate((hash) => (location.hash = hash), '#/collection/00000000-0000-4000-8000-00000000dead')
  await page.getByText('This does not exist, or not any more.').waitFor(PATIENCE)
  await page.evaluate((hash) => (location.hash = hash), '#/nowhere')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await page.context().close()
})

test('while the service cannot be reached a page says so, and goes on when it can', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor(PATIENCE)
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.key').first().waitFor(PATIENCE)
  expect(await page.getByText('The service cannot be reached').count()).toBe(0)
  await page.context().close()
})

test('what is typed is shown as text, and a picture as a file is refused with a reason', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  const title = '<img src=x onerror=alert(1)>"&amp;'
  const { collection_id } = await must(client.post('/v1/collection', { body: { title } }))
  await visit(page, `#/collection/${collection_id}`, title)
  expect(await page.locator('img[src=x]').count()).toBe(0)
  const cover = { name: 'cover.png', mimeType: 'image/png', buffer: await makeImage('png') }
  await page.setInputFiles('.thing-text input[type=file]', cover)
  await page.getByText(/image|picture/i).waitFor(PATIENCE)
  await page.getByRole('button', { name: /cover\.png/ }).click()
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor()
  expect(problems).toEqual([])
  await must(client.delete('/v1/collection/{collection_id}', { params: { collection_id } }))
  await page.context().close()
})

test('an upload that is interrupted goes on by itself, and one that is paused when it is resumed', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...pages.empty!)
  let refuse = true
  await page.route('**/uploads/**', async (route) => {
    if (route.request().method() === 'PUT' && refuse) await route.abort()
    else await route.continue()
  })
  const song = { name: 'again.mp3', mimeType: 'audio/mpeg', buffer: await makeAudio('mp3', { seconds: 3 }) }
  await page.setInputFiles('.thing-text input[type=file]', song)
  await rowOf(page, 'again.mp3').locator('.note.failed').waitFor(PATIENCE)
  await page.getByRole('button', { name: /^Pause.*again\.mp3/ }).click()
  refuse = false
  await page.getByRole('button', { name: /^Resume.*again\.mp3/ }).click()
  await page.locator('.track[data-status=ready]').waitFor(PATIENCE)
  expect(await namesOf(page)).toEqual(['again'])
  await page.context().close()
})

test('a long list: all tracks are shown, and only what is looked at is read', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Archive' } }))
  for (let from = 0; from < 450; from += 30) {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        must(client.post('/v1/track', { body: { collection_id, file_name: `Tape ${from + i}.wav` } })),
      ),
    )
  }
  const { page } = await openTab(browser)
  await signIn(page, stack)
  let reads = 0
  page.on('request', (request) => /\/v1\/track\//.test(request.url()) && reads++)
  await visit(page, `#/collection/${collection_id}`, 'Archive')
  await expect.poll(() => page.locator('.track').count(), PATIENCE).toBe(450)
  await page.getByText('450 tracks').waitFor()
  // Those that wait for their files are looked at four at a time.
  expect(reads).toBeLessThan(60)
  await page.context().close()
})
