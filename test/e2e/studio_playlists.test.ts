import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { namesOf, openTab, rowOf, signIn, TIMEOUT, visit } from './studio_steps.ts'

/** Tests how a playlist is built. */

let stack: Shared
let browser: Browser
let page: Page
let client: Client
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Demo tape' } }))
  for (const name of ['first', 'second', 'third']) await copyTrack(stack, collection_id, `${name}.mp3`, SONG)
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('a playlist is built by search, drag and keyboard, and changes of two users are both kept', async () => {
  await visit(page, '#/playlists', 'Playlists')
  await page.getByRole('button', { name: 'New playlist' }).first().click()
  await page.getByLabel('Title', { exact: true }).fill('Mix')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Mix' }).waitFor()
  const playlist_id = new URL(page.url()).hash.split('/')[2] ?? ''
  const params = { playlist_id }
  const expectSaved = (...names: string[]) => {
    const saved = async () => {
      const { tracks } = await must(client.get('/v1/playlist/{playlist_id}/track', { params }))
      return tracks.map(({ file_name }) => file_name)
    }
    return expect.poll(saved, TIMEOUT).toEqual(names.map((name) => `${name}.mp3`))
  }
  const search = page.getByRole('searchbox', { name: 'Search all tracks and collections' })
  await search.fill('thir')
  await page.getByRole('button', { name: 'Add third' }).waitFor(TIMEOUT)
  await search.press('Enter')
  await expectSaved('third')

  await search.fill('firs')
  await page.getByRole('button', { name: 'Add first' }).waitFor(TIMEOUT)
  const found = (await page.locator('.found-row').filter({ hasText: 'first' }).boundingBox())!
  const target = (await rowOf(page, 'third').boundingBox())!
  await page.mouse.move(found.x + 80, found.y + 20)
  await page.mouse.down()
  await page.mouse.move(target.x + 100, target.y + 4, { steps: 4 })
  await page.locator('.drop-before').waitFor()
  await page.mouse.up()
  await expectSaved('first', 'third')
  expect(await namesOf(page)).toEqual(['first', 'third'])

  // The keys of a row do nothing on other controls.
  const add = page.getByRole('button', { name: 'Add first' })
  await add.focus()
  await page.keyboard.press('Delete')
  await page.keyboard.press('Enter')
  await expectSaved('first', 'third', 'first')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expectSaved('first', 'third')

  const top = page.locator('.in-playlist [data-at="0"]')
  await top.focus()
  await page.keyboard.press('Alt+ArrowDown')
  await expectSaved('third', 'first')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expectSaved('first', 'third')

  // Someone else adds a track, and removes none. The version that the studio knows is then outdated.
  const second = await must(client.get('/v1/track', { query: { q: 'second' } }))
  const body = { track_ids: [second.tracks[0]!.id] }
  await must(client.post('/v1/playlist/{playlist_id}/track', { params, body }))
  await top.focus()
  await page.keyboard.press('Delete')
  await page.locator('#announcer').getByText('Both changes were kept.').waitFor(TIMEOUT)
  await expectSaved('third', 'second')
  expect(await namesOf(page)).toEqual(['third', 'second'])
  await expect.poll(() => top.evaluate((row) => row === document.activeElement), TIMEOUT).toBe(true)
  expect(problems.splice(0)).toEqual([expect.stringContaining('412')])

  // Without a connection, the change stays on the page and is sent later.
  await page.route('**/v1/playlist/*/track', (route) => route.abort(), { times: 1 })
  await page.getByRole('button', { name: 'Add first' }).click()
  await page.getByText('Not saved yet, but it is sent again.').waitFor(TIMEOUT)
  expect(await namesOf(page)).toEqual(['third', 'second', 'first'])
  await page.getByRole('button', { name: 'Try again' }).click()
  await expectSaved('third', 'second', 'first')
  expect(problems.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')])

  await top.focus()
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByRole('toolbar').getByRole('button', { name: 'Remove' }).click()
  await expectSaved('first')
  expect(problems).toEqual([])
})
