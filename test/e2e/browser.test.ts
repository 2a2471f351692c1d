import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { TIMEOUT, untilPlaying } from './studio_steps.ts'

/** Tests the page at `/` in a real Chromium. Each test continues in the state that the previous one left. */

let stack: Shared
let browser: Browser
let page: Page
let directory: string
const problems: string[] = []

const SECONDS = 30
const READY = '.track[data-status=ready]'

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-browser-'))
  const song = makeAudio('wav', { seconds: SECONDS, expression: '0.5*sin(2*PI*330*t)*abs(sin(t/3))' })
  await writeFile(join(directory, 'song.wav'), await song)
  await writeFile(join(directory, 'cover.png'), await makeImage('png'))
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
  if (directory) await rm(directory, { recursive: true, force: true })
})

const audio = () => page.locator('.dock audio')
const position = () => audio().evaluate((element: HTMLAudioElement) => element.currentTime)
const dock = () => page.locator('.dock')

test('the link printed by npm start signs in, and the key is removed from the address', async () => {
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('heading', { name: 'Upload your first files' }).waitFor(TIMEOUT)
  expect(page.url()).toBe(`${stack.base_url}/`)
})

test('a file dropped on an empty library creates a collection, uploads and plays', async () => {
  const contents = (await readFile(join(directory, 'song.wav'))).toString('base64')
  await drop('song.wav', contents)
  await page.getByRole('heading', { level: 1, name: 'song', exact: true }).waitFor(TIMEOUT)
  await page.locator(READY).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Play song' }).click(TIMEOUT)
  await untilPlaying(dock(), 0.3)
  await dock().getByRole('button', { name: 'Pause' }).waitFor()
})

test('a click on the waveform seeks, and so does an arrow key', async () => {
  await dock().getByRole('button', { name: 'Pause' }).click()
  const slider = dock().getByRole('slider', { name: 'Position' })
  const box = await slider.boundingBox()
  await slider.click({ position: { x: (box?.width ?? 0) / 2, y: 10 } })
  await expect.poll(position).toBeCloseTo(SECONDS / 2, 0)
  await slider.press('ArrowRight')
  await expect.poll(position).toBeCloseTo(SECONDS / 2 + 5, 0)
  await dock().getByRole('button', { name: 'Play', exact: true }).click()
  await untilPlaying(dock(), SECONDS / 2 + 5.5)
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^2\d seconds of 30 seconds$/)
})

test('a new cover is displayed', async () => {
  const before = await page.locator('.cover-box img').getAttribute('src')
  await page.setInputFiles('.cover-box input[type=file]', join(directory, 'cover.png'))
  const shown = (source: string) => {
    const image = document.querySelector<HTMLImageElement>('.cover-box img')
    return image && image.src !== source && image.complete && image.naturalWidth === 400
  }
  await page.waitForFunction(shown, before ?? '', TIMEOUT)
})

test('a dropped file that is not audio fails, and the page shows the reason', async () => {
  await drop('diary.mp3', Buffer.from('%PDF-1.7\n\0').toString('base64'))
  const row = page.getByRole('row').filter({ hasText: 'diary' })
  await row.getByText('Failed.').waitFor(TIMEOUT)
  expect(await row.locator('.note').textContent()).toMatch(/^Failed\. \w+/)
})

test('after a reload, the library is unchanged, and its page fits on a phone', async () => {
  await page.setViewportSize({ width: 375, height: 800 })
  await page.reload()
  await page.getByRole('button', { name: 'Play song' }).click(TIMEOUT)
  await untilPlaying(dock(), 0.3)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await page.getByText(/^Failed\. \w+/).waitFor(TIMEOUT)
  expect(problems).toEqual([])
})

/** Drops a file on the page. */
async function drop(name: string, contents: string) {
  const transfer = await page.evaluateHandle(
    ([name, contents]) => {
      const data = new DataTransfer()
      const bytes = Uint8Array.from(atob(contents!), (sign) => sign.charCodeAt(0))
      data.items.add(new File([bytes], name!, { type: 'audio/mpeg' }))
      return data
    },
    [name, contents],
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}
