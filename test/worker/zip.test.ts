import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { tracks } from '../../src/adapters/schema.ts'
import worker from '../../src/index.ts'
import { aReadyTrack, aShop, filesOf } from './fixtures.ts'
import { seed } from './seed.ts'
import { db, ok, query, refused } from './support.ts'
import { aShare } from './visitor.ts'

/** Everything that a session plays as one ZIP. */

let key: string
let organization_id: string
let collection_id: string
let first: string
let second: string

beforeEach(async () => {
  ;({ key, organization_id, collection_id } = await aShop())
  first = await aReadyTrack(key, collection_id, { player_title: 'So What? 東京/1' })
  second = await aReadyTrack(key, collection_id, { file_name: 'Blue in Green.FLAC' })
  await store(first)
  await store(second)
})

/** Puts a track's files into the bucket, each with bytes of its own, as long as its row says. */
async function store(track_id: string) {
  for (const { path, size } of await filesOf(track_id)) {
    await env.MEDIA.put(path, new TextEncoder().encode(path.slice(-size)))
  }
}
const session = async (body: object = {}, scope = 'collection') =>
  (
    await ok('POST', `/v1/play_session/${scope}`, {
      key,
      body: { collection_id, is_downloadable: true, variants: ['mp3-128', 'original'], ...body },
    })
  ).play_session_id
const fetched = (path: string, init: RequestInit<IncomingRequestCfProperties> = {}) =>
  worker.fetch(
    new Request(`https://tonearm.test${path}`, { redirect: 'manual', ...init }),
    env,
    createExecutionContext(),
  )

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/** The files of a ZIP by its central directory (APPNOTE 4.3.12), with what is said of each. */
function unzip(zip: Uint8Array) {
  const view = new DataView(zip.buffer)
  const end = zip.length - 22
  expect(view.getUint32(end, true)).toBe(0x06054b50)
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  return Array.from({ length: count }, () => {
    expect(view.getUint32(at, true)).toBe(0x02014b50)
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
    const [crc, stored, size] = [16, 20, 24].map((offset) => view.getUint32(at + offset, true))
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true))
    const local = view.getUint32(at + 42, true)
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength!))
    at += 46 + nameLength! + extra! + comment!
    const data = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    const bytes = zip.slice(data, data + size!)
    return {
      name,
      text: new TextDecoder().decode(bytes),
      isUtf8: (flags & 0x800) > 0,
      isStored: method === 0 && stored === size,
      isWhole: crc32(bytes) === crc,
    }
  })
}

const whole = { isUtf8: true, isStored: true, isWhole: true }

