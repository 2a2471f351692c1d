import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { ffmpeg, formats } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, upload } from './steps.ts'

/** Tests the snippets of docs/waveform.md with the real npm packages in a real Chromium. */

const root = join(import.meta.dirname, '../..')
/**
 * The sample rate of 192 kHz is so high for this length that a pixel of the waveform stands for more samples than the
 * 512 of the first zoom level of peaks.js.
 */
const SOURCE = { seconds: 90, rate: 192_000, samples_per_pixel: 1024 }
/** Amplitudes of the first and the second half; 1 is full scale. */
const [QUIET, LOUD] = [0.1, 0.8]
const [WIDTH, HEIGHT] = [800, 200]

/** Globals of the page: the functions of the snippets, the play view, and the instances that are drawn. */
declare const docs: {
  drawWithWavesurfer: (view: object, container: Element | null) => Promise<WaveSurfer>
  drawWithPeaks: (view: object, elements: object) => Promise<Peaks>
  readWaveform: (view: object) => Promise<{ samples_per_pixel: number; length: number }>
  Peaks: { init: (options: object, callback: (error: Error | null) => void) => void }
}
declare const view: object
type WaveSurfer = { getDuration: () => number }
type Peaks = {
  getWaveformData: () => { duration: number; scale: number }
  zoom: { setZoom: (level: number) => void; getZoomLevel: () => number }
}

let stack: Shared
let browser: Browser
let page: Page
let script: string
let seen: Awaited<ReturnType<typeof aPlayView>>
const problems: string[] = []

beforeAll(async () => {
  const started = Promise.all([joinStack(), joinBrowser(), snippets(), aSource()])
  ;[stack, browser, script] = await started
  seen = await aPlayView((await started)[3])
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})
beforeEach(async () => {
  problems.length = 0
  page = await browser.newPage({ viewport: { width: WIDTH + 100, height: 900 } })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  const box = (id: string) => `<div id="${id}" style="width: ${WIDTH}px; height: ${HEIGHT}px"></div>`
  const body = `<!doctype html><link rel="icon" href="data:,"><audio></audio>${box('first')}${box('second')}`
  await page.route('**/listen', (route) => route.fulfill({ contentType: 'text/html', body }))
  await page.goto(`${stack.base_url}/listen`)
  await page.addScriptTag({ content: `${script}; window.view = ${JSON.stringify(seen)}` })
  return () => page.close()
})

/** Bundles the `js` blocks of the documentation into one script. `docs` contains its exports, and peaks.js itself for the test of an error. */
async function snippets(): Promise<string> {
  const text = await readFile(join(root, 'docs/waveform.md'), 'utf8')
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code)
  const contents = [...blocks, `export { Peaks }`].join('\n')
  const stdin = { contents, resolveDir: root, sourcefile: 'docs/waveform.md' }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'iife', globalName: 'docs' })
  return outputFiles[0]!.text
}

/** Creates a sine that becomes louder halfway. It uses filters of ffmpeg, which are faster than an expression for so many samples. */
function aSource(): Promise<Buffer> {
  const { seconds, rate } = SOURCE
  const halves = [QUIET, LOUD].map((peak) => `sine=f=440:r=${rate}:d=${seconds / 2},volume=${peak * 8}`)
  const source = `${halves.join('[a];')}[b];[a][b]concat=v=0:a=1`
  return ffmpeg(['-f', 'lavfi', '-i', source, ...formats.flac])
}

async function aPlayView(audio: Buffer) {
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Waveforms' } }))
  const { track_id } = await upload(server, collection_id, 'steps.flac', audio)
  expect(await settle(server, track_id)).toMatchObject({ status: 'ready', duration: SOURCE.seconds })
  const body = { track_id, variants: ['aac-160', 'waveform'] }
  const session = await must(server.post('/v1/play_session/track', { body }))
  const params = { play_session_id: session.play_session_id, play_track_id: track_id }
  return must(createClient({ base_url: stack.base_url }).get('/v1/play/{play_session_id}/{play_track_id}', { params }))
}

/** Returns which fraction of its height each canvas covers, at a quarter and at three quarters of its width. Empty canvases are excluded. */
function drawings(selector: string): [quiet: number, loud: number][] {
  const roots = [...document.querySelectorAll(`${selector}, ${selector} *`)].map((node) => node.shadowRoot ?? node)
  const heights = (canvas: HTMLCanvasElement, part: number) => {
    const pixels = canvas.getContext('2d')!.getImageData(Math.round(canvas.width * part), 0, 1, canvas.height).data
    return pixels.filter((value, i) => i % 4 === 3 && value > 0).length / canvas.height
  }
  const canvases = new Set(roots.flatMap((node) => [...node.querySelectorAll('canvas')]))
  const found = [...canvases].map((canvas): [number, number] => [heights(canvas, 0.25), heights(canvas, 0.75)])
  return found.filter(([quiet, loud]) => quiet > 0 || loud > 0)
}

/** Waits until the drawing in an element matches the loudness, within a few lines. */
async function untilDrawn(selector: string, expected: [quiet: number, loud: number]) {
  const expectDrawn = async () => {
    const [found = [0, 0]] = await page.evaluate(drawings, selector)
    const differences = found.map((height, i) => Math.abs(height - expected[i]!))
    expect(Math.max(...differences), `drawn: ${found.join(', ')}`).toBeLessThan(4 / HEIGHT)
  }
  await vi.waitFor(expectDrawn, { timeout: 30_000, interval: 100 })
}

test('wavesurfer.js draws the waveform as high as the audio is loud, and reports the duration', async () => {
  const wavesurfer = await page.evaluateHandle(() => docs.drawWithWavesurfer(view, document.querySelector('#first')))
  await untilDrawn('#first', [QUIET, LOUD])
  expect(await wavesurfer.evaluate((player) => player.getDuration())).toBe(SOURCE.seconds)
  expect(problems).toEqual([])
})

test('peaks.js draws the waveform and zooms through its whole range', async () => {
  const peaks = await page.evaluateHandle(() => {
    const [zoomview, overview, mediaElement] = ['#first', '#second', 'audio'].map((selector) =>
      document.querySelector(selector),
    )
    return docs.drawWithPeaks(view, { zoomview, overview, mediaElement })
  })
  const { duration, scale } = await peaks.evaluate((instance) => {
    const data = instance.getWaveformData()
    return { duration: data.duration, scale: data.scale }
  })
  expect([duration, scale]).toEqual([SOURCE.seconds, SOURCE.samples_per_pixel])
  await untilDrawn('#second', [QUIET, LOUD])
  // The zoom view is at full resolution and shows only the first seconds, all of which are quiet.
  await untilDrawn('#first', [QUIET, QUIET])
  for (const level of [3, 2, 1, 0]) {
    await peaks.evaluate((instance, wanted) => instance.zoom.setZoom(wanted), level)
    expect(await peaks.evaluate((instance) => instance.zoom.getZoomLevel())).toBe(SOURCE.samples_per_pixel * 2 ** level)
    await untilDrawn('#first', [QUIET, QUIET])
  }
  expect(problems).toEqual([])
})

test('peaks.js rejects its default zoom levels, as the documentation says', async () => {
  const refused = await page.evaluate(async () => {
    const options = {
      zoomview: { container: document.querySelector('#first') },
      mediaElement: document.querySelector('audio'),
      waveformData: { json: await docs.readWaveform(view) },
    }
    return new Promise((resolve) => docs.Peaks.init(options, (error) => resolve(error?.message)))
  })
  expect(refused).toContain(`Zoom level 512 too low, minimum: ${SOURCE.samples_per_pixel}`)
})
