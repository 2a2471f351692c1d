import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { LOCALES } from '../../src/contract/facts.ts'
import { textDirection } from '../../src/contract/text.ts'
import type { UploaderTexts } from '../../src/elements/texts/texts.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { startUploaderHost, openUploader, TIMEOUT, type UploaderHost, type Uploader } from './uploader_page.ts'

/** Tests the accessibility of `<tonearm-uploader>`: keyboard, screen reader, dark theme, phone, and right-to-left text. */

let stack: Shared
let browser: Browser
let shop: UploaderHost
let attributes: Record<string, string>
let song: { name: string; mimeType: string; buffer: Buffer }
let opened: Uploader[] = []

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Inbox' } }))
  const about = { title: 'Shop', type: 'uploader' as const, collection_id }
  const { secret } = await must(server.post('/v1/api_key', { body: about }))
  attributes = { 'base-url': stack.base_url, 'api-key': secret, 'collection-id': collection_id, 'max-size': '1 MB' }
  song = { name: 'Evening song.wav', mimeType: 'audio/wav', buffer: await makeAudio('wav', { seconds: 2 }) }
  shop = await startUploaderHost(stack)
})
afterEach(async () => {
  await Promise.all(opened.map((uploader) => uploader.close()))
  opened = []
})
afterAll(async () => {
  await closePages()
  await shop?.close()
  await stack?.dispose()
})

async function open(more: Record<string, string> = {}, options: Parameters<typeof openUploader>[3] = {}) {
  const uploader = await openUploader(browser, shop, { ...attributes, ...more }, options)
  opened.push(uploader)
  return uploader
}

const input = ({ element }: Uploader) => element.locator('input[type=file][multiple]')
const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Dear diary') }
const diary = { name: 'diary.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('%PDF-1.7\n\0'.repeat(200)) }

/** Returns the texts of the element in a language. */
const texts = async (locale: string) =>
  ((await import(`../../src/elements/texts/${locale}.ts`)) as { uploader: UploaderTexts }).uploader

const audit = ({ page }: Uploader) => findings(page)

test.each(['light', 'dark'])('axe finds no violations in any state in the %s theme', async (theme) => {
  const uploader = await open({ manual: '', 'edit-titles': '', theme, accent: '#ffd400' })
  expect(await audit(uploader)).toEqual([])
  await input(uploader).setInputFiles([song, notes, diary])
  await uploader.until('notes.txt', 'rejected')
  expect(await audit(uploader)).toEqual([])
  await uploader.page.context().setOffline(true)
  await uploader.element.getByRole('button', { name: 'Upload 2 files' }).click()
  await uploader.row('diary.mp3').getByText('You are offline').waitFor(TIMEOUT)
  expect(await audit(uploader)).toEqual([])
  await uploader.row('diary.mp3').getByRole('button', { name: 'Cancel' }).click()
  await uploader.element.evaluate((element) => (element as HTMLElementTagNameMap['tonearm-uploader']).pause('file-1'))
  expect(await audit(uploader)).toEqual([])
  await uploader.page.context().setOffline(false)
  await uploader.row('diary.mp3').getByRole('button', { name: 'Try again' }).click()
  await uploader.element.evaluate((element) => (element as HTMLElementTagNameMap['tonearm-uploader']).resume('file-1'))
  await uploader.until(song.name, 'ready')
  await uploader.until('diary.mp3', 'failed')
  expect(await audit(uploader)).toEqual([])

  const wrong = await open({ 'api-key': 'ta_uk_nonsense', theme })
  await input(wrong).setInputFiles([song])
  await wrong.element.getByRole('alert').waitFor(TIMEOUT)
  expect(await audit(wrong)).toEqual([])
})

test('every action works with the keyboard, and the focus is never lost', async () => {
  const uploader = await open({ manual: '' })
  const { page } = uploader
  const focused = () =>
    page.evaluate(() => {
      const inner = document.querySelector('tonearm-uploader')!.shadowRoot!.activeElement
      return inner?.ariaLabel ?? inner?.textContent ?? null
    })
  // Starts to wait before the first key press, because the browser must intercept file dialogs before one opens.
  const chooser = page.waitForEvent('filechooser')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Choose files')
  await page.keyboard.press('Enter')
  await (await chooser).setFiles([song, { ...song, name: 'Morning song.wav' }])
  const reached: (string | null)[] = []
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('Tab')
    reached.push(await focused())
  }
  expect(reached).toEqual([
    'Upload 2 files',
    'Add a cover: Evening song.wav',
    'Remove from the list: Evening song.wav',
    'Add a cover: Morning song.wav',
    'Remove from the list: Morning song.wav',
  ])
  await page.keyboard.press('Enter')
  // When a row is removed, the focus moves to the neighboring row.
  expect(await focused()).toContain('Evening song.wav')
  await page.keyboard.press('Shift+Tab')
  expect(await focused()).toBe('Upload 1 file')
  await page.keyboard.press('Enter')
  await uploader.until(song.name, 'ready')
  expect(await focused()).not.toBeNull()
})

