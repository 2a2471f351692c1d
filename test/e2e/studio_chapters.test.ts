import type { BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { ffmpeg, formats, lavfi } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, upload } from './steps.ts'
import { expectNoOverflow, holdSave, newContext, newTab, signIn, TIMEOUT, visit } from './studio_steps.ts'

/** The editor of chapters on the page of a track. Each test starts with the chapters of the file, and in a new tab if the previous one failed. */

let stack: Shared
let context: BrowserContext
let client: Client
let isOpen = false
let page: Page
let problems: string[]
let track: string

/** Chapters in the format of ffmpeg (https://ffmpeg.org/ffmpeg-formats.html#Metadata-2). */
const chapterOf = (start: number, end: number, title: string) =>
  `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start}\nEND=${end}\ntitle=${title}\n`
const METADATA = `;FFMETADATA1\n${chapterOf(0, 4000, 'Intro')}${chapterOf(4000, 12_000, 'Theme')}`

beforeAll(async () => {
  stack = await joinStack()
  context = await newContext(await joinBrowser())
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Talks' } }))
  const inputs = [...lavfi({ seconds: 12, channels: 1 }), '-f', 'ffmetadata', '-i', 'metadata']
  const args = [...inputs, '-map', '0:a', '-map_chapters', '1', ...formats.mp3]
  const audio = await ffmpeg(args, { metadata: Buffer.from(METADATA) })
  ;({ track_id: track } = await upload(client, collection_id, 'talk.mp3', audio))
  await settle(client, track)
})
beforeEach(async ({ onTestFailed }) => {
  onTestFailed(() => void (isOpen = false))
  await must(client.delete('/v1/track/{track_id}/chapters', { params: { track_id: track } }))
  if (!isOpen) {
    ;({ page, problems } = await newTab(context))
    await signIn(page, stack)
    isOpen = true
  }
  await visit(page, '#/keys', 'Keys')
  // The page shows the track of its last visit until the response arrives, whose version the first save needs.
  const loaded = page.waitForResponse((response) => new URL(response.url()).pathname === `/v1/track/${track}`)
  await visit(page, `#/track/${track}`, 'talk')
  await (await loaded).finished()
  await nextFrame()
  await expectRows('0:00 Intro', '0:04 Theme')
})
afterEach(() => expect(problems).toEqual([]))
afterAll(closePages)

/** Waits until the page has handled what has arrived, and drawn it. */
const nextFrame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
const stored = async () => (await must(client.get('/v1/track/{track_id}', { params: { track_id: track } }))).track
const editor = () => page.getByRole('region', { name: 'Chapters' })
const time = (n: number) => editor().getByLabel(`Start of chapter ${n}`, { exact: true })
const title = (n: number) => editor().getByLabel(`Title of chapter ${n}`, { exact: true })
const button = (name: string) => editor().getByRole('button', { name, exact: true })
const toast = (text: string) =>
  page
    .locator('#announcer')
    .getByText(text)
    .waitFor({ state: 'attached', ...TIMEOUT })
/** Returns the rows as `0:00 Title`. */
const rows = () =>
  editor()
    .locator('.chapter-list li')
    .evaluateAll((items) =>
      items.map((item) => [...item.querySelectorAll('input')].map(({ value }) => value).join(' ')),
    )
const expectRows = (...wanted: string[]) => expect.poll(rows, TIMEOUT).toEqual(wanted)
const hasFocus = (field: Locator) => field.evaluate((element) => element === document.activeElement)
const expectFocus = (field: Locator) => expect.poll(() => hasFocus(field), TIMEOUT).toBe(true)
const undo = () => page.locator('#offer').click(TIMEOUT)
/** The chapters of the waveform. */
const marks = () =>
  page.locator('.hero tonearm-waveform').evaluate((element) => {
    const { chapters } = element as HTMLElementTagNameMap['tonearm-waveform']
    return chapters.map((chapter) => `${chapter.start} ${chapter.title}`)
  })

test('the chapters of the file are edited, sorted by their start, and shown on the waveform at once', async () => {
  await title(2).fill('Main theme')
  await button('Add a chapter').click()
  await expectFocus(time(3))
  expect(await editor().getByRole('alert').count()).toBe(0)
  // A chapter without a time is last.
  await time(3).fill('2,5')
  await page.keyboard.press('Tab')
  await expectRows('0:00 Intro', '0:02.5 ', '0:04 Main theme')
  // The row has moved, and its title has the focus.
  await page.keyboard.type('Question')
  await expectRows('0:00 Intro', '0:02.5 Question', '0:04 Main theme')
  await expect.poll(marks, TIMEOUT).toEqual(['0 Intro', '2.5 Question', '4 Main theme'])
  expect((await stored()).chapters).toBeNull()
  await button('Discard').click()
})

