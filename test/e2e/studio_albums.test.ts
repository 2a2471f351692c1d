import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { makeDemoTape } from './studio_library.ts'
import { choose, hold, namesOf, openTab, rowOf, signIn, TIMEOUT, untilPlaying, visit } from './studio_steps.ts'

/** The page of a collection, the library, and the search of everything. */

let stack: Shared
let browser: Browser
let page: Page
let client: Client
let collection: string
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  collection = await makeDemoTape(stack)
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('a collection shows its links and ids, plays from its head, and becomes a playlist with its tracks', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await page.getByText('Nobody can listen with a link yet.').waitFor(TIMEOUT)
  await must(client.post('/v1/share', { body: { scope: 'collection', id: collection, slug: 'demo-tape' } }))
  await page.reload()
  await page.getByRole('list', { name: 'Links' }).getByText('/s/demo-tape').waitFor(TIMEOUT)
  await page.getByText(/^3 tracks · 36 s · 1 link · −\d+\.\d LUFS$/).waitFor(TIMEOUT)
  await page.getByText('Ids for developers').click()
  await page.getByText(collection, { exact: true }).waitFor(TIMEOUT)
  const names = await namesOf(page)
  const { tracks: before } = await must(
    client.get('/v1/collection/{collection_id}/track', { params: { collection_id: collection } }),
  )
  const head = page.locator('.thing-head')
  await head.getByRole('button', { name: 'Play' }).click()
  await untilPlaying(page.locator('.dock'), 0.3)
  await head.getByRole('button', { name: 'Pause' }).click()
  await head.getByRole('button', { name: 'Play' }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Close the player' }).click()
  // The row plays from the place in its waveform that is pressed, and shows the position.
  const wave = rowOf(page, names[1]!).locator('.wave')
  const { width } = (await wave.boundingBox())!
  await wave.click({ position: { x: width / 2, y: 10 } })
  await untilPlaying(page.locator('.dock'), 6.1)
  await rowOf(page, names[1]!).locator('.wave .ink').waitFor()
  await page.getByRole('button', { name: 'Close the player' }).click()
  await choose(page, 'More for Demo tape', 'Duplicate as playlist')
  await page.getByRole('heading', { level: 1, name: 'Demo tape' }).waitFor(TIMEOUT)
  await expect.poll(() => new URL(page.url()).hash, TIMEOUT).toMatch(/^#\/playlist\//)
  const playlist_id = new URL(page.url()).hash.split('/')[2] ?? ''
  const { tracks } = await must(client.get('/v1/playlist/{playlist_id}/track', { params: { playlist_id } }))
  expect(tracks.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  // The page of the playlist may still be reading it.
  await page.locator('.thing-text').getByText('3 tracks · 36 s', { exact: true }).waitFor(TIMEOUT)
  await visit(page, '#/library', 'Library')
  await must(client.delete('/v1/playlist/{playlist_id}', { params: { playlist_id } }))
})

test('all tracks of a collection are downloaded as a ZIP', async () => {
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  const download = page.waitForEvent('download', TIMEOUT)
  await choose(page, 'More for Demo tape', 'Download all (ZIP)')
  expect((await download).suggestedFilename()).toBe('Demo tape.zip')
})

test('a search finds collections, tracks by the tags of their files, and playlists, and its words are in the address', async () => {
  await must(client.post('/v1/playlist', { body: { title: 'Demo mix' } }))
  await visit(page, '#/library', 'Library')
  await page.getByRole('searchbox', { name: 'Search collections' }).fill('nothing of that name')
  await page.getByText('No collections found.').waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Search everything' }).click()
  const search = page.getByRole('searchbox', { name: 'Search everything' })
  expect(await search.inputValue()).toBe('nothing of that name')
  const found = (kind: string) => page.getByRole('region', { name: kind }).locator('a.name')
  await search.fill('CÁLDER')
  await expect.poll(() => found('Tracks').allTextContents(), TIMEOUT).toEqual(['first'])
  expect(await found('Collections').count()).toBe(0)
  await search.fill('demo')
  await expect.poll(() => found('Collections').allTextContents(), TIMEOUT).toEqual(['Demo tape'])
  await expect.poll(() => found('Playlists').allTextContents(), TIMEOUT).toEqual(['Demo mix'])
  await page.getByRole('button', { name: 'Play Demo tape' }).click()
  await untilPlaying(page.locator('.dock'), 0.3)
  await page.getByRole('button', { name: 'Close the player' }).click()
  // While a search has failed, the results of the previous search are not shown.
  await page.route('**/v1/collection?*', (route) => route.abort())
  await search.fill('ird')
  await page.getByText('The service cannot be reached').waitFor(TIMEOUT)
  expect(await found('Collections').count()).toBe(0)
  await page.unroute('**/v1/collection?*')
  expect(problems.splice(0)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('ERR_FAILED')))
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => found('Tracks').allTextContents(), TIMEOUT).toEqual(['third'])
  await search.fill('seconds')
  await page.getByRole('button', { name: 'Did you mean “second”?' }).click(TIMEOUT)
  await expect.poll(() => search.inputValue(), TIMEOUT).toBe('second')
  await found('Tracks').click(TIMEOUT)
  await page.getByRole('heading', { level: 1, name: 'second' }).waitFor(TIMEOUT)
  await page.goBack()
  expect(await search.inputValue()).toBe('second')
  await expect.poll(() => found('Tracks').allTextContents(), TIMEOUT).toEqual(['second'])
})

