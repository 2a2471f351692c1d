import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser, Frame, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { SHARE_SESSION_TTL } from '../../src/contract/facts.ts'
import type { Share } from '../../src/contract/share.ts'
import { makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, must, send } from './steps.ts'
import { expectNoOverflow, openTab, requestsIn, TIMEOUT, untilPlaying } from './studio_steps.ts'

/** Tests share links as visitors see them. */

let stack: Shared
let browser: Browser
let host: HostPage
let client: Client
let collection_id: string
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser, host] = await Promise.all([joinStack(), joinBrowser(), startHostPage()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const made = await must(
    client.post('/v1/collection', { body: { title: 'Night bus', player_subtitle: 'Ines Calder' } }),
  )
  collection_id = made.collection_id
  await send(made.collection_cover_upload, bytes(await makeImage('png', 1600, 1600)), { 'content-type': 'image/png' })
  for (const name of ['Depot.mp3', 'Ring road.mp3']) await copyTrack(stack, collection_id, name, SONG)
})
afterAll(async () => {
  await closePages()
  await host?.close()
  await stack?.dispose()
})

const share = async (body: object = {}): Promise<Share> =>
  (await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id, ...body } }))).share

/** The page has the strictest policy that can still show a frame. */
const framed = ({ embed_url }: Share) =>
  host.show(
    `<!doctype html><html lang="en"><title>Blog</title><iframe src="${embed_url}" title="Night bus" width="480" height="400"></iframe>`,
    { 'content-security-policy': `default-src 'none'; frame-src ${stack.base_url}` },
  )

async function picture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `share-${name}.png`), fullPage: true })
}

test('the page of a share has a link preview, starts at the linked time, and downloads as a ZIP', async () => {
  const { url } = await share({ is_downloadable: true })
  const { page, problems } = await openTab(browser, {
    reducedMotion: 'reduce',
    acceptDownloads: true,
    viewport: { width: 1280, height: 900 },
  })
  await page.goto(`${url}#t=5&track=2`)
  await page.getByRole('heading', { level: 1, name: 'Night bus' }).waitFor(TIMEOUT)
  await page.getByText('2 tracks · 0:24', { exact: true }).waitFor()
  const player = page.locator('tonearm-player')
  await player.getByText('Ring road').first().waitFor(TIMEOUT)
  await picture(page, 'wide')
  expect(await findings(page)).toEqual([])
  // The artist of all tracks is named once, and Play is larger than every other control.
  expect(await page.getByText('Ines Calder', { exact: true }).filter({ visible: true }).count()).toBe(1)
  const largest = await player.evaluate((element) => {
    const area = (button: Element) => button.getBoundingClientRect().width * button.getBoundingClientRect().height
    const controls = [...element.shadowRoot!.querySelectorAll('.controls button')]
    return controls.toSorted((one, other) => area(other) - area(one))[0]!.getAttribute('aria-label')
  })
  expect(largest).toBe('Play')
  await player.getByRole('button', { name: 'Play', exact: true }).click()
  await untilPlaying(page, 5.2)
  expect(await player.evaluate((element: HTMLElementTagNameMap['tonearm-player']) => element.track?.player_title)).toBe(
    'Ring road',
  )
  const meta = await page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('meta[property], meta[name^=twitter]')].map((each) => [
        each.getAttribute('property') ?? each.getAttribute('name'),
        each.getAttribute('content'),
      ]),
    ),
  )
  expect(meta).toMatchObject({
    'og:type': 'music.album',
    'og:title': 'Night bus',
    'og:description': 'Ines Calder',
    'og:url': url,
    'twitter:card': 'summary',
    'og:image:width': '1400',
  })
  const image = await fetch(meta['og:image'] ?? '')
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download all (ZIP)' }).click()
  const saved = await download
  expect(saved.suggestedFilename()).toBe('Night bus.zip')
  const zip = await readFile(await saved.path())
  expect([zip.readUInt32LE(0), zip.readUInt32LE(zip.length - 22), zip.readUInt16LE(zip.length - 12)]).toEqual([
    0x04034b50, 0x06054b50, 2,
  ])
  const length = (await fetch(saved.url())).headers.get('content-length')
  expect(length).toBe(String(zip.length))
  await page.setViewportSize({ width: 375, height: 800 })
  await expectNoOverflow(page, 'the page of a share')
  await picture(page, 'phone')
  const below = async (locator: Locator) => {
    const box = (await locator.boundingBox())!
    return box.y + box.height
  }
  // The cover, the title and the play button are in the first 500 pixels, and the player does not show the cover again.
  for (const part of [
    page.locator('.side img'),
    page.getByRole('heading', { level: 1 }),
    player.locator('.play-button'),
  ])
    expect(await below(part)).toBeLessThan(500)
  expect(await player.locator('img').isVisible()).toBe(false)
  expect(problems).toEqual([])
  await page.context().close()
})