test('typed rows survive a reload and are saved, and Undo restores the previous chapters', async () => {
  await title(2).fill('Question')
  await time(2).fill('2,5')
  await button('Add a chapter').click()
  await title(3).fill('Main theme')
  // A kept row with an error does not take the focus from the page.
  await time(3).fill('0:13')
  await page.reload()
  await editor().getByText('This is after the end of the track at 0:12').waitFor(TIMEOUT)
  await nextFrame()
  expect(await hasFocus(time(3))).toBe(false)
  await time(3).fill('0:04')
  await expectRows('0:00 Intro', '0:02.5 Question', '0:04 Main theme')
  await title(2).press('Enter')
  await toast('Chapters saved')
  await expectFocus(title(2))
  const saved = [
    { startTime: 0, title: 'Intro' },
    { startTime: 2.5, title: 'Question' },
    { startTime: 4, title: 'Main theme' },
  ]
  expect((await stored()).chapters).toEqual(saved)
  await button('Save').waitFor({ state: 'detached' })
  await undo()
  await toast('Previous chapters restored')
  expect((await stored()).chapters).toBeNull()
  await expectRows('0:00 Intro', '0:04 Theme')
})

test('Undo restores the previous chapters after Save was clicked in a field, and while new rows are typed', async () => {
  await time(2).fill('5,0')
  await button('Save').click()
  await toast('Chapters saved')
  await expectRows('0:00 Intro', '0:05 Theme')
  await expectFocus(button('Add a chapter'))
  await undo()
  await toast('Previous chapters restored')
  await expectRows('0:00 Intro', '0:04 Theme')
  expect(await editor().getByRole('alert').count()).toBe(0)

  await title(2).fill('Saved')
  await page.keyboard.press('Enter')
  await toast('Chapters saved')
  await title(1).fill('Not saved yet')
  await undo()
  await toast('Previous chapters restored')
  expect((await stored()).chapters).toBeNull()
  await expectRows('0:00 Not saved yet', '0:04 Saved')
  expect(await editor().getByRole('alert').count()).toBe(0)
  await time(2).fill('0:03')
  await button('Discard').click()
  await expectRows('0:00 Intro', '0:04 Theme')
  await undo()
  await expectRows('0:00 Not saved yet', '0:03 Saved')
  await button('Discard').click()
  await expectFocus(button('Add a chapter'))
})

test('a chapter that is added while Undo runs is not lost', async () => {
  await title(2).fill('Saved')
  await page.keyboard.press('Enter')
  await toast('Chapters saved')
  const save = await holdSave(page, '**/v1/track/*/chapters')
  await undo()
  await save.held
  await button('Add a chapter').click()
  await title(3).fill('Added')
  save.release()
  await toast('Previous chapters restored')
  expect((await stored()).chapters).toBeNull()
  await expectRows('0:00 Intro', '0:04 Saved', ' Added')
  await button('Discard').click()
  await expectRows('0:00 Intro', '0:04 Theme')
})

test('Undo of a removed chapter keeps what was typed since; other offers end with the next change', async () => {
  await button('Remove chapter 2').click()
  await title(1).fill('Typed since')
  await undo()
  await expectRows('0:00 Typed since', '0:04 Theme')
  await button('Discard').click()
  await expectRows('0:00 Intro', '0:04 Theme')
  // The message stays while the pointer is on it.
  await page.locator('#offer').hover(TIMEOUT)
  await title(1).fill('Typed since')
  await page.locator('#offer').waitFor({ state: 'hidden', ...TIMEOUT })
  await button('Discard').click()
})

test('a start after the end, or equal to that of another chapter, is an error of its row', async () => {
  await time(2).fill('0:13')
  await button('Save').click()
  await editor().getByText('This is after the end of the track at 0:12').waitFor(TIMEOUT)
  const isMarked = () => time(2).evaluate((field) => field === document.activeElement && field.ariaInvalid)
  await expect.poll(isMarked, TIMEOUT).toBe('true')
  await time(2).fill('0')
  await button('Save').click()
  await editor().getByText('Another chapter starts at the same time.').waitFor(TIMEOUT)
  expect((await stored()).chapters).toBeNull()
  expect(await findings(page)).toEqual([])
  await button('Discard').click()
  await expectRows('0:00 Intro', '0:04 Theme')
})

