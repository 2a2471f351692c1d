import { readFile } from 'node:fs/promises'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, upload } from './steps.ts'
import { expectNoOverflow, openTab, refuse, signIn, TIMEOUT, untilStill, visit } from './studio_steps.ts'

/** Tests the pages Overview and Usage. */

let stack: Shared
let browser: Browser
let client: Client
let page: Page
let problems: string[]

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ page, problems } = await openTab(browser))
  await signIn(page, stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const chart = (name: string | RegExp) => page.getByRole('slider', { name })
const tip = () => page.locator('.chart-tip')
const figure = (term: string) =>
  page
    .locator('.figure-row > div')
    .filter({ has: page.getByText(term, { exact: true }) })
    .locator('strong')

test('an organization without content sees how to upload, and code whose key is hidden until it is shown', async () => {
  await page.getByRole('heading', { name: 'Upload your first files' }).waitFor(TIMEOUT)
  await page.locator('main').getByRole('button', { name: 'Choose files' }).waitFor()
  const code = () => page.locator('main pre').allTextContents()
  expect(await code()).toHaveLength(3)
  expect((await code()).join()).not.toContain(stack.api_key)
  await page.getByRole('button', { name: 'Show the key' }).click()
  const [curl, player, webhooks] = await code()
  expect([curl, webhooks].every((text) => text!.includes(stack.api_key))).toBe(true)
  // The code of a page must not contain a server key.
  expect(player).not.toContain('ta_sk_')
  expect(await findings(page)).toEqual([])
})

test('the first view takes at most 12 requests, and shows figures, things that need attention, and the newest collections', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Tidal Rooms' } }))
  await copyTrack(stack, collection_id, 'song.mp3', SONG)
  const diary = Buffer.from('Dear diary\0'.repeat(200))
  const { track_id: failed } = await upload(client, collection_id, 'diary.mp3', diary)
  const expires_at = new Date(Date.now() + 2 * 24 * 3600_000).toISOString()
  await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id, expires_at } }))
  const root = createClient({ base_url: stack.base_url, api_key: stack.root_key })
  const params = { organization_id: stack.organization_id }
  await must(root.put('/v1/organization/{organization_id}', { params, body: { max_bytes: 1000 } }))
  await settle(client, failed)

  let requests = 0
  page.on('request', (request) => request.url().startsWith(`${stack.base_url}/v1/`) && requests++)
  await page.reload()
  const needs = page.locator('.attention li')
  await needs.filter({ hasText: 'Storage limit' }).waitFor(TIMEOUT)
  await untilStill(page)
  expect(requests).toBeLessThanOrEqual(12)
  expect(await figure('Tracks').textContent()).toBe('1')
  // It is directly below the figures, and can be closed.
  const [figures, attention] = await Promise.all([
    page.locator('.figure-row').boundingBox(),
    page.locator('.attention-box').boundingBox(),
  ])
  expect(attention!.y - (figures!.y + figures!.height)).toBeLessThan(40)
  await page.getByRole('heading', { name: 'Needs attention' }).click()
  await needs.first().waitFor({ state: 'hidden', ...TIMEOUT })
  await page.getByRole('heading', { name: 'Needs attention' }).click()
  await needs.filter({ hasText: 'diary' }).getByText('Tidal Rooms').waitFor()
  await page.locator('.recent').getByRole('link', { name: 'Tidal Rooms' }).waitFor()
  await expectNoOverflow(page, 'overview')
  expect(await findings(page)).toEqual([])
})

test('a link that ends soon can be extended, and the extension can be undone', async () => {
  const endOf = async () => (await must(client.get('/v1/share'))).shares[0]!.expires_at
  const before = Date.parse((await endOf())!)
  const row = page.locator('.attention li').filter({ hasText: 'This link ends' })
  await row.getByRole('button', { name: 'Extend by 30 days: Tidal Rooms' }).click()
  await row.waitFor({ state: 'detached', ...TIMEOUT })
  expect(Date.parse((await endOf())!) - before).toBe(30 * 24 * 3600_000)
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor(TIMEOUT)
  expect(Date.parse((await endOf())!)).toBe(before)
})

