import { readFile } from 'node:fs/promises'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { Listeners } from './listeners.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, must, send, settle } from './steps.ts'
import { expectNoOverflow, hold, openStudio, TIMEOUT, untilStill, visit } from './studio_steps.ts'

/** Tests the listening statistics in the studio, with reports as players send them. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let problems: string[]
let collection_id: string
let track_id: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page, problems } = await openStudio(browser, stack))
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const tile = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name.replace(/[()]/g, '\\$&')}`) })
const figure = (name: string) => tile(name).locator('strong')
const hash = () => new URL(page.url()).hash
const chart = () => page.getByRole('slider', { name: 'Listening by day' })

test('before anything was heard, the page explains what is counted', async () => {
  await visit(page, '#/listening?days=365', 'Listening')
  await page.getByRole('heading', { name: 'Nothing was heard in the last year' }).waitFor(TIMEOUT)
  expect(await page.locator('.chart-plot').count()).toBe(0)
  await page.getByRole('radio', { name: '7 days', exact: true }).check()
  await page.getByRole('heading', { name: 'Nothing was heard in this period' }).waitFor(TIMEOUT)
  expect(new URL(page.url()).hash).toBe('#/listening?days=7')
  await page.getByRole('button', { name: 'Show 365 days' }).click()
  await page.getByRole('heading', { name: 'Nothing was heard in the last year' }).waitFor(TIMEOUT)
  expect(await page.getByRole('link', { name: 'Open the library' }).count()).toBe(1)
  await untilStill(page)
  await expectNoOverflow(page, 'listening')
  expect(await findings(page)).toEqual([])
})

test('the page has the plays of posted reports, the most played tracks with covers, sources, and refused reports', async () => {
  ;({ collection_id } = await must(client.post('/v1/collection', { body: { title: 'Tidal Rooms' } })))
  ;({ track_id } = await copyTrack(stack, collection_id, 'song.mp3', SONG))
  // Half of twenty visits stop after four of twelve seconds, which is less than a play.
  const listeners = await Listeners.join(client, stack.base_url, collection_id, track_id)
  for (let visits = 0; visits < 20; visits++) await listeners.hear(visits % 2 ? 4 : 12)
  // 24 seconds cannot be heard in one.
  await listeners.hear(12, { again: [[0, 12]] }, 1, 400)

  await visit(page, '#/listening', 'Listening')
  await page.reload()
  await expect.poll(() => figure('Plays').textContent(TIMEOUT), TIMEOUT).toBe('10')
  expect(await figure('Visits').textContent()).toBe('20')
  expect(await figure('Time heard').textContent()).toBe('3 min')
  expect(await figure('Completed (90 %)').textContent()).toBe('10')
  const row = page.getByRole('list', { name: 'Most played tracks' }).locator('li')
  await row.getByText('10 plays').waitFor({ state: 'attached', ...TIMEOUT })
  expect(await row.locator('img').count()).toBe(1)
  await page.getByRole('list', { name: 'Sources' }).getByText('shop.example').waitFor(TIMEOUT)
  await page.getByText('1 report was not counted: more seconds than have passed (1)').waitFor(TIMEOUT)
  await untilStill(page)
  await expectNoOverflow(page, 'listening')
  expect(await findings(page)).toEqual([])
})

test('each number is the tab of its chart, by mouse and by keyboard, and the choice is in the address', async () => {
  await tile('Time heard').click()
  await expect.poll(hash, TIMEOUT).toBe('#/listening?show=seconds')
  await expect.poll(() => chart().getAttribute('aria-valuetext'), TIMEOUT).toContain('Time heard: 3 min')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(hash, TIMEOUT).toBe('#/listening?show=visits')
  await expect.poll(() => tile('Visits').getAttribute('aria-selected'), TIMEOUT).toBe('true')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => page.locator('.chart-tip strong').count(), TIMEOUT).toBe(1)
  await page.keyboard.press('Home')
  expect(await chart().getAttribute('aria-valuenow')).toBe('1')
  await tile('Plays').click()
  await expect.poll(hash, TIMEOUT).toBe('#/listening')
})

test('the chart has the period before, and its table and the CSV file have the days', async () => {
  await chart().focus()
  expect(await chart().getAttribute('aria-valuetext')).toContain('until now, Plays: 10, Period before: 0')
  await page.getByText('Show as a table').click()
  const rows = page.getByRole('table', { name: 'Listening by day' }).locator('tbody tr')
  expect(await rows.count()).toBe(30)
  expect(await rows.last().locator('td').allTextContents()).toEqual(['10', '20', '3 min', '10'])
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'By day' }).click()
  const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\r\n')
  expect([lines.length, lines[0]!.slice(0, 17)]).toEqual([31, '\uFEFFkey,plays,visits'])
  expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\d,10,20,/)
})

test('two dates are a period, and a source limits the numbers and the chart', async () => {
  const source = page.getByRole('list', { name: 'Sources' }).getByRole('button', { name: 'shop.example' })
  await source.click()
  await expect.poll(() => source.getAttribute('aria-pressed'), TIMEOUT).toBe('true')
  await expect.poll(hash, TIMEOUT).toBe('#/listening?source=shop.example')
  await expect.poll(() => figure('Visits').textContent(), TIMEOUT).toBe('20')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const request = page.waitForRequest('**/v1/stats/**')
  await page.getByRole('menuitem', { name: 'By day' }).click()
  expect(new URL((await request).url()).searchParams.get('source')).toBe('shop.example')
  await page.getByRole('button', { name: 'Show everything instead of only shop.example' }).click()
  await expect.poll(() => source.getAttribute('aria-pressed'), TIMEOUT).toBe('false')
  const yesterday = new Date(Date.now() - 24 * 3600_000).toISOString().slice(0, 10)
  await page.getByLabel('Last day').fill(yesterday)
  await page.getByRole('heading', { name: 'Nothing was heard in this period' }).waitFor(TIMEOUT)
  await expect.poll(hash, TIMEOUT).toMatch(new RegExp(`^#/listening\\?from=.*&to=${yesterday}$`))
  await page.getByRole('button', { name: 'Share “Tidal Rooms”' }).waitFor(TIMEOUT)
  await page.getByRole('radio', { name: '30 days' }).check()
  await expect.poll(() => figure('Plays').textContent(), TIMEOUT).toBe('10')
  await expect.poll(hash, TIMEOUT).toBe('#/listening')
})

test('a track has its retention on the waveform, with the place where half of the visits stop', async () => {
  await page.getByRole('list', { name: 'Most played tracks' }).getByRole('link', { name: 'song' }).click()
  const slider = page.getByRole('slider', { name: 'Share of visits that heard each part' })
  await slider.focus(TIMEOUT)
  await page.keyboard.press('Home')
  expect(await slider.getAttribute('aria-valuetext')).toContain('Visits that heard it: 100 %')
  await page.keyboard.press('PageDown')
  expect(await slider.getAttribute('aria-valuetext')).toContain('Visits that heard it: 50 %')
  const drops = page.getByRole('list', { name: 'Where many stop listening' }).locator('li')
  expect(await drops.allTextContents()).toEqual(['0:04Around here, the audience drops from 100 % to 50 %.'])
  await page.getByText('10 plays · 10 completed (100 %) · 3 min heard').waitFor()
  await expect.poll(() => slider.locator('.wave-heard rect').count(), TIMEOUT).toBeGreaterThan(100)
  // No part was repeated, so there is one curve.
  expect(await slider.locator('.repeated').count()).toBe(0)
  await untilStill(page)
  await expectNoOverflow(page, 'track')
  expect(await findings(page)).toEqual([])
})

test('a collection has its plays, which lead to the page Listening of only this collection', async () => {
  const { collection_id: other } = await must(client.post('/v1/collection', { body: { title: 'Silence' } }))
  await visit(page, `#/collection/${other}`, 'Silence')
  await page.getByRole('link', { name: '0 plays in 30 days' }).click(TIMEOUT)
  await page.getByText('Only the collection Silence').waitFor(TIMEOUT)
  await page.getByRole('heading', { name: 'Nothing was heard in this period' }).waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Show everything' }).click()
  await expect.poll(() => figure('Plays').textContent(), TIMEOUT).toBe('10')
  await visit(page, `#/collection/${collection_id}`, 'Tidal Rooms')
  await page.getByRole('link', { name: '10 plays in 30 days' }).waitFor(TIMEOUT)
})

test('numbers of a resource are never shown with the name of another', async () => {
  const { collection_id: quiet } = await must(client.post('/v1/collection', { body: { title: 'Quiet' } }))
  await visit(page, `#/listening?scope=collection&id=${collection_id}`, 'Listening')
  await expect.poll(() => figure('Plays').textContent(), TIMEOUT).toBe('10')
  const pass = await hold(page, /\/v1\/stats\/collection\//)
  await page.evaluate((id) => (location.hash = `#/listening?scope=collection&id=${id}`), quiet)
  await expect.poll(() => page.locator('main .metrics-wait').count(), TIMEOUT).toBe(1)
  expect(await figure('Plays').count()).toBe(0)
  await pass()
  await page.getByText('Only the collection Quiet').waitFor(TIMEOUT)
})

test('the page can be loaded again after the organization could not be read', async () => {
  await visit(page, '#/listening', 'Listening')
  // A page that appears after the refusal would read the organization once more, and might succeed before the button is pressed.
  await page.route(/\/v1\/organization\//, async (route) => {
    await page.waitForFunction(() => document.title.startsWith('Listening'), TIMEOUT)
    await route.fulfill({ status: 403, json: { code: 'forbidden', message: 'Refused.' } })
  })
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Not loaded' }).waitFor(TIMEOUT)
  await page.unrouteAll({ behavior: 'wait' })
  await page.locator('main').getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => figure('Plays').textContent(), TIMEOUT).toBe('10')
  // The browser logs each failed response.
  expect(problems.splice(0).filter((problem) => !problem.includes('403'))).toEqual([])
})

test('the note of a playlist has the parts that are read so far', async () => {
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'Evening' } }))
  const note = page.locator('.thing-text > p.soft').filter({ hasText: /tracks|plays/ })
  const passTracks = await hold(page, /\/v1\/playlist\/[^/]+\/track/)
  await visit(page, `#/playlist/${playlist_id}`, 'Evening')
  await expect.poll(() => note.textContent(), TIMEOUT).toBe('0 plays in 30 days')
  await passTracks()
  await expect.poll(() => note.textContent(), TIMEOUT).toBe('0 tracks · 0 plays in 30 days')

  const passPlays = await hold(page, /\/v1\/stats\/playlist\//)
  await page.reload()
  await expect.poll(() => note.textContent(), TIMEOUT).toBe('0 tracks')
  await passPlays()
  await expect.poll(() => note.textContent(), TIMEOUT).toBe('0 tracks · 0 plays in 30 days')
})

test('a link has the visits and plays of its page, in the list of all links with one request, and in its dialog', async () => {
  const { share } = await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id } }))
  await must(client.post('/v1/share', { body: { scope: 'track', id: track_id } }))
  const visitor = createClient({ base_url: stack.base_url, api_key: `ta_sh_${share.slug}` })
  const listeners = await Listeners.join(visitor, stack.base_url, collection_id, track_id)
  await listeners.hear(12)
  await listeners.hear(12)
  let requests = 0
  page.on('request', (request) => request.url().includes('/v1/stats/') && requests++)
  await visit(page, '#/shares', 'Shares')
  const plays = page.locator('.share-table td[data-label^="Plays"]')
  await expect.poll(() => plays.allTextContents(), TIMEOUT).toEqual(['0', '2'])
  expect(await page.locator('.share-table td[data-label^="Visits"]').allTextContents()).toEqual(['0', '2'])
  expect(requests).toBe(1)
  await page.getByRole('button', { name: `Edit /s/${share.slug}` }).click()
  await page.getByRole('dialog').getByText('2 visits in 30 days · 2 plays in 30 days').waitFor(TIMEOUT)
  expect(problems).toEqual([])
})

test('a track has no curve of the file that was replaced', async () => {
  const params = { track_id }
  const { track_upload } = await must(
    client.post('/v1/track/{track_id}/upload', { params, body: { file_name: 'song.mp3' } }),
  )
  await send(track_upload, bytes(await makeAudio('mp3', { seconds: 8, channels: 1 })))
  await must(client.post('/v1/track/{track_id}/upload_complete', { params }))
  await expect.poll(async () => Math.round((await settle(client, track_id)).duration), TIMEOUT).toBe(8)
  await visit(page, `#/track/${track_id}`, 'song')
  await page.getByText('Nobody has heard the current file yet.').waitFor(TIMEOUT)
  await page.getByText('12 plays').waitFor(TIMEOUT)
})
