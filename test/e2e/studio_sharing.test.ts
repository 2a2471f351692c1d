import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import type { Share } from '../../src/contract/share.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { chooseOption, expectNoOverflow, openTab, signIn, TIMEOUT, visit } from './studio_steps.ts'

/** Tests the share dialog and the page of all links. */

const { SCREENSHOTS } = process.env
let stack: Shared
let browser: Browser
let client: Client
let collection_id: string

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  collection_id = (await must(client.post('/v1/collection', { body: { title: 'Night bus' } }))).collection_id
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const share = async (body: object = {}): Promise<Share> =>
  (await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id, ...body } }))).share
const inAnHour = () => new Date(Date.now() + 3600_000).toISOString()
/** Opens a part of the share dialog that is closed at first. */
const unfold = (page: Page, name: string) => page.getByText(name, { exact: true }).click(TIMEOUT)
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

test('the share dialog creates the link with the first copy, copies it again, and has its QR code and frame', async () => {
  const { page, problems } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  const over = await share({ title: 'The last bus', expires_at: inAnHour() })
  const locked = await share({ password: 'last stop' })
  await page.clock.setFixedTime(Date.now() + 2 * 3600_000)
  await signIn(page, stack)
  await visit(page, `#/collection/${collection_id}`, 'Night bus')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  // The newest link has a password.
  await page.getByRole('tab', { name: 'Embed' }).click(TIMEOUT)
  await page.getByText('This link has a password, so other sites cannot show it in a frame.').waitFor(TIMEOUT)
  await page.getByRole('tab', { name: 'Link' }).click()
  await unfold(page, 'Other links')
  const ended = page.locator('.other-links li').filter({ hasText: over.slug })
  expect(await ended.locator('.hint').textContent()).toMatch(/^Ended on /)

  await page.getByRole('button', { name: 'New link' }).click()
  await unfold(page, 'Address and title')
  await page.getByLabel('Address', { exact: true }).fill('Admin')
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByText('Is reserved.').waitFor(TIMEOUT)
  expect(problems.splice(0)).toEqual([expect.stringContaining('400')])
  const slug = `night-bus-${Date.now()}`
  await page.getByLabel('Address', { exact: true }).fill(slug)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor(TIMEOUT)
  const url = `${stack.base_url}/s/${slug}`
  expect(await clipboard(page)).toBe(url)
  // The message is above the dialog.
  const isOnTop = (toast: Element) => {
    const { left, top, width, height } = toast.getBoundingClientRect()
    return toast.contains(document.elementFromPoint(left + width / 2, top + height / 2))
  }
  await expect.poll(() => page.locator('#toast.shown').evaluate(isOnTop), TIMEOUT).toBe(true)

  // A dialog whose settings have changed asks before Back closes it.
  await page.getByRole('switch', { name: 'Visitors may download' }).check()
  await page.evaluate(() => history.back())
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await unfold(page, 'Link to the file')
  await page.getByText('Turn on “Visitors may download”').waitFor()
  await page.getByRole('button', { name: 'Save and copy link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Copy Link to the file' }).click()
  expect(await clipboard(page)).toBe(`${url}/TRACK_ID.mp3`)
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await page.getByRole('button', { name: 'Copy link' }).click(TIMEOUT)
  await page.getByRole('button', { name: 'Copied' }).waitFor(TIMEOUT)
  expect(await clipboard(page)).toBe(url)
  const { shares } = await must(client.get('/v1/share', { query: { resource_id: collection_id } }))
  expect(shares.filter((one) => one.slug === slug)).toMatchObject([{ is_downloadable: true }])

  await page.getByRole('tab', { name: 'Embed' }).click()
  await page.getByLabel('Compact').check(TIMEOUT)
  await page.getByLabel('iframe').check(TIMEOUT)
  expect(await page.getByLabel('Frame', { exact: true }).textContent()).toContain(
    `src="${stack.base_url}/embed/s/${slug}?layout=compact" title="Night bus" width="480" height="120"`,
  )
  await page.getByRole('tab', { name: 'QR code' }).click()
  const code = page.getByRole('img', { name: `QR code of ${url}` })
  await expect
    .poll(() => code.evaluate((image) => (image as HTMLImageElement).naturalWidth), TIMEOUT)
    .toBeGreaterThan(0)

  await page.goBack()
  await visit(page, '#/shares', 'Shares')
  const rowFor = (wanted: string) => page.getByRole('row').filter({ hasText: wanted })
  await rowFor(slug).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Ended', exact: true }).click()
  await rowFor(slug).waitFor({ state: 'detached' })
  expect(await rowFor(over.slug).textContent()).toContain('Night bus')
  await page.getByRole('button', { name: 'All', exact: true }).click()
  expect(await rowFor(locked.slug).textContent()).toContain('with password')
  // Revokes two shares at once, and the first request is slower. Neither of the shares may appear again.
  const cut = Promise.withResolvers<void>()
  await page.route(`**/v1/share/${over.id}`, async (route) => {
    await cut.promise
    await route.continue()
  })
  for (const one of [over.slug, slug]) {
    await page.getByRole('button', { name: `Revoke /s/${one}` }).click()
    await page.getByRole('button', { name: 'Revoke link', exact: true }).click()
  }
  await rowFor(slug).waitFor({ state: 'detached', ...TIMEOUT })
  cut.resolve()
  await rowFor(over.slug).waitFor({ state: 'detached', ...TIMEOUT })
  expect(await rowFor(slug).count()).toBe(0)
  expect((await fetch(url)).status).toBe(410)
  expect(problems).toEqual([])
  await page.context().close()
})

