import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { launchBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { seriousFindings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, upload } from './steps.ts'
import { expectNoOverflow, openTab, PATIENCE, untilPlaying } from './studio_steps.ts'

/** The embed page in frames of other people's pages, found by oEmbed as their editors find it. */

let stack: Shared
let browser: Browser
let host: HostPage
let client: Client
let address: string
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser, host] = await Promise.all([joinStack(), launchBrowser(), startHostPage()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(
    client.post('/v1/collection', { body: { title: 'Night bus', player_subtitle: 'Ines Calder' } }),
  )
  const { track_id } = await upload(client, collection_id, 'Depot.mp3', await makeAudio('mp3', { seconds: 12 }))
  await settle(client, track_id)
  const params = { scope: 'collection' as const }
  const { play_session_id } = await must(client.post('/v1/play_session/{scope}', { params, body: { collection_id } }))
  address = `${stack.base_url}/embed/${play_session_id}`
})
afterAll(async () => {
  await browser?.close()
  await host?.close()
  await stack?.dispose()
})

test('a link is unfurled by oEmbed, its frame plays on another origin, and nobody else is asked for anything', async () => {
  const html = await (await fetch(address)).text()
  const [, found = ''] = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)"/.exec(html) ?? []
  const answer = await fetch(found.replaceAll('&amp;', '&'), { headers: { origin: host.origin } })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const oembed = (await answer.json()) as Record<string, string>
  expect(oembed).toMatchObject({ type: 'rich', version: '1.0', title: 'Night bus', author_name: 'Ines Calder' })

  const { page, problems } = await openTab(browser)
  const asked = new Set<string>()
  page.on('request', (request) => asked.add(new URL(request.url()).origin))
  // As strict as a page can be that shows a frame.
  host.show(`<!doctype html><title>Blog</title>${oembed.html}`, {
    'content-security-policy': `default-src 'none'; frame-src ${stack.base_url}; style-src 'unsafe-inline'`,
  })
  await page.goto(host.origin)
  const frame = page.frameLocator('iframe')
  await frame.getByText('Ines Calder').first().waitFor(PATIENCE)
  await frame.getByRole('button', { name: 'Play', exact: true }).click()
  await untilPlaying(frame, 0.3)
  expect([...asked].toSorted()).toEqual([host.origin, stack.base_url].toSorted())
  expect(problems).toEqual([])
  await page.context().close()
})

test.each(['', '?layout=compact&theme=dark', '/../00000000-0000-4000-8000-00000000dead'])(
  'the page %j is whole at 375 pixels, and axe finds nothing serious',
  async (rest) => {
    const { page } = await openTab(browser, { viewport: { width: 375, height: 420 }, reducedMotion: 'reduce' })
    const url = new URL(address + (rest.startsWith('?') ? rest : ''))
    if (rest.startsWith('/')) url.pathname += rest
    await page.goto(url.href)
    await page
      .getByText(rest.startsWith('/') ? 'There is nothing to play here' : 'Ines Calder')
      .first()
      .waitFor(PATIENCE)
    await expectNoOverflow(page, rest)
    expect(await seriousFindings(page)).toEqual([])
    if (SCREENSHOTS) {
      await mkdir(SCREENSHOTS, { recursive: true })
      await page.screenshot({ path: join(SCREENSHOTS, `embed${rest.replace(/\W+/g, '-')}.png`) })
    }
    await page.context().close()
  },
)
