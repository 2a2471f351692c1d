import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeAudio, makeImage } from '../support/audio.ts'
import { launchBrowser } from '../support/browser.ts'
import { startStack, type Stack } from '../support/stack.ts'

/** The page at `/` in a real Chromium. The tests build on each other. */

let stack: Stack
let browser: Browser
let page: Page
let directory: string
const problems: string[] = []

const PATIENCE = { timeout: 90_000 }
const SECONDS = 30
const READY = '.track[data-status=ready]'

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-browser-'))
  const song = makeAudio('wav', { seconds: SECONDS, expression: '0.5*sin(2*PI*330*t)*abs(sin(t/3))' })
  await writeFile(join(directory, 'song.wav'), await song)
  await writeFile(join(directory, 'cover.png'), await makeImage('png'))
  ;[stack, browser] = await Promise.all([startStack(), launchBrowser()])
  page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
})
afterAll(async () => {
  await browser?.close()
  await stack?.dispose()
  if (directory) await rm(directory, { recursive: true, force: true })
})

const position = () => page.evaluate(() => document.querySelector('audio')?.currentTime ?? -1)
const untilPosition = (least: number) =>
  page.waitForFunction((seconds) => (document.querySelector('audio')?.currentTime ?? 0) > seconds, least, PATIENCE)

test('the link that npm start prints signs in, and the key leaves the address', async () => {
  await page.goto(`${stack.base_url}/#key=${stack.api_key}`)
  await page.getByRole('button', { name: 'Choose files' }).waitFor()
  expect(page.url()).toBe(`${stack.base_url}/`)
})

test('a chosen file is uploaded and can be played', async () => {
  await page.setInputFiles('.drop input[type=file]', join(directory, 'song.wav'))
  await page.locator(READY).waitFor(PATIENCE)
  const player = page.getByRole('region', { name: 'Player: song' })
  await player.getByRole('button', { name: 'Play', exact: true }).click(PATIENCE)
  await untilPosition(0.3)
  await player.getByRole('button', { name: 'Pause' }).waitFor()
})

test('a click on the waveform and the keyboard both seek', async () => {
  await page.getByRole('button', { name: 'Pause' }).click()
  const slider = page.getByRole('slider', { name: 'Position' })
  const box = await slider.boundingBox()
  await slider.click({ position: { x: (box?.width ?? 0) / 2, y: 20 } })
  expect(await position()).toBeCloseTo(SECONDS / 2, 0)
  await slider.press('ArrowRight')
  expect(await position()).toBeCloseTo(SECONDS / 2 + 5, 0)
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await untilPosition(SECONDS / 2 + 5.5)
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^0:2\d of 0:30$/)
})

test('a new cover is shown', async () => {
  await page.setInputFiles('.cover-box input[type=file]', join(directory, 'cover.png'))
  const shown = (source: string) => {
    const image = document.querySelector<HTMLImageElement>('.cover')
    return image && image.src !== source && image.complete && image.naturalWidth === 400
  }
  const before = await page.locator('.cover').getAttribute('src')
  await page.waitForFunction(shown, before ?? '', PATIENCE)
  const path = join(tmpdir(), 'tonearm-studio.png')
  await page.screenshot({ path })
  console.log(`A picture of the page is at ${path}`)
})

test('a dropped file that is no audio says why', async () => {
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['Dear diary'], 'diary.mp3', { type: 'audio/mpeg' }))
    return data
  })
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  const row = page.getByRole('listitem').filter({ hasText: 'diary.mp3' })
  await row.getByText('Failed').waitFor(PATIENCE)
  expect(await row.locator('.note').textContent()).toMatch(/\w+/)
})

test('after a reload everything is there, and fits on a phone', async () => {
  await page.setViewportSize({ width: 375, height: 800 })
  await page.reload()
  await page.getByRole('button', { name: /^Play song/ }).click(PATIENCE)
  await untilPosition(0.3)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  expect(await page.locator('.track[data-status=failed] .note').textContent()).toMatch(/\w+/)
  expect(problems).toEqual([])
})

test('the API reference shows every operation, and asks no other host for anything', async () => {
  const reference = await browser.newPage()
  const hosts = new Set<string>()
  reference.on('request', (request) => hosts.add(new URL(request.url()).host))
  reference.on('pageerror', (error) => problems.push(String(error)))
  await reference.goto(`${stack.base_url}/docs`)
  await reference.getByText('Create a play session for a collection').waitFor(PATIENCE)
  const document = (await (await fetch(`${stack.base_url}/openapi.json`)).json()) as { paths: Record<string, object> }
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
  expect(await reference.locator('.opblock').count()).toBe(operations.length)
  expect([...hosts].filter((host) => host !== '' && host !== new URL(stack.base_url).host)).toEqual([])
  if (process.env.SCREENSHOTS) await reference.screenshot({ path: join(process.env.SCREENSHOTS, 'docs.png') })
  await reference.close()
})