test('the share dialog makes a link to a part of a track, which its page plays', async () => {
  const { collection_id: id } = await must(client.post('/v1/collection', { body: { title: 'Morning bus' } }))
  for (const name of ['Depot.mp3', 'Ring road.mp3']) await copyTrack(stack, id, name, SONG)
  const { page, problems } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  await signIn(page, stack)
  await visit(page, `#/collection/${id}`, 'Morning bus')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Link to a part', { exact: true }).click(TIMEOUT)
  await dialog.getByRole('button', { name: 'Create link' }).click(TIMEOUT)
  const player = dialog.locator('tonearm-player')
  await player.getByRole('button', { name: 'Next track' }).click(TIMEOUT)
  const at = (time: number) =>
    player.evaluate((element: HTMLElementTagNameMap['tonearm-player'], value) => element.seek(value), time)
  await at(2)
  await dialog.getByRole('button', { name: 'Start here' }).click()
  await at(2.5)
  await dialog.getByRole('button', { name: 'End here' }).click()
  const end = dialog.getByLabel('End', { exact: true })
  expect([await dialog.getByLabel('Start', { exact: true }).inputValue(), await end.inputValue()]).toEqual([
    '0:02',
    '0:02.5',
  ])
  await end.fill('0:01')
  await dialog.getByText('Enter a time after the start.').waitFor()
  await end.fill('2.5')
  expect(await findings(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Copy Link to this part' }).click()
  const [made] = (await must(client.get('/v1/share', { query: { resource_id: id } }))).shares
  const address = `${made!.url}#track=2&t=2,2.5`
  expect(await clipboard(page)).toBe(address)
  const read = (of: Locator) =>
    of.evaluate(({ currentTime, paused, track }: HTMLElementTagNameMap['tonearm-player']) => [
      track?.player_title,
      currentTime,
      paused,
    ])
  await dialog.getByRole('button', { name: 'Listen to it' }).click()
  await expect.poll(() => read(player), TIMEOUT).toEqual(['Ring road', 2.5, true])
  expect(problems).toEqual([])
  for (const shown of [address, address.replace('/s/', '/embed/s/')]) {
    await page.goto(shown)
    await page.getByRole('button', { name: '0:02 – 0:02: Play the whole track' }).waitFor(TIMEOUT)
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await expect.poll(() => read(page.locator('tonearm-player')), TIMEOUT).toEqual(['Ring road', 2.5, true])
  }
  await page.context().close()
})

test('a link becomes a podcast feed, whose faults are listed, and a track has the fields of an episode', async () => {
  const { page, problems } = await openTab(browser)
  const { track_id } = await copyTrack(stack, collection_id, 'first.mp3', SONG)
  const { id } = await share({ slug: `podcast-${Date.now()}`, password: 'last stop' })
  await signIn(page, stack)
  await visit(page, `#/collection/${collection_id}`, 'Night bus')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByRole('switch', { name: 'Podcast feed' }).check(TIMEOUT)
  await page.getByText('Allow downloads, and turn the password and the named sites off.').waitFor()
  expect(await page.getByRole('switch', { name: 'Visitors may download' }).isChecked()).toBe(true)
  await page.getByRole('switch', { name: 'Password', exact: true }).uncheck()
  await page.getByLabel('Author').fill('Night drivers')
  await page.getByLabel('Email of the owner').fill('nobody')
  await chooseOption(page.getByLabel('Category'), 'Society & Culture > Documentary')
  await page.getByLabel('From the first to the last').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect.poll(() => page.getByLabel('Email of the owner').getAttribute('aria-invalid'), TIMEOUT).toBe('true')
  expect(problems.splice(0)).toEqual([expect.stringContaining('400')])
  await page.getByLabel('Email of the owner').fill('podcast@example.com')
  await page.getByRole('button', { name: 'Save changes' }).click()
  const faults = page.getByRole('list', { name: 'Apple and Spotify would refuse this feed:' })
  await faults.getByText('Enter a language.').waitFor(TIMEOUT)
  await faults.getByText('Give each episode a number on its page').waitFor()
  expect(await faults.getByText('Enter an author.').count()).toBe(0)
  await page.getByText('1 episode', { exact: true }).waitFor()
  await expectNoOverflow(page, 'feed')
  expect(await findings(page)).toEqual([])
  await picture(page, 'feed')
  const { share: saved } = await must(client.get('/v1/share/{share_id}', { params: { share_id: id } }))
  expect(saved.feed).toMatchObject({ author: 'Night drivers', type: 'serial', language: null })

  await faults.getByRole('link', { name: 'Show the first one' }).click()
  await page.getByText('Podcast episode', { exact: true }).click(TIMEOUT)
  await page.getByLabel('Episode', { exact: true }).fill('7')
  await chooseOption(page.getByLabel('Kind'), 'Trailer')
  await page.getByLabel('Published').fill('2026-03-01T12:30')
  await page.getByLabel('Notes').fill('A **short** ride.')
  await page.getByLabel('Season').fill('0')
  const form = page.getByRole('form', { name: 'Podcast episode' })
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => page.getByLabel('Season').getAttribute('aria-invalid'), TIMEOUT).toBe('true')
  expect(problems.splice(0)).toEqual([expect.stringContaining('400')])
  await page.getByLabel('Season').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  const episode = async () => (await must(client.get('/v1/track/{track_id}', { params: { track_id } }))).track.episode
  const published_at = new Date('2026-03-01T12:30').toISOString()
  const description = 'A **short** ride.'
  await expect
    .poll(episode, TIMEOUT)
    .toEqual({ season: null, number: 7, type: 'trailer', explicit: null, description, published_at })
  await expectNoOverflow(page, 'episode')
  expect(await findings(page)).toEqual([])
  await picture(page, 'episode')
  expect(problems).toEqual([])
  await page.context().close()
})

/** Saves a picture of the page, if `SCREENSHOTS` names a directory. */
async function picture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `podcast-${name}.png`), fullPage: true })
}
