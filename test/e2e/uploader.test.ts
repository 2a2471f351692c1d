import { stat } from 'node:fs/promises'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { waitForTrack } from '../../src/client/index.ts'
import { startStack } from '../support/stack.ts'
import { expire, signedLongAgo } from './expired.ts'
import { must } from './steps.ts'
import { PATIENCE } from './uploader_page.ts'
import { type Bench, choose, setUp } from './uploader_setup.ts'

/** `<tonearm-uploader>` on a page of somebody else, with the whole service behind it: from the file to the track, whatever happens. */

let bench: Bench

beforeAll(async () => {
  // Nobody else's files stand before these in the transcoder's queue.
  bench = await setUp(startStack)
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

test('three files, one of them paused and one of them retried, become tracks in the order of the list', async () => {
  const uploader = await bench.open({ concurrency: '2' })
  const { row, until, page } = uploader
  bench.line.hold()
  await choose(
    uploader,
    await bench.aHeavySong('one.wav'),
    await bench.aHeavySong('two.wav'),
    await bench.aSong('three.wav'),
  )
  await page.waitForFunction(() => document.querySelector('tonearm-uploader')!.files[1]!.fraction > 0.01)
  expect(await row('three.wav').getAttribute('data-state')).toBe('queued')

  await row('one.wav').getByRole('button', { name: 'Pause' }).click()
  await row('one.wav').getByText('Paused. It starts from the beginning when you resume.').waitFor()
  // Its place in the line is free now.
  await uploader.untilSent('three.wav')

  bench.line.cut()
  await row('two.wav').getByText('The connection was lost. Next attempt in').waitFor(PATIENCE)
  // The first pauses are too short to press a button in.
  const retries = async () =>
    (await uploader.events()).filter(({ type, name }) => type === 'retrying' && name === 'two.wav').length
  await expect.poll(retries, PATIENCE).toBeGreaterThanOrEqual(3)
  bench.line.restore()
  bench.line.flow()
  await row('two.wav').getByRole('button', { name: 'Try now' }).click()
  await row('one.wav').getByRole('button', { name: 'Resume' }).click()
  for (const name of ['one.wav', 'two.wav', 'three.wav']) await until(name, 'ready')
  await uploader.element.getByText('3 files ready').first().waitFor()

  expect(await bench.trackNames()).toEqual(['one.wav', 'two.wav', 'three.wav'])
  const events = await uploader.events()
  const of = (name: string) => [...new Set(events.filter((event) => event.name === name).map(({ type }) => type))]
  expect(of('one.wav')).toEqual(
    'file-added upload-start upload-progress paused resumed upload-complete processing ready'.split(' '),
  )
  expect(of('two.wav')).toEqual(
    'file-added upload-start upload-progress retrying upload-complete processing ready'.split(' '),
  )
  expect(events.at(-1)).toMatchObject({ type: 'complete', ready: 3, failed: 0 })
  expect(uploader.problems).toEqual([])
})

test('while the browser is offline nothing is given up, and the upload goes on when it is back', async () => {
  const uploader = await bench.open()
  bench.line.hold()
  await choose(uploader, await bench.aHeavySong('offline.wav'))
  await uploader.row('offline.wav').getByText('%').waitFor(PATIENCE)
  await uploader.page.context().setOffline(true)
  bench.line.cut()
  await uploader.row('offline.wav').getByText('You are offline.').waitFor(PATIENCE)
  bench.line.restore()
  bench.line.flow()
  await uploader.page.context().setOffline(false)
  await uploader.until('offline.wav', 'ready')
  expect((await bench.trackNames()).filter((name) => name === 'offline.wav')).toHaveLength(1)
})

test('a storage that fails for a moment is asked again, and the file is sent once more', async () => {
  const uploader = await bench.open()
  let failures = 2
  await uploader.page.route('**/cdn-cgi/local/r2/**', async (route) => {
    if (route.request().method() !== 'PUT' || failures-- <= 0) return await route.continue()
    return await route.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' }, body: 'SlowDown' })
  })
  await choose(uploader, await bench.aSong('busy.wav'))
  await uploader.until('busy.wav', 'ready')
  const retries = (await uploader.events()).filter(({ type }) => type === 'retrying')
  expect(retries).toMatchObject([{ code: 'storage_503' }, { code: 'storage_503' }])
})

test('with a collection, a session that has expired is replaced by another without a word', async () => {
  const uploader = await bench.open()
  await choose(uploader, await bench.aSong('before.wav'))
  await uploader.until('before.wav', 'ready')
  const [first] = (await uploader.events()).filter(({ type }) => type === 'upload-start')
  expire(bench.stack, 'upload_sessions', (first as unknown as { upload_session_id: string }).upload_session_id)
  await choose(uploader, await bench.aSong('after.wav'))
  await uploader.until('after.wav', 'ready')
  expect((await uploader.events()).filter(({ type }) => type === 'error')).toEqual([])
})

test('a session that ends while its file is on the way leaves the file there, and says what can no longer be seen', async () => {
  const uploader = await bench.open()
  bench.line.hold()
  await choose(uploader, await bench.aHeavySong('late.wav'))
  await uploader.row('late.wav').getByText('%').waitFor(PATIENCE)
  const [late] = await uploader.files()
  expire(bench.stack, 'upload_sessions', late!.upload_session_id!)
  bench.line.flow()
  await uploader.row('late.wav').getByText('can no longer be shown').waitFor(PATIENCE)
  expect((await must(waitForTrack(bench.server, late!.track_id!))).track.status).toBe('ready')
})

test('an upload URL that has expired is replaced by a fresh one', async () => {
  const uploader = await bench.open()
  const song = await bench.aSong('expired.wav')
  const { size } = await stat(song)
  const answered: number[] = []
  uploader.page.on('response', (response) => {
    if (response.request().method() === 'PUT') answered.push(response.status())
  })
  let first = true
  await uploader.page.route('**/v1/upload/*/track', async (route) => {
    const asked = route.request()
    if (asked.method() !== 'POST' || !first) return await route.continue()
    first = false
    const how = { method: 'POST', headers: await asked.allHeaders(), body: asked.postData() }
    const body = (await (await fetch(asked.url(), how)).json()) as { track_upload: { upload_url: string } }
    body.track_upload.upload_url = await signedLongAgo(body.track_upload.upload_url, size)
    await route.fulfill({ json: body, headers: { 'access-control-allow-origin': '*' } })
  })
  await choose(uploader, song)
  await uploader.until('expired.wav', 'ready')
  expect(answered).toEqual([403, 200])
})

test('the browser asks before the page is left while files are on their way, and only then', async () => {
  const uploader = await bench.open()
  const { asks } = uploader
  expect(await asks()).toBe(false)
  bench.line.hold()
  await choose(uploader, await bench.aHeavySong('guarded.wav'))
  await uploader.row('guarded.wav').getByText('%').waitFor(PATIENCE)
  expect(await asks()).toBe(true)
  await uploader.row('guarded.wav').getByRole('button', { name: 'Cancel' }).click()
  await uploader.row('guarded.wav').getByText('Cancelled').waitFor()
  expect(await asks()).toBe(false)
})

test('cancelled files can be sent after all, and methods do what the buttons do', async () => {
  const uploader = await bench.open({ manual: '' })
  await choose(uploader, await bench.aSong('a.wav'), await bench.aSong('b.wav'))
  await uploader.element.evaluate((element) => {
    const uploader = element as HTMLElementTagNameMap['tonearm-uploader']
    const [a, b] = uploader.files.map(({ id }) => id)
    uploader.describe = (file) => ({ organization_index: `crate-${file.name}`, metadata: { side: 'A' } })
    uploader.cancel(a)
    uploader.pause(b)
    uploader.start()
    uploader.retry(a)
    uploader.resume(b)
  })
  await uploader.until('a.wav', 'ready')
  await uploader.until('b.wav', 'ready')
  const types = (await uploader.events()).filter(({ name }) => name === 'a.wav').map(({ type }) => type)
  expect(types.slice(0, 2)).toEqual(['file-added', 'cancelled'])
  const [view] = await uploader.files()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: view!.track_id! } }))
  expect(track).toMatchObject({ organization_index: 'crate-a.wav', metadata: { side: 'A' } })
  await uploader.element.getByRole('button', { name: 'Clear list' }).click()
  expect(await uploader.element.getByRole('listitem').count()).toBe(0)
})