describe('a ZIP', () => {
  it('holds the tracks in their order, stored, under names that every system takes', async () => {
    const id = await session()
    const { download } = await ok('GET', `/v1/play/${id}/download`)
    const url = `https://tonearm.test/zip/${id}?variant=mp3-128`
    expect(download).toEqual({ variant: 'mp3-128', url, file_name: 'Kind of Blue.zip', files: 2, size: 10 })
    const response = await exports.default.fetch(download.url)
    expect(response.headers.get('content-type')).toBe('application/zip')
    expect(response.headers.get('content-disposition')).toContain('filename="Kind of Blue.zip"')
    const zip = new Uint8Array(await response.arrayBuffer())
    const head = await exports.default.fetch(download.url, { method: 'HEAD' })
    // That of the answer itself is added on the wire (test/e2e/share.test.ts).
    expect(head.headers.get('content-length')).toBe(String(zip.length))
    expect(unzip(zip)).toEqual([
      { name: '01 So What_ 東京_1.mp3', text: '8.mp3', ...whole },
      { name: '02 Blue in Green.mp3', text: '8.mp3', ...whole },
    ])
  })

  it('takes another variant of the session, and of a track that lacks it the next that it has', async () => {
    await db
      .update(tracks)
      .set({ files: (await filesOf(first)).filter(({ index }) => index !== 'original') })
      .where(eq(tracks.id, first))
    const id = await session()
    const zip = unzip(new Uint8Array(await (await fetched(`/zip/${id}?variant=original`)).arrayBuffer()))
    expect(zip.map(({ name }) => name)).toEqual(['01 So What_ 東京_1.mp3', '02 Blue in Green.flac'])
    await refused(404, 'not_found', 'GET', `/v1/play/${id}/download?variant=lossless`)
    expect((await fetched(`/zip/${id}?variant=lossless`)).status).toBe(404)
  })

  it('is of playlists too, where a track may stand twice; it lacks nothing', async () => {
    const { playlist_id } = await ok('POST', '/v1/playlist', { key, body: { title: 'Night: bus' } })
    await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [first, second, first] } })
    const id = await session({ collection_id: undefined, playlist_id }, 'playlist')
    const response = await fetched(`/zip/${id}`)
    expect(response.headers.get('content-disposition')).toContain('Night_ bus.zip')
    const names = unzip(new Uint8Array(await response.arrayBuffer())).map(({ name }) => name)
    expect(names).toEqual(['01 So What_ 東京_1.mp3', '02 Blue in Green.mp3', '03 So What_ 東京_1.mp3'])
    const files = await filesOf(second)
    const lacking = [
      null,
      files.map((file) => ({ ...file, is_early: 1 as const })),
      files.filter((file) => !['mp3-128', 'original'].includes(file.index)),
    ]
    for (const some of lacking) {
      await db.update(tracks).set({ status: 'processing', files: some }).where(eq(tracks.id, second))
      const { message } = await refused(409, 'track_not_ready', 'GET', `/v1/play/${id}/download`)
      expect(message).toMatch(/1 of 3/)
      expect((await fetched(`/zip/${id}`)).status).toBe(409)
    }
    // What no session lists does not count: of a track that failed there will never be a file.
    await db.update(tracks).set({ status: 'failed', files: null }).where(eq(tracks.id, second))
    expect((await ok('GET', `/v1/play/${id}/download`)).download.files).toBe(2)
  })

  it('ends with an error, not in a ZIP that lacks something, when a file is purged meanwhile', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => said.mockRestore())
    const id = await session()
    const gone = (await filesOf(second)).find(({ index }) => index === 'mp3-128')!
    await env.MEDIA.delete(gone.path)
    const response = await fetched(`/zip/${id}`)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
    await vi.waitFor(() => expect(said.mock.calls.flat().join()).toContain('zip_ended'))
    await env.MEDIA.put(gone.path, 'longer than before')
    await expect((await fetched(`/zip/${id}`)).arrayBuffer()).rejects.toThrow()
    await vi.waitFor(() => expect(said).toHaveBeenCalledTimes(2))
  })

  it('says the length of more than 4 GB, which takes other records (APPNOTE 4.3.14, 4.5.3)', async () => {
    // What is streamed is as long as that: npm run bench -- zip.
    const sized = async (id: string, size: number) =>
      db
        .update(tracks)
        .set({ files: (await filesOf(id)).map((file) => ({ ...file, size })) })
        .where(eq(tracks.id, id))
    await sized(first, 5e9)
    await sized(second, 4e9)
    const [one, other] = ['01 So What_ 東京_1.mp3', '02 Blue in Green.mp3'].map((name) => new Blob([name]).size)
    const large = 30 + one! + 5e9 + 24 + (46 + one! + 28)
    const behind = 30 + other! + 4e9 + 16 + (46 + other! + 12)
    const head = await fetched(`/zip/${await session()}`, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(large + behind + 56 + 20 + 22))
  })

  it('is no fault where a visitor stops it', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => said.mockRestore())
    const size = 1_000_000
    const files = (await filesOf(first)).map((file) => ({ ...file, size }))
    await db.update(tracks).set({ files }).where(eq(tracks.collection_id, collection_id))
    await env.MEDIA.put(files.find(({ index }) => index === 'mp3-128')!.path, new Uint8Array(size))
    const context = createExecutionContext()
    const response = await worker.fetch(new Request(`https://tonearm.test/zip/${await session()}`), env, context)
    const reader = response.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    await reader.cancel()
    await waitOnExecutionContext(context)
    expect(said).not.toHaveBeenCalled()
  })

  it('is refused where the session may not be downloaded, is too large, or is none', async () => {
    const id = await session({ is_downloadable: false })
    await refused(403, 'download_not_allowed', 'GET', `/v1/play/${id}/download`)
    expect((await fetched(`/zip/${id}`)).status).toBe(403)
    expect((await fetched('/zip/nonsense')).status).toBe(404)
    const { files: small } = (await db.select().from(tracks).where(eq(tracks.id, first)).get())!
    const files = small!.map((file) => ({ ...file, size: 9e9 }))
    await db.update(tracks).set({ files }).where(eq(tracks.collection_id, collection_id))
    await refused(413, 'zip_too_large', 'GET', `/v1/play/${await session()}/download`)
    await db.update(tracks).set({ files: small }).where(eq(tracks.collection_id, collection_id))
    await seed('tracks', 1, 899, { organization_id, collection_id })
    // 901 are listed, though a hundred of the first have no file yet.
    await query(
      "update tracks set status = 'ready', files = ? where id not in (?, ?)",
      JSON.stringify(small),
      first,
      second,
    )
    await query(
      "update tracks set status = 'processing', files = null where id in (select id from tracks where id not in (?, ?) limit 100)",
      first,
      second,
    )
    const many = await session()
    await refused(413, 'zip_too_large', 'GET', `/v1/play/${many}/download`)
    expect((await fetched(`/zip/${many}`)).status).toBe(413)
  })

  it('is offered by the page of a downloadable share, and made with the share’s key', async () => {
    const share = (body: object) => aShare(key, collection_id, body)
    const page = async (slug: string) => (await fetched(`/s/${slug}`)).text()
    const { slug } = await share({ is_downloadable: true, variants: ['mp3-128'] })
    const text = await page(slug)
    const [, action = '', secret = ''] =
      /<form method="post" action="([^"]+)">\s*<input type="hidden" name="key" value="([^"]+)"/.exec(text) ?? []
    const press = (value: string) => fetched(action, { method: 'POST', body: new URLSearchParams({ key: value }) })
    const malformed = await fetched(action, {
      method: 'POST',
      body: 'nonsense',
      headers: { 'content-type': 'multipart/form-data; boundary=none' },
    })
    expect(malformed.status).toBe(401)
    const redirect = await press(secret)
    expect(redirect.status).toBe(303)
    const zip = await fetched(redirect.headers.get('location')!)
    expect(unzip(new Uint8Array(await zip.arrayBuffer()))).toHaveLength(2)
    expect((await press('ta_sh_nothing')).status).toBe(401)
    const other = await share({})
    expect(await page(other.slug)).not.toContain('<form')
    const answers = [await press(`ta_sh_${other.slug}`), await press('')]
    const { files } = (await db.select().from(tracks).where(eq(tracks.id, first)).get())!
    await db
      .update(tracks)
      .set({ files: files!.map((file) => ({ ...file, size: 9e9 })) })
      .where(eq(tracks.collection_id, collection_id))
    answers.push(await press(secret))
    const said = await Promise.all(answers.map(async (one) => [one.status, /<h1>.*/.exec(await one.text())?.[0]]))
    expect(said).toEqual([
      [403, '<h1>This cannot be downloaded</h1>'],
      [401, '<h1>This link has ended</h1>'],
      [413, '<h1>This cannot be downloaded</h1>'],
    ])
  })
})
