import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { expectNoOverflow, openTab, TIMEOUT, untilPlaying } from './studio_steps.ts'

/** Tests the embed page in frames on third-party pages, which discover it through oEmbed, as editors do, and the addresses of elements. */

let stack: Shared
let browser: Browser
let host: HostPage
let client: Client
let address: string
/** Embeds of a single track (normal and compact), of a collection, and of a playlist longer than any frame. */
let embeds: Record<'track' | 'compact' | 'collection' | 'playlist', string>
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser, host] = await Promise.all([joinStack(), joinBrowser(), startHostPage()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(
    client.post('/v1/collection', { body: { title: 'Night bus', player_subtitle: 'Ines Calder' } }),
  )
  const { track_id } = await copyTrack(stack, collection_id, 'Depot.mp3', SONG)
  const changes = { player_title: 'A title that takes two lines wherever there is little room for it' }
  await must(client.put('/v1/track/{track_id}', { params: { track_id }, body: changes }))
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'All night' } }))
  const body = { track_ids: Array.from({ length: 12 }, () => track_id) }
  await must(client.put('/v1/playlist/{playlist_id}/track', { params: { playlist_id }, body }))
  const embed = async (scope: 'track' | 'collection' | 'playlist', body: object) => {
    const session = await must(
      client.post(`/v1/play_session/${scope as 'track'}`, { body: body as { track_id: string } }),
    )
    return `${stack.base_url}/embed/${session.play_session_id}`
  }
  address = await embed('collection', { collection_id })
  const track = await embed('track', { track_id })
  embeds = {
    track,
    compact: `${track}?layout=compact`,
    collection: address,
    playlist: await embed('playlist', { playlist_id }),
  }
})
afterAll(async () => {
  await closePages()
  await host?.close()
  await stack?.dispose()
})

test('a link is expanded through oEmbed, and its frame plays on another origin without contacting other hosts', async () => {
  const html = await (await fetch(address)).text()
  const [, found = ''] = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)"/.exec(html) ?? []
  const answer = await fetch(found.replaceAll('&amp;', '&'), { headers: { origin: host.origin } })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  const oembed = (await answer.json()) as Record<string, string>
  expect(oembed).toMatchObject({ type: 'rich', version: '1.0', title: 'Night bus', author_name: 'Ines Calder' })

  const { page, problems } = await openTab(browser)
  const origins = new Set<string>()
  const paths: string[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    origins.add(origin)
    paths.push(pathname)
  })
  // This is the strictest policy with which a page can still show a frame.
  host.show(`<!doctype html><title>Blog</title>${oembed.html}`, {
    'content-security-policy': `default-src 'none'; frame-src ${stack.base_url}; style-src 'unsafe-inline'`,
  })
  await page.goto(host.origin)
  const frame = page.frameLocator('iframe')
  await frame.getByText('Ines Calder').first().waitFor(TIMEOUT)
  await frame.getByRole('button', { name: 'Play', exact: true }).click()
  await untilPlaying(frame, 0.3)
  expect([...origins].toSorted()).toEqual([host.origin, stack.base_url].toSorted())
  // The page carries the session and its first play view.
  expect(paths).not.toContain(new URL(address).pathname.replace('/embed', '/v1/play'))
  expect(problems).toEqual([])
  await page.context().close()
})

test('only one player plays at a time, across frames and the enclosing page', async () => {
  const { page, problems } = await openTab(browser)
  const session = embeds.playlist.split('/').at(-1)
  host.show(`<!doctype html><title>Blog</title><script type="module" src="${stack.base_url}/elements/player.js"></script>
    <iframe src="${embeds.track}" allow="autoplay"></iframe><iframe src="${address}" allow="autoplay"></iframe>
    <tonearm-player play-session-id="${session}"></tonearm-player>`)
  await page.goto(host.origin)
  const players = [page.frameLocator('iframe').first(), page.frameLocator('iframe').last(), page]
  // Whether each player is paused. A player that stopped because it reached the end of its track does not count.
  const silent = () =>
    Promise.all(
      players.map((place) =>
        place.locator('tonearm-player').evaluate((element) => {
          const { paused, currentTime, duration } = element as HTMLElementTagNameMap['tonearm-player']
          return paused && currentTime < duration - 1
        }),
      ),
    )
  // The order of starts covers a frame after a frame, the page after a frame, and a frame after the page.
  for (const at of [0, 1, 2, 0]) {
    await players[at]!.getByRole('button', { name: 'Play', exact: true }).click(TIMEOUT)
    await expect.poll(silent, TIMEOUT).toEqual([0, 1, 2].map((each) => each !== at))
  }
  expect(problems).toEqual([])
  await page.context().close()
})

test.each(['', '?layout=compact&theme=dark', '/../00000000-0000-4000-8000-00000000dead'])(
  'the embed page with the suffix %j fits a width of 375 pixels without axe violations',
  async (suffix) => {
    const { page } = await openTab(browser, { viewport: { width: 375, height: 420 }, reducedMotion: 'reduce' })
    const url = new URL(address + (suffix.startsWith('?') ? suffix : ''))
    if (suffix.startsWith('/')) url.pathname += suffix
    await page.goto(url.href)
    await page
      .getByText(suffix.startsWith('/') ? 'There is nothing to play here' : 'Ines Calder')
      .first()
      .waitFor(TIMEOUT)
    await expectNoOverflow(page, suffix)
    expect(await findings(page)).toEqual([])
    if (SCREENSHOTS) {
      await mkdir(SCREENSHOTS, { recursive: true })
      await page.screenshot({ path: join(SCREENSHOTS, `embed${suffix.replace(/\W+/g, '-')}.png`) })
    }
    await page.context().close()
  },
)

