import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { copyTrack, type Song } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, upload } from './steps.ts'
import { chooseOption, choose, newContext, rowOf, signInAfter, type Studio, TIMEOUT, visit } from './studio_steps.ts'

/** Custom variants in the studio, and updating tracks to them. Each test has a separate organization. */

/** A lossless song, because a FLAC preview is not created from a lossy one. */
const SONG: Song = ['flac', { seconds: 8, channels: 1 }]

let stack: Shared
let context: BrowserContext
let studio: Studio | undefined
let page: Page
let client: Client
let problems: string[]

beforeAll(async () => {
  context = await newContext(await joinBrowser())
})
beforeEach(async ({ onTestFailed }) => {
  onTestFailed(() => (studio = undefined))
  stack = await joinStack()
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  studio = await signInAfter(studio, context, stack)
  ;({ page, problems } = studio)
})
afterEach(() => expect(problems).toEqual([]))
afterAll(closePages)

async function aCollection(title: string): Promise<string> {
  return (await must(client.post('/v1/collection', { body: { title } }))).collection_id
}
/** Creates a variant for playback and a preview. */
async function addVariants(): Promise<void> {
  const hook = { name: 'Hook', type: 'preview', codec: 'flac', start: 2.5, length: 3 } as const
  for (const body of [{ name: 'Radio', codec: 'mp3', bitrate: 96, channels: 1 } as const, hook])
    await must(client.post('/v1/variant', { body }))
}

const customSection = () => page.getByRole('region', { name: 'Your own' })
const dialog = () => page.getByRole('dialog')
const field = (name: string) => dialog().getByLabel(name, { exact: true })
const create = () => dialog().getByRole('button', { name: 'Create variant' }).click()

/** Returns the description of a field for screen readers. */
async function noteOf(name: string): Promise<string | null> {
  const id = await field(name).getAttribute('aria-describedby')
  return id && (await page.locator(`[id="${id}"]`).textContent())
}

test('the default variants show their formats and sizes and cannot be changed', async () => {
  await visit(page, '#/variants', 'Variants')
  await customSection().getByText('None yet').waitFor(TIMEOUT)
  const always = page.getByRole('region', { name: 'Default variants' })
  expect(await always.getByRole('row').count()).toBe(9)
  const cells = always.getByRole('row').filter({ hasText: 'mp3-128' }).getByRole('cell')
  expect(await cells.allTextContents()).toEqual(['Playback', 'MP3', 'as the source', '128 kbit/s', '960 KB'])
  expect(await always.getByRole('row').filter({ hasText: 'preview' }).textContent()).toContain('Preview, 30 s from 0 s')
  expect(await always.getByRole('button').count()).toBe(0)
})

test('an invalid variant shows each error at its field', async () => {
  await visit(page, '#/variants', 'Variants')
  await page.getByRole('button', { name: 'New variant' }).click()
  await field('Bitrate in kbit/s').fill('123')
  await field('Name').fill('Radio')
  await field('Index').fill('Not An Index')
  await create()
  await expect.poll(() => noteOf('Index'), TIMEOUT).toContain('with hyphens between them')
  expect(await field('Index').getAttribute('aria-invalid')).toBe('true')
  await field('Index').fill('mp3-128')
  await create()
  await expect.poll(() => noteOf('Bitrate in kbit/s'), TIMEOUT).toMatch(/^Must be one of 32, .* for mp3\.$/)
  expect(await noteOf('Index')).toMatch(/^The name that players request/)
  await field('Bitrate in kbit/s').fill('64')
  await create()
  await expect.poll(() => noteOf('Index'), TIMEOUT).toContain('There is a variant with the index mp3-128 already')
  await field('Index').fill('')
  await create()
  await customSection().getByText('Radio').waitFor(TIMEOUT)
  // The browser logs each failed response.
  problems.length = 0
})

test('a variant and a preview can be created, and one of them can be edited', async () => {
  await visit(page, '#/variants', 'Variants')
  await page.getByRole('button', { name: 'New variant' }).click()
  await field('Name').fill('Radio')
  await field('Bitrate in kbit/s').fill('64')
  await chooseOption(field('Channels'), 'Mono')
  await create()
  const radio = customSection().getByRole('row').filter({ hasText: 'Radio' })
  await radio.waitFor(TIMEOUT)
  expect(await radio.getByRole('cell').first().textContent()).toBe('Playback')
  await page.getByRole('button', { name: 'New variant' }).click()
  await field('Name').fill('Hook')
  await chooseOption(field('For'), 'Preview: a part of the track')
  await chooseOption(field('Codec'), 'FLAC, lossless')
  expect(await field('Bitrate in kbit/s').count()).toBe(0)
  await field('Start in seconds').fill('2.5')
  await field('Length in seconds').fill('3')
  await create()
  await customSection().getByText('Preview, 3 s from 2.5 s').waitFor(TIMEOUT)
  await choose(page, 'More for Radio', 'Edit …')
  expect(await field('Index').count()).toBe(0)
  expect(await field('Bitrate in kbit/s').inputValue()).toBe('64')
  await field('Name').fill('Radio mono')
  await field('Bitrate in kbit/s').fill('96')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await customSection().getByText('Radio mono').waitFor(TIMEOUT)
  const { variants } = await must(client.get('/v1/variant'))
  const settings = { type: 'transcode', codec: 'mp3', bitrate: 96, channels: 1, start: null, length: null }
  expect(variants[1]).toMatchObject({ name: 'Radio mono', index: 'radio', ...settings })
  expect(variants[0]).toMatchObject({
    index: 'hook',
    type: 'preview',
    codec: 'flac',
    bitrate: 0,
    start: 2.5,
    length: 3,
  })
})

