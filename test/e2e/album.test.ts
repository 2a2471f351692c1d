import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { type Format, makeAudio, makeImage, probeTags, withCover } from '../support/audio.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, must, send, settle, upload } from './steps.ts'

/** Tests with a typical album on disk: two discs, every format, tags, a picture, a `cover.jpg`, and files in random order. */

const ALBUM = { album: 'Kind of Blue', album_artist: 'Miles Davis Sextet', genre: 'Jazz', date: '1959' }

interface Song {
  format: Format
  disc: number
  track: number
  title: string
}
const SONGS: Song[] = [
  { format: 'm4a', disc: 2, track: 1, title: 'Größe & <b>Freiheit</b>' },
  { format: 'mp3', disc: 1, track: 2, title: 'Freddie Freeloader' },
  { format: 'wav', disc: 1, track: 3, title: '上を向いて歩こう' },
  { format: 'opus', disc: 2, track: 2, title: 'All "Blues"' },
  { format: 'aiff', disc: 1, track: 4, title: 'Blue in Green' },
  { format: 'webm', disc: 2, track: 10, title: 'Flamenco Sketches' },
  { format: 'ogg', disc: 2, track: 3, title: 'Группа крови' },
  { format: 'alac', disc: 1, track: 5, title: '#1 = 100 %; \\' },
  { format: 'adts', disc: 2, track: 9, title: "L'été" },
  { format: 'flac', disc: 1, track: 1, title: 'So What' },
]
const IN_ORDER = SONGS.toSorted((a, b) => a.disc - b.disc || a.track - b.track)
/** The tags in the file of a song. RIFF has no field for the disc; without one, the first disc is assumed. */
const tagsOf = ({ format, disc, track, title }: Song) => ({
  ...ALBUM,
  title,
  artist: 'Miles Davis',
  track: `${track}/10`,
  ...(format !== 'wav' && { disc: `${disc}/2` }),
})

let stack: Shared
let server: Client
let listener: Client

beforeAll(async () => {
  stack = await joinStack()
  server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  listener = createClient({ base_url: stack.base_url })
})
afterAll(() => stack?.dispose())

async function aFile(song: Song): Promise<Buffer> {
  const flags = Object.entries(tagsOf(song)).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])
  // ffmpeg writes tags to these two formats only if this flag is set.
  const written = song.format === 'aiff' || song.format === 'adts' ? ['-write_id3v2', '1'] : []
  const audio = await makeAudio(song.format, { seconds: 1 }, [...flags, ...written])
  return song.format === 'flac' ? withCover('flac', audio, await makeImage('jpeg', 1500, 1500)) : audio
}

test('an uploaded album plays and downloads with its tags, and edited values take precedence', async () => {
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'The album' } }))
  const track_ids: string[] = []
  for (const song of SONGS) {
    const { track_id } = await upload(server, collection_id, `${song.format} file.${song.format}`, await aFile(song))
    track_ids.push(track_id)
  }
  for (const track_id of track_ids) expect((await settle(server, track_id)).status).toBe('ready')

  const downloads = ['mp3-128', 'aac-160', 'lossless', 'opus-96']
  const { play_session_id } = await must(
    server.post('/v1/play_session/collection', {
      body: { collection_id, is_downloadable: true, variants: downloads },
    }),
  )
  // A listener needs only this request and no key.
  const session = await must(listener.get('/v1/play/{play_session_id}', { params: { play_session_id } }))
  expect(session.tracks.map(({ player_title, player_subtitle }) => [player_title, player_subtitle])).toEqual(
    IN_ORDER.map(({ title }) => [title, 'Miles Davis']),
  )
  expect(session.list).toEqual({ scope: 'collection', title: 'The album', subtitle: null })
  const first = session.first_track!
  expect(first.track).toMatchObject({
    player_title: 'So What',
    tags: { ...ALBUM, title: 'So What', artist: 'Miles Davis', year: 1959, track_number: 1, disc_number: 1 },
  })
  const { regular } = first.cover_image
  expect(new URL(regular.url).pathname).toMatch(/\/media\/.*\/cover\/regular\.jpg$/)
  const large = await fetch(first.large_cover!.url)
  expect(await sharp(Buffer.from(await large.arrayBuffer())).metadata()).toMatchObject({ width: 1400, height: 1400 })

  // At this point, neither the last track nor the collection has a picture.
  const last = { play_session_id, play_track_id: session.tracks.at(-1)!.id }
  const coverOf = async () => {
    const view = await must(listener.get('/v1/play/{play_session_id}/{play_track_id}', { params: last }))
    const { cover_image } = await must(
      server.get('/v1/collection/{collection_id}/cover', { params: { collection_id } }),
    )
    const large = await fetch(cover_image.large!.url)
    expect(await sharp(Buffer.from(await large.arrayBuffer())).metadata()).toMatchObject({ width: 1400, height: 1400 })
    return new URL(view.cover_image.regular.url).pathname
  }
  expect(await coverOf()).toBe(new URL(regular.url).pathname)
  const handle = await must(server.post('/v1/collection/{collection_id}/cover', { params: { collection_id } }))
  await send(handle.collection_cover_upload, bytes(await makeImage('jpeg', 1600, 1500)), {
    'content-type': 'image/jpeg',
  })
  expect(await coverOf()).toMatch(/\/media\/.*\/cover-[^/]+\/regular\.jpg$/)

  const { id } = session.tracks[0]!
  const tags = tagsOf(IN_ORDER[0]!)
  await expectDownloads(downloads, { play_session_id, play_track_id: id }, tags)

  const edited = 'So What (edited) <b>&</b>'
  const params = { track_id: id }
  await must(server.put('/v1/track/{track_id}', { params, body: { player_title: edited } }))
  await must(server.post('/v1/track/{track_id}/reprocess', { params }))
  expect(await settle(server, id)).toMatchObject({ status: 'ready', player_title: edited, tags: { title: 'So What' } })
  const again = await must(listener.get('/v1/play/{play_session_id}', { params: { play_session_id } }))
  expect(again.tracks.map((track) => track.player_title)).toEqual([
    edited,
    ...IN_ORDER.slice(1).map(({ title }) => title),
  ])
  await expectDownloads(downloads, { play_session_id, play_track_id: id }, { ...tags, title: edited })
})

/** Downloads files and checks their tags and their picture with ffprobe. */
async function expectDownloads(
  indexes: string[],
  ids: { play_session_id: string; play_track_id: string },
  expected: Record<string, string>,
) {
  for (const variant_index of indexes) {
    const path = '/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download'
    const { download } = await must(listener.get(path, { params: { ...ids, variant_index } }))
    const { tags, picture } = await probeTags(Buffer.from(await (await fetch(download.url)).arrayBuffer()))
    expect(tags, variant_index).toMatchObject(expected)
    // WebM cannot contain a cover.
    expect(picture, variant_index).toBe(variant_index === 'opus-96' ? null : 400)
  }
}
