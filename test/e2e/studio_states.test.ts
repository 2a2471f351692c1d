import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { fillOrganization, type StudioPage, type StudioPages } from './studio_library.ts'
import { namesOf, openTab, TIMEOUT, rowOf, signIn, visit } from './studio_steps.ts'

/** Tests the studio's empty, loading and error states, and large amounts of data. */

let stack: Shared
let browser: Browser
let client: Client
let places: StudioPages

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  places = await fillOrganization(stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('a failed track shows its reason in the list and on its page, and can be retried', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  // Simulates an error that is not caused by the file.
  await page.route('**/v1/collection/*/track?*', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    for (const { state } of answer.tracks ?? []) if (state?.error) state.error.code = 'disk_full'
    await route.fulfill({ response, json: answer })
  })
  await visit(page, ...places.collection)
  const row = rowOf(page, 'diary')
  await row.getByText(/^Failed · \S/).waitFor(TIMEOUT)
  // An observer records the status, because the retry fails again within moments.
  const status = await row.evaluateHandle((element) => {
    const seen = { left: false }
    const check = () => (seen.left ||= element.getAttribute('data-status') !== 'failed')
    new MutationObserver(check).observe(element, { attributeFilter: ['data-status'] })
    return seen
  })
  await row.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => status.evaluate(({ left }) => left), TIMEOUT).toBe(true)
  await expect.poll(() => row.getAttribute('data-status'), TIMEOUT).toBe('failed')
  await page.unrouteAll({ behavior: 'wait' })
  await visit(page, ...places.failed)
  await page.getByRole('heading', { name: 'diary.mp3 could not be used' }).waitFor(TIMEOUT)
  // A retry would fail for the same reason, so the page offers a replacement.
  await page.getByRole('button', { name: 'Replace file' }).waitFor()
  await page.context().close()
})

test('empty lists suggest an action, and unknown addresses show a message', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...places.empty)
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor(TIMEOUT)
  await page.getByRole('button', { name: 'Choose files' }).waitFor()
  await page.evaluate((hash) => (location.hash = hash), '#/collection/00000000-0000-4000-8000-00000000dead')
  await page.getByText('This does not exist, or no longer exists.').waitFor(TIMEOUT)
  await page.evaluate((hash) => (location.hash = hash), '#/nowhere')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.context().close()
})

test('each page shows its loading state, then the connection error, and recovers', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  const { overview, usage, library, keys, variants, playlists, collection, track, playlist, shares } = places
  const { webhooks, webhook, delivery, activity, trash } = places
  const owned = [overview, usage, keys, variants, playlists, library, collection, track, playlist, shares]
  // The page Overview has not been read in this tab.
  await page.goto(`${stack.base_url}/#/nowhere`)
  await page.reload()
  for (const place of [...owned, webhooks, webhook, delivery, activity, trash] as StudioPage[]) {
    await page.goto(`${stack.base_url}/#/nowhere`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    const cut = Promise.withResolvers<void>()
    await page.route('**/v1/**', async (route) => {
      await cut.promise
      await route.abort()
    })
    await page.evaluate((hash) => (location.hash = hash), place[0])
    await page.getByRole('status').getByText('Loading …').first().waitFor()
    expect([place, await findings(page, ['page-has-heading-one'])]).toEqual([place, []])
    cut.resolve()
    await page.getByRole('alert').getByText('The service cannot be reached').first().waitFor(TIMEOUT)
    expect([place, await findings(page)]).toEqual([place, []])
    await page.unroute('**/v1/**')
    const again = page.locator('.problem').getByRole('button', { name: 'Try again' })
    // The loop is needed because another part of the page may still be in its last attempt and show its error later.
    const unfinished = again.or(page.getByText(/Loading …|The service cannot be reached/))
    const pressed = async () => {
      // An earlier click may have removed the button.
      for (const button of await again.all()) await button.click({ timeout: 1000 }).catch(() => {})
      return unfinished.count()
    }
    await expect.poll(pressed, TIMEOUT).toBe(0)
    await page.getByRole('heading', { level: 1, name: place[1] }).waitFor(TIMEOUT)
    await expect.poll(() => unfinished.count(), TIMEOUT).toBe(0)
  }
  await page.context().close()
})

test('titles are shown as text, and an image chosen as audio is rejected with a reason', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  const title = '<img src=x onerror=alert(1)>"&amp;'
  const { collection_id } = await must(client.post('/v1/collection', { body: { title } }))
  await visit(page, `#/collection/${collection_id}`, title)
  expect(await page.locator('img[src=x]').count()).toBe(0)
  const cover = { name: 'cover.png', mimeType: 'image/png', buffer: await makeImage('png') }
  await page.setInputFiles('.thing-text input[type=file]', cover)
  await page.getByText(/image|picture/i).waitFor(TIMEOUT)
  await page.getByRole('button', { name: /cover\.png/ }).click()
  await page.getByRole('heading', { name: 'No tracks yet' }).waitFor()
  expect(problems).toEqual([])
  await must(client.delete('/v1/collection/{collection_id}', { params: { collection_id } }))
  await page.context().close()
})