const WIDTHS = [200, 375, 480, 560, 800]

/** Returns the frame that oEmbed offers for a width, stretched to exactly that width. */
async function frameFor(kind: keyof typeof embeds, width: number) {
  const about = `${stack.base_url}/oembed?format=json&maxwidth=${width}&url=${encodeURIComponent(embeds[kind])}`
  const { html } = (await (await fetch(about)).json()) as { html: string }
  return html.replace(/ width="\d+"/, ` width="${width}" id="${kind}-${width}"`).replace(' loading="lazy"', '')
}

/** Measures the layout of a player in its frame, in pixels. */
function measure(html: Element) {
  const root = document.querySelector('tonearm-player')!.shadowRoot!
  const box = (selector: string) => root.querySelector(selector)!.getBoundingClientRect()
  const shown = (selector: string) =>
    [...root.querySelectorAll(selector)]
      .filter((each) => each.checkVisibility({ visibilityProperty: true }))
      .map((each) => each.getBoundingClientRect())
  const controls = shown('.controls :is(button, input)')
  const apart = (a: DOMRect, b: DOMRect) =>
    a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
  const rows = shown('.list').map(({ height }) => height / 40)
  const last = Math.max(...[...controls, ...shown('.waveform, .list')].map(({ bottom }) => bottom))
  return {
    scrolls: html.scrollHeight > innerHeight || html.scrollWidth > innerWidth,
    fills: box('.base').height === innerHeight,
    cut: [...controls, ...shown('.titles')].some(({ left, right, top }) => left < 0 || top < 0 || right > innerWidth),
    overlaps: controls.some((each, i) => controls.slice(i + 1).some((other) => !apart(each, other))),
    waveform: box('.waveform').height,
    rows,
    below: innerHeight - last,
  }
}

test.each(['light', 'dark'] as const)(
  'a frame of the offered size shows the whole player without empty space, in %s mode',
  async (colorScheme) => {
    const all: { what: keyof typeof embeds; width: number }[] = [
      ...WIDTHS.map((width) => ({ what: 'track' as const, width })),
      ...WIDTHS.map((width) => ({ what: 'playlist' as const, width })),
      { what: 'collection', width: 480 },
      // `compact` is the layout that frames of 200 pixels always have. It is tested at larger widths too.
      ...[375, 480].map((width) => ({ what: 'compact' as const, width })),
    ]
    const frames = await Promise.all(all.map(({ what, width }) => frameFor(what, width)))
    const { page, problems } = await openTab(browser, { viewport: { width: 860, height: 3600 }, colorScheme })
    host.show(`<!doctype html><meta name="color-scheme" content="light dark"><title>Blog</title>${frames.join('<br>')}`)
    await page.goto(host.origin)
    const picture = async (name: string) =>
      SCREENSHOTS && (await page.screenshot({ path: join(SCREENSHOTS, `frames-${name}-${colorScheme}.png`) }))
    for (const { what, width } of all) {
      const frame = page.frameLocator(`#${what}-${width}`)
      await frame.getByText('A title that takes').first().waitFor(TIMEOUT)
      const { waveform, rows, below, ...seen } = await frame.locator('html').evaluate(measure)
      const where = `${what} at ${width}: ${JSON.stringify({ waveform, rows, below })}`
      expect(seen, where).toEqual({ scrolls: false, fills: true, cut: false, overlaps: false })
      expect([waveform >= 36, waveform <= 60, below <= 20], where).toEqual([true, true, true])
      // The list ends in the middle of a row, because it has more rows.
      expect(rows, where).toEqual(what !== 'playlist' || width === 200 ? [] : [width < 560 ? 3.5 : 4.5])
    }
    await picture('ready')
    // While a message is visible, the waveform is lower, but everything still fits.
    for (const { what, width } of all.filter(({ width }) => width > 200)) {
      const frame = page.frameLocator(`#${what}-${width}`)
      const seen = await frame.locator('html').evaluate((html) => {
        const status = document.querySelector('tonearm-player')!.shadowRoot!.querySelector<HTMLElement>('.status')!
        status.hidden = false
        status.firstElementChild!.textContent =
          'This track is still being processed. It will play as soon as it is ready.'
        return [html.scrollHeight <= innerHeight, status.getBoundingClientRect().bottom <= innerHeight]
      })
      expect([what, width, ...seen]).toEqual([what, width, true, true])
    }
    await picture('message')
    expect(problems).toEqual([])
    await page.context().close()
  },
)

test('the stable address of an element is cached only briefly, and the modules that it loads are immutable', async () => {
  const address = await fetch(`${stack.base_url}/elements/1/player.js`)
  expect(address.headers.get('cache-control')).toMatch(/max-age=300\b/)
  const text = await address.text()
  expect(text).toContain('customElements')
  const [, path = ''] = /import\("(.+?)"\)/.exec(text) ?? []
  const module = await fetch(new URL(path, address.url))
  expect(module.status).toBe(200)
  expect(module.headers.get('cache-control')).toContain('immutable')
})
