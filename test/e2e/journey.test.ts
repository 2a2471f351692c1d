import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { keys, must, play, send, bytes, settle, upload, words } from './steps.ts'

/** The workflow from an empty library to a listener, over HTTP only. The lists of fields are those of the specification, §2 and §4. */

const SECONDS = 4
const TRACK = words(
  'id organization_id collection_id creator_id index duration file_name file_name_original info organization_index order metadata is_cover_overridable is_theme_overridable player_title player_subtitle player_color image_colors track_status_id status tags created_at updated_at version chapters file_tags edited_tags episode',
)
const LISTED = TRACK.filter(
  (key) =>
    ![
      'creator_id',
      'file_name_original',
      'info',
      'organization_index',
      'chapters',
      'file_tags',
      'edited_tags',
    ].includes(key),
)
const COLLECTION = words(
  'id creator_id organization_index title metadata image_colors theme is_cover_overridable is_theme_overridable player_color player_subtitle created_at updated_at version',
)
const HANDLE = words('method upload_url ttl expires_at')

let stack: Shared
let server: Client
let listener: Client
let collection_id: string

beforeAll(async () => {
  stack = await joinStack()
  server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  listener = createClient({ base_url: stack.base_url })
  const created = await must(server.post('/v1/collection', { body: { title: 'Journey', metadata: { season: 1 } } }))
  collection_id = created.collection_id
  expect(keys(created.collection)).toEqual(COLLECTION)
  expect(keys(created.collection_cover_upload)).toEqual(HANDLE)
})
afterAll(() => stack?.dispose())

describe.concurrent('uploaded audio becomes playable', () => {
  test.each(['mp3', 'm4a', 'flac', 'wav', 'ogg'] as const)('%s', async (format) => {
    const audio = await makeAudio(format, { seconds: SECONDS })
    // For the other formats, the client does not report the end of the upload, so the service must detect it when the track is read.
    const noticed = format === 'm4a' || format === 'wav'
    const created = await upload(server, collection_id, `Tone.${format}`, audio, !noticed)
    expect(keys(created.track)).toEqual(TRACK)
    expect(keys(created.track_upload)).toEqual(HANDLE)
    expect(created.track_upload).toMatchObject({ method: 'PUT', ttl: 3600 })
    expect(created.track_cover_upload).toMatchObject({ method: 'POST', ttl: 3600 })
    expect(created.track).toMatchObject({ status: 'initializing', track_status_id: 'initializing', duration: 0 })

    const track = await settle(server, created.track_id)
    expect(track.status, JSON.stringify(track.info)).toBe('ready')
    expect(Math.abs(track.duration - SECONDS)).toBeLessThan(0.1)

    const { session, view, params } = await play(server, listener, track.id)
    expect(keys(session)).toEqual(
      words('ok play_session_id play_session list tracks first_track heard_token expires_at'),
    )
    const fields = words('id creator_id organization_index metadata variants is_downloadable expires_at')
    expect(keys(session.play_session)).toEqual(fields)
    const listed = words('id index duration order player_title player_subtitle player_color')
    expect(session.tracks.map(keys)).toEqual([listed])
    const playback = words('track_id list chapters chapter_files cover_image large_cover track levels variants files')
    expect(keys(session.first_track ?? {})).toEqual(playback)
    expect(keys(view)).toEqual([...playback, ...words('ok play_session play_session_id heard_token')].toSorted())
    expect(keys(view.play_session)).toEqual(words('id variants is_downloadable expires_at'))
    expect(keys(view.levels)).toEqual(['levels'])
    expect(view.levels.levels).toHaveLength(320)
    expect(Math.max(...view.levels.levels)).toBe(1)
    expect(typeof view.track.is_dark).toBe('boolean')
    for (const [type, size] of Object.entries({ icon: 80, small: 200, regular: 400 })) {
      const square = view.cover_image[type as 'icon']
      expect(square).toEqual({ type, width: size, height: size, url: expect.stringMatching(/^http/) })
      expect((await fetch(square.url)).status).toBe(200)
    }
    const indexes = view.variants.map((entry) => entry.variant.index)
    expect(indexes).toEqual(expect.arrayContaining(['aac-160', 'mp3-128', 'opus-96']))
    expect(indexes[0]).toBe('aac-160')
    expect(indexes.includes('lossless')).toBe(format === 'flac' || format === 'wav')
    for (const entry of view.variants) await checkFile(entry)

    const file = { params: { ...params, variant_index: 'mp3-128' } }
    const { download } = await must(
      listener.get('/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download', file),
    )
    expect(keys(download)).toEqual(words('variant url'))
    expect(download.variant).toBe('mp3-128')
    expect(new URL(download.url).searchParams.get('response-content-disposition')).toMatch(/^attachment.*Tone/)
    expect((await fetch(download.url)).status).toBe(200)
  })
})

/** Checks that the file of a variant supports range requests, and that storage rejects a tampered link. */
async function checkFile(entry: { path: string; url: string; variant: object }): Promise<void> {
  expect(keys(entry)).toEqual(words('path url variant'))
  expect(keys(entry.variant)).toEqual(['index'])
  const complete = new Uint8Array(await (await fetch(entry.url)).arrayBuffer())
  expect(complete.length).toBeGreaterThan(1000)
  const part = await fetch(entry.url, { headers: { range: 'bytes=100-299' } })
  expect(part.status).toBe(206)
  expect(part.headers.get('content-range')).toBe(`bytes 100-299/${complete.length}`)
  expect(new Uint8Array(await part.arrayBuffer())).toEqual(complete.slice(100, 300))
  const tampered = entry.url.replace(
    /(Signature=[0-9a-f]{63})(.)/,
    (_, most, last) => most + (last === '0' ? '1' : '0'),
  )
  expect(tampered).not.toBe(entry.url)
  expect((await fetch(tampered)).status).toBe(403)
}

test('a track list contains the tracks of its collection', async () => {
  const params = { collection_id }
  const list = await must(server.get('/v1/collection/{collection_id}/track', { params, query: { limit: 3 } }))
  expect(list).toMatchObject({ count: 5, tracks: { length: 3 } })
  expect(list.tracks.map(keys)).toEqual([LISTED, LISTED, LISTED])
  const session = await must(server.post('/v1/play_session/collection', { body: { collection_id } }))
  expect(session.tracks).toHaveLength(5)
  expect(session.first_track?.track_id).toBe(session.tracks[0]?.id)
})

test('an upload session accepts a track', async () => {
  const opened = await must(server.post('/v1/upload_session', { body: { collection_id } }))
  expect(keys(opened)).toEqual(words('ok upload_session_id upload_session expires_at'))
  expect(keys(opened.upload_session)).toEqual(words('id collection_id expires_at'))
  const params = { upload_session_id: opened.upload_session_id }
  const created = await must(
    server.post('/v1/upload/{upload_session_id}/track', { params, body: { file_name: 'a.mp3' } }),
  )
  expect(keys(created.track)).toEqual(words('id index path'))
  await send(created.track_upload, bytes(await makeAudio('mp3', { seconds: 2 })))
  expect(await settle(server, created.track_id)).toMatchObject({ status: 'ready' })
})

test('requests without a valid key are rejected', async () => {
  for (const api_key of ['', 'ta_sk_wrong']) {
    const stranger = createClient({ base_url: stack.base_url, api_key })
    expect(await stranger.get('/v1/collection')).toMatchObject({ ok: false, status: 401, code: 'unauthorized' })
  }
})
