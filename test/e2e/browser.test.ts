import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { newContext, newTab, signInAfter, type Studio, TIMEOUT, untilPlaying, visit } from './studio_steps.ts'

/** Tests the page at `/` in a real Chromium. Each test has a separate organization. */

let stack: Shared
let context: BrowserContext
let studio: Studio | undefined
let page: Page
let problems: string[]

const READY = '.track[data-status=ready]'

beforeAll(async () => {
  context = await newContext(await joinBrowser())
})
beforeEach(async ({ onTestFailed }) => {
  onTestFailed(() => (studio = undefined))
  problems = []
  stack = await joinStack()
})
afterEach(() => expect(problems).toEqual([]))
afterAll(closePages)

const audio = () => page.locator('.dock audio')
const position = () => audio().evaluate((element: HTMLAudioElement) => element.currentTime)
const dock = () => page.locator('.dock')

/** Opens the page of a collection with one track of twelve seconds. */
async function openSong(): Promise<void> {
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Songs' } }))
  await copyTrack(stack, collection_id, 'song.mp3', SONG)
  studio = await signInAfter(studio, context, stack)
  ;({ page, problems } = studio)
  await visit(page, `#/collection/${collection_id}`, 'Songs')
  await page.locator(READY).waitFor(TIMEOUT)
}

test('the link printed by npm start signs in, and the key is removed from the address', async () => {
  studio = undefined
  ;({ page, problems } = await newTab(context))
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('heading', { name: 'Upload your first files' }).waitFor(TIMEOUT)
  expect(page.url()).toBe(`${stack.base_url}/`)
})

test('a file dropped on an empty library creates a collection, uploads and plays', async () => {
  studio = await signInAfter(studio, context, stack)
  ;({ page, problems } = studio)
  await drop('song.wav', await makeAudio('wav', { seconds: 12, channels: 1 }))
  await page.getByRole('heading', { level: 1, name: 'song', exact: true }).waitFor(TIMEOUT)
  await page.locator(READY).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Play song' }).click(TIMEOUT)
  await untilPlaying(dock(), 0.3)
  await dock().getByRole('button', { name: 'Pause' }).waitFor()
})

test('a click on the waveform seeks, and so does an arrow key', async () => {
  await openSong()
  await page.getByRole('button', { name: 'Play song' }).click(TIMEOUT)
  await dock().getByRole('button', { name: 'Pause' }).click()
  const slider = dock().getByRole('slider', { name: 'Position' })
  const box = await slider.boundingBox()
  await slider.click({ position: { x: (box?.width ?? 0) / 4, y: 10 } })
  await expect.poll(position).toBeCloseTo(3, 0)
  await slider.press('ArrowRight')
  await expect.poll(position).toBeCloseTo(8, 0)
  await dock().getByRole('button', { name: 'Play', exact: true }).click()
  await untilPlaying(dock(), 8.5)
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^(8|9|1[0-2]) seconds of 12 seconds$/)
})

test('a new cover is displayed', async () => {
  await openSong()
  const before = await page.locator('.cover-box img').getAttribute('src')
  const cover = { name: 'cover.png', mimeType: 'image/png', buffer: await makeImage('png') }
  await page.setInputFiles('.cover-box input[type=file]', cover)
  const shown = (source: string) => {
    const image = document.querySelector<HTMLImageElement>('.cover-box img')
    return image && image.src !== source && image.complete && image.naturalWidth === 400
  }
  await page.waitForFunction(shown, before ?? '', TIMEOUT)
})

test('a file that is not audio fails with a reason, and after a reload on a phone, the page fits and the other track plays', async () => {
  await openSong()
  await drop('diary.mp3', Buffer.from('%PDF-1.7\n\0'))
  const row = page.getByRole('row').filter({ hasText: 'diary' })
  await row.getByText('Failed · ').waitFor(TIMEOUT)
  expect(await row.locator('.note').textContent()).toMatch(/^Failed · \w+/)

  await page.setViewportSize({ width: 375, height: 800 })
  await page.reload()
  await page.getByRole('button', { name: 'Play song' }).click(TIMEOUT)
  await untilPlaying(dock(), 0.3)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await page.getByText(/^Failed · \w+/).waitFor(TIMEOUT)
})

/** Drops a file on the page. */
async function drop(name: string, contents: Buffer) {
  const transfer = await page.evaluateHandle(
    ([name, contents]) => {
      const data = new DataTransfer()
      const bytes = Uint8Array.from(atob(contents!), (sign) => sign.charCodeAt(0))
      data.items.add(new File([bytes], name!, { type: 'audio/mpeg' }))
      return data
    },
    [name, contents.toString('base64')],
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}
