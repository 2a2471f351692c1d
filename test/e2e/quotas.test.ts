import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createClient, type Client } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { choose, chooseOption, chooseScope, openTab, signIn, TIMEOUT, visit } from './studio_steps.ts'
import { openUploader, startUploaderHost, type UploaderHost } from './uploader_page.ts'

/** Tests how the uploader and the studio show quotas. */

let stack: Shared
let browser: Browser
let shop: UploaderHost
let server: Client
let collection_id: string
let song: Buffer

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  ;({ collection_id } = await must(server.post('/v1/collection', { body: { title: 'Inbox' } })))
  shop = await startUploaderHost(stack)
  song = await makeAudio('mp3', { seconds: 1, channels: 1 })
})
afterAll(async () => {
  await closePages()
  await shop?.close()
  await stack?.dispose()
})

const anUploaderKey = (title: string, limits: { max_bytes?: number; max_tracks?: number }) =>
  must(server.post('/v1/api_key', { body: { title, type: 'uploader', collection_id, ...limits } }))

test('a file that a quota rejects shows the limit, the use and the reset, and can be retried', async () => {
  const { api_key_id, secret } = await anUploaderKey('Shop', { max_tracks: 1 })
  const uploader = await openUploader(browser, shop, {
    'base-url': stack.base_url,
    'api-key': secret,
    'collection-id': collection_id,
  })
  const files = ['one.mp3', 'two.mp3'].map((name) => ({ name, mimeType: 'audio/mpeg', buffer: song }))
  await uploader.element.locator('input[type=file][multiple]').setInputFiles(files)
  await uploader.until('two.mp3', 'failed')
  const { quota } = await must(server.get('/v1/api_key/{api_key_id}', { params: { api_key_id } }))
  const reset = await uploader.page.evaluate(
    (at) => new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' }),
    quota!.resets_at!,
  )
  const row = uploader.row('two.mp3')
  await row.getByText(`Over the daily limit of 1 file: 1 file used. It resets on ${reset}.`).waitFor(TIMEOUT)
  const failed = (await uploader.events()).find(({ type }) => type === 'file-failed')
  expect(failed).toMatchObject({ code: 'quota_exceeded', quota: { scope: 'api_key', name: 'max_tracks', limit: 1 } })
  await must(server.put('/v1/api_key/{api_key_id}', { params: { api_key_id }, body: { max_tracks: 2 } }))
  await row.getByRole('button', { name: 'Try again' }).click()
  await uploader.until('one.mp3', 'ready')
  await uploader.until('two.mp3', 'ready')
  await uploader.close()
})

/** Returns the texts that screen readers read for the meters of a page, by label. */
const metersOf = (page: Page) =>
  page
    .getByRole('meter')
    .evaluateAll((meters) => Object.fromEntries(meters.map((meter) => [meter.ariaLabel, meter.ariaValueText])))

test('the limits of an uploader key are set in the studio, which shows their use', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, '#/keys', 'Keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('Visitors')
  await chooseOption(page.getByRole('combobox', { name: 'Kind' }), 'Uploader: uploads, in browsers and apps')
  await chooseScope(page, 'Any collection')
  const data = page.getByRole('textbox', { name: 'Data a day' })
  expect(await data.inputValue()).toBe('20 GB')
  await data.fill('much')
  await page.getByRole('button', { name: 'Create key' }).click()
  const fault = page.getByText('Write a size such as 500 MB or 20 GB.')
  await fault.waitFor(TIMEOUT)
  const red = await fault.evaluate((text) => getComputedStyle(text).color)
  expect(await data.evaluate((field) => getComputedStyle(field).borderColor)).toBe(red)
  await data.fill('1.5 MB')
  await page.getByLabel('Tracks a day').fill('4')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Create for any site' }).click(TIMEOUT)
  const secret = await page.locator('dialog code').first().textContent()
  await page.getByRole('button', { name: 'Done' }).click()
  const visitor = createClient({ base_url: stack.base_url, api_key: secret! })
  const { upload_session_id } = await must(visitor.post('/v1/upload_session', { body: { collection_id } }))
  await must(
    visitor.post('/v1/upload/{upload_session_id}/track', {
      params: { upload_session_id },
      body: { file_name: 'a.mp3', file_size: 1_200_000 },
    }),
  )
  await page.reload()
  const read = async () =>
    await page.getByRole('meter').evaluateAll((meters) => meters.map((each) => each.ariaValueText))
  await choose(page, 'More for Visitors', 'Edit key')
  await expect.poll(read, TIMEOUT).toEqual(['1.2 MB of 1.5 MB, 80 %', '1 of 4, 25 %'])
  expect(await data.inputValue()).toBe('1500 KB')
  await data.fill('')
  await page.getByLabel('Tracks a day').fill('2')
  await page.getByRole('button', { name: 'Save' }).click()
  await choose(page, 'More for Visitors', 'Edit key')
  await page.getByText('1.2 MB, no limit').waitFor(TIMEOUT)
  await expect.poll(read, TIMEOUT).toEqual(['1 of 2, 50 %'])
  expect(problems).toEqual([])
})

test('the usage page shows the storage limit, and the activity page names the events of quotas', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, '#/usage', 'Usage')
  await page.getByText('no limit').first().waitFor(TIMEOUT)
  expect(await metersOf(page)).not.toHaveProperty('Storage')
  const root = createClient({ base_url: stack.base_url, api_key: stack.root_key })
  const { organization_id } = stack
  const setLimit = (max_bytes: number) =>
    must(root.put('/v1/organization/{organization_id}', { params: { organization_id }, body: { max_bytes } }))
  const { quota } = await must(server.get('/v1/usage'))
  await setLimit(quota.used_bytes + 110_000)
  await must(server.post('/v1/track', { body: { collection_id, file_name: 'b.mp3', file_size: 100_000 } }))
  await page.reload()
  await page.getByRole('meter', { name: 'Storage' }).waitFor(TIMEOUT)
  const { Storage: text } = await metersOf(page)
  expect(text).toMatch(/ of .*, [89]\d %/)
  await visit(page, '#/activity', 'Activity')
  const { organization } = await must(server.get('/v1/organization/{organization_id}', { params: { organization_id } }))
  const warning = page.getByRole('listitem').filter({ hasText: organization.name })
  await warning.filter({ hasText: /80 % of a quota used · .* of / }).waitFor(TIMEOUT)
  expect(problems).toEqual([])
})
