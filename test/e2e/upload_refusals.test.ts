import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { createClient, type Client, uploadFile } from '../../packages/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { signedLongAgo } from './expired.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, must } from './steps.ts'

/** The responses of the storage to wrong uploads, as docs/upload.md lists them, and their explanations by the client. */

let stack: Shared
let client: Client
let collection_id: string
let audio: Uint8Array<ArrayBuffer>
/** A body so small that it is sent before the response arrives. The storage closes the connection, and a larger body may end with that error. */
const file = new Uint8Array(500)

beforeAll(async () => {
  stack = await joinStack()
  client = createClient(stack)
  ;({ collection_id } = await must(client.post('/v1/collection', { body: { title: 'Refusals' } })))
  audio = bytes(await makeAudio('wav', { seconds: 1, channels: 1 }))
})
afterAll(async () => stack?.dispose())

const create = (hints: { file_size?: number; content_type?: string } = {}) =>
  must(client.post('/v1/track', { body: { collection_id, file_name: 'a.wav', ...hints } }))
const urlFor = async (hints?: { file_size?: number; content_type?: string }) =>
  (await create(hints)).track_upload.upload_url
const isComplete = async (track_id: string) =>
  must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))

/** Sends a request whose body ends before the length that it promises. */
const sendCut = (url: string) =>
  new Promise<string>((resolve) => {
    const sent = request(url, { method: 'PUT', headers: { 'content-length': audio.length } })
    sent.on('error', () => resolve('closed'))
    sent.write(audio.subarray(0, 1000), () => setImmediate(() => sent.destroy()))
  })

test.each([
  [
    'an `Authorization` header',
    async () => fetch(await urlFor(), { method: 'PUT', body: file, headers: { authorization: 'Bearer x' } }),
  ],
  ['`POST`, or another method', async () => fetch(await urlFor(), { method: 'POST', body: file })],
  ['another length', async () => fetch(await urlFor({ file_size: 9 }), { method: 'PUT', body: file })],
  [
    'another `Content-Type`',
    async () =>
      fetch(await urlFor({ content_type: 'audio/wav' }), {
        method: 'PUT',
        body: file,
        headers: { 'content-type': 'text/plain' },
      }),
  ],
  ['a changed URL', async () => fetch(`${await urlFor()}x`, { method: 'PUT', body: file })],
  [
    'an expired URL',
    async () => fetch(await signedLongAgo(await urlFor(), file.length), { method: 'PUT', body: file }),
  ],
  [
    'no `Content-Length`',
    async () =>
      fetch(await urlFor(), { method: 'PUT', body: new Blob([file]).stream(), duplex: 'half' } as RequestInit),
  ],
])('docs/upload.md has the response to %s', async (mistake, send) => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/upload.md'), 'utf8')
  const row = guide.split('\n').find((line) => line.startsWith(`| ${mistake}`))
  const [, , statuses = '', documented = ''] = row?.split('|') ?? []
  const response = await send()
  const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1]
  expect(statuses).toContain(String(response.status))
  expect([`\`${code}\``, 'any']).toContain(documented.trim())
})

test.each([
  ['SignatureDoesNotMatch', 'not the one that was signed', async () => create({ file_size: 9 })],
  [
    'ExpiredRequest',
    'Request a new one: POST /v1/track/{track_id}/upload',
    async () => {
      const { track_upload } = await create()
      return {
        track_upload: { ...track_upload, upload_url: await signedLongAgo(track_upload.upload_url, file.length) },
      }
    },
  ],
])('the client explains %s: %s', async (storage_code, explanation, made) => {
  const { track_upload } = await made()
  const sent = await uploadFile(track_upload, new Blob([file], { type: 'audio/wav' }))
  expect(sent).toMatchObject({
    ok: false,
    code: 'upload_refused',
    storage_code,
    message: expect.stringContaining(explanation),
  })
})

test('upload_complete says whether the file has arrived, and a cut upload has not', async () => {
  const { track_id, track_upload } = await create({ file_size: audio.length })
  expect(await sendCut(track_upload.upload_url)).toBe('closed')
  const waiting = await isComplete(track_id)
  expect(waiting.upload).toEqual({
    received_size: null,
    expected_size: audio.length,
    expires_at: track_upload.expires_at,
    hint: expect.stringContaining(`the file of ${audio.length} bytes`),
  })
  expect(await uploadFile(track_upload, new Blob([audio]))).toMatchObject({ ok: true })
  const { track, upload } = await isComplete(track_id)
  expect(track.status).not.toBe('initializing')
  expect(upload).toMatchObject({ received_size: audio.length, expected_size: null, hint: null })
})

test('a form instead of the file fails with a message that says so', async () => {
  const { track_id, track_upload } = await create()
  const form = new FormData()
  form.append('file', new Blob([audio]), 'a.wav')
  expect((await fetch(track_upload.upload_url, { method: 'PUT', body: form })).status).toBe(200)
  const { track } = await isComplete(track_id)
  const message = 'This is a form (multipart/form-data), not audio. Upload the audio file itself.'
  expect(track.info.error).toMatchObject({ code: 'text_file', message })
})