test('a screen reader gets short announcements', async () => {
  const uploader = await open()
  const { page } = uploader
  await page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    const region = document.querySelector('tonearm-uploader')!.shadowRoot!.querySelector('[role=status]')!
    new MutationObserver(() => said.push(region.textContent ?? '')).observe(region, { childList: true, subtree: true })
  })
  await input(uploader).setInputFiles([song, notes])
  await uploader.until(song.name, 'ready')
  await page.waitForFunction(() =>
    (window as unknown as { said: string[] }).said.some((text) => text.includes('ready,')),
  )
  const announcements = await page.evaluate(() => (window as unknown as { said: string[] }).said)
  const transcript = announcements.join(' ')
  expect(transcript).toContain('notes.txt: This kind of file is not accepted here.')
  expect(transcript).toContain('Evening song.wav: Ready')
  expect(transcript).toContain('1 file ready, 1 failed')
  expect(announcements.length).toBeLessThan(8)
  const bar = uploader.element.getByRole('progressbar', { name: 'Progress of Evening song.wav', includeHidden: true })
  expect(await bar.count()).toBe(1)
})

test('the uploader fits a phone and right-to-left text, and uses the language of the page', async () => {
  const uploader = await open(
    { manual: '', lang: 'de-CH', dir: 'rtl' },
    { viewport: { width: 375, height: 700 }, hasTouch: true },
  )
  const { page, element } = uploader
  await element.getByText('Audiodateien hier ablegen').waitFor()
  const long = { ...song, name: 'A very long name without any spaces_'.repeat(5).replaceAll(' ', '_') + '.wav' }
  await input(uploader).setInputFiles([song, long, notes])
  await uploader.until('notes.txt', 'rejected')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  const small = await element
    .getByRole('button')
    .evaluateAll(
      (buttons) => buttons.map((button) => button.getBoundingClientRect()).filter(({ height }) => height < 44).length,
    )
  expect(small).toBe(0)
  const [thumb, dismiss] = await Promise.all([
    uploader.row(song.name).locator('.thumb').boundingBox(),
    uploader.row(song.name).locator('.dismiss').boundingBox(),
  ])
  expect(thumb!.x).toBeGreaterThan(dismiss!.x)
  // A Latin name is truncated at its end, not at its start.
  const name = uploader.row('notes.txt').locator('.name')
  expect(await name.evaluate((each) => [getComputedStyle(each).direction, getComputedStyle(each).textAlign])).toEqual([
    'ltr',
    'right',
  ])
})

test('the uploader fits into 200 pixels in every language, empty and with files, without axe violations', async () => {
  const uploader = await open({ manual: '', 'edit-titles': '' }, { viewport: { width: 216, height: 900 } })
  const { page, element } = uploader
  /** Returns the buttons and the text that extend beyond the element. */
  const outside = () =>
    element.evaluate((host) => {
      const { left, right } = host.getBoundingClientRect()
      return [...host.shadowRoot!.querySelectorAll('.base *')]
        .filter((each) => each.checkVisibility() && !each.matches('.visually-hidden, .visually-hidden *'))
        .map((each) => ({ each, box: each.getBoundingClientRect() }))
        .filter(
          ({ each, box }) =>
            box.left < left || box.right > right || (each.matches('button') && each.scrollWidth > each.clientWidth),
        )
        .map(({ each }) => each.outerHTML)
    })
  const inOrder = () =>
    uploader.row('notes.txt').evaluate((row) => {
      const [thumb, name, tail] = ['.thumb', '.name', '.tail'].map(
        (each) => row.querySelector(each)!.getBoundingClientRect().x,
      )
      return getComputedStyle(row).direction === 'rtl'
        ? thumb! > name! && name! > tail!
        : thumb! < name! && name! < tail!
    })
  const speak = async (locale: string, theme: string) => {
    const attributes = { locale, theme, dir: textDirection(locale) }
    await element.evaluate((host, all) => {
      for (const [key, value] of Object.entries(all)) host.setAttribute(key, value)
    }, attributes)
    const { drop } = await texts(locale)
    await element
      .getByText(drop)
      .first()
      .waitFor({ state: 'attached', ...TIMEOUT })
  }
  for (const list of [[], [song, notes, { ...song, name: 'Large.wav', buffer: Buffer.alloc(1_100_000, 1) }]]) {
    await input(uploader).setInputFiles(list)
    if (list.length > 0) await uploader.until('notes.txt', 'rejected')
    for (const [i, locale] of LOCALES.entries()) {
      const theme = i % 2 === (list.length > 0 ? 1 : 0) ? 'light' : 'dark'
      await speak(locale, theme)
      expect(await outside(), locale).toEqual([])
      if (list.length > 0) expect(await inOrder(), locale).toBe(true)
      expect([locale, await findings(page)]).toEqual([locale, []])
    }
  }
})

test('nothing moves with reduced motion', async () => {
  const uploader = await open({}, { reducedMotion: 'reduce' })
  await input(uploader).setInputFiles([song])
  const fill = uploader.row(song.name).locator('.fill')
  const moving = await fill.evaluate((element) => {
    element.parentElement!.classList.add('unknown')
    const { animationName, transitionDuration } = getComputedStyle(element)
    return [animationName, transitionDuration]
  })
  expect(moving).toEqual(['none', '0s'])
})
