import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import type { EmbeddedPlayer } from '../../src/elements/embed/index.ts'
import { makeAudio, noise, tone } from '../support/audio.ts'
import { findFirefox, NO_FIREFOX } from '../support/firefox.ts'
import { expireAt } from './expired.ts'
import { choose, fill, press, setUp, type Workspace, stateOf, untilShown, untilTime } from './firefox_setup.ts'
import { must, TIMEOUT, settle } from './steps.ts'
import { countStoredParts } from './uploader_page.ts'
import { heavy } from './uploader_setup.ts'

/** The main user journeys in Firefox, if it is installed. Autoplay is blocked until a gesture, as it is by default. */

let workspace: Workspace
let album: { collection_id: string }
let play_session_id: string
/** The track of the last test. Processing it takes several seconds, during which the other tests run. */
let long_id: string

const path = await findFirefox()

beforeAll(async () => {
  if (!path) return
  workspace = await setUp(path)
  album = { collection_id: await workspace.aCollection('Album') }
  const first = await workspace.aTrack(album.collection_id, 'First.wav', { seconds: 8, expression: tone(330, -6) })
  const second = await workspace.aTrack(album.collection_id, 'Second.wav', { seconds: 4, expression: tone(440, -6) })
  // The lossless file of noise is larger than Firefox's cache.
  long_id = await workspace.aTrack(await workspace.aCollection('Noise'), 'Long.wav', { seconds: 60, expression: noise })
  await Promise.all([first, second].map((id) => settle(workspace.server, id)))
  play_session_id = await workspace.aSession('collection', album)
})
afterAll(() => workspace?.dispose())
beforeEach(({ skip }) => skip(!path, NO_FIREFOX))

test('a player waits for a gesture, plays, seeks by click, and continues with the next track', async () => {
  const attributes = { 'play-session-id': play_session_id, autoplay: '' }
  const { page, problems, seen, until, close } = await workspace.openPlayer(attributes)
  await until('pause')
  expect(await stateOf(page)).toEqual({ time: 0, paused: true, title: 'First' })
  await press(page, 'Play')
  await untilTime(page, 0.3)
  await press(page, 'Pause')
  const slider = page.locator('tonearm-player >>> [role=slider][aria-label="Position"]')
  const { width } = (await (await slider.waitHandle()).boundingBox())!
  await slider.click({ offset: { x: width * 0.75, y: 10 } })
  const time = async () => (await stateOf(page)).time
  await expect.poll(time, TIMEOUT).toBeCloseTo(6, 0)
  await press(page, 'Play')
  await untilTime(page, 6.8)
  await untilTime(page, 0.3, 'Second')
  await press(page, 'Pause')
  expect((await stateOf(page)).paused).toBe(true)
  expect(seen).not.toContain('error')
  expect(problems).toEqual([])
  await close()
})

test('a frame plays on a page of another origin and follows the commands of that page', async () => {
  const { base_url } = workspace.stack
  const { page, problems, until, close } = await workspace.openHost(`
    <iframe src="${base_url}/embed/${play_session_id}" allow="autoplay" width="600" height="400"></iframe>
    <script type="module">
      import { EmbeddedPlayer } from '${base_url}/elements/embed.js'
      const player = new EmbeddedPlayer(document.querySelector('iframe'))
      window.player = player
      for (const name of ['ready', 'play', 'pause']) player.on(name, () => console.debug(name))
    </script>`)
  const frame = await page.waitForFrame((each) => each.url().includes('/embed/'))
  await until('ready')
  await press(frame, 'Play')
  await untilTime(frame, 0.3)
  await until('play')
  const call = (method: 'play' | 'pause' | 'next') =>
    page.evaluate((name) => (window as unknown as { player: EmbeddedPlayer }).player[name](), method)
  await call('pause')
  await until('pause')
  expect(await stateOf(frame)).toMatchObject({ paused: true, title: 'First' })
  await call('next')
  await call('play')
  await untilTime(frame, 0.3, 'Second')
  expect(problems).toEqual([])
  await close()
})

test('a share opens only with its password, and plays', async () => {
  const body = { scope: 'collection' as const, id: album.collection_id, password: 'last stop' }
  const { share } = await must(workspace.server.post('/v1/share', { body }))
  const { page, problems, close } = await workspace.open()
  await page.goto(share.url)
  const enter = async (password: string) => {
    await page.locator('input[type=password]').fill(password)
    await Promise.all([page.waitForNavigation(), page.locator('form button').click()])
  }
  await enter('first stop')
  await untilShown(page, 'This is not the password.')
  expect(await page.$('tonearm-player')).toBeNull()
  await enter('last stop')
  await press(page, 'Play')
  await untilTime(page, 0.3)
  expect(problems).toEqual([])
  await close()
})