test('updating a collection gives its tracks the new files', async () => {
  const collection = await aCollection('Demo tape')
  for (const name of ['whole.flac', 'other.flac']) await copyTrack(stack, collection, name, SONG)
  await addVariants()
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  // Holds the progress requests of the page, so that the update cannot end before its message and its progress bar have been checked.
  const seen = Promise.withResolvers<void>()
  await page.route('**/v1/collection/*/reprocess', async (route) => {
    if (route.request().method() === 'GET') await seen.promise
    await route.continue()
  })
  await choose(page, 'More for Demo tape', 'Create missing variants')
  await page.getByText(/^Updating tracks: \d of 2\./).waitFor(TIMEOUT)
  await page.getByRole('progressbar', { name: 'Tracks updated' }).waitFor()
  seen.resolve()
  await page.locator('#announcer').getByText('The tracks are up to date').waitFor(TIMEOUT)
  await page.getByText(/^Updating tracks/).waitFor({ state: 'detached' })
  await rowOf(page, 'whole').getByRole('link', { name: 'whole' }).click()
  for (const [index, format] of Object.entries({ radio: 'MP3', hook: 'FLAC' })) {
    const row = page.getByRole('row').filter({ hasText: index })
    await row.getByText(/^\d+(\.\d)? KB$/).waitFor(TIMEOUT)
    // The formats are loaded by a separate request.
    await expect.poll(() => row.textContent(), TIMEOUT).toContain(format)
  }
})

test('a damaged file plays, and its page lists the warnings', async () => {
  const collection = await aCollection('Demo tape')
  const song = await makeAudio(...SONG)
  const { track_id } = await upload(client, collection, 'cut.flac', song.subarray(0, song.length / 2))
  await settle(client, track_id)
  await visit(page, `#/collection/${collection}`, 'Demo tape')
  await rowOf(page, 'cut').getByRole('link', { name: 'cut: look at the warnings' }).click(TIMEOUT)
  const warningList = page.getByRole('region', { name: 'Warnings' })
  await warningList.waitFor(TIMEOUT)
  expect(await page.getByRole('button', { name: 'Play', exact: true }).isEnabled()).toBe(true)
  const { track } = await must(client.get('/v1/track/{track_id}', { params: { track_id } }))
  const warnings = track.info.warnings as { message: string }[]
  expect(warnings.length).toBeGreaterThan(0)
  expect(await warningList.getByRole('listitem').allTextContents()).toEqual(warnings.map(({ message }) => message))
})

test('a variant is deleted with its files after a confirmation', async () => {
  await addVariants()
  const { track_id } = await upload(client, await aCollection('Demo tape'), 'song.flac', await makeAudio(...SONG))
  await settle(client, track_id)
  const files = async () => {
    const { variants } = await must(client.get('/v1/track/{track_id}/variant', { params: { track_id } }))
    return variants.map(({ index }) => index)
  }
  expect(await files()).toContain('hook')
  await visit(page, '#/variants', 'Variants')
  await choose(page, 'More for Hook', 'Delete variant …')
  await dialog().getByRole('button', { name: 'Cancel' }).click()
  expect(await customSection().getByText('Hook').count()).toBe(1)
  await choose(page, 'More for Hook', 'Delete variant …')
  await dialog().getByRole('button', { name: 'Delete variant' }).click()
  await customSection()
    .getByText('Hook')
    .waitFor({ state: 'detached', ...TIMEOUT })
  // Waits until the files are deleted, because a queue deletes them and the page reads its list only once.
  await expect.poll(files, TIMEOUT).not.toContain('hook')
  await visit(page, `#/track/${track_id}`, 'song')
  await page.getByRole('row').filter({ hasText: 'radio' }).waitFor(TIMEOUT)
  expect(await page.getByRole('row').filter({ hasText: 'hook' }).count()).toBe(0)
})

test('all collections are updated at once after a confirmation', async () => {
  await copyTrack(stack, await aCollection('Demo tape'), 'song.flac', SONG)
  const params = { collection_id: await aCollection('B-sides') }
  await visit(page, '#/variants', 'Variants')
  await page.getByRole('button', { name: 'Update all tracks' }).click()
  await dialog().getByRole('button', { name: 'Update' }).click()
  await page.locator('#announcer').getByText('2 collections will be updated').waitFor(TIMEOUT)
  const { reprocess } = await must(client.get('/v1/collection/{collection_id}/reprocess', { params }))
  expect(reprocess).toMatchObject({ all: false, failed: 0 })
})

test('a partial update reports its progress and the reason', async () => {
  for (const title of ['Demo tape', 'B-sides']) await aCollection(title)
  await visit(page, '#/variants', 'Variants')
  let first = ''
  await page.route('**/v1/collection/*/reprocess', (route) => {
    const url = route.request().url()
    return url === (first ||= url) ? route.fallback() : route.abort()
  })
  await page.getByRole('button', { name: 'Update all tracks' }).click()
  await dialog().getByRole('button', { name: 'Update' }).click()
  const announcement = '1 collection started, then: The service cannot be reached'
  await page.locator('#announcer').getByText(announcement).waitFor(TIMEOUT)
  // The browser logs each aborted request.
  problems.length = 0
})
