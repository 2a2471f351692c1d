import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { makeAudio, makeImage } from '../support/audio.ts'
import { expire } from './expired.ts'
import { must } from './steps.ts'
import { PATIENCE, type Uploader } from './uploader_page.ts'
import { type Bench, choose, setUp } from './uploader_setup.ts'

/** What `<tonearm-uploader>` takes, and what it says to everything else. */

let bench: Bench

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

test('a file that is no audio fails with the reason that the service gives', async () => {
  const uploader = await bench.open()
  await choose(uploader, await bench.aFile('diary.mp3', Buffer.from('%PDF-1.7\n\0'.repeat(200))))
  await uploader.until('diary.mp3', 'failed')
  const failed = (await uploader.events()).find(({ type }) => type === 'failed')!
  expect(failed.message).toMatch(/document/)
  await uploader.row('diary.mp3').getByText(failed.message!).waitFor()
  const { track } = await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: failed.track_id! } }))
  expect(track.info.error).toMatchObject({ code: failed.code, message: failed.message })
  // Sending the same document again would not make it audio.
  expect(await uploader.row('diary.mp3').getByRole('button', { name: 'Try again' }).count()).toBe(0)
})

test('text never leaves the page, whatever its name; the line above the list counts what is ready and what failed', async () => {
  const uploader = await bench.open()
  const before = await bench.trackNames()
  // Of the songs' tracks only the first that is asked for is answered.
  const held = Promise.withResolvers<void>()
  let answered = ''
  await uploader.page.route(/\/v1\/upload\/[^/]+\/track\/[^/]+$/, async (route) => {
    const url = route.request().url()
    answered ||= url
    if (url !== answered) await held.promise
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
  const line = uploader.element.locator('.total')
  await line.getByText('1 file ready, 2 failed', { exact: true }).waitFor(PATIENCE)
  held.resolve()
  await line.getByText('2 files ready, 2 failed', { exact: true }).waitFor(PATIENCE)
  expect(await bench.trackNames()).toEqual([...before, 'tagged.mp3', 'second.wav'])
  const of = async (file: string) => (await uploader.events()).filter(({ name }) => name === file)
  expect((await of('diary.mp3')).map(({ type, code }) => [type, code])).toEqual([
    ['file-added', undefined],
    ['rejected', 'text_file'],
  ])
})

test('too large, empty and unwanted files never leave the page, and say why', async () => {
  const uploader = await bench.open({ accept: '.wav', 'max-size': '500 kB' })
  const before = await bench.trackNames()
  const large = await bench.aSong('large.wav', 10)
  const empty = await bench.aFile('empty.wav', Buffer.alloc(0))
  await choose(uploader, large, empty, await bench.aFile('notes.pdf', Buffer.from('%PDF-1.7')))
  await uploader.row('large.wav').getByText('Too large: at most 500 kB is allowed.').waitFor()
  await uploader.row('empty.wav').getByText('This file is empty.').waitFor()
  await uploader.row('notes.pdf').getByText('not accepted here').waitFor()
  const codes = (await uploader.events()).map(({ type, code }) => `${type} ${code}`)
  expect(codes).toEqual(['rejected too_large', 'rejected empty_file', 'rejected not_accepted'])
  expect(await bench.trackNames()).toEqual(before)
})

test('a file that is larger than the service takes is refused before it is sent', async () => {
  const uploader = await bench.open()
  await uploader.element.evaluate((element) => {
    // 6 GB of nothing: the browser knows the size without having the bytes.
    const part = new Blob([new Uint8Array(100_000_000)])
    const file = new File(
      Array.from({ length: 60 }, () => part),
      'huge.wav',
      { type: 'audio/wav' },
    )
    ;(element as HTMLElementTagNameMap['tonearm-uploader']).addFiles([file])
  })
  await uploader.row('huge.wav').getByText('Too large for this service.').waitFor(PATIENCE)
})

describe('what concerns every file stands above the list, and nothing is lost by it', () => {
  const alert = ({ element }: Uploader) => element.getByRole('alert')

  test('a wrong key, until the page has the right one', async () => {
    const uploader = await bench.open({ 'api-key': 'ta_uk_nonsense' })
    await choose(uploader, await bench.aSong('key.wav'))
    await alert(uploader).getByText('The upload key of this page is not valid.').waitFor(PATIENCE)
    expect((await uploader.events()).at(-1)).toMatchObject({ type: 'error', code: 'unauthorized' })
    expect(await uploader.row('key.wav').getAttribute('data-state')).toBe('queued')
    await uploader.element.evaluate((element, right) => element.setAttribute('api-key', right), bench.key)
    await uploader.until('key.wav', 'ready')
    expect(await alert(uploader).count()).toBe(0)
  })

  test('a key of the wrong kind', async () => {
    const uploader = await bench.open({ 'api-key': await bench.mintKey({ type: 'player' }) })
    await choose(uploader, await bench.aSong('kind.wav'))
    await alert(uploader).getByText('The key of this page is not allowed to upload.').waitFor(PATIENCE)
  })

  test('a page on an origin that the key is not for', async () => {
    const uploader = await bench.open({
      'api-key': await bench.mintKey({ allowed_origins: ['https://elsewhere.example'] }),
    })
    await choose(uploader, await bench.aSong('origin.wav'))
    await alert(uploader).getByText(`The upload key may not be used on ${bench.shop.origin}.`).waitFor(PATIENCE)
    expect((await uploader.events()).at(-1)).toMatchObject({ code: 'origin_not_allowed' })
  })

  test('an upload session that has expired, until the page has another', async () => {
    const { upload_session_id } = await must(
      bench.server.post('/v1/upload_session', { body: { collection_id: bench.collection_id } }),
    )
    expire(bench.stack, 'upload_sessions', upload_session_id)
    const uploader = await bench.open({ 'collection-id': '', 'upload-session-id': upload_session_id })
    await choose(uploader, await bench.aSong('session.wav'))
    await alert(uploader).getByText('This upload session has expired.').waitFor(PATIENCE)
    const next = await must(bench.server.post('/v1/upload_session', { body: { collection_id: bench.collection_id } }))
    const id = next.upload_session_id
    await uploader.element.evaluate((element, id) => element.setAttribute('upload-session-id', id), id)
    await uploader.until('session.wav', 'ready')
  })

  test('missing attributes', async () => {
    const uploader = await bench.open({ 'api-key': '' })
    await choose(uploader, await bench.aSong('attributes.wav'))
    await alert(uploader).getByText('This uploader is not set up').waitFor()
  })
})

test('a picture that is dropped on a file becomes its cover', async () => {
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
  const ids = (await uploader.files()).map(({ track_id }) => track_id!)
  const palette = async (track_id: string) =>
    (await must(bench.server.get('/v1/track/{track_id}', { params: { track_id } }))).track.image_colors
  await vi.waitFor(async () => expect(await palette(ids[0]!)).not.toEqual([]), PATIENCE)
  expect(await palette(ids[1]!)).toEqual([])
  // The service answers a little after it has the palette.
  await expect.poll(async () => (await uploader.events()).map(({ type }) => type), PATIENCE).toContain('cover-complete')

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

test('files that are dropped or pasted are taken; a paste into a field of the page is not', async () => {
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
