import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import type { Share } from '../../src/contract/share.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { expire } from './expired.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { expectNoOverflow, openTab, TIMEOUT } from './studio_steps.ts'

/** Tests the looks of the pages at the address of a share: the album, the episode, the password and the ended link. */

let stack: Shared
let browser: Browser
let client: Client
let collection_id: string
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ collection_id } = await must(client.post('/v1/collection', { body: { title: 'Day bus' } })))
  await copyTrack(stack, collection_id, 'Depot.mp3', SONG)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const share = async (body: object = {}): Promise<Share> =>
  (await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id, ...body } }))).share

const inAnHour = () => new Date(Date.now() + 3600_000).toISOString()

async function picture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `share-${name}.png`), fullPage: true })
}

test('the cover of a page stays next to a long list, unless the text below it is long', async () => {
  const coverAfterScroll = async (text: string | null) => {
    const { url } = await share({ text })
    const { page } = await openTab(browser, { viewport: { width: 1280, height: 900 } })
    await page.goto(url)
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor(TIMEOUT)
    const found = await page.evaluate(() => {
      const [cover, player] = [document.querySelector('.side img')!, document.querySelector('tonearm-player')!]
      player.parentElement!.style.minHeight = '3000px'
      scrollTo(0, 500)
      return [cover.getBoundingClientRect().width, cover.getBoundingClientRect().top > 0]
    })
    await page.context().close()
    return found
  }
  expect(await coverAfterScroll(null)).toEqual([360, true])
  expect(await coverAfterScroll('Long. '.repeat(200))).toEqual([360, false])
})

test('the pages of a share fit and are accessible from right to left, in the dark, and at 280 and 375 pixels', async () => {
  const { tracks } = await must(
    client.get('/v1/collection/{collection_id}/track', { params: { collection_id }, query: { limit: 1 } }),
  )
  const episode = { season: 1, number: 3, description: 'Eleven days.', published_at: '2026-11-04T06:00:00Z' }
  await must(client.put('/v1/track/{track_id}', { params: { track_id: tracks[0]!.id }, body: { episode } }))
  const [album, track, locked, gone] = await Promise.all([
    share({ is_downloadable: true, feed: {}, text: 'Words.', links: [{ title: 'Shop', url: 'https://shop.example' }] }),
    share({ scope: 'track', id: tracks[0]!.id }),
    share({ password: 'last stop' }),
    share(),
  ])
  await must(client.delete('/v1/share/{share_id}', { params: { share_id: gone.id } }))
  for (const [locale, colorScheme] of [
    ['ar', 'light'],
    ['en', 'dark'],
  ] as const) {
    const { page } = await openTab(browser, { locale, colorScheme, reducedMotion: 'reduce' })
    for (const [name, { url }] of Object.entries({ album, track, locked, gone })) {
      for (const width of [280, 375, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await page.goto(url)
        if (name === 'album' || name === 'track') await page.locator('.play-button').waitFor(TIMEOUT)
        await expectNoOverflow(page, `${name} in ${locale} at ${width}`)
        expect([name, locale, width, await findings(page)]).toEqual([name, locale, width, []])
        if (width < 1280) await picture(page, `${name}-${locale}-${width}`)
      }
    }
    await page.context().close()
  }
})

test('a share expires at the time that was set, and its page then shows a message', async () => {
  const { id, url } = await share({ expires_at: inAnHour() })
  expect((await fetch(url)).status).toBe(200)
  await expire(stack, 'shares', id)
  expect((await fetch(url)).status).toBe(410)
  const { page } = await openTab(browser)
  await page.goto(url)
  await page.getByText('This link has ended').waitFor(TIMEOUT)
  expect(await findings(page)).toEqual([])
  await page.context().close()
})
