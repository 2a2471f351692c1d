import { stat } from 'node:fs/promises'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { waitForTrack } from '../../src/client/index.ts'
import { makeImage } from '../support/audio.ts'
import { signedLongAgo } from './expired.ts'
import { must } from './steps.ts'
import { TIMEOUT } from './uploader_page.ts'
import { addCover, type UploaderWorkspace, choose, setUp } from './uploader_setup.ts'

/**
 * Tests `<tonearm-uploader>` on a third-party page with the complete service, from the file to the track.
 * test/browser/upload.test.ts covers each failure; the tests here need a browser, real storage and a real connection.
 */

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

test('three files, of which one is paused and one is retried, become tracks in list order', async () => {
  const uploader = await bench.open({ concurrency: '2' })
  const { row, until, page } = uploader
  expect(await uploader.asks()).toBe(false)
  bench.network.hold()
  await choose(
    uploader,
    await bench.aHeavySong('one.wav'),
    await bench.aHeavySong('two.wav'),
    await bench.aSong('three.wav'),
  )
  await page.waitForFunction(() => document.querySelector('tonearm-uploader')!.files[1]!.fraction > 0.01)
  expect(await row('three.wav').getAttribute('data-state')).toBe('queued')
  // The browser asks before leaving the page during uploads.
  expect(await uploader.asks()).toBe(true)

  await row('one.wav').getByRole('button', { name: 'Pause' }).click()
  await row('one.wav').getByText('Paused. It starts from the beginning when you resume.').waitFor()
  // The paused file frees its slot.
  await uploader.untilSent('three.wav')

  bench.network.cut()
  await row('two.wav').getByText('The connection was lost. Trying again in').waitFor(TIMEOUT)
  // Waits for the third retry, because the delays before it are too short to press a button.
  const retries = async () =>
    (await uploader.events()).filter(({ type, name }) => type === 'upload-retry' && name === 'two.wav').length
  await expect.poll(retries, TIMEOUT).toBeGreaterThanOrEqual(3)
  bench.network.restore()
  bench.network.flow()
  await row('two.wav').getByRole('button', { name: 'Try now' }).click()
  await row('one.wav').getByRole('button', { name: 'Resume' }).click()
  for (const name of ['one.wav', 'two.wav', 'three.wav']) await until(name, 'ready')
  await uploader.element.getByText('3 files ready').first().waitFor()
  expect(await uploader.asks()).toBe(false)

  expect(await bench.trackNames()).toEqual(['one.wav', 'two.wav', 'three.wav'])
  const events = await uploader.events()
  const of = (name: string) => [...new Set(events.filter((event) => event.name === name).map(({ type }) => type))]
  expect(of('one.wav')).toEqual(
    'file-added upload-start upload-progress upload-pause upload-resume upload-complete track-processing track-ready'.split(
      ' ',
    ),
  )
  expect(of('two.wav')).toEqual(
    'file-added upload-start upload-progress upload-retry upload-complete track-processing track-ready'.split(' '),
  )
  expect(events.at(-1)).toMatchObject({ type: 'queue-complete', ready: 3, failed: 0 })
  expect(uploader.problems).toEqual([])
})

test('an upload survives being offline and resumes when the browser is back online', async () => {
  const uploader = await bench.open()
  bench.network.hold()
  await choose(uploader, await bench.aHeavySong('offline.wav'))
  await uploader.row('offline.wav').getByText('%').waitFor(TIMEOUT)
  await uploader.page.context().setOffline(true)
  bench.network.cut()
  await uploader.row('offline.wav').getByText('You are offline.').waitFor(TIMEOUT)
  bench.network.restore()
  bench.network.flow()
  await uploader.page.context().setOffline(false)
  await uploader.until('offline.wav', 'ready')
  expect((await bench.trackNames()).filter((name) => name === 'offline.wav')).toHaveLength(1)
})

test('a storage that answers 503 is named even if the browser hides the status, and the file is sent once it is back', async () => {
  const uploader = await bench.open()
  const { page, row } = uploader
  const isSent = (url: URL) => url.pathname.endsWith('stuck.wav') || url.searchParams.has('X-Amz-Signature')
  for (const headers of [{}, { 'access-control-allow-origin': '*' }] as Record<string, string>[]) {
    await page.route(isSent, (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 503, headers }) : route.continue(),
    )
    await choose(uploader, await bench.aSong('stuck.wav', 1))
    await row('stuck.wav').getByText('The storage does not answer. Trying again in').waitFor(TIMEOUT)
    await page.unroute(isSent)
    await row('stuck.wav').getByRole('button', { name: 'Try now' }).click()
    await uploader.until('stuck.wav', 'ready')
    await row('stuck.wav').getByRole('button', { name: 'Remove' }).click()
  }
})

