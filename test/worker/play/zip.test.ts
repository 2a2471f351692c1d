import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import worker from '../../../src/index.ts'
import { aPlaylist, aPlaySession, db, ok, query, expectError } from '../support/api.ts'
import { aReadyTrack, aTenant, filesColumn, fileRows } from '../support/fixtures.ts'
import { seed } from '../support/seed.ts'
import { aShare } from '../support/share_visitor.ts'
import { unzip } from '../support/unzip.ts'

/** Tests the download of a session's tracks as one ZIP file. */

let key: string
let organization_id: string
let collection_id: string
let first: string
let second: string

beforeEach(async () => {
  ;({ key, organization_id, collection_id } = await aTenant())
  first = await aReadyTrack(key, collection_id, { player_title: 'So What? 東京/1' })
  second = await aReadyTrack(key, collection_id, { file_name: 'Blue in Green.FLAC' })
  await store(first)
  await store(second)
})

/** Stores a track's files with different bytes for each file and with the sizes in the track's row. */
async function store(track_id: string) {
  for (const { path, size } of await fileRows(track_id)) {
    await env.MEDIA.put(path, new TextEncoder().encode(path.slice(-size)))
  }
}
const ALLOWED = { is_downloadable: true, variants: ['mp3-128', 'original'] }
const session = async (body: object = {}) =>
  (await aPlaySession(key, 'collection', collection_id, { ...ALLOWED, ...body })).play_session_id
const fetchPath = (path: string, init: RequestInit<IncomingRequestCfProperties> = {}) =>
  worker.fetch(
    new Request(`https://tonearm.test${path}`, { redirect: 'manual', ...init }),
    env,
    createExecutionContext(),
  )

const valid = { isUtf8: true, isStored: true, isWhole: true }