test('the library keeps the search, the order and the view in the address, and the field keeps the focus', async () => {
  await must(client.post('/v1/collection', { body: { title: 'A tape' } }))
  await visit(page, '#/library?sort=title', 'Library')
  const titles = () => page.locator('.windowed .name').allTextContents()
  await expect.poll(titles, TIMEOUT).toEqual(['A tape', 'Demo tape'])
  await page.getByRole('button', { name: 'Sort' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Newest' }).click()
  await page.getByRole('radio', { name: 'List' }).click()
  const search = page.getByRole('searchbox', { name: 'Search collections' })
  await search.fill('demo')
  await page.locator('.cover-lines').getByText('3 tracks').waitFor(TIMEOUT)
  await expect.poll(titles, TIMEOUT).toEqual(['Demo tape'])
  await expect.poll(() => new URL(page.url()).hash, TIMEOUT).toBe('#/library?view=list&q=demo')
  await page.getByRole('link', { name: 'Demo tape' }).click()
  await page.getByRole('heading', { level: 1, name: 'Demo tape' }).waitFor(TIMEOUT)
  await page.goBack()
  await expect.poll(titles, TIMEOUT).toEqual(['Demo tape'])
  expect(await search.inputValue()).toBe('demo')
  // Clearing the field must not move the focus, even after the search has ended and all entries are shown again.
  const detached = await search.evaluateHandle((field) => {
    const state = { wasDetached: false }
    new MutationObserver(() => (state.wasDetached ||= !field.isConnected)).observe(document.body, {
      childList: true,
      subtree: true,
    })
    return state
  })
  await search.press('ControlOrMeta+a')
  await search.press('Backspace')
  await expect.poll(async () => (await titles()).length, TIMEOUT).toBe(2)
  expect(await detached.evaluate(({ wasDetached }) => wasDetached)).toBe(false)
  expect(await search.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.getByRole('radio', { name: 'Covers' }).click()
  await page.locator('.cover-card').first().waitFor()
})

/** Opens the collection with three tracks. */
async function openTape() {
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  // Without the player of the previous test.
  await page.reload()
  await rowOf(page, 'third').waitFor(TIMEOUT)
}

test('the actions on selected tracks are one line that ends with Delete, and the head is not mixed while tracks are deleted', async () => {
  await openTape()
  await page.getByRole('checkbox', { name: 'Select first' }).click()
  await page.getByRole('checkbox', { name: 'Select third' }).click()
  const bar = page.getByRole('toolbar', { name: 'Selected tracks' })
  await bar.getByText('2 selected').waitFor()
  for (const width of [1200, 800]) {
    await page.setViewportSize({ width, height: 900 })
    const middles = await bar.getByRole('button').evaluateAll((buttons) =>
      buttons.map((button) => {
        const { top, bottom } = button.getBoundingClientRect()
        return Math.round((top + bottom) / 2)
      }),
    )
    expect([width, new Set(middles).size]).toEqual([width, 1])
    expect(await bar.getByRole('button').last().textContent()).toBe('Delete')
    const box = (await bar.boundingBox())!
    expect([box.x + box.width, box.y + box.height]).toEqual([width, 900])
  }
  await page.setViewportSize({ width: 1200, height: 900 })
  const head = page.getByRole('checkbox', { name: 'Select all' })
  const isMixed = () => head.evaluate((box: HTMLInputElement) => box.indeterminate)
  expect(await isMixed()).toBe(true)
  const release = await hold(page, /\/v1\/track\/batch/)
  await bar.getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['second'])
  await expect.poll(isMixed, TIMEOUT).toBe(false)
  await release()
  await page.getByText('2 tracks deleted').waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => namesOf(page), TIMEOUT).toEqual(['first', 'second', 'third'])
})

test('the look of a collection is shown with all its tracks, and stays in the window', async () => {
  await openTape()
  const player = page.locator('.preview tonearm-player')
  const scope = () => player.evaluate((element) => (element as HTMLElementTagNameMap['tonearm-player']).tracks.length)
  await player.waitFor(TIMEOUT)
  await expect.poll(scope, TIMEOUT).toBe(3)
  await page.setViewportSize({ width: 1300, height: 900 })
  await page.mouse.wheel(0, 5000)
  await expect
    .poll(() => page.locator('.collection-aside').evaluate((aside) => getComputedStyle(aside).position), TIMEOUT)
    .toBe('sticky')
  await page.setViewportSize({ width: 1200, height: 900 })
})

test('titles keep their room in a narrow window, and the first tracks are visible in a low one', async () => {
  await openTape()
  const seen = async (name: string) =>
    (
      await rowOf(page, 'third')
        .locator(`.${name}`)
        .evaluate((cell) => cell.getBoundingClientRect())
    ).width
  const widths = async () => [
    (await seen('track-text')) >= 200,
    (await seen('wave-cell')) > 0,
    (await seen('loudness')) > 0,
  ]
  try {
    for (const [width, expected] of [
      [1600, [true, true, true]],
      [860, [true, true, false]],
      [768, [true, true, false]],
      [725, [true, false, false]],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await expect.poll(widths, TIMEOUT).toEqual(expected)
    }
    // A window of 1280 × 860 pixels with a zoom of 200 %.
    await page.setViewportSize({ width: 640, height: 430 })
    await page.evaluate(() => scrollTo(0, 0))
    const second = page.locator('.track').nth(1)
    await expect
      .poll(async () => (await second.boundingBox())!.y + (await second.boundingBox())!.height, TIMEOUT)
      .toBeLessThan(430)
    const hit = () =>
      second.evaluate((row) => {
        const { left, bottom } = row.getBoundingClientRect()
        return row.contains(document.elementFromPoint(left + 60, bottom - 4))
      })
    // The rows move to their new height.
    await expect.poll(hit, TIMEOUT).toBe(true)
    expect(await page.getByRole('heading', { level: 1 }).evaluate((title) => title.getClientRects().length)).toBe(1)
  } finally {
    await page.setViewportSize({ width: 1200, height: 900 })
  }
})

test('a text of the other direction does not move the words next to it', async () => {
  const { collection_id } = await must(
    client.post('/v1/collection', { body: { title: 'Harbor', player_subtitle: 'ليلى حداد' } }),
  )
  const { track_id } = await must(client.post('/v1/track', { body: { collection_id, file_name: 'one.mp3' } }))
  await must(client.put('/v1/track/{track_id}', { params: { track_id }, body: { player_title: 'ليالي' } }))
  await visit(page, '#/library', 'Library')
  const note = page.locator('.cover-card').filter({ hasText: 'Harbor' }).locator('.soft')
  /** Returns the horizontal place of a part of the text in an element. */
  const placeOf = (element: Locator, part: string) =>
    element.evaluate((element, part) => {
      const text = element.firstChild!
      const at = text.textContent!.indexOf(part)
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + part.length)
      const { left, right } = range.getBoundingClientRect()
      return { left, right }
    }, part)
  await note.waitFor(TIMEOUT)
  const [artist, number, noun] = [
    await placeOf(note, 'ليلى حداد'),
    await placeOf(note, '1'),
    await placeOf(note, 'track'),
  ]
  expect([artist.right <= number.left, number.right <= noun.left]).toEqual([true, true])

  await page.evaluate((id) => (location.hash = `#/collection/${id}`), collection_id)
  const name = page.locator('.track a.name').filter({ hasText: 'ليالي' })
  await name.waitFor(TIMEOUT)
  const cell = await name.evaluate((link) => link.parentElement!.getBoundingClientRect().left)
  expect((await placeOf(name, 'ليالي')).left - cell).toBeLessThan(2)
  await must(client.delete('/v1/collection/{collection_id}', { params: { collection_id } }))
})