test('an expired upload URL is replaced by a new one', async () => {
  const uploader = await bench.open()
  const song = await bench.aSong('expired.wav')
  const { size } = await stat(song)
  const statuses: number[] = []
  uploader.page.on('response', (response) => {
    if (response.request().method() === 'PUT') statuses.push(response.status())
  })
  let first = true
  await uploader.page.route('**/v1/upload/*/track', async (route) => {
    const request = route.request()
    if (request.method() !== 'POST' || !first) return await route.continue()
    first = false
    const how = { method: 'POST', headers: await request.allHeaders(), body: request.postData() }
    const body = (await (await fetch(request.url(), how)).json()) as { track_upload: { upload_url: string } }
    body.track_upload.upload_url = await signedLongAgo(body.track_upload.upload_url, size)
    await route.fulfill({ json: body, headers: { 'access-control-allow-origin': '*' } })
  })
  await choose(uploader, song)
  await uploader.until('expired.wav', 'ready')
  expect(statuses).toEqual([403, 200])
})

test('after canceling a file during its cover upload, the page can be left, and a retry sends the cover again', async () => {
  const uploader = await bench.open()
  const row = uploader.row('covered.wav')
  const held = Promise.withResolvers<void>()
  const requested = Promise.withResolvers<void>()
  await uploader.page.route(
    '**/v1/cover_upload/*',
    async (route) => {
      requested.resolve()
      await held.promise
      await route.continue().catch(() => {})
    },
    { times: 1 },
  )
  bench.network.hold()
  await choose(uploader, await bench.aHeavySong('covered.wav'))
  await row.getByText('%').waitFor(TIMEOUT)
  await addCover(uploader, (await uploader.files())[0]!.id, await makeImage('png'))
  await requested.promise
  await row.getByText('Sending the cover').waitFor()
  await row.getByRole('button', { name: 'Cancel' }).click()
  await row.getByText('Cancelled').waitFor()
  expect(await row.getByText('Sending the cover').count()).toBe(0)
  expect(await uploader.asks()).toBe(false)

  held.resolve()
  bench.network.flow()
  await row.getByRole('button', { name: 'Try again' }).click()
  await uploader.untilSent('covered.wav')
  // The upload may be complete before the response to the cover has arrived.
  const covers = async () =>
    (await uploader.events()).map(({ type }) => type).filter((type) => type.startsWith('cover'))
  await expect.poll(covers, TIMEOUT).toEqual('cover-start cover-start cover-complete'.split(' '))
  const [view] = await uploader.files()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: view!.trackId! } }))
  expect(track.image_colors).not.toEqual([])
})

test('a title can be edited until its track is requested; then the focus moves to the row', async () => {
  const uploader = await bench.open({ manual: '', 'edit-titles': '', concurrency: '1' })
  const { page, element } = uploader
  bench.network.hold()
  await choose(uploader, await bench.aHeavySong('a.wav'), await bench.aHeavySong('b.wav'))
  const title = 'Ä'.repeat(255)
  await element.getByLabel('Title of a.wav').focus()
  await page.keyboard.insertText(`${title}!`)
  await element.evaluate((element) => (element as HTMLElementTagNameMap['tonearm-uploader']).start())
  await uploader.until(title, 'uploading')
  expect(await element.evaluate(({ shadowRoot }) => shadowRoot!.activeElement?.textContent)).toContain(title)
  await page.waitForFunction(() => document.querySelector('tonearm-uploader')!.files[0]!.trackId)
  await uploader.row(title).getByRole('button', { name: 'Pause' }).click()
  await uploader.until('b.wav', 'uploading')
  await uploader.row(title).getByRole('button', { name: 'Resume' }).click()
  await uploader.until(title, 'queued')
  expect(await element.getByRole('textbox').count()).toBe(0)
  const [view] = await uploader.files()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: view!.trackId! } }))
  expect(track.player_title).toBe(title)
})

test('methods work like the buttons, and `describe` sets the fields of the track', async () => {
  const uploader = await bench.open({ manual: '', 'edit-titles': '' })
  await choose(uploader, await bench.aSong('a.wav', 1), await bench.aSong('b.wav', 1))
  await uploader.element.getByLabel('Title of a.wav').fill(' Opening ')
  await uploader.element.evaluate((element) => {
    const uploader = element as HTMLElementTagNameMap['tonearm-uploader']
    const [a, b] = uploader.files.map(({ id }) => id)
    uploader.describe = (file) => ({ title: 'B', organizationIndex: `crate-${file.name}`, metadata: { side: 'A' } })
    uploader.cancel(a)
    uploader.pause(b)
    uploader.start()
    uploader.retry(a)
    uploader.resume(b)
  })
  await uploader.until('Opening', 'ready')
  await uploader.until('b.wav', 'ready')
  const types = (await uploader.events()).filter(({ name }) => name === 'a.wav').map(({ type }) => type)
  expect(types.slice(0, 2)).toEqual(['file-added', 'upload-cancel'])
  const [view] = await uploader.files()
  const { track } = await must(waitForTrack(bench.server, view!.trackId!))
  expect(track).toMatchObject({ player_title: 'Opening', organization_index: 'crate-a.wav', metadata: { side: 'A' } })
  expect(await uploader.element.getByRole('textbox').count()).toBe(0)
  await uploader.element.getByRole('button', { name: 'Clear list' }).click()
  expect(await uploader.element.getByRole('listitem').count()).toBe(0)
})
