import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeAudio, tone } from '../support/audio.ts'
import {
  type Album,
  button,
  names,
  openPage,
  openReady,
  PATIENCE,
  setUpAlbum,
  type Workspace,
  TWO_TRACKS,
} from './player_setup.ts'
import { bytes, must, send, settle } from './steps.ts'

/** Tests the playback of `<tonearm-player>` on a page of another origin with a strict policy. */

let workspace: Workspace
let album: Album
let play_session_id: string

beforeAll(async () => {
  const signals = { ...TWO_TRACKS, Third: { seconds: 8, expression: tone(550, -6) } }
  ;({ workspace, album, play_session_id } = await setUpAlbum(signals, { is_downloadable: true }))
})
afterAll(() => workspace?.dispose())

const open = (...openArgs: [attributes?: Record<string, string>, options?: Parameters<Workspace['open']>[1]]) =>
  openReady(workspace, play_session_id, ...openArgs)

test('the player plays, pauses, and contacts only the service', async () => {
  const opened = await open()
  expect(await opened.state()).toMatchObject({ title: 'First', paused: true, variant: 'aac-160' })
  expect((await opened.state()).duration).toBeCloseTo(30, 0)
  await button(opened, 'Play').click()
  await opened.untilTime(0.5)
  await button(opened, 'Pause').click()
  const { time, paused } = await opened.state()
  expect(paused).toBe(true)
  await button(opened, 'Play').click()
  await opened.untilTime(time + 0.3)
  expect((await names(opened)).slice(0, 5)).toEqual(['trackchange', 'ready', 'play', 'pause', 'play'])
  expect((await opened.events('ready'))[0]?.detail).toMatchObject({ index: 0, track: { player_title: 'First' } })
  expect([...opened.hosts].toSorted()).toEqual([workspace.host.origin, workspace.stack.base_url].toSorted())
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('the list and the buttons for next and previous select tracks', async () => {
  const opened = await open()
  await opened.page.getByRole('listitem').getByRole('button', { name: /Third/ }).click()
  await opened.untilTime(0.2)
  expect(await opened.state()).toMatchObject({ title: 'Third', paused: false })
  expect(await opened.page.locator('[aria-current=true]').textContent()).toContain('Third')
  expect(await button(opened, 'Next track').isDisabled()).toBe(true)
  // Pauses playback, because after 3 seconds of a track the previous button returns to its start instead.
  await opened.call('pause')
  await button(opened, 'Previous track').click()
  await opened.until('trackchange', 3)
  expect((await opened.state()).title).toBe('Second')
  await opened.call('next')
  expect((await opened.state()).title).toBe('Third')
  await opened.close()
})

test('an album continues in a second audio element that has preloaded the next file', async () => {
  const opened = await open({ track: '2', autoplay: '' })
  await opened.untilTime(1)
  const audio = () =>
    opened.page.evaluateHandle(() => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!)
  const first = await audio()
  await opened.until('trackchange', 2)
  expect(await opened.state()).toMatchObject({ title: 'Third', paused: false })
  const second = await audio()
  // A different audio element proves that the file was preloaded. Otherwise the first element would load it.
  expect(await opened.page.evaluate(([a, b]) => a === b, [first, second])).toBe(false)
  expect(await opened.page.locator('tonearm-player audio').count()).toBe(1)
  await opened.until('ended', 2)
  expect((await opened.events('ended')).map(({ detail }) => detail.last)).toEqual([false, true])
  expect((await opened.state()).paused).toBe(true)
  expect(opened.problems).toEqual([])
  // Playing again restarts the last track.
  await opened.call('play')
  await opened.page.waitForFunction(() => document.querySelector('tonearm-player')!.currentTime < 3, null, PATIENCE)
  await opened.close()
})

test('attributes set the start, speed, volume and variant', async () => {
  const opened = await open({ start: '0:12', rate: '1.5', volume: '0.4', variants: 'opus-96 mp3-128', loop: 'one' })
  const audio = () =>
    opened.page.evaluate(() => {
      const { volume, playbackRate, muted } = document
        .querySelector('tonearm-player')!
        .shadowRoot!.querySelector('audio')!
      return { volume, playbackRate, muted }
    })
  expect(await opened.state()).toMatchObject({ time: 12, variant: 'opus-96' })
  expect(await audio()).toEqual({ volume: 0.4, playbackRate: 1.5, muted: false })
  await button(opened, 'Speed: 1.5×').click()
  await button(opened, '2').click()
  await opened.page.keyboard.press('Escape')
  await opened.page.getByRole('slider', { name: 'Volume' }).fill('0.7')
  expect(await audio()).toEqual({ volume: 0.7, playbackRate: 2, muted: false })
  await button(opened, 'Mute').click()
  // Changing another attribute keeps the listener's settings.
  await opened.page.locator('tonearm-player').evaluate((player) => player.setAttribute('shuffle', ''))
  expect(await audio()).toEqual({ volume: 0.7, playbackRate: 2, muted: true })
  await opened.close()
})

test('normalize reduces the volume of a loud track according to its analysis', async () => {
  const key = { title: 'Web', type: 'player' as const, allowed_origins: [workspace.host.origin] }
  const { secret } = await must(workspace.server.post('/v1/api_key', { body: key }))
  const source = { 'api-key': secret, scope: 'track', 'resource-id': album.track_ids[1]! }
  const opened = await workspace.open({})
  // The paused clock keeps the player's timeout for the analysis from expiring.
  await opened.page.clock.install()
  await opened.page.clock.pauseAt(Date.now() + 60_000)
  await opened.page.locator('tonearm-player').evaluate(
    (player, attributes) => {
      for (const [name, value] of Object.entries(attributes)) player.setAttribute(name, value)
    },
    { ...source, normalize: '' },
  )
  await opened.until('ready')
  const volume = await opened.page.evaluate(
    () => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.volume,
  )
  const { track } = await must(
    workspace.server.get('/v1/track/{track_id}', { params: { track_id: album.track_ids[1]! } }),
  )
  const { integrated_lufs } = track.info.loudness as { integrated_lufs: number }
  expect(integrated_lufs).toBeGreaterThan(-15)
  expect(20 * Math.log10(volume)).toBeCloseTo(-18 - integrated_lufs, 1)
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('the player offers a download if both the page and the session allow downloads', async () => {
  const opened = await open({ download: 'mp3-128' })
  const sent = opened.page.waitForRequest(/mp3-128\.mp3\?.*response-content-disposition=attachment/, PATIENCE)
  await button(opened, 'Download').click()
  await sent
  await opened.close()
  for (const [session, attribute] of [
    [play_session_id, {}],
    [await workspace.aSession(album), { download: '' }],
  ] as const) {
    const without = await open({ 'play-session-id': session, ...attribute })
    expect(await button(without, 'Download').count()).toBe(0)
    await without.close()
  }
})

test('a download does not interrupt the page or playback, whatever storage responds', async () => {
  const opened = await open({ download: 'mp3-128' })
  const { page } = opened
  const context = page.context()
  const file = /mp3-128\.mp3\?.*response-content-disposition=attachment/
  await button(opened, 'Play').click()
  await opened.untilTime(0.2)
  const goesOn = async () => {
    const { time } = await opened.state()
    await opened.untilTime(time + 0.2)
    expect([page.url(), (await opened.state()).paused]).toEqual([`${workspace.host.origin}/`, false])
  }
  // WebKit does not let a page open a tab after an await, so the tab must be open before the service responds.
  for (const vendor of ['Google Inc.', 'Apple Computer, Inc.']) {
    const early = vendor.startsWith('Apple')
    await page.evaluate((value) => Object.defineProperty(navigator, 'vendor', { value, configurable: true }), vendor)
    let tabs = 0
    context.on('page', () => tabs++)
    const press = async () => {
      const opens = early ? context.waitForEvent('page', PATIENCE) : undefined
      await page.route(
        /\/mp3-128\/download$/,
        (route) => void (opens ?? Promise.resolve()).then(() => route.continue()),
      )
      await button(opened, 'Download').click()
    }
    // Local storage does not send `content-disposition: attachment`, so the browser opens the audio in a tab.
    const tab = context.waitForEvent('page', PATIENCE)
    await press()
    const shown = await tab
    await shown.waitForURL(file, PATIENCE)
    await goesOn()
    await shown.close()

    // Simulates R2, which sends the disposition that the URL requests.
    await context.route(file, async (route) => {
      const response = await route.fetch()
      const disposition = new URL(route.request().url()).searchParams.get('response-content-disposition')!
      await route.fulfill({ response, headers: { ...response.headers(), 'content-disposition': disposition } })
    })
    const opens = early ? context.waitForEvent('page', PATIENCE) : page
    const arrives = Promise.resolve(opens).then((from) => from.waitForEvent('download', PATIENCE))
    await press()
    const download = await arrives
    expect(download.suggestedFilename()).toBe('First.mp3')
    expect((await readFile(await download.path())).length).toBeGreaterThan(100_000)
    await goesOn()
    // A browser that is not headless closes a tab that became a download.
    if (!early) for (const other of context.pages()) if (other !== page) await other.close()

    // Storage rejects a request with a tampered signature.
    await context.unroute(file)
    await context.route(file, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/(X-Amz-Signature=)./, '$1x'),
      }),
    )
    const before = tabs
    await press()
    await page.getByRole('status').getByText('The download failed.').waitFor(PATIENCE)
    const error = (await opened.events('error')).at(-1)
    expect(error?.detail).toEqual({ code: 'download_failed', message: 'The storage answered 403' })
    await goesOn()
    expect([tabs - before, opened.problems]).toEqual([early ? 1 : 0, []])
    // The player closes the tab that stayed empty.
    await expect.poll(() => context.pages().length, PATIENCE).toBe(1)
    await context.unroute(file)
  }
  // The message disappears when the track changes.
  await button(opened, 'Next track').click()
  await page.getByRole('status').waitFor({ state: 'hidden', ...PATIENCE })
  await opened.close()
})

test('an unknown session emits an error with a code and shows a message without controls', async () => {
  const opened = await workspace.open({ 'play-session-id': '000aaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa' })
  await opened.until('error')
  expect((await opened.events('error'))[0]?.detail).toMatchObject({ code: 'not_found' })
  await opened.page.getByRole('status').getByText('This audio is not available any more.').waitFor()
  // No button solves this.
  expect(await opened.page.getByRole('button').count()).toBe(0)
  await opened.close()
})

test('a session whose only track has no file shows a message, and plays once the file is uploaded', async () => {
  const body = { title: 'Empty' }
  const { collection_id } = await must(workspace.server.post('/v1/collection', { body }))
  const ghost = { collection_id, file_name: 'Ghost.wav' }
  const { track_id, track_upload } = await must(workspace.server.post('/v1/track', { body: ghost }))
  const opened = await workspace.open({ 'play-session-id': await workspace.aSession({ ...album, collection_id }) })
  await opened.page.getByRole('status').getByText('There is nothing to play here.').waitFor(PATIENCE)
  await send(track_upload, bytes(await makeAudio('wav', { seconds: 4 })))
  await settle(workspace.server, track_id)
  expect(await button(opened, 'Play').count()).toBe(0)
  await button(opened, 'Try again').click()
  await opened.untilTime(0.2)
  expect(await opened.state()).toMatchObject({ title: 'Ghost', paused: false })
  await opened.close()
})

test('the example page plays on another origin', async () => {
  const example = await readFile(join(import.meta.dirname, '../../examples/player.html'), 'utf8')
  const page = example
    .replaceAll('http://localhost:8787', workspace.stack.base_url)
    .replaceAll('PLAY_SESSION_ID', play_session_id)
  workspace.host.show(page)
  const opened = await openPage(workspace.browser, workspace.host.origin)
  await opened.until('ready')
  await button(opened, 'Play').click()
  await opened.untilTime(0.3)
  expect(await opened.page.locator('#now').textContent()).toBe('Track 1: First')
  expect(opened.problems).toEqual([])
  await opened.close()
})