test('a failed track gets another file from the overview', async () => {
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Replace file: diary' }).click()
  const buffer = await makeAudio('mp3', { seconds: 1, channels: 1 })
  // The storage limit of the first test would reject the file.
  const root = createClient({ base_url: stack.base_url, api_key: stack.root_key })
  const params = { organization_id: stack.organization_id }
  await must(root.put('/v1/organization/{organization_id}', { params, body: { max_bytes: null } }))
  await (await chooser).setFiles({ name: 'diary.mp3', mimeType: 'audio/mpeg', buffer })
  await page
    .locator('.attention li')
    .filter({ hasText: 'diary' })
    .waitFor({ state: 'detached', ...TIMEOUT })
  // The usage does not change during the next tests.
  const { tracks } = await must(client.get('/v1/track', { query: { q: 'diary' } }))
  await settle(client, tracks[0]!.id)
  expect(problems).toEqual([])
})

test('statistics that could not be read are not shown as zeros, and can be read again', async () => {
  const accept = await refuse(page, /\/v1\/stats\//)
  await page.reload()
  const again = page.locator('main').getByRole('button', { name: 'Try again' })
  await again.waitFor(TIMEOUT)
  expect(await figure('Plays').textContent()).toBe('–')
  expect(await page.locator('.figure-row polyline').first().getAttribute('points')).toBe('')
  expect(await page.getByRole('slider').count()).toBe(0)
  await accept()
  await again.click()
  await expect.poll(() => figure('Plays').textContent(), TIMEOUT).toBe('0')
  expect(await again.count()).toBe(0)
  // The browser logs each failed response.
  expect(problems.splice(0).filter((problem) => !problem.includes('403'))).toEqual([])
})

test('without plays, the overview has the next step instead of an empty chart', async () => {
  await page.getByRole('heading', { name: 'Nothing was heard in this period' }).waitFor(TIMEOUT)
  expect(await page.getByRole('slider').count()).toBe(0)
  await page.getByRole('button', { name: 'Share “Tidal Rooms”' }).click()
  await page.getByRole('dialog').waitFor(TIMEOUT)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached', ...TIMEOUT })
})

test('a chart shows a day to the pointer, the arrow keys and a finger, and has the same numbers in a table', async () => {
  const { usage } = await must(client.get('/v1/usage'))
  const uploads = String(usage.days.at(-1)!.uploads)
  await visit(page, '#/usage?show=uploads', 'Usage')
  const slider = chart('Usage by day')
  await slider.waitFor(TIMEOUT)
  await untilStill(page)
  const { width } = (await slider.boundingBox())!
  await slider.hover({ position: { x: width - 3, y: 60 } })
  expect(await tip().textContent()).toContain(`Uploads ${uploads}`)
  await slider.hover({ position: { x: 3, y: 60 } })
  const first = await tip().locator('strong').textContent()
  await page.mouse.move(2, 2)
  expect(await tip().count()).toBe(0)
  await slider.focus()
  expect(await slider.getAttribute('aria-valuetext')).toContain(`Uploads: ${uploads}`)
  await page.keyboard.press('Home')
  expect(await tip().locator('strong').textContent()).toBe(first)
  await page.keyboard.press('ArrowRight')
  expect(await slider.getAttribute('aria-valuenow')).toBe('2')
  await page.getByText('Show as a table').click()
  const rows = page.getByRole('table', { name: 'Usage by day' }).locator('tbody tr')
  expect(await rows.count()).toBe(30)
  expect((await rows.last().locator('td').allTextContents())[1]).toBe(uploads)
  expect(await findings(page)).toEqual([])

  const phone = await openTab(browser, { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true })
  await signIn(phone.page, stack)
  await visit(phone.page, '#/usage', 'Usage')
  const plot = phone.page.getByRole('slider')
  await plot.tap({ position: { x: 4, y: 60 } })
  expect(await phone.page.locator('.chart-tip strong').textContent()).toBe(first)
  await expectNoOverflow(phone.page, 'tip')
  await phone.page.context().close()
})

test('the usage of a range that is in the address is shown by day, or by week for a year, and downloaded as CSV', async () => {
  await visit(page, '#/usage', 'Usage')
  await chart('Usage by day').waitFor(TIMEOUT)
  await page.getByRole('radio', { name: '365 days' }).check()
  await chart('Usage by week').waitFor(TIMEOUT)
  await page.reload()
  await chart('Usage by week').waitFor(TIMEOUT)
  await page.getByRole('radio', { name: '7 days' }).check()
  await chart('Usage by day').waitFor(TIMEOUT)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\r\n')
  const { usage } = await must(client.get('/v1/usage'))
  expect(lines).toHaveLength(8)
  expect(lines.at(-1)!.split(',')).toEqual(
    (['date', 'sessions', 'uploads', 'upload_bytes', 'tracks', 'duration', 'bytes'] as const).map((name) =>
      String(usage.days.at(-1)![name]),
    ),
  )
  expect(problems).toEqual([])
})
