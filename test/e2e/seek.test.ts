import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { decodeInPage, listenFrom, openListeningPage } from '../support/listening.ts'
import { chirp, chirps, lagOf, correlation, sample } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, play, settle, upload } from './steps.ts'

/**
 * Tests that Chromium plays exactly the uploaded audio: no audio is added, removed or moved, and seeking is accurate.
 * test/container/gapless.test.ts tests the same with ffmpeg.
 */

const SOURCE = { rate: 44100, seconds: 8.1234 }
/** The left channel reveals the position to the sample. The right channel, which is never 0 at a tested position, reveals which burst it is. */
const [left, right] = [chirps(0.5), chirp(300.3, 1000, 0.3)]
/** Start times of bursts in seconds. */
const BURSTS = [0, 1.5, 4, 7.5, 8]
/** Seek positions in seconds: far ahead, back, at a burst, and between bursts. */
const POSITIONS = [7.3, 0.5, 1.5, 3.21]

/**
 * `first`: maximum frames from the seek position to the first sound. `duration`: allowed deviation of the element's duration in seconds.
 */
type Expected = { index: string; rate: number; first: number; duration: number }

/** MP3 is the only variant that starts late after a seek, because its frames use bits of the two previous frames (ISO/IEC 11172-3 §2.4.3.4). */
const VARIANTS: Expected[] = [
  { index: 'aac-160', rate: 44100, first: 0, duration: 0.0005 },
  { index: 'mp3-128', rate: 44100, first: 3 * 1152, duration: 0.0005 },
  { index: 'opus-96', rate: 48000, first: 0, duration: 0.0005 },
  { index: 'lossless', rate: 44100, first: 0, duration: 0.0005 },
]

let stack: Shared
let browser: Browser
let page: Page
let urls: Record<string, string>
let duration: number

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Seeking' } }))
  const wav = wavFile(sample([left, right], { ...SOURCE, bits: 16 }))
  const { track_id } = await upload(server, collection_id, 'chirps.wav', wav)
  const track = await settle(server, track_id)
  expect(track.status).toBe('ready')
  duration = track.duration
  const { view } = await play(server, createClient({ base_url: stack.base_url }), track_id)
  urls = Object.fromEntries(view.variants.map(({ variant, url }) => [variant.index, url]))
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})
beforeEach(async () => {
  page = await browser.newPage()
  await openListeningPage(page, stack.base_url)
  return () => page.close()
})

test('the track has the duration of its source in milliseconds', () => {
  expect(duration).toBe(8.123)
})

describe.each(VARIANTS)('the variant $index', ({ index, rate, ...expected }) => {
  test('keeps its length and the position of its sounds when decoded', async () => {
    const decoded = await decodeInPage(page, { url: urls[index]!, rate })
    const added = decoded.left.length - Math.ceil((Math.round(SOURCE.seconds * SOURCE.rate) * rate) / SOURCE.rate)
    const moved = BURSTS.map((second) => lagOf(decoded.left, left, rate, second))
    const alike = BURSTS.map((second) => correlation(decoded.right, right, rate, second, 0))
    const seen = `${added} frames more, bursts late by ${moved.join(', ')}, alike ${alike.join(', ')}`
    expect([added, ...moved], seen).toEqual([0, ...BURSTS.map(() => 0)])
    expect(Math.min(...alike), seen).toBeGreaterThan(0.95)
  })

  test('plays the audio at the seek position', async () => {
    const statuses = new Set<number>()
    page.on('response', (response) => response.url() === urls[index] && statuses.add(response.status()))
    const found = await listenFrom(page, { url: urls[index]!, rate, positions: POSITIONS, seconds: 0.7 })
    expect([...statuses]).toEqual([206])
    expect(Math.abs(found.duration - duration), `lasts ${found.duration} s`).toBeLessThanOrEqual(expected.duration)
    for (const { position, arrived, ...recorded } of found.played) {
      // Seconds until the next burst that has not yet started.
      const burst = Math.ceil((position + 0.1) * 2) / 2 - position
      const late = lagOf(recorded.left, (second) => left(second + position), rate, burst, 4000)
      const alike = correlation(recorded.right, (second) => right(second + position), rate, burst, late)
      const seen = `at ${position} s the first sound is ${-late} frames away, alike ${alike}`
      expect(arrived).toBe(position)
      expect(alike, seen).toBeGreaterThan(0.95)
      expect(-late, seen).toBeGreaterThanOrEqual(0)
      expect(-late, seen).toBeLessThanOrEqual(expected.first)
    }
  })
})
