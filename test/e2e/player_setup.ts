import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

import { type Client, createClient } from '../../src/client/index.ts'
import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { type Signal, tone } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { copyTrack, type Song } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, TIMEOUT as STEP_PATIENCE } from './steps.ts'

/** Fixtures for player tests: the service, albums on it, and a third-party page that shows them. */
export interface Workspace {
  stack: Shared
  browser: Browser
  host: HostPage
  server: Client
  anAlbum: (signals: Record<string, Signal>) => Promise<Album>
  aSession: (album: Album, body?: object) => Promise<string>
  /** Opens the page with a player that has these attributes. */
  open: (attributes: Record<string, string>, options?: Options) => Promise<Opened>
  dispose: () => Promise<void>
}
export interface Album {
  collection_id: string
  track_ids: string[]
}
interface Options extends BrowserContextOptions {
  /** Attributes of the page's `<html>`. */
  html?: string
}

/** An event of the element. `name` omits the prefix `tonearm-`. */
export interface Seen {
  name: string
  detail: Record<string, unknown>
}
export interface Opened {
  page: Page
  /** Console and policy errors of the page. */
  problems: string[]
  /** Origins to which the page sent requests. */
  hosts: Set<string>
  events: (name?: string) => Promise<Seen[]>
  /** Waits until an event has occurred `count` times. */
  until: (name: string, count?: number) => Promise<void>
  untilTime: (seconds: number) => Promise<void>
  state: () => Promise<{
    time: number
    duration: number
    paused: boolean
    title: string | null
    variant: string | null
  }>
  call: (method: 'play' | 'pause' | 'next' | 'previous' | 'seek', argument?: number) => Promise<void>
  close: () => Promise<void>
}

/** A generous timeout for waiting on the page. It polls at an interval, because polling on each frame would force the page to paint. */
export const PATIENCE = { ...STEP_PATIENCE, polling: 50 }

/** The policy of a strict site: it allows connections only to the service, and blocks inline code. */
const strictPolicy = (service: string) =>
  [
    `default-src 'none'; script-src ${service}; style-src 'self'; connect-src ${service}; img-src ${service}`,
    `media-src ${service}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  ].join('; ')

/** Sets up a browser, a stack and a host page; `start` is for tests that need a separate stack. */
export async function setUp(start: () => Promise<Shared> = joinStack): Promise<Workspace> {
  const [stack, browser, host] = await Promise.all([start(), joinBrowser(), startHostPage()])
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })

  /** Creates an album. Its tracks are in mono by default, which is encoded in half the time. */
  async function anAlbum(signals: Record<string, Signal>): Promise<Album> {
    const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Album' } }))
    const track_ids: string[] = []
    for (const [name, signal] of Object.entries(signals)) {
      const song: Song = ['wav', { channels: 1, ...signal }]
      track_ids.push((await copyTrack(stack, collection_id, `${name}.wav`, song)).track_id)
    }
    return { collection_id, track_ids }
  }

  async function aSession({ collection_id }: Album, body: object = {}): Promise<string> {
    const session = server.post('/v1/play_session/collection', { body: { collection_id, ...body } })
    return (await must(session)).play_session_id
  }

  let opening: Promise<unknown> = Promise.resolve()
  function open(attributes: Record<string, string>, { html = 'lang="en"', ...options }: Options = {}) {
    const policy = { 'content-security-policy': strictPolicy(stack.base_url) }
    // The site shows one page at a time, so concurrent tests open it one by one.
    const opened = opening.then(() => {
      host.show(playerPage(stack.base_url, attributes, html), policy)
      return openPage(browser, host.origin, options)
    })
    opening = opened.catch(() => {})
    return opened
  }

  async function dispose(): Promise<void> {
    await closePages()
    await Promise.all([stack.dispose(), host.close()])
  }
  return { stack, browser, host, server, anAlbum, aSession, open, dispose }
}

/** Sets up a workspace with one album and a session for it. */
export async function setUpAlbum(signals: Record<string, Signal>, body?: object) {
  const workspace = await setUp()
  const album = await workspace.anAlbum(signals)
  return { workspace: workspace, album, play_session_id: await workspace.aSession(album, body) }
}

/** A page with one player. */
function playerPage(service: string, attributes: Record<string, string>, html: string): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
  return `<!doctype html>
<html ${html}>
  <head>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Somebody else’s page</title>
    <script type="module" src="${service}/elements/player.js"></script>
  </head>
  <body><main><h1>Listen</h1><tonearm-player${written.join('')}></tonearm-player></main></body>
</html>`
}

/** Opens a URL in a new context and records its problems, hosts and events. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 800, height: 700 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  const hosts = new Set<string>()
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // These messages are excluded, because the browser logs one for each failed response, such as a 403, and for each lost connection.
    const isBrowserMessage = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isBrowserMessage) problems.push(message.text())
  })
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await page.addInitScript(() => {
    const seen: Seen[] = []
    Object.assign(window, { seen })
    const names = 'ready play pause timeupdate ended trackchange error sessionrefresh sessionexpired'
    for (const name of names.split(' '))
      document.addEventListener(`tonearm-${name}`, (event) =>
        seen.push({ name, detail: (event as unknown as CustomEvent<Record<string, unknown>>).detail }),
      )
  })
  await page.goto(url)
  const events = (name?: string) =>
    page.evaluate(
      (wanted) => (window as unknown as { seen: Seen[] }).seen.filter((event) => !wanted || event.name === wanted),
      name,
    )
  return {
    page,
    problems,
    hosts,
    events,
    async until(name, count = 1) {
      const seen = ([wanted, least]: [string, number]) =>
        (window as unknown as { seen: Seen[] }).seen.filter((event) => event.name === wanted).length >= least
      await page.waitForFunction(seen, [name, count] as [string, number], PATIENCE)
    },
    async untilTime(seconds) {
      const past = (least: number) =>
        (document.querySelector<TonearmPlayer>('tonearm-player')?.currentTime ?? 0) > least
      await page.waitForFunction(past, seconds, PATIENCE)
    },
    state: () =>
      page.evaluate(() => {
        const { currentTime, duration, paused, track, variant } =
          document.querySelector<TonearmPlayer>('tonearm-player')!
        return { time: currentTime, duration, paused, title: track?.player_title ?? null, variant }
      }),
    call: (method, argument) =>
      page.evaluate(
        async ([name, value]) => await document.querySelector<TonearmPlayer>('tonearm-player')![name](value as never),
        [method, argument] as const,
      ),
    close: () => context.close(),
  }
}

export const button = ({ page }: Opened, name: string) => page.getByRole('button', { name, exact: true })
export const position = ({ page }: Opened) => page.getByRole('slider', { name: 'Position' })
/** Names of all events except timeupdate. */
export const names = async ({ events }: Opened) =>
  (await events()).map(({ name }) => name).filter((name) => name !== 'timeupdate')

/** Opens a player on a session and waits until it can play. */
export async function openReady(
  workspace: Workspace,
  play_session_id: string,
  attributes: Record<string, string> = {},
  options?: Parameters<Workspace['open']>[1],
): Promise<Opened> {
  const opened = await workspace.open({ 'play-session-id': play_session_id, ...attributes }, options)
  await opened.until('ready')
  return opened
}

/** A swelling tone with a distinctive waveform, and a short second track. */
export const TWO_TRACKS: Record<string, Signal> = {
  First: { seconds: 30, rate: 16_000, channels: 1, expression: '0.5*sin(2*PI*330*t)*abs(sin(t/3))' },
  Second: { seconds: 4, expression: tone(440, -6) },
}
