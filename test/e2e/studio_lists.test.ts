import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack } from './shared_stack.ts'
import { must } from './steps.ts'
import { makeDemoTape } from './studio_library.ts'
import { choose, hold, namesOf, newTab, rowOf, signIn, TIMEOUT, untilPlaying, visit } from './studio_steps.ts'

/** The studio's lists of tracks: waveforms, order, playback and details. If a test fails, the next one uses another organization. */

let context: BrowserContext
let isOpen = false
let page: Page
let client: Client
let collection: string
let problems: string[]

beforeAll(async () => {
  context = await (await joinBrowser()).newContext({ viewport: { width: 1200, height: 900 } })
})
beforeEach(async ({ onTestFailed }) => {
  onTestFailed(() => void (isOpen = false))
  if (!isOpen) await openLibrary()
  await visit(page, '#/library', 'Library')
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await rowOf(page, 'third').waitFor(TIMEOUT)
})
afterEach(() => expect(problems).toEqual([]))
afterAll(closePages)

async function openLibrary(): Promise<void> {
  const stack = await joinStack()
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  collection = await makeDemoTape(stack)
  ;({ page, problems } = await newTab(context))
  await signIn(page, stack)
  isOpen = true
}

const listed = async () => {
  const params = { collection_id: collection }
  return (await must(client.get('/v1/collection/{collection_id}/track', { params }))).tracks
}

const expectFocus = (name: string) =>
  expect.poll(() => rowOf(page, name).evaluate((row) => row === document.activeElement), TIMEOUT).toBe(true)

test('each row shows the waveform of its track', async () => {
  const inkOf = (name: string) =>
    rowOf(page, name)
      .locator('.wave path')
      .evaluate((path: SVGPathElement) => path.getTotalLength())
  await rowOf(page, 'third').locator('.wave path').waitFor(TIMEOUT)
  await rowOf(page, 'second').locator('.wave path').waitFor(TIMEOUT)
  await expect.poll(async () => (await inkOf('second')) < 0.9 * (await inkOf('third')), TIMEOUT).toBe(true)
})