test('a chapter starts at the playing position', async () => {
  await page.locator('.thing-text').getByRole('button', { name: 'Play', exact: true }).click()
  const add = editor().getByRole('button', { name: /^Add a chapter at 0:0[1-3]$/ })
  await add.waitFor(TIMEOUT)
  await page.locator('.dock').getByRole('button', { name: 'Pause' }).click()
  await add.click()
  await expect.poll(rows, TIMEOUT).toEqual(['0:00 Intro', expect.stringMatching(/^0:0[1-3](\.\d)? $/), '0:04 Theme'])
  await button('Start chapter 3 at the playing position').click()
  await editor().getByText('Another chapter starts at the same time.').waitFor(TIMEOUT)
  await button('Remove chapter 2').click()
  await expect.poll(rows, TIMEOUT).toEqual(['0:00 Intro', expect.stringMatching(/^0:0[1-3](\.\d)? Theme$/)])
  await button('Discard').click()
})

test('chapters are imported from a JSON file and from a pasted list, and those of the file can be restored', async () => {
  const chapters = [{ startTime: 1, title: 'From JSON', url: 'https://example.com/' }, { startTime: 6 }]
  const importFrom = async (entry: string) => {
    await editor().getByRole('button', { name: 'Import' }).click()
    await page.getByRole('menuitem', { name: entry }).click()
  }
  const chooser = page.waitForEvent('filechooser')
  await importFrom('From a JSON Chapters file …')
  const buffer = Buffer.from(JSON.stringify({ version: '1.2.0', chapters }))
  await (await chooser).setFiles({ name: 'chapters.json', mimeType: 'application/json', buffer })
  await expectRows('0:01 From JSON', '0:06 ')
  await button('Save').click()
  await toast('Chapters saved')
  expect((await stored()).chapters).toEqual(chapters)
  await importFrom('From a pasted list …')
  const dialog = page.getByRole('dialog', { name: 'Paste chapters' })
  await page.keyboard.type('0:00 Start\nnothing')
  await dialog.getByRole('button', { name: 'Use these chapters' }).click()
  await dialog.getByText('Line 2 does not start with a time').waitFor(TIMEOUT)
  expect(await findings(page)).toEqual([])
  await dialog.getByRole('textbox').fill('0:00 Start\n0:07 End')
  await dialog.getByRole('button', { name: 'Use these chapters' }).click()
  await expectRows('0:00 Start', '0:07 End')
  expect(await button("Use the file's chapters again").count()).toBe(0)
  await button('Save').click()
  await toast('Chapters saved')
  await button("Use the file's chapters again").click()
  await toast('The chapters of the file are used again')
  await expectRows('0:00 Intro', '0:04 Theme')
  expect((await stored()).chapters).toBeNull()
})

test('after someone else has saved chapters, the user chooses whose are kept', async () => {
  const other = async (title: string) => {
    const body = { chapters: [{ startTime: 0, title }] }
    await must(client.put('/v1/track/{track_id}/chapters', { params: { track_id: track }, body }))
  }
  await title(1).fill('Mine')
  await other('Theirs')
  await button('Save').click()
  await editor()
    .getByText(/^Someone else has changed the same values/)
    .waitFor(TIMEOUT)
  expect((await stored()).chapters).toEqual([{ startTime: 0, title: 'Theirs' }])
  await button('Use mine').click()
  await toast('Chapters saved')
  expect((await stored()).chapters?.map((chapter) => chapter.title)).toEqual(['Mine', 'Theme'])
  await title(1).fill('Mine again')
  await other('Theirs again')
  await page.keyboard.press('Enter')
  await button('Keep theirs').click(TIMEOUT)
  await expectRows('0:00 Theirs again')
  expect(problems.splice(0).filter((problem) => !problem.includes('412'))).toEqual([])
})

test('the editor fits a phone', async () => {
  await page.setViewportSize({ width: 375, height: 760 })
  await editor().scrollIntoViewIfNeeded()
  await expectNoOverflow(page, 'chapters')
  expect(await findings(page)).toEqual([])
})
