import { parseArgs } from 'node:util'

import sharp from 'sharp'

import { databaseFile } from '../../scripts/start/service.ts'
import { type Client, createClient, waitForTrack } from '../../src/client/index.ts'
import type { UploadHandle } from '../../src/contract/media.ts'
import { joinBrowser } from '../../test/support/browser.ts'
import { startStack } from '../../test/support/stack.ts'
import { noiseWav } from '../../test/support/wav.ts'
import { watchOthers } from '../process.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'
import { fillLibrary } from './library.ts'
import { countElements, heapBytes, openStudio, scrollFast, untilFilled, type Visit } from './visit.ts'

const HELP = `npm run bench -- studio [OPTIONS]      Linux only; loopback only
  --tracks 10000        tracks in the library
  --collections 300     collections that contain them
  --seconds 30          seconds of scrolling
  --passes 10           passes through the library, for the heap

Fills an organization, opens the studio in Chromium, and prints the time until the first view is filled, all requests and those of the API, the bytes of script, the elements, the
longest script task while scrolling, and the heap after each pass. The bench fails if a goal is missed.`

const SAMPLES = 12
/** Collections with different covers, of which the others are copies. More than one page shows at first. */
const COVERS = 10
/** Rows of a list that are in view at least. */
const ROWS = 8

async function must<T extends { ok: boolean }>(calling: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await calling
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result as Extract<T, { ok: true }>
}

async function send({ upload_url, method }: UploadHandle, body: Uint8Array): Promise<void> {
  const response = await fetch(upload_url, { method, body: new Uint8Array(body) })
  if (!response.ok) throw new Error(await response.text())
}

const picture = (at: number) =>
  sharp({ create: { width: 600, height: 600, channels: 3, background: `hsl(${at * 29}, 45%, 45%)` } })
    .jpeg()
    .toBuffer()

async function makeCollection(client: Client, at: number): Promise<string> {
  const made = await must(client.post('/v1/collection', { body: { title: `Samples ${at}` } }))
  await send(made.collection_cover_upload, await picture(at))
  return made.collection_id
}

/** Uploads collections with covers, and into the first some tracks with covers and one file that is not audio. */
async function uploadSamples(client: Client) {
  const collection_ids: string[] = []
  for (let at = 0; at < COVERS; at++) collection_ids.push(await makeCollection(client, at))
  const collection_id = collection_ids[0]!
  const uploadTrack = async (file_name: string, bytes: Uint8Array) => {
    const created = await must(client.post('/v1/track', { body: { collection_id, file_name } }))
    await send(created.track_upload, bytes)
    await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id: created.track_id } }))
    return created
  }
  const failed = await uploadTrack('broken.mp3', Buffer.from('no audio\0'.repeat(200)))
  await must(waitForTrack(client, failed.track_id))
  for (let at = 1; at <= SAMPLES; at++) {
    const created = await uploadTrack(`${at}.wav`, new Uint8Array(noiseWav(44_100, 4, 16, 2)))
    await send(created.track_cover_upload, await picture(at))
    await must(waitForTrack(client, created.track_id))
  }
  return { collection_ids, failed_id: failed.track_id }
}

/** Prints a figure with its goal. The bench fails if the figure is above it. */
function judge(name: string, value: number, goal: number, unit = ''): void {
  const isMissed = !(value <= goal)
  if (isMissed) process.exitCode = 1
  const shown = `${Math.round(value).toLocaleString('en')}${unit}`
  console.log(
    `${isMissed ? 'MISSED' : 'ok    '}  ${name.padEnd(52)}${shown.padStart(12)}   ≤ ${goal.toLocaleString('en')}${unit}`,
  )
}

/** Opens the first view with an empty cache. */
async function firstView(open: () => Promise<Visit>, url: string) {
  const visit = await open()
  await visit.page.goto(url)
  const filled = await untilFilled(visit.page, { from: 'navigation', rows: 0 })
  await visit.page.waitForLoadState('networkidle')
  const figures = {
    filled,
    requests: visit.requests(),
    allRequests: visit.allRequests(),
    bytes: await visit.scriptBytes(),
  }
  await visit.close()
  return figures
}

