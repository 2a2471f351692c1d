import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { corrupt, type ImageFormat, makeAudio, makeImage, truncate } from '../support/audio.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, must, play, send, settle, untilCovered, upload } from './steps.ts'

/** Tests uploads that are not intact audio: files of other types, broken files, and pictures. */

let stack: Shared
let server: Client
let listener: Client
let collection_id: string

beforeAll(async () => {
  stack = await joinStack()
  server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  listener = createClient({ base_url: stack.base_url })
  collection_id = (await must(server.post('/v1/collection', { body: { title: 'Files' } }))).collection_id
})
afterAll(() => stack?.dispose())

describe.concurrent('a file that is not audio fails with a reason', () => {
  const cases: [string, () => Promise<Buffer>, RegExp][] = [
    ['empty', async () => Buffer.alloc(0), /^empty_file$/],
    ['text', async () => Buffer.from('Dear diary, '.repeat(200)), /^text_file$/],
    ['image', () => makeImage('png'), /^image_file$/],
    ['m4a without its end', async () => truncate(await makeAudio('m4a', { seconds: 3 }), 0.5), /./],
  ]
  test.each(cases)('%s', async (name, make, code) => {
    const { track_id } = await upload(server, collection_id, `${name}.mp3`, await make())
    const track = await settle(server, track_id)
    expect(track.status, JSON.stringify(track.info)).toBe('failed')
    expect(track.info.error).toMatchObject({ code: expect.stringMatching(code), message: expect.stringMatching(/\w/) })
    const session = await must(server.post('/v1/play_session/track', { body: { track_id } }))
    expect(session.first_track).toBeNull()
  })
})

describe.concurrent('broken audio plays up to the damage', () => {
  const cases: [string, () => Promise<Buffer>][] = [
    ['cut-off.mp3', async () => truncate(await makeAudio('mp3', { seconds: 3 }), 0.6)],
    ['cut-off.wav', async () => truncate(await makeAudio('wav', { seconds: 3 }), 0.6)],
    ['damaged.flac', async () => corrupt(await makeAudio('flac', { seconds: 3, expression: 'random(0)-0.5' }))],
  ]
  test.each(cases)('%s', async (file_name, make) => {
    const { track_id } = await upload(server, collection_id, file_name, await make())
    const track = await settle(server, track_id)
    expect(track.status, JSON.stringify(track.info)).toBe('ready')
    expect(track.duration).toBeGreaterThan(1)
    if (file_name === 'cut-off.wav') expect(track.info.warnings).not.toEqual([])
  })
})

test('a cover becomes three squares and a palette, and a track without a cover inherits that of its collection', async () => {
  const audio = await makeAudio('mp3', { seconds: 1 })
  const sent = ['png', 'jpeg', 'webp'].map(async (name) => {
    const format = name as ImageFormat
    const created = await upload(server, collection_id, `${name}.mp3`, audio)
    await sendCover(created.track_cover_upload, format, format === 'webp')
    await settle(server, created.track_id)
    return created.track_id
  })
  for (const track_id of await Promise.all(sent)) await expectCover(track_id)

  const params = { collection_id }
  const { collection_cover_upload } = await must(server.post('/v1/collection/{collection_id}/cover', { params }))
  await sendCover(collection_cover_upload, 'png', false)
  const appearance = { player_color: '#AA3300', player_subtitle: 'From the collection' }
  await must(server.put('/v1/collection/{collection_id}', { params, body: appearance }))
  const plain = await upload(server, collection_id, 'plain.mp3', audio)
  await settle(server, plain.track_id)
  const view = await expectCover(plain.track_id)
  expect(view.track).toMatchObject(appearance)
  const body = { player_color: '#00AA33', player_title: 'Own title' }
  await must(server.put('/v1/track/{track_id}', { params: { track_id: plain.track_id }, body }))
  const { view: editedView } = await play(server, listener, plain.track_id)
  expect(editedView.track).toMatchObject({ ...body, player_subtitle: appearance.player_subtitle })
})

async function sendCover(handle: Parameters<typeof send>[0], format: ImageFormat, raw: boolean): Promise<void> {
  const image = bytes(await makeImage(format, 640, 480))
  if (raw) return void (await send(handle, image, { 'content-type': `image/${format}` }))
  const form = new FormData()
  form.append('file', new Blob([image], { type: `image/${format}` }), `cover.${format}`)
  await send(handle, form)
}

/** Waits for a track's own or inherited cover and checks its colors: red on the left, blue on the right. */
async function expectCover(track_id: string) {
  const view = await untilCovered(server, track_id)
  for (const [type, size] of Object.entries({ icon: 80, small: 200, regular: 400 })) {
    const response = await fetch(view.cover_image[type as 'icon'].url)
    const picture = sharp(Buffer.from(await response.arrayBuffer()))
    expect(await picture.metadata()).toMatchObject({ width: size, height: size })
    const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
    const right = info.channels * (size - 2)
    expect(data[0]).toBeGreaterThan(150)
    expect(data[right + 2]).toBeGreaterThan(150)
  }
  for (const color of view.track.image_colors) {
    expect(color).toMatchObject({ hex: expect.stringMatching(/^#[0-9A-F]{6}$/), area: expect.any(Number) })
  }
  return view
}