test('the page of a share has a generated cover, a text, links and a button that copies its address', async () => {
  const made = await must(client.post('/v1/collection', { body: { title: 'Dawn <chorus>' } }))
  const text = 'Recorded **before dawn**.\n\n[Notes](https://notes.example)'
  const links = [{ title: 'Shop', url: 'https://shop.example/' }]
  const { url } = await share({ id: made.collection_id, text, links })
  const { page, problems } = await openTab(browser, { reducedMotion: 'reduce', viewport: { width: 1280, height: 900 } })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(url)
    await page.locator('strong', { hasText: 'before dawn' }).waitFor(TIMEOUT)
    expect(await findings(page)).toEqual([])
  }
  const sizes = await page.evaluate(async () => {
    const drawing = document.querySelector<HTMLImageElement>('.side img')!
    await drawing.decode()
    const photo = new Image()
    photo.src = document.querySelector<HTMLMetaElement>('meta[property="og:image"]')!.content
    await photo.decode()
    return [new URL(drawing.src).pathname, drawing.naturalWidth, new URL(photo.src).pathname, photo.naturalWidth]
  })
  expect(sizes).toEqual([
    expect.stringMatching(/^\/cover\/DC-\d+-\/regular\.svg$/),
    400,
    expect.stringMatching(/^\/cover\/DC-\d+-\/large\.png$/),
    1400,
  ])
  expect(await page.getByRole('link', { name: 'Shop' }).getAttribute('href')).toBe('https://shop.example/')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByRole('button', { name: 'Link copied' }).waitFor(TIMEOUT)
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url)
  expect(problems).toEqual([])
  await page.context().close()
})

test('the frame plays on a strict page of another origin until the share is revoked', async () => {
  const made = await share({ allowed_origins: [host.origin] })
  const { page, problems } = await openTab(browser)
  framed(made)
  await page.goto(host.origin)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  await untilPlaying(frame, 0.3)
  // The page carries its session, so the player requests none.
  expect([problems, await requestsIn(frame, '/v1/play_session')]).toEqual([[], []])
  await must(client.delete('/v1/share/{share_id}', { params: { share_id: made.id } }))
  await page.reload()
  await frame.getByText('This link has ended').waitFor(TIMEOUT)
  expect(await frame.locator('tonearm-player').count()).toBe(0)
  await page.context().close()
})

/** Returns the messages that the page receives from its frame, as text. */
async function messagesOf(made: Share, act: (frame: Frame) => Promise<void>): Promise<string> {
  const { page } = await openTab(browser)
  await page.addInitScript(() => {
    const heard: unknown[] = []
    Object.assign(window, { heard })
    addEventListener('message', ({ data }) => heard.push(data))
  })
  framed(made)
  await page.goto(host.origin)
  await act(page.frames()[1]!)
  const heard = () => page.evaluate(() => JSON.stringify((window as unknown as { heard: unknown[] }).heard))
  await expect.poll(heard, TIMEOUT).toMatch(/"play".*"sessionrefresh"/)
  const text = await heard()
  await page.context().close()
  return text
}

/** Plays, advances the clock until the session must be renewed, and then changes the track. */
async function playAndRenew(frame: Frame): Promise<void> {
  await frame.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  await untilPlaying(frame, 0.1)
  await frame.evaluate((milliseconds) => {
    const now = Date.now.bind(Date)
    Date.now = () => now() + milliseconds
  }, SHARE_SESSION_TTL * 1000)
  await frame.getByRole('button', { name: 'Next track' }).click()
}

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/
/** A signed session. */
const TOKEN = /eyJ[\w-]+\.eyJ[\w-]+\./

test('a frame sends titles and ids only to pages of allowed origins', async () => {
  const toStranger = await messagesOf(await share(), playAndRenew)
  expect(toStranger).not.toMatch(/Depot|Ring road/)
  expect(toStranger).not.toMatch(UUID)
  expect(toStranger).not.toMatch(TOKEN)
  const toAllowed = await messagesOf(
    await share({ allowed_origins: [host.origin], password: 'last stop' }),
    async (frame) => {
      await frame.getByLabel('Password').fill('last stop', TIMEOUT)
      await frame.getByRole('button', { name: 'Open' }).click()
      await playAndRenew(frame)
    },
  )
  expect(toAllowed).toMatch(/"ready".*Depot/)
  expect(toAllowed).toMatch(new RegExp(`"playSessionId":"${TOKEN.source}`))
})

test('a password-protected share without allowed origins cannot be framed', async () => {
  const made = await share({ password: 'last stop' })
  const { page, problems } = await openTab(browser)
  framed(made)
  await page.goto(host.origin)
  // `goto` has waited until the page and all of its frames have loaded.
  expect(await page.frameLocator('iframe').getByLabel('Password').count()).toBe(0)
  expect(problems.join()).toContain("frame-ancestors 'self'")
  await page.context().close()
})

test('a frame with a password opens only with the password, and reveals nothing before', async () => {
  const made = await share({ password: 'last stop', allowed_origins: [host.origin] })
  const { page, problems } = await openTab(browser)
  framed(made)
  await page.goto(host.origin)
  const frame = page.frameLocator('iframe')
  await frame.getByLabel('Password').fill('first stop', TIMEOUT)
  await frame.getByRole('button', { name: 'Open' }).click()
  await frame.getByText('This is not the password.').waitFor(TIMEOUT)
  expect(await frame.locator('html').innerHTML()).not.toMatch(/Night bus|Ines Calder|Depot/)
  // The first problem is the browser's own message about the 403. Some browsers repeat it when the frame continues.
  const [word = ''] = problems
  expect(word).toContain('403')
  const others = () => problems.filter((problem) => problem !== word)
  expect(others()).toEqual([])
  const { page: alone } = await openTab(browser)
  await alone.goto(made.url)
  await picture(alone, 'locked')
  expect(await findings(alone)).toEqual([])
  await alone.context().close()
  await picture(page, 'frame-locked')
  await frame.getByLabel('Password').fill('last stop')
  await frame.getByRole('button', { name: 'Open' }).click()
  await frame.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
  await untilPlaying(frame, 0.3)
  await picture(page, 'frame-unlocked')
  expect(others()).toEqual([])
  await page.context().close()
})