test('a row shows the subtitle of its track, or else the artist of the file, or else the subtitle that players show', async () => {
  const below = (name: string) => rowOf(page, name).locator('.track-text .soft').textContent()
  await expect.poll(() => below('first'), TIMEOUT).toBe('Ines Calder')
  expect(await below('second')).toBe('Various')
  const setUsesTags = async (action: 'check' | 'uncheck') => {
    await visit(page, '#/settings', 'Settings')
    await page.getByRole('checkbox', { name: /a file's tags/ })[action](TIMEOUT)
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .locator('#announcer')
      .getByText('Settings saved')
      .waitFor({ state: 'attached', ...TIMEOUT })
    await page.goBack()
  }
  await setUsesTags('uncheck')
  await expect.poll(() => below('first'), TIMEOUT).toBe('Various')
  await page.reload()
  await expect.poll(() => below('first'), TIMEOUT).toBe('Various')
  await visit(page, '#/search?q=first', 'Search')
  const found = page.getByRole('region', { name: 'Tracks' }).getByRole('listitem')
  await found.waitFor(TIMEOUT)
  expect(await found.locator('.line-text .soft').textContent()).toBe('')
  await page.goBack()
  await setUsesTags('check')
  await expect.poll(() => below('first'), TIMEOUT).toBe('Ines Calder')
  const first = { params: { track_id: (await listed())[0]!.id } }
  await must(client.put('/v1/track/{track_id}', { ...first, body: { player_subtitle: 'Live' } }))
  await visit(page, '#/keys', 'Keys')
  await page.goBack()
  await expect.poll(() => below('first'), TIMEOUT).toBe('Live')
})

test('rows can be moved by keyboard, menu and dragging, and the service stores the order', async () => {
  const expectOrder = async (names: string[]) => {
    expect(await namesOf(page)).toEqual(names)
    const saved = async () => (await listed()).map(({ file_name }) => file_name.replace('.mp3', ''))
    await expect.poll(saved, TIMEOUT).toEqual(names)
  }
  const [a, b, c] = (await namesOf(page)) as [string, string, string]
  await page.getByRole('button', { name: `Move ${a}:` }).press('ArrowDown')
  await expectOrder([b, a, c])
  // The handle keeps the focus for the next key press.
  await page.locator(`[aria-label^="Move ${a}:"]:focus`).waitFor(TIMEOUT)
  await page.keyboard.press('ArrowDown')
  await expectOrder([b, c, a])
  await choose(page, `More for ${c}`, 'Move up')
  await expectOrder([c, b, a])
  const top = (await rowOf(page, c).boundingBox())!
  for (const isCanceled of [true, false]) {
    await page.getByRole('button', { name: `Move ${a}:` }).hover()
    await page.mouse.down()
    await page.mouse.move(top.x + 10, top.y + 4, { steps: 8 })
    await page.locator('.track.drop-before').waitFor()
    if (isCanceled) await page.keyboard.press('Escape')
    await page.mouse.up()
    await expectOrder(isCanceled ? [c, b, a] : [a, c, b])
  }
})

test('the playing track is marked, continues to play across pages, and can be paused in its row', async () => {
  await rowOf(page, 'second').getByRole('button', { name: 'Play second' }).click(TIMEOUT)
  await untilPlaying(page.locator('.dock'), 0.3)
  await page.locator('.track[data-status][aria-current=true]').filter({ hasText: 'second' }).waitFor()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  await untilPlaying(page.locator('.dock'), 1)
  await page.goBack()
  await rowOf(page, 'second').getByRole('button', { name: 'Pause second' }).click(TIMEOUT)
  await rowOf(page, 'second').getByRole('button', { name: 'Play second' }).waitFor()
  expect(await page.locator('.dock audio').evaluate((audio: HTMLAudioElement) => audio.paused)).toBe(true)
  await page.getByRole('button', { name: 'Close the player' }).click()
})

test('selected tracks are deleted and moved together, and both can be undone', async () => {
  const before = await namesOf(page)
  const bar = page.getByRole('toolbar', { name: 'Selected tracks' })
  const pick = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` })
  await pick(before[0]!).click()
  await pick(before[2]!).click({ modifiers: ['Shift'] })
  await bar.getByText('3 selected').waitFor()
  await pick(before[1]!).click()
  await bar.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 tracks deleted').waitFor(TIMEOUT)
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 tracks restored').waitFor(TIMEOUT)
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)

  // With keys: X selects, E edits, Delete deletes the selection, or the row with the focus.
  await rowOf(page, before[0]!).focus()
  for (const key of ['x', 'ArrowDown', 'x', 'e']) await page.keyboard.press(key)
  await page.getByRole('dialog', { name: 'Edit 2 tracks' }).waitFor(TIMEOUT)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // The second press comes before the rows are read, and starts no other batch.
  let batches = 0
  page.on('request', (request) => request.url().endsWith('/v1/track/batch') && batches++)
  const press = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true }))"
  await page.evaluate(`${press}; ${press}`)
  await page.getByText('2 tracks deleted').waitFor(TIMEOUT)
  expect(batches).toBe(1)
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual([before[2]])
  // The rows and the bar are gone, and the focus is on the row that is left.
  await expectFocus(before[2]!)
  await page.keyboard.press('Control+z')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
  await rowOf(page, before[1]!).focus()
  await page.keyboard.press('Delete')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual([before[0], before[2]])
  await expectFocus(before[2]!)
  await page.getByText(`${before[1]} deleted`).waitFor(TIMEOUT)
  await page.keyboard.press('Control+z')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
  await rowOf(page, before[0]!).focus()
  await page.keyboard.press('Alt+ArrowDown')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual([before[1], before[0], before[2]])
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)

  await must(client.post('/v1/collection', { body: { title: 'Other tape' } }))
  const previewed = () =>
    page
      .locator('.preview tonearm-player')
      .evaluateAll((players) => players.map((player) => (player as HTMLElementTagNameMap['tonearm-player']).track?.id))
  await expect.poll(previewed, TIMEOUT).toEqual([expect.any(String)])
  await page.keyboard.press('Control+a')
  await bar.getByText('3 selected').waitFor()
  await bar.getByRole('button', { name: 'Move' }).click()
  batches = 0
  const pass = await hold(page, /\/v1\/track\/batch/)
  await page.getByRole('button', { name: /^Other tape/ }).click(TIMEOUT)
  await expect.poll(() => batches, TIMEOUT).toBe(1)
  // This batch was not started by a key, and keys are ignored as well.
  await page.keyboard.press('Delete')
  await pass()
  await page.getByText('3 tracks moved').waitFor(TIMEOUT)
  expect(batches).toBe(1)
  expect(await listed()).toEqual([])
  // The preview does not show a track that has left the collection.
  await expect.poll(previewed, TIMEOUT).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await listed()).length, TIMEOUT).toBe(3)
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
})

test('keys work from outside of the table and from its checkboxes, and a button keeps the focus', async () => {
  const [first] = await namesOf(page)
  await page.keyboard.press('j')
  await expectFocus(first!)

  await page.getByRole('checkbox', { name: `Select ${first}` }).click()
  await page.keyboard.press('/')
  await page.getByRole('dialog').waitFor(TIMEOUT)
  await page.keyboard.press('Escape')

  // Keys in the player are not keys of the selection.
  await rowOf(page, first!).press('Space')
  await page.locator('.dock').getByRole('button', { name: 'Pause' }).click(TIMEOUT)
  for (const key of ['Delete', 'e']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Close the player' }).click()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await namesOf(page)).toContain(first)

  const zip = page.getByRole('toolbar', { name: 'Selected tracks' }).getByRole('button', { name: 'Download ZIP' })
  await zip.focus()
  const download = page.waitForEvent('download', TIMEOUT)
  await page.keyboard.press('Enter')
  await (await download).cancel()
  await expect.poll(() => zip.evaluate((button) => button === document.activeElement), TIMEOUT).toBe(true)
})

test('a track shows its files with sizes, its loudness and its source', async () => {
  await rowOf(page, 'first').getByRole('link', { name: 'first' }).click()
  const row = page.getByRole('row').filter({ hasText: 'mp3-128' })
  await row.getByText(/^\d+ KB$|^\d+\.\d KB$/).waitFor(TIMEOUT)
  const sound = await page.getByRole('region', { name: 'Sound' }).textContent()
  expect(sound).toMatch(/Loudness−\d+\.\d LUFS/)
  expect(sound).toMatch(/SourceMP3.*44\.1 kHz/)
})

test('a deleted track moves to the trash, from where it is restored in place or deleted permanently', async () => {
  const measured = rowOf(page, 'second').locator('.loudness', { hasText: 'LUFS' })
  await measured.waitFor({ state: 'attached', ...TIMEOUT })
  const before = await namesOf(page)
  await choose(page, 'More for second', 'Delete track')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before.filter((name) => name !== 'second'))
  await page.getByRole('link', { name: 'Trash' }).click()
  await page.getByText('1 item, kept for 7 days').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Restore all' }).click()
  await page.getByText('1 item restored').waitFor({ state: 'attached', ...TIMEOUT })
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await choose(page, 'More for second', 'Delete track')
  await page.getByRole('link', { name: 'Trash' }).click()
  await page.getByRole('button', { name: 'Restore second' }).click()
  await page.getByText('Nothing here').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'second' }).waitFor(TIMEOUT)
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
  // Waits until all rows are complete, so no request for a track can fail after its deletion.
  await expect.poll(() => page.locator('.track .loudness', { hasText: 'LUFS' }).count(), TIMEOUT).toBe(before.length)

  await choose(page, 'More for Demo tape', 'Delete collection')
  await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { level: 1, name: 'Demo tape' }).waitFor(TIMEOUT)
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(before)
  await choose(page, 'More for Demo tape', 'Delete collection')
  await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor(TIMEOUT)
  await visit(page, '#/trash', 'Trash')
  // Simulates an item that is in use and cannot be deleted.
  await page.route('**/v1/trash', (route) => route.fulfill({ json: { ok: true, deleted: 0, left: 1 } }), { times: 1 })
  await page.getByRole('button', { name: 'Empty trash …' }).click()
  await page.getByRole('button', { name: 'Empty trash', exact: true }).click()
  await page.getByText('1 item could not be deleted').waitFor({ state: 'attached', ...TIMEOUT })
  await choose(page, 'More for Demo tape', 'Delete permanently …')
  await page.getByText('Demo tape, its tracks and all their files will be deleted permanently.').waitFor()
  await page.getByRole('button', { name: 'Delete permanently', exact: true }).click()
  await page.getByText('Nothing here').waitFor(TIMEOUT)
  expect(await must(client.get('/v1/trash'))).toMatchObject({ count: 0 })
  expect(problems).toEqual([])

  // Restores an item that was deleted permanently elsewhere while it is shown.
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'Gone' } }))
  await must(client.delete('/v1/playlist/{playlist_id}', { params: { playlist_id }, query: { trash: 'true' } }))
  await page.reload()
  const restore = page.getByRole('button', { name: 'Restore Gone' })
  await restore.waitFor(TIMEOUT)
  await must(client.delete('/v1/trash'))
  await restore.click()
  await page.getByText('Nothing here').waitFor(TIMEOUT)
  expect(problems.splice(0)).toEqual([expect.stringContaining('404')])
  isOpen = false
})