test('an interrupted upload resumes by itself, and a paused upload resumes on request', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...places.empty)
  let refuse = true
  await page.route('**/uploads/**', async (route) => {
    if (route.request().method() === 'PUT' && refuse) await route.abort()
    else await route.continue()
  })
  const song = { name: 'again.mp3', mimeType: 'audio/mpeg', buffer: await makeAudio('mp3', { seconds: 3 }) }
  await page.setInputFiles('.thing-text input[type=file]', song)
  await rowOf(page, 'again').locator('.note.failed').waitFor(TIMEOUT)
  await page.getByRole('button', { name: /^Pause.*again\.mp3/ }).click()
  refuse = false
  await page.getByRole('button', { name: /^Resume.*again\.mp3/ }).click()
  await page.locator('.track[data-status=ready]').waitFor(TIMEOUT)
  expect(await namesOf(page)).toEqual(['again'])
  await page.context().close()
})

test('a long list contains only the rows near the visible ones, and reads them in pages', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Archive' } }))
  for (let from = 0; from < 240; from += 30) {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        must(client.post('/v1/track', { body: { collection_id, file_name: `Tape ${from + i}.wav` } })),
      ),
    )
  }
  const { page } = await openTab(browser)
  await signIn(page, stack)
  const reads = { rows: 0, pages: new Set<string>() }
  page.on('request', (request) => {
    // The session of the preview is not for one track.
    if (/\/v1\/(track|play\/[^/]+)\//.test(request.url())) reads.rows++
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/track')) reads.pages.add(searchParams.get('offset') ?? '')
  })
  await visit(page, `#/collection/${collection_id}`, 'Archive')
  await rowOf(page, 'Tape 0').waitFor(TIMEOUT)
  await page.getByText('240 tracks').first().waitFor()
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('241')
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await rowOf(page, 'Tape 239').waitFor(TIMEOUT)
  expect(await page.locator('.track').count()).toBeLessThan(60)
  // The page in the middle was never visible, and no request is for one track.
  expect([reads.pages.has('100'), reads.rows]).toEqual([false, 0])

  // The scroll position is restored by the browser's back button, by the link on the page, and after a reload.
  const position = () => page.evaluate(() => Math.round(scrollY))
  await rowOf(page, 'Tape 220').scrollIntoViewIfNeeded()
  const scrolled = await position()
  expect(scrolled).toBeGreaterThan(9000)
  for (const back of [() => page.goBack(), () => page.locator('a.back').click()]) {
    await rowOf(page, 'Tape 220').getByRole('link', { name: 'Tape 220', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Tape 220' }).waitFor(TIMEOUT)
    expect(await position()).toBe(0)
    await back()
    await expect.poll(position, TIMEOUT).toBe(scrolled)
  }
  await page.reload()
  await expect.poll(position, TIMEOUT).toBe(scrolled)
  // Simulates browsers that follow HTML, 7.4.2.3.3, in which a link to the list clears the state of the history entry. Chromium keeps that state.
  await page.evaluate(() => history.replaceState(null, ''))
  const toKeys = async () => {
    await page.getByRole('link', { name: 'Keys' }).click()
    await expect.poll(position, TIMEOUT).toBe(0)
  }
  await toKeys()
  await page.goBack()
  await expect.poll(position, TIMEOUT).toBe(scrolled)
  await toKeys()

  // Signing out deletes the scroll position, so the next user does not get it.
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Server key').waitFor(TIMEOUT)
  await page.reload()
  const stored = await page.evaluate(() => sessionStorage.getItem('tonearm.scrolled'))
  expect(Math.max(0, ...Object.values<number>(JSON.parse(stored!)))).toBe(0)
  await page.context().close()
})

test('a select has the keys of a combobox, and a long one is searched', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...places.parts)
  const part = page.getByRole('region', { name: 'Light' })
  const select = (name: string) => part.locator('button').and(part.getByRole('combobox', { name }))
  const marked = () => page.locator('[role=option].active').textContent()
  const language = select('Language')
  await language.focus()
  await page.keyboard.press('ArrowDown')
  expect(await marked()).toBe('As the browser')
  await page.keyboard.press('e')
  await expect.poll(marked).toBe('English')
  expect(await language.getAttribute('aria-activedescendant')).toBe(
    await page.getByRole('option', { name: 'English' }).getAttribute('id'),
  )
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('End')
  await expect.poll(marked).toBe('العربية')
  await page.keyboard.press('Escape')
  expect(await language.getAttribute('aria-expanded')).toBe('false')
  expect(await language.textContent()).toBe('As the browser')
  await page.keyboard.press(' ')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => language.textContent()).toBe('English')
  expect(await language.evaluate((button) => button === document.activeElement)).toBe(true)

  await select('Opens').press('Enter')
  expect(await page.getByRole('group', { name: 'Playlists' }).getByRole('option').count()).toBe(25)
  await page.keyboard.press('Escape')
  // The first letter opens the list, and is not lost.
  await page.keyboard.type('album 30')
  await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Album 30'])
  expect(await findings(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect.poll(() => select('Opens').textContent()).toBe('Album 30')
  expect(problems).toEqual([])
  await page.context().close()
})
