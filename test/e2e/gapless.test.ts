import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { findFirefox } from '../support/firefox.ts'
import { decodeRecording, readRecording, type Recording, startRecording } from '../support/recording.ts'
import { chirp, lagOf, type Pcm, sample, sine } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { setUp as setUpFirefox } from './firefox_setup.ts'
import { type Album, type Opened, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { must, settle, TIMEOUT, upload } from './steps.ts'

/** Tests that the tracks of an album follow each other without silence, by recording the output of the player. */

/** Lengths of the tracks in frames. None is a multiple of a codec's frame or of a render quantum. */
const LENGTHS = [70_013, 66_161, 70_507]
const FRAMES = LENGTHS.reduce((sum, length) => sum + length)
/** The left channel reveals the position to the sample. */
const LEFT = chirp(200, 300, 0.5)
const WAVES = [LEFT, sine(997, 0.5)]

/** On a machine that is busy for a quarter of a second, the next element starts too late, and the test is repeated. */
const REPEATED = { retry: 3 }

const firefoxPath = await findFirefox()
let workspace: Workspace
let album: Album
let whole: Pcm
beforeAll(async () => {
  workspace = await setUp()
  ;({ album, whole } = await aCutAlbum(44_100))
})
afterAll(() => workspace?.dispose())

/** Uploads an album that is cut out of one recording. */
async function aCutAlbum(rate: number): Promise<{ album: Album; whole: Pcm }> {
  const { server } = workspace
  const whole = sample(WAVES, { rate, seconds: FRAMES / rate, bits: 16 })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Live' } }))
  const track_ids: string[] = []
  let from = 0
  for (const [i, length] of LENGTHS.entries()) {
    const channels = whole.channels.map((samples) => samples.slice(from, from + length))
    from += length
    track_ids.push((await upload(server, collection_id, `${i + 1}.wav`, wavFile({ ...whole, channels }))).track_id)
  }
  await Promise.all(track_ids.map((id) => settle(server, id)))
  return { album: { collection_id, track_ids }, whole }
}

/** Opens a page with a recorder and a player on the album. `prepare` runs before the page loads. */
async function openRecorded(album: Album, variant: string, prepare?: (opened: Opened) => Promise<unknown>) {
  const session = await workspace.aSession(album, { variants: [variant] })
  const opened = await workspace.open({}, { bypassCSP: true })
  const { page, until } = opened
  await page.addInitScript(startRecording)
  await prepare?.(opened)
  await page.reload()
  await page.locator('tonearm-player').evaluate((player, id) => player.setAttribute('play-session-id', id), session)
  await until('ready')
  // By now the player has loaded the module and read the sample rate, as it has in most cases before a listener presses play.
  await page.waitForLoadState('networkidle')
  return opened
}

/** Waits for the end of the album and returns what was heard, or null if the player used no audio context. */
async function untilEnd({ page, until, events, problems, close }: Opened): Promise<Recording | null> {
  await until('ended', LENGTHS.length)
  expect((await events('ended')).at(-1)!.detail.last).toBe(true)
  // The last sound is up to a quarter of a second later than the event.
  await page.waitForFunction((start) => performance.now() - start > 500, await page.evaluate(() => performance.now()))
  const recording = await page.evaluate(readRecording)
  expect(problems).toEqual([])
  await close()
  return recording && decodeRecording(recording)
}

/** Frames of the album from `from` on that were not heard at the place where they belong, counted from the end. */
function wrongFrames(heard: Recording, { channels }: Pcm, from = 0): number {
  const [left, right] = channels as [Int32Array, Int32Array]
  const shift = heard.left.length - FRAMES
  let wrong = 0
  // The first frames may be zeros, which the recording omits. A decoder may round differently.
  for (let i = from + 10; i < FRAMES; i++) {
    const off = Math.max(Math.abs(heard.left[i + shift]! - left[i]!), Math.abs(heard.right[i + shift]! - right[i]!))
    if (!(off <= 1)) wrong++
  }
  return wrong
}

describe('every frame of a lossless album is heard once', () => {
  test('at 44.1 kHz', REPEATED, async () => {
    const opened = await openRecorded(album, 'lossless')
    await opened.call('play')
    const heard = (await untilEnd(opened))!
    expect([heard.rate, wrongFrames(heard, whole)]).toEqual([44_100, 0])
    expect(Math.abs(heard.left.length - FRAMES)).toBeLessThan(10)
  })
  test('at 48 kHz', REPEATED, async () => {
    const { album, whole } = await aCutAlbum(48_000)
    const opened = await openRecorded(album, 'lossless')
    await opened.call('play')
    const heard = (await untilEnd(opened))!
    expect([heard.rate, wrongFrames(heard, whole)]).toEqual([48_000, 0])
  })
  test.skipIf(firefoxPath === null)('in Firefox', REPEATED, async () => {
    const firefox = await setUpFirefox(firefoxPath!)
    // Runs before each repetition of the test as well.
    onTestFinished(() => firefox.dispose())
    const session = await workspace.aSession(album, { variants: ['lossless'] })
    const { page, problems, until, close } = await firefox.openHost('')
    await page.evaluateOnNewDocument(startRecording)
    const script = `<script type="module" src="${firefox.stack.base_url}/elements/player.js"></script>`
    firefox.host.show(`<!doctype html><title>Blog</title>${script}<tonearm-player play-session-id="${session}">`)
    await page.reload()
    await until('ready')
    await page.waitForNetworkIdle()
    await page.$eval('tonearm-player', (player) => {
      const ended: unknown[] = []
      Object.assign(window, { ended })
      player.addEventListener('tonearm-ended', () => ended.push(performance.now()))
      void player.play()
    })
    const isOver = () =>
      page.evaluate(() => performance.now() - (window as unknown as { ended: number[] }).ended[2]! > 1000)
    await expect.poll(isOver, TIMEOUT).toBe(true)
    const heard = decodeRecording((await page.evaluate(readRecording))!)
    // The recorder starts a little later than the sound.
    expect(wrongFrames(heard, whole, 44_100 / 2)).toBe(0)
    expect(problems).toEqual([])
    await close()
  })
})

test.for(['aac-160', 'mp3-128', 'opus-96'])('%s continues in time after each track', REPEATED, async (variant) => {
  const opened = await openRecorded(album, variant)
  await opened.call('play')
  const { rate, left } = (await untilEnd(opened))!
  // The middle of each track, in seconds.
  const middles = [0.8, 2.3, 3.9]
  const lags = middles.map((middle) => lagOf(left, (t) => LEFT(t), rate, middle) / rate)
  expect(Math.max(...lags) - Math.min(...lags)).toBeLessThan(0.001)
})

test(
  'a pause just before the end of a track stops the next one, which plays from its start afterwards',
  REPEATED,
  async () => {
    const opened = await openRecorded(album, 'lossless')
    await opened.call('play')
    // Pauses when the element of the next track is started, a fifth of a second before the end.
    const remaining = await opened.page.locator('tonearm-player').evaluate((element) => {
      const player = element as TonearmPlayer
      const play = Reflect.get(HTMLMediaElement.prototype, 'play')
      return new Promise<number>((resolve) => {
        HTMLMediaElement.prototype.play = function () {
          HTMLMediaElement.prototype.play = play
          const started = play.call(this)
          queueMicrotask(() => {
            player.pause()
            resolve(player.duration - player.currentTime)
          })
          return started
        }
      })
    })
    expect(remaining).toBeGreaterThan(0)
    const paused = await opened.page.evaluate(() => performance.now())
    await opened.page.waitForFunction((since) => performance.now() - since > 500, paused, PATIENCE)
    expect(await opened.events('ended')).toEqual([])
    await opened.call('play')
    const heard = (await untilEnd(opened))!
    expect(wrongFrames(heard, whole, LENGTHS[0])).toBe(0)
    // Half a second of silence, and at most a fifth of a second that is heard twice.
    const extra = (heard.left.length - FRAMES) / heard.rate
    expect(extra).toBeGreaterThan(0.4)
  },
)

test(
  'a track that is heard late continues after a pause where it was heard, and a seek takes effect at once',
  REPEATED,
  async () => {
    const opened = await openRecorded(album, 'lossless')
    const { call, until, untilTime, state, page } = opened
    await call('play')
    await until('trackchange', 2)
    await untilTime(0.6)
    const before = await page.locator('tonearm-player').evaluate((element) => {
      const player = element as TonearmPlayer
      player.pause()
      return player.currentTime
    })
    await expect.poll(async () => (await state()).time, TIMEOUT).toBeLessThan(before - 0.1)
    expect(await state()).toMatchObject({ paused: true, title: '2' })
    await call('play')
    await call('seek', 0)
    expect(
      await page.evaluate(() => document.querySelector<TonearmPlayer>('tonearm-player')!.currentTime),
    ).toBeLessThan(0.3)
    const heard = (await untilEnd(opened))!
    expect(wrongFrames(heard, whole, LENGTHS[0]! + LENGTHS[1]!)).toBe(0)
  },
)

describe('an album plays with a short silence between its tracks', () => {
  test('if the module cannot be loaded', async () => {
    const opened = await openRecorded(album, 'lossless', ({ page }) =>
      page.route('**/assets/gapless-*', (route) => route.abort()),
    )
    await opened.call('play')
    expect(await untilEnd(opened)).toBeNull()
  })
  test('if the storage does not let pages read its files', async () => {
    const opened = await openRecorded(album, 'lossless', ({ page }) =>
      page.route(
        (url) => url.pathname.includes('/lossless'),
        (route) => (route.request().resourceType() === 'fetch' ? route.abort() : route.continue()),
      ),
    )
    await opened.call('play')
    expect(await untilEnd(opened)).toBeNull()
  })
})