describe('a ZIP', () => {
  it('contains the tracks in order, uncompressed, with names that are valid on every system', async () => {
    const id = await session()
    const { download } = await ok('GET', `/v1/play/${id}/download`)
    const url = `https://tonearm.test/zip/${id}?variant=mp3-128`
    expect(download).toEqual({ variant: 'mp3-128', url, file_name: 'Kind of Blue.zip', files: 2, size: 10 })
    const response = await exports.default.fetch(download.url)
    expect(response.headers.get('content-type')).toBe('application/zip')
    expect(response.headers.get('content-disposition')).toContain('filename="Kind of Blue.zip"')
    const zip = new Uint8Array(await response.arrayBuffer())
    const head = await exports.default.fetch(download.url, { method: 'HEAD' })
    // A GET response gets its Content-Length only when it is sent, so test/e2e/share.test.ts checks it.
    expect(head.headers.get('content-length')).toBe(String(zip.length))
    expect(unzip(zip)).toEqual([
      { name: '01 So What_ 東京_1.mp3', text: '8.mp3', ...valid },
      { name: '02 Blue in Green.mp3', text: '8.mp3', ...valid },
    ])
  })

  it('has file names without bidirectional marks, which could disguise the extension', async () => {
    await db.update(tracks).set({ player_title: 'Invoice_\u202efdp\u2066.exe\u200f' }).where(eq(tracks.id, first))
    await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Kind\u202e of Blue' } })
    const id = await session()
    const response = await fetchPath(`/zip/${id}`)
    expect(response.headers.get('content-disposition')).toContain("filename*=UTF-8''Kind%20of%20Blue.zip")
    const [file] = unzip(new Uint8Array(await response.arrayBuffer()))
    expect(file!.name).toBe('01 Invoice_fdp.exe.mp3')
  })

  it('contains the requested variant, or the next available one for a track that lacks it', async () => {
    await db
      .update(tracks)
      .set({ files: filesColumn((await fileRows(first)).filter(({ index }) => index !== 'original')) })
      .where(eq(tracks.id, first))
    const id = await session()
    const zip = unzip(new Uint8Array(await (await fetchPath(`/zip/${id}?variant=original`)).arrayBuffer()))
    expect(zip.map(({ name }) => name)).toEqual(['01 So What_ 東京_1.mp3', '02 Blue in Green.flac'])
    await expectError(404, 'not_found', 'GET', `/v1/play/${id}/download?variant=lossless`)
    expect((await fetchPath(`/zip/${id}?variant=lossless`)).status).toBe(404)
  })

  it('of a playlist contains a repeated track several times, and is refused while a track has no file', async () => {
    const playlist_id = await aPlaylist(key, [first, second, first], { title: 'Night: bus' })
    const { play_session_id: id } = await aPlaySession(key, 'playlist', playlist_id, ALLOWED)
    const response = await fetchPath(`/zip/${id}`)
    expect(response.headers.get('content-disposition')).toContain('Night_ bus.zip')
    const names = unzip(new Uint8Array(await response.arrayBuffer())).map(({ name }) => name)
    expect(names).toEqual(['01 So What_ 東京_1.mp3', '02 Blue in Green.mp3', '03 So What_ 東京_1.mp3'])
    const files = await fileRows(second)
    const incomplete = [
      null,
      files.map((file) => ({ ...file, is_early: 1 as const })),
      files.filter((file) => !['mp3-128', 'original'].includes(file.index)),
    ]
    for (const files of incomplete) {
      await db
        .update(tracks)
        .set({ status: 'processing', files: files && filesColumn(files) })
        .where(eq(tracks.id, second))
      const { message } = await expectError(409, 'track_not_ready', 'GET', `/v1/play/${id}/download`)
      expect(message).toMatch(/1 of 3/)
      expect((await fetchPath(`/zip/${id}`)).status).toBe(409)
    }
    // Tracks that a session does not list are ignored: a failed track will never have a file.
    await db.update(tracks).set({ status: 'failed', files: null }).where(eq(tracks.id, second))
    expect((await ok('GET', `/v1/play/${id}/download`)).download.files).toBe(2)
  })

  it('ends with an error instead of being silently incomplete when a file is purged during the download', async () => {
    const errorLog = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => errorLog.mockRestore())
    const id = await session()
    const purged = (await fileRows(second)).find(({ index }) => index === 'mp3-128')!
    await env.MEDIA.delete(purged.path)
    const response = await fetchPath(`/zip/${id}`)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
    await vi.waitFor(() => expect(errorLog.mock.calls.flat().join()).toContain('zip_ended'))
    await env.MEDIA.put(purged.path, 'longer than before')
    await expect((await fetchPath(`/zip/${id}`)).arrayBuffer()).rejects.toThrow()
    await vi.waitFor(() => expect(errorLog).toHaveBeenCalledTimes(2))
  })

  it('has the correct length above 4 GB, where ZIP64 records are required (APPNOTE 4.3.14, 4.5.3)', async () => {
    // The length of the streamed file is checked by the benchmark: npm run bench -- zip.
    const sized = async (id: string, size: number) =>
      db
        .update(tracks)
        .set({ files: filesColumn((await fileRows(id)).map((file) => ({ ...file, size }))) })
        .where(eq(tracks.id, id))
    await sized(first, 5e9)
    await sized(second, 4e9)
    const [first_length, second_length] = ['01 So What_ 東京_1.mp3', '02 Blue in Green.mp3'].map(
      (name) => new Blob([name]).size,
    )
    const large = 30 + first_length! + 5e9 + 24 + (46 + first_length! + 28)
    const small = 30 + second_length! + 4e9 + 16 + (46 + second_length! + 12)
    const head = await fetchPath(`/zip/${await session()}`, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(large + small + 56 + 20 + 22))
  })

  it('causes no error in the log when a visitor cancels the download', async () => {
    const errorLog = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => errorLog.mockRestore())
    const size = 1_000_000
    const files = (await fileRows(first)).map((file) => ({ ...file, size }))
    await db
      .update(tracks)
      .set({ files: filesColumn(files) })
      .where(eq(tracks.collection_id, collection_id))
    await env.MEDIA.put(files.find(({ index }) => index === 'mp3-128')!.path, new Uint8Array(size))
    const context = createExecutionContext()
    const response = await worker.fetch(new Request(`https://tonearm.test/zip/${await session()}`), env, context)
    const reader = response.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    await reader.cancel()
    await waitOnExecutionContext(context)
    expect(errorLog).not.toHaveBeenCalled()
  })

  it('is refused for a session that is unknown, too large, or may not be downloaded', async () => {
    const id = await session({ is_downloadable: false })
    await expectError(403, 'download_not_allowed', 'GET', `/v1/play/${id}/download`)
    expect((await fetchPath(`/zip/${id}`)).status).toBe(403)
    expect((await fetchPath('/zip/nonsense')).status).toBe(404)
    const { files: small } = (await db.select().from(tracks).where(eq(tracks.id, first)).get())!
    const files = filesColumn((await fileRows(first)).map((file) => ({ ...file, size: 9e9 })))
    await db.update(tracks).set({ files }).where(eq(tracks.collection_id, collection_id))
    await expectError(413, 'zip_too_large', 'GET', `/v1/play/${await session()}/download`)
    await db.update(tracks).set({ files: small }).where(eq(tracks.collection_id, collection_id))
    await seed('tracks', 1, 899, { organization_id, collection_id })
    // The session lists 901 tracks, and a hundred tracks near the start of the list have no file yet.
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
    await expectError(413, 'zip_too_large', 'GET', `/v1/play/${many}/download`)
    expect((await fetchPath(`/zip/${many}`)).status).toBe(413)
  })

  it('is offered on the page of a share that allows downloads, and authorized by the key of the share', async () => {
    const share = (body: object) => aShare(key, collection_id, body)
    const page = async (slug: string) => (await fetchPath(`/s/${slug}`)).text()
    const { slug } = await share({ is_downloadable: true, variants: ['mp3-128'] })
    const text = await page(slug)
    const [, action = '', secret = ''] =
      /<form method="post" action="([^"]+)">\s*<input type="hidden" name="key" value="([^"]+)"/.exec(text) ?? []
    const submit = (value: string) => fetchPath(action, { method: 'POST', body: new URLSearchParams({ key: value }) })
    const malformed = await fetchPath(action, {
      method: 'POST',
      body: 'nonsense',
      headers: { 'content-type': 'multipart/form-data; boundary=none' },
    })
    expect(malformed.status).toBe(401)
    const redirect = await submit(secret)
    expect(redirect.status).toBe(303)
    const zip = await fetchPath(redirect.headers.get('location')!)
    expect(unzip(new Uint8Array(await zip.arrayBuffer()))).toHaveLength(2)
    expect((await submit('ta_sh_nothing')).status).toBe(401)
    const other = await share({})
    expect(await page(other.slug)).not.toContain('<form')
    const answers = [await submit(`ta_sh_${other.slug}`), await submit('')]
    await db
      .update(tracks)
      .set({ files: filesColumn((await fileRows(first)).map((file) => ({ ...file, size: 9e9 }))) })
      .where(eq(tracks.collection_id, collection_id))
    answers.push(await submit(secret))
    const headings = await Promise.all(
      answers.map(async (response) => [response.status, /<h1>.*/.exec(await response.text())?.[0]]),
    )
    expect(headings).toEqual([
      [403, '<h1>This cannot be downloaded</h1>'],
      [401, '<h1>This link has ended</h1>'],
      [413, '<h1>This cannot be downloaded</h1>'],
    ])
  })
})