async function measure(open: () => Promise<Visit>, base_url: string, largest: string, seconds: number, passes: number) {
  // The first visit warms the Worker up.
  await firstView(open, `${base_url}/`)
  const first = await firstView(open, `${base_url}/`)
  judge('first view, ms', first.filled, 1000)
  judge('first view, requests of any kind', first.allRequests, 25)
  judge('first view, API requests', first.requests, 12)
  judge('first view, KB of script (gzip)', first.bytes / 1000, 110)
  for (const [name, address] of [
    ['albums', '#/library'],
    ['all tracks', '#/library/tracks'],
    ['a collection of 2,000', `#/collection/${largest}`],
  ]) {
    const visit = await open()
    const { page } = visit
    await page.goto(`${base_url}/${address}`)
    judge(`${name}: opened, ms`, await untilFilled(page, { from: 'navigation', rows: ROWS }), 1000)
    visit.reset()
    await page.evaluate(() => (window.longestScript = 0))
    await scrollFast(page, seconds * 1000)
    judge(`${name}: every row filled after scrolling, ms`, await untilFilled(page, { from: 'now', rows: ROWS }), 300)
    judge(`${name}: API requests during ${seconds} s of scrolling`, visit.requests(), 150)
    judge(`${name}: longest script task, ms`, await page.evaluate(() => window.longestScript), 50)
    judge(`${name}: elements`, await countElements(page), 3000)
    if (name === 'all tracks') await watchHeap(visit, passes)
    await visit.close()
  }
}

/** The heap may grow while the pages of the list are read for the first time, but not after that. */
async function watchHeap(visit: Visit, passes: number): Promise<void> {
  const heaps: number[] = []
  for (let pass = 0; pass < passes; pass++) {
    await scrollFast(visit.page, 6000)
    await untilFilled(visit.page, { from: 'now', rows: ROWS })
    heaps.push((await heapBytes(visit)) / 1e6)
  }
  console.log(`        heap after each pass, MB: ${heaps.map((heap) => heap.toFixed(1)).join(' ')}`)
  // The pages that are kept at the end of a pass differ, so single passes do as well.
  const mean = (some: number[]) => some.reduce((sum, heap) => sum + heap, 0) / some.length
  judge(
    'all tracks: heap of the last three passes, % of the first',
    (100 * mean(heaps.slice(-3))) / mean(heaps.slice(1, 4)),
    115,
  )
}

/** Measures the studio with a large library. */
export const studio = {
  about: 'the studio with 10,000 tracks: time, requests, elements, tasks and heap',
  async run(args: string[]): Promise<void> {
    const text = (standard: string) => ({ type: 'string', default: standard }) as const
    const options = {
      tracks: text('10000'),
      collections: text('300'),
      seconds: text('30'),
      passes: text('10'),
      help: { type: 'boolean', default: false },
    } as const
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    await withCleanup(async () => {
      const settings = { CHECK_ANSWERS: 'false', VERBOSE: '' }
      const seeded = await startStack({ settings })
      onEnd(seeded.dispose)
      const { collection_ids, failed_id } = await uploadSamples(createClient(seeded))
      await seeded.stop()
      const file = databaseFile(seeded.state_dir)
      if (!file) throw new Error('the stack has no database')
      const largest = fillLibrary(file, collection_ids, failed_id, Number(values.collections), Number(values.tracks))
      const stack = await startStack({ settings, state_dir: seeded.state_dir })
      onEnd(() => stack.stop())
      const browser = await joinBrowser()
      onEnd(() => browser.close())
      const others = watchOthers(() => [])
      await measure(
        () => openStudio(browser, stack.base_url, seeded.api_key),
        stack.base_url,
        largest,
        Number(values.seconds),
        Number(values.passes),
      )
      console.log(`\nall programs, ours included, used ${(others() * 100).toFixed(0)} % of the machine`)
    })
  },
}
