import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { findings } from './axe.ts'
import { ANSWERS, button, player, type PlayerPage, setUp, TIMEOUT, untilSettled } from './player_fake_service.ts'

/** Links to a part of a track: playback, the waveform, and the popover that makes them. */

let alone: PlayerPage
beforeAll(async () => {
  alone = await setUp()
})
afterAll(() => alone?.dispose())
beforeEach(() => Object.assign(alone.answers, ANSWERS))

const state = (page: Page) =>
  page.evaluate(() => {
    const { currentTime, paused, clip, track } = document.querySelector<TonearmPlayer>('tonearm-player')!
    return { currentTime, paused, clip, title: track?.player_title }
  })
const act = (page: Page, name: 'play' | 'pause' | 'seek', value = 0) =>
  page.evaluate(
    async ([method, argument]) => await document.querySelector<TonearmPlayer>('tonearm-player')![method](argument),
    [name, value] as const,
  )
const untilPaused = (page: Page) => expect.poll(async () => (await state(page)).paused, TIMEOUT).toBe(true)
const untilTime = (page: Page, time: number) =>
  expect.poll(async () => (await state(page)).currentTime, TIMEOUT).toBeGreaterThan(time)
const mark = (page: Page) => player(page).locator('tonearm-waveform .clip')

test('a link to a part shows it, pauses at its end, and playback then continues', async () => {
  const page = await alone.open({ share: '' }, { hash: '#track=2&t=1:02,1:02.6' })
  expect(await state(page)).toMatchObject({ currentTime: 62, paused: true, title: 'Second' })
  const [marked, whole] = await Promise.all([mark(page).boundingBox(), player(page).locator('canvas').boundingBox()])
  expect((marked!.x - whole!.x) / whole!.width).toBeCloseTo(0.62, 2)
  expect(await findings(page)).toEqual([])
  await act(page, 'play')
  await untilPaused(page)
  expect((await state(page)).currentTime).toBe(62.6)
  await button(page, 'Play').click()
  await untilTime(page, 63)
  expect(await state(page)).toMatchObject({ paused: false, clip: null })
  expect(await mark(page).isVisible()).toBe(false)
  await page.context().close()
})

test('a change of the address plays another part, and the listener can leave it', async () => {
  const page = await alone.open({ share: '' }, { hash: '#t=10,12' })
  await act(page, 'play')
  await page.evaluate(() => (location.hash = '#t=,0.5'))
  await expect.poll(async () => (await state(page)).clip, TIMEOUT).toEqual({ start: 0, end: 0.5 })
  await untilPaused(page)
  expect((await state(page)).currentTime).toBe(0.5)
  await page.evaluate(() => (location.hash = '#t=50,51'))
  await expect.poll(async () => (await state(page)).currentTime, TIMEOUT).toBe(50)
  await act(page, 'play')
  await button(page, '0:50 – 0:51: Play the whole track').click()
  await untilTime(page, 51.2)
  expect(await state(page)).toMatchObject({ paused: false, clip: null })
  await page.evaluate(() => (location.hash = '#t=20,30'))
  await mark(page).waitFor()
  await page.getByRole('slider', { name: 'Position' }).press('End')
  await mark(page).waitFor({ state: 'hidden' })
  await page.context().close()
})

test('attributes and a property set the part', async () => {
  const page = await alone.open({ start: '20', end: '0:25' })
  expect(await state(page)).toMatchObject({ currentTime: 20, clip: { start: 20, end: 25 } })
  const set = (clip: object | null) =>
    player(page).evaluate((element, value) => Object.assign(element, { clip: value }), clip)
  await set({ start: 80, end: 90 })
  await expect.poll(async () => (await state(page)).currentTime, TIMEOUT).toBe(80)
  await set(null)
  expect(await state(page)).toMatchObject({ currentTime: 80, clip: null })
  await page.context().close()
})

test('a part of a long track does not replace the stored position of the listener', async () => {
  alone.answers.seconds = 700
  const page = await alone.open({ share: '' })
  await act(page, 'seek', 300)
  await untilTime(page, 299)
  const address = page.url()
  for (const [hash, time] of [
    ['#t=,0.4', 0],
    ['', 300],
  ] as const) {
    await page.goto('about:blank')
    await page.goto(address + hash)
    await untilSettled(page)
    expect((await state(page)).currentTime).toBe(time)
    if (!hash) continue
    await act(page, 'play')
    await untilPaused(page)
    expect((await state(page)).currentTime).toBe(0.4)
  }
  await page.context().close()
})

test('the share popover makes a link to a part from the current positions or from typed times', async () => {
  const page = await alone.open({ share: '' }, { permissions: ['clipboard-read', 'clipboard-write'] })
  await act(page, 'seek', 62.4)
  await button(page, 'Share').click()
  const share = page.getByRole('dialog', { name: 'Share' })
  const time = (name: string) => share.getByRole('textbox', { name })
  const times = async () => [await time('Start at').inputValue(), await time('End at').inputValue()]
  const part = share.locator('.part')
  const hash = async () => {
    await part.getByRole('button', { name: /^Cop/ }).click()
    await part.getByRole('button', { name: 'Copied' }).waitFor()
    return new URL(await page.evaluate(() => navigator.clipboard.readText())).hash
  }
  await button(page, 'Link to a part').click()
  expect(await times()).toEqual(['1:02', '1:32'])
  await act(page, 'seek', 75.2)
  await button(page, 'End at: Now').click()
  expect(await times()).toEqual(['1:02', '1:15'])
  expect(await hash()).toBe('#track=1&t=62,75')
  expect(await findings(page)).toEqual([])
  await time('End at').fill('0:30')
  expect(await time('End at').getAttribute('aria-invalid')).toBe('true')
  expect(await part.locator('.copy-part').isDisabled()).toBe(true)
  await time('End at').fill('1:10.5')
  await time('Start at').press('ArrowDown')
  expect(await hash()).toBe('#track=1&t=61,70.5')
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  await page.goto('about:blank')
  await page.goto(copied)
  await untilSettled(page)
  expect(await state(page)).toMatchObject({ currentTime: 61, clip: { start: 61, end: 70.5 } })
  await button(page, 'Share').click()
  expect(await times()).toEqual(['1:01', '1:10.5'])
  await page.context().close()
})

test('a page that may not write to the clipboard shows the link, selected', async () => {
  const page = await alone.open({ share: '' })
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await button(page, 'Share').click()
  await button(page, 'Copy link').click()
  const field = page.getByRole('textbox', { name: 'Link' })
  await field.waitFor()
  expect(await field.inputValue()).toMatch(/#track=1$/)
  expect(await field.evaluate((input: HTMLInputElement) => input.selectionEnd)).toBeGreaterThan(10)
  await page.context().close()
})