test('the studio signs in, creates a collection, uploads and plays a file, and saves a title', async () => {
  const file = join(workspace.directory, 'demo.mp3')
  await writeFile(file, await makeAudio('mp3', { seconds: 3, channels: 1 }))
  const { page, problems, close } = await workspace.open()
  await page.goto(workspace.stack.base_url)
  await fill(page, 'Server key', workspace.stack.api_key)
  await page.locator('button ::-p-text(Sign in)').click()
  await page.locator('h1 ::-p-text(Overview)').wait()
  await page.keyboard.press('n')
  await fill(page, 'Title', 'Demo tape')
  await page.locator('button ::-p-text(Create)').click()
  await page.locator('h1 ::-p-text(Demo tape)').wait()
  await choose(page, '.thing-text input[type=file]', file)
  await page.locator('.track[data-status=ready] ::-p-text(demo)').wait()
  await press(page, 'Play demo')
  await untilTime(page, 0.3, 'demo')
  await page.locator('[title="Edit: Title"]').click()
  await page.locator('h1 input, h1 textarea').fill('Demo tape 2')
  await page.keyboard.press('Enter')
  const titles = async () => (await must(workspace.server.get('/v1/collection'))).collections.map(({ title }) => title)
  await expect.poll(titles, TIMEOUT).toContain('Demo tape 2')
  expect(problems).toEqual([])
  await close()
})

test('the uploader sends a large file in parts, and after a reload only the missing parts', async () => {
  const { server, network, host } = workspace
  const collection_id = await workspace.aCollection('Inbox')
  const key = { title: 'Shop', type: 'uploader' as const, collection_id, allowed_origins: [host.origin] }
  const { secret } = await must(server.post('/v1/api_key', { body: key }))
  const file = join(workspace.directory, 'large.wav')
  await writeFile(file, heavy(await makeAudio('wav', { seconds: 1, channels: 1 }), 34_000_000))
  const { page, problems, close } = await workspace.openHost(
    `<script type="module" src="${workspace.stack.base_url}/elements/uploader.js"></script>
    <tonearm-uploader api-key="${secret}" collection-id="${collection_id}"></tonearm-uploader>`,
    { proxyServer: new URL(network.server).host },
  )
  page.on('dialog', (dialog) => void dialog.accept())
  const send = () => choose(page, 'tonearm-uploader >>> input[type=file][multiple]', file)
  const stored = () => network.parts.filter(({ isAnswered }) => isAnswered).map(({ number }) => number)
  // The first parts arrive, and the network holds the rest.
  network.hold(20_000_000)
  await send()
  await expect.poll(network.isStill, TIMEOUT).toBe(true)
  expect(stored().length).toBeGreaterThan(0)
  await expect.poll(() => page.evaluate(countStoredParts), TIMEOUT).toBe(stored().length)
  await page.reload()
  await untilShown(page, 'Choose large.wav again to go on at')
  network.flow()
  await send()
  await page.locator('tonearm-uploader >>> li[data-state=ready]').wait()
  expect(stored().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
  const { tracks } = await must(server.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
  expect(tracks).toHaveLength(1)
  expect(problems).toEqual([])
  await close()
})

test('a session that ends during playback is renewed with the key without an audible gap', async () => {
  const { server, stack } = workspace
  await settle(server, long_id)
  const { secret } = await must(server.post('/v1/api_key', { body: { title: 'Web', type: 'player' } }))
  const session = await workspace.aSession('track', { track_id: long_id, variants: ['lossless'] })
  const { page, problems, seen, until, close } = await workspace.openPlayer({ variants: 'lossless' })
  await page.waitForFunction(() => customElements.get('tonearm-player'))
  await expireAt(stack, 'play_sessions', session, Date.now() + 8000)
  await page.$eval(
    'tonearm-player',
    (element, attributes) => {
      const times: number[] = []
      Object.assign(window, { times })
      element.addEventListener('tonearm-timeupdate', ({ detail }) => times.push(detail.currentTime))
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    },
    {
      'play-session-id': session,
      'api-key': secret,
      scope: 'track',
      'resource-id': long_id,
      // On a slow machine the session may have ended by now. In that case the test waits for the renewal of the next session, which lasts a minute.
      'expires-in': '60',
    },
  )
  await until('ready')
  await press(page, 'Play')
  await untilTime(page, 0.3)
  const audio = () => page.$('tonearm-player >>> audio')
  const before = await audio()
  const first = await before!.evaluate(({ src }) => src)
  // A different audio element proves that playback continued without a gap: after a failure, the same element would load the next URL.
  await expect.poll(async () => page.evaluate((a, b) => a === b, before, await audio()), TIMEOUT).toBe(false)
  expect(await page.$eval('tonearm-player >>> audio', ({ src }) => src)).not.toBe(first)
  await expect.poll(async () => (await fetch(first, { headers: { range: 'bytes=0-1' } })).status, TIMEOUT).toBe(403)
  await untilTime(page, (await stateOf(page)).time + 0.3)
  expect(seen).toContain('sessionrefresh')
  expect(seen.filter((name) => name === 'pause' || name === 'error')).toEqual([])
  const times = await page.evaluate(() => (window as unknown as { times: number[] }).times)
  expect(Math.min(...times.slice(1).map((time, i) => time - times[i]!))).toBeGreaterThan(-0.3)
  expect(problems).toEqual([])
  await close()
})
