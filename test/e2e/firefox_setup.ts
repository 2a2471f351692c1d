import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { BrowserContextOptions, ElementHandle, Frame, Page } from 'puppeteer-core'
import { expect } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import type { TonearmPlayer } from '../../src/elements/player/element.ts'
import { makeAudio, type Signal } from '../support/audio.ts'
import { openTab, startFirefox } from '../support/firefox.ts'
import { startHostPage } from '../support/host_page.ts'
import { openNetworkProxy } from '../support/network_proxy.ts'
import { joinStack } from './shared_stack.ts'
import { must, TIMEOUT, upload } from './steps.ts'

/** Fixtures of the Firefox tests: the service, a page on another origin, tabs, and steps in a tab. */

/** Starts all fixtures. `path` is the Firefox executable. */
export async function setUp(path: string) {
  const [firefox, stack, host, network] = await Promise.all([
    startFirefox(path),
    joinStack(),
    startHostPage(),
    openNetworkProxy(),
  ])
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-journeys-'))
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })

  /** Opens a page of the host in a new tab. `seen` collects the names of the player's events without the prefix `tonearm-`. */
  async function openHost(body: string, options: BrowserContextOptions = {}) {
    const tab = await openTab(firefox.browser, options)
    const seen: string[] = []
    // The events are reported through the console, because `evaluate` counts as a gesture in Firefox and would allow sound.
    tab.page.on('console', (message) => message.type() === 'debug' && seen.push(message.text()))
    await tab.page.evaluateOnNewDocument(() => {
      for (const name of ['ready', 'play', 'pause', 'trackchange', 'error', 'sessionrefresh'])
        document.addEventListener(`tonearm-${name}`, () => console.debug(name))
    })
    host.show(`<!doctype html><html lang="en"><title>Blog</title><main>${body}</main></html>`)
    await tab.page.goto(host.origin)
    const until = (name: string, count = 1) =>
      expect.poll(() => seen.filter((event) => event === name).length, TIMEOUT).toBeGreaterThanOrEqual(count)
    return { ...tab, seen, until }
  }

  function openPlayer(attributes: Record<string, string>) {
    const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
    const script = `<script type="module" src="${stack.base_url}/elements/player.js"></script>`
    return openHost(`${script}<tonearm-player${written.join('')}></tonearm-player>`)
  }

  return {
    stack,
    host,
    network,
    server,
    directory,
    open: () => openTab(firefox.browser),
    openHost,
    openPlayer,
    aCollection: async (title: string) =>
      (await must(server.post('/v1/collection', { body: { title } }))).collection_id,
    aTrack: async (collection_id: string, name: string, signal: Signal) =>
      (await upload(server, collection_id, name, await makeAudio('wav', { channels: 1, ...signal }))).track_id,
    aSession: async (scope: 'collection' | 'track', body: object) =>
      (await must(server.post(`/v1/play_session/${scope as 'track'}`, { body: body as { track_id: string } })))
        .play_session_id,
    async dispose() {
      await Promise.all([firefox.close(), stack.dispose(), host.close(), network.close()])
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type Workspace = Awaited<ReturnType<typeof setUp>>
type PageOrFrame = Page | Frame

/** Polling interval in milliseconds. */
const POLLING = { polling: 50 }

/** Presses a player's button by its label. */
export const press = (target: PageOrFrame, name: string) => target.locator(`>>> button[aria-label="${name}"]`).click()

/** Waits for an element with the text, even in a shadow tree. */
export const untilShown = (target: PageOrFrame, text: string) => target.locator(`>>> ::-p-text(${text})`).wait()

/** Fills in a field of the studio by its label. */
export async function fill(page: Page, label: string, value: string): Promise<void> {
  const found = await page.locator(`label::-p-text(${label})`).waitHandle()
  await page.locator(`[id="${await found.evaluate((element) => element.getAttribute('for'))}"]`).fill(value)
}

/** Selects a file in an input, which may be hidden. */
export async function choose(page: Page, input: string, path: string): Promise<void> {
  const found = (await page.locator(input).waitHandle()) as ElementHandle<HTMLInputElement>
  await found.uploadFile(path)
}

/** Returns the state of the first player on a page. */
export const stateOf = (target: PageOrFrame) =>
  target.evaluate(() => {
    const { currentTime, paused, track } = document.querySelector<TonearmPlayer>('tonearm-player')!
    return { time: currentTime, paused, title: track?.player_title }
  })

/** Waits until a player on a page has passed a time in seconds and, if a title is given, plays the track with that title. */
export const untilTime = (target: PageOrFrame, seconds: number, title = '') =>
  target.waitForFunction(
    (least, wanted) => {
      const players = [...document.querySelectorAll<TonearmPlayer>('tonearm-player')]
      return players.some(
        ({ currentTime, track }) => currentTime > least && (!wanted || track?.player_title === wanted),
      )
    },
    POLLING,
    seconds,
    title,
  )
