import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

import { makeAudio, makeImage } from '../support/audio.ts'
import { expire } from './expired.ts'
import { must } from './steps.ts'
import { TIMEOUT, type Uploader } from './uploader_page.ts'
import { type UploaderWorkspace, choose, setUp } from './uploader_setup.ts'

/** The files that `<tonearm-uploader>` accepts, and its messages about all other files. */

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

test("a file that is not audio fails with the service's reason", async () => {
  const uploader = await bench.open()
  await choose(uploader, await bench.aFile('diary.mp3', Buffer.from('%PDF-1.7\n\0'.repeat(200))))
  await uploader.until('diary.mp3', 'failed')
  const failed = (await uploader.events()).find(({ type }) => type === 'file-failed')!
  expect(failed.message).toMatch(/document/)
  await uploader.row('diary.mp3').getByText(failed.message!).waitFor()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: failed.trackId! } }))
  expect(track.info.error).toMatchObject({ code: failed.code, message: failed.message })
  // A retry of the same document cannot succeed.
  expect(await uploader.row('diary.mp3').getByRole('button', { name: 'Try again' }).count()).toBe(0)
})

test('text files are rejected in the page, and the total counts ready and failed files', async () => {
  const uploader = await bench.open()
  const before = await bench.trackNames()
  // Only requests for the first track get a response, until `held` is resolved.
  const held = Promise.withResolvers<void>()
  let pollable = ''
  await uploader.page.route(/\/v1\/upload\/[^/]+\/track\/[^/]+$/, async (route) => {
    const url = route.request().url()
    pollable ||= url
    if (url !== pollable) await held.promise
    await route.continue()
  })
  const tagged = await makeAudio('mp3', { seconds: 1 })
  expect(tagged.toString('latin1', 0, 3)).toBe('ID3')
  const list = Buffer.from('\ufeff#EXTM3U\r\nsong.mp3\r\n', 'utf16le')
  await choose(
    uploader,
    await bench.aFile('diary.mp3', Buffer.from('Dear diary, '.repeat(1000))),
    await bench.aFile('list.m3u', list),
    await bench.aFile('tagged.mp3', tagged),
    await bench.aSong('second.wav', 1),
  )
  for (const name of ['diary.mp3', 'list.m3u']) {
    await uploader.until(name, 'rejected')
    await uploader.row(name).getByText('This is text, not audio. Upload the audio file itself.').waitFor()
  }
  const total = uploader.element.locator('.total')
  await total.getByText('1 file ready, 2 failed', { exact: true }).waitFor(TIMEOUT)
  held.resolve()
  await total.getByText('2 files ready, 2 failed', { exact: true }).waitFor(TIMEOUT)
  expect(await bench.trackNames()).toEqual([...before, 'tagged.mp3', 'second.wav'])
  const of = async (file: string) => (await uploader.events()).filter(({ name }) => name === file)
  expect((await of('diary.mp3')).map(({ type, code }) => [type, code])).toEqual([
    ['file-added', undefined],
    ['file-rejected', 'text_file'],
  ])
})

test('files that are too large, empty or of the wrong type show why they are rejected', async () => {
  const uploader = await bench.open({ accept: '.wav', 'max-size': '500 kB' })
  const large = await bench.aSong('large.wav', 10)
  const empty = await bench.aFile('empty.wav', Buffer.alloc(0))
  await choose(uploader, large, empty, await bench.aFile('notes.pdf', Buffer.from('%PDF-1.7')))
  await uploader.row('large.wav').getByText('Too large: at most 500 kB is allowed.').waitFor()
  await uploader.row('empty.wav').getByText('This file is empty.').waitFor()
  await uploader.row('notes.pdf').getByText('not accepted here').waitFor()
  const rejections = (await uploader.events()).map(({ type, code, message }) => [type, code, message])
  expect(rejections).toContainEqual(['file-rejected', 'too_large', 'Too large: at most 500 kB is allowed.'])
})

test('a problem that affects every file is shown above the list until the page fixes it, and no file is lost', async () => {
  const session = () => must(bench.server.post('/v1/upload_session', { body: { collection_id: bench.collection_id } }))
  const ended = (await session()).upload_session_id
  await expire(bench.stack, 'upload_sessions', ended)
  const uploader = await bench.open({ 'api-key': '' })
  const { element } = uploader
  const set = (attributes: Record<string, string>) =>
    element.evaluate((element, all) => {
      for (const [name, value] of Object.entries(all)) element.setAttribute(name, value)
    }, attributes)
  const says = (text: string) => element.getByRole('alert').getByText(text).waitFor(TIMEOUT)
  await choose(uploader, await bench.aSong('key.wav'))
  await says('This uploader is not set up')
  await set({ 'api-key': 'ta_uk_nonsense' })
  await says('The upload key of this page is not valid.')
  await set({ 'api-key': await bench.mintKey({ type: 'player' }) })
  await says('The key of this page is not allowed to upload.')
  await set({ 'api-key': await bench.mintKey({ allowed_origins: ['https://elsewhere.example'] }) })
  await says(`The upload key may not be used on ${bench.shop.origin}.`)
  // The key must be set last. With a valid key and the collection, the element would upload the file.
  await set({ 'upload-session-id': ended, 'collection-id': '', 'api-key': bench.key })
  await says('This upload session has expired.')
  expect(await uploader.row('key.wav').getAttribute('data-state')).toBe('queued')
  await set({ 'upload-session-id': (await session()).upload_session_id })
  await uploader.until('key.wav', 'ready')
  expect(await element.getByRole('alert').count()).toBe(0)
  const errors = (await uploader.events()).filter(({ type }) => type === 'upload-error').map(({ code }) => code)
  expect(errors).toEqual('not_set_up unauthorized insufficient_scope origin_not_allowed session_expired'.split(' '))
})

test('an image dropped on a file becomes its cover', async () => {
  const uploader = await bench.open({ manual: '' })
  await choose(uploader, await bench.aSong('pictured.wav'), await bench.aSong('plain.wav'))
  const picture = (await makeImage('png')).toString('base64')
  const transfer = await uploader.page.evaluateHandle((base64) => {
    const data = new DataTransfer()
    const bytes = Uint8Array.from(atob(base64), (char) => char.codePointAt(0)!)
    data.items.add(new File([bytes], 'front.png', { type: 'image/png' }))
    return data
  }, picture)
  await uploader.row('pictured.wav').dispatchEvent('dragover', { dataTransfer: transfer })
  await uploader.row('pictured.wav').dispatchEvent('drop', { dataTransfer: transfer })
  await uploader.row('pictured.wav').locator('canvas').waitFor()
  await uploader.element.getByRole('button', { name: 'Upload 2 files' }).click()
  await uploader.until('pictured.wav', 'ready')
  await uploader.until('plain.wav', 'ready')
  const ids = (await uploader.files()).map(({ trackId }) => trackId!)
  const palette = async (track_id: string) =>
    (await must(bench.server.get('/v1/track/{track_id}', { params: { track_id } }))).track.image_colors
  await vi.waitFor(async () => expect(await palette(ids[0]!)).not.toEqual([]), TIMEOUT)
  expect(await palette(ids[1]!)).toEqual([])
  // The track may have its palette before the response to the cover upload arrives.
  await expect.poll(async () => (await uploader.events()).map(({ type }) => type), TIMEOUT).toContain('cover-complete')

  await uploader.row('plain.wav').dispatchEvent('drop', { dataTransfer: await notAPicture(uploader) })
  await uploader.row('plain.wav').getByText('Cover not added: A cover must be').waitFor()
  expect(uploader.problems).toEqual([])
})

const notAPicture = ({ page }: Uploader) =>
  page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['<svg/>'], 'front.svg', { type: 'image/svg+xml' }))
    return data
  })

test('dropped and pasted files are added, except for those pasted into a field of the page', async () => {
  const uploader = await bench.open({ manual: '' })
  await uploader.page.evaluate(() => {
    const field = document.body.appendChild(document.createElement('textarea'))
    const send = (target: Element, type: string, name: string) => {
      const data = new DataTransfer()
      data.items.add(new File(['RIFF'], name, { type: 'audio/wav' }))
      const how = { bubbles: true, cancelable: true, composed: true }
      target.dispatchEvent(
        type === 'paste'
          ? new ClipboardEvent(type, { ...how, clipboardData: data })
          : new DragEvent(type, { ...how, dataTransfer: data }),
      )
    }
    send(field, 'paste', 'letter.wav')
    send(document.body, 'paste', 'pasted.wav')
    send(document.querySelector('tonearm-uploader')!.shadowRoot!.querySelector('.zone')!, 'drop', 'dropped.wav')
  })
  await uploader.row('pasted.wav').waitFor()
  await uploader.row('dropped.wav').waitFor()
  expect(await uploader.element.getByRole('listitem').count()).toBe(2)
})
