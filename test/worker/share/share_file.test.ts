import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import type { TrackFile } from '../../../src/adapters/bucket/track_files.ts'
import { tracks } from '../../../src/adapters/db/schema/library.ts'
import worker from '../../../src/index.ts'
import { bestFile, type FileType } from '../../../src/resources/share/share_file.ts'
import { aCollection, aPlaylist, aWaitingTrack, db, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant, fileRows, filesColumn, storeFiles } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { countRows } from '../support/row_counter.ts'
import { aShare, fakeRateLimit } from '../support/share_visitor.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

/** Links to the files of a share (docs/share.md#links-to-files). test/e2e/share_file.test.ts follows them to the bytes. */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id)
  await storeFiles(track_id)
})

type Sent = { method?: string; headers?: Record<string, string>; bindings?: Env }

/** Requests a path. Resolves once its download is counted. */
async function open(path: string, { method = 'GET', headers = {}, bindings = env }: Sent = {}) {
  const context = createExecutionContext()
  const request = new Request(`https://tonearm.test${path}`, { method, redirect: 'manual', headers })
  const response = await worker.fetch(request, bindings, context)
  const text = await response.text()
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text, code: text && JSON.parse(text).code }
}
const head = (path: string, headers = {}) => open(path, { method: 'HEAD', headers })
const downloadable = (body: object = {}) => aShare(key, collection_id, { is_downloadable: true, ...body })
/** Requests a path, and returns the storage path to which the response redirects. */
async function target(path: string, sent?: Sent) {
  const { headers } = await open(path, sent)
  return signedParts(headers.get('location')!).key
}

describe('a link to a file', () => {
  it('redirects to a URL of the file that was signed for this request, with and without a range', async () => {
    const { slug } = await downloadable()
    for (const range of [undefined, 'bytes=0-1', 'bytes=2-']) {
      const path = `/s/${slug}/${track_id}.mp3`
      const { status, headers, text } = await open(path, range === undefined ? {} : { headers: { range } })
      expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin'), text]).toEqual([
        302,
        'no-store',
        '*',
        '',
      ])
      const location = headers.get('location')!
      expect(await isSignedFor('GET', location)).toBe(true)
      const { key: stored, expires } = signedParts(location)
      expect(stored).toMatch(/\/00job\/mp3-128\.mp3$/)
      expect(expires).toBe(3600)
    }
  })

  it('answers HEAD with the headers of the storage, and 304 to a client that has the file', async () => {
    const { slug } = await downloadable()
    const path = `/s/${slug}/${track_id}`
    const types = { mp3: 'audio/mpeg', m4a: 'audio/mp4', opus: 'audio/webm; codecs=opus' }
    for (const [type, content_type] of Object.entries(types)) {
      const { status, headers } = await head(`${path}.${type}`, { range: 'bytes=0-1' })
      const named = [headers.get('content-type'), headers.get('content-length'), headers.get('accept-ranges')]
      expect([status, ...named]).toEqual([200, content_type, '5', 'bytes'])
      const exposed = [headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')]
      expect(exposed).toEqual(['*', 'Accept-Ranges, ETag'])
      const file = (await fileRows(track_id)).find(({ index }) =>
        index.startsWith(type.slice(0, 2) === 'm4' ? 'aac' : type),
      )!
      const { httpEtag, uploaded } = (await env.MEDIA.head(file.path))!
      expect([headers.get('etag'), headers.get('last-modified')]).toEqual([httpEtag, uploaded.toUTCString()])
      const modified = uploaded.toUTCString()
      const answer = async (sent: Record<string, string>) => (await head(`${path}.${type}`, sent)).status
      expect(await answer({ 'if-none-match': httpEtag })).toBe(304)
      expect(await answer({ 'if-none-match': `"other", W/${httpEtag}` })).toBe(304)
      expect(await answer({ 'if-none-match': '"other"', 'if-modified-since': modified })).toBe(200)
      expect(await answer({ 'if-modified-since': modified })).toBe(304)
      expect(await answer({ 'if-modified-since': new Date(0).toUTCString() })).toBe(200)
    }
  })

  it('has the same file under the address for feeds, in any case, and under a short one for a single track', async () => {
    const { slug } = await downloadable()
    const single = await downloadable({ scope: 'track', id: track_id })
    const mix = await downloadable({ scope: 'playlist', id: await aPlaylist(key, [track_id, track_id]) })
    const file = await target(`/s/${slug}/${track_id}.m4a`)
    for (const path of [
      `/s/${slug}/feed/${track_id}.m4a`,
      `/s/${slug.toUpperCase()}/${track_id.toUpperCase()}.M4A`,
      `/s/${single.slug}.m4a`,
      `/s/${single.slug}/${track_id}.m4a`,
      `/s/${mix.slug}/${track_id}.m4a`,
    ])
      expect([path, await target(path)]).toEqual([path, file])
    const { status, text } = await open(`/s/${slug}.m4a`)
    expect([status, JSON.parse(text).message]).toEqual([404, expect.stringContaining(`/s/${slug}/{track id}.m4a`)])
  })

  it('reads the database once, and creates no play session', async () => {
    const { slug } = await downloadable()
    for (const method of ['GET', 'HEAD']) {
      // A bot, so that only the answer is counted.
      const sent = { method, headers: { 'user-agent': 'Googlebot/2.1' } }
      const { read, written, trips, statements } = await countRows(() => open(`/s/${slug}/${track_id}.mp3`, sent))
      expect([written, trips, statements]).toEqual([0, 1, 1])
      expect(read).toBeLessThanOrEqual(4)
    }
    expect(await query('select * from play_sessions')).toEqual([])
  })

  it('is 404 for a track that the share does not have, and for a type that the track does not have', async () => {
    const { slug } = await downloadable()
    const single = await downloadable({ scope: 'track', id: track_id })
    const mix = await downloadable({ scope: 'playlist', id: await aPlaylist(key, [track_id]) })
    const inMix = await aReadyTrack(key, collection_id)
    const { id: other_id } = await aCollection(key)
    const elsewhere = await aReadyTrack(key, other_id)
    const foreign = await aTenant()
    const strange = await aReadyTrack(foreign.key, foreign.collection_id)
    for (const path of [
      `/s/${slug}/${strange}.mp3`,
      `/s/${slug}/${elsewhere}.mp3`,
      `/s/${slug}/${UNKNOWN_ID}.mp3`,
      `/s/${slug}/feed/${UNKNOWN_ID}.mp3`,
      `/s/${slug}/other/${track_id}.mp3`,
      `/s/${slug}/${track_id}.wav`,
      `/s/${slug}/track.mp3`,
      `/s/${single.slug}/${inMix}.mp3`,
      `/s/${mix.slug}/${inMix}.mp3`,
      `/s/nothing/${track_id}.mp3`,
      `/s/a_b/${track_id}.mp3`,
    ])
      for (const method of ['GET', 'HEAD']) expect([path, (await open(path, { method })).status]).toEqual([path, 404])
    const { status, text } = await open(`/s/${slug}/${track_id}.flac`)
    const { code, message } = JSON.parse(text)
    expect([status, code, message]).toEqual([
      404,
      'not_found',
      'This share has no flac of this track, only: m4a, mp3, opus',
    ])
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    expect((await open(`/s/${slug}/${track_id}.mp3`)).status).toBe(404)
    expect((await open(`/s/${single.slug}.mp3`)).status).toBe(404)
    await ok('DELETE', `/v1/collection/${collection_id}?trash=true`, { key })
    expect((await open(`/s/${slug}/${inMix}.mp3`)).status).toBe(404)
  })

  it('is 403 unless the share is downloadable, without a password and without sites', async () => {
    const bodies = [
      { is_downloadable: false },
      { password: 'swordfish' },
      { allowed_origins: ['https://shop.example'] },
    ]
    for (const body of bodies) {
      const { slug } = await downloadable(body)
      // The same for a track that it does not have: a share with a password reveals nothing.
      for (const id of [track_id, UNKNOWN_ID]) {
        const { status, code } = await open(`/s/${slug}/${id}.mp3`)
        expect([body, status, code]).toEqual([body, 403, 'download_not_allowed'])
      }
      expect((await head(`/s/${slug}/${track_id}.mp3`)).status).toBe(403)
    }
  })

  it('is 410 at once after the share was revoked, renamed or has ended, and its URL ends with the share', async () => {
    const revoked = await downloadable()
    const renamed = await downloadable()
    const ending = await downloadable({ expires_at: new Date(Date.now() + 60_000).toISOString() })
    const { headers } = await open(`/s/${ending.slug}/${track_id}.mp3`)
    expect(signedParts(headers.get('location')!).ends).toBeLessThanOrEqual(Date.parse(ending.expires_at!))
    await updateReplica()
    await ok('DELETE', `/v1/share/${revoked.id}`, { key })
    await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: 'elsewhere' } })
    await query('update shares set expires_at = ? where id = ?', Date.now() - 1, ending.id)
    // A replica that lags behind does not decide about it.
    const { bindings } = laggingBindings()
    const answers = [revoked, renamed, ending].map(
      async ({ slug }) => (await open(`/s/${slug}/${track_id}.mp3`, { bindings })).code,
    )
    expect(await Promise.all(answers)).toEqual(['share_revoked', 'share_revoked', 'session_expired'])
    expect((await head(`/s/${revoked.slug}/${track_id}.mp3`)).status).toBe(410)
    expect((await open(`/s/elsewhere/${track_id}.mp3`)).status).toBe(302)
  })

  it('is 409 while a track is being processed, even with an early file, and 404 if the storage lost the file', async () => {
    const { slug } = await downloadable()
    const waiting = await aWaitingTrack(key, collection_id)
    expect((await open(`/s/${slug}/${waiting}.mp3`)).code).toBe('track_not_ready')
    const [file] = await fileRows(track_id)
    await env.MEDIA.delete(file!.path)
    expect((await head(`/s/${slug}/${track_id}.m4a`)).status).toBe(404)
    const early = filesColumn([{ ...file!, is_early: 1 }])
    await db.update(tracks).set({ files: early }).where(eq(tracks.id, track_id))
    expect((await open(`/s/${slug}/${track_id}.m4a`)).code).toBe('track_not_ready')
  })

  it('counts toward the rate limits of the page of its share, and unknown addresses as guesses', async () => {
    const { slug } = await downloadable()
    const headers = { 'cf-connecting-ip': '192.0.2.7' }
    const limited = { ...env, PLAY_RATE_LIMIT: fakeRateLimit(2) }
    const statuses: number[] = []
    for (const path of [`/s/${slug}`, `/s/${slug}/${track_id}.mp3`, `/s/${slug}/feed/${track_id}.mp3`])
      statuses.push(
        (
          await worker.fetch(
            new Request(`https://tonearm.test${path}`, { redirect: 'manual', headers }),
            limited,
            createExecutionContext(),
          )
        ).status,
      )
    expect(statuses).toEqual([200, 302, 429])
    const guessing = { ...env, MISS_RATE_LIMIT: fakeRateLimit(1) }
    const guess = async () => (await open(`/s/${slug}/${UNKNOWN_ID}.mp3`, { headers, bindings: guessing })).status
    expect([await guess(), await guess(), await guess()]).toEqual([404, 404, 429])
  })

  it('leads to the domain for files', async () => {
    const { slug } = await downloadable()
    const zone = { ...env, MEDIA_DELIVERY: 'zone', MEDIA_BASE_URL: 'https://media.example', MEDIA_KEY: 'a'.repeat(64) }
    const { headers } = await open(`/s/${slug}/${track_id}.mp3`, { bindings: zone })
    expect(headers.get('location')).toMatch(/^https:\/\/media\.example\/media\/[^?]+\/mp3-128\.mp3\?.*verify=/)
  })
})

describe('the best file of a type', () => {
  const file = (index: string, extension: string, fields: Partial<TrackFile> = {}): TrackFile => ({
    index,
    path: `media/org/col/idx/00job/${index}.${extension}`,
    size: 5,
    bitrate: Number(index.split('-')[1] ?? 0),
    duration: 200,
    variant_id: null,
    is_early: 0,
    ...fields,
  })
  const files = [
    file('aac-160', 'm4a'),
    file('mp3-128', 'mp3', { duration: 200.04 }),
    file('mp3-320', 'mp3'),
    file('preview', 'mp3', { bitrate: 400, duration: 30 }),
    file('original', 'mp3', { path: 'uploads/org/col/track', bitrate: 900 }),
  ]
  const best = (variants: string[] | null, type: FileType) => bestFile(files, { variants }, type)?.index

  it('is the one with the highest bitrate of the variants of the share, and no preview if there is a whole track', () => {
    expect(best(null, 'mp3')).toBe('mp3-128')
    expect(best(['mp3-128', 'mp3-320', 'preview', 'original'], 'mp3')).toBe('mp3-320')
    expect(best(['preview'], 'mp3')).toBe('preview')
    expect(best(['aac-160', 'original'], 'mp3')).toBeUndefined()
    expect(best(['aac-160', 'original'], 'm4a')).toBe('aac-160')
    expect(best(null, 'flac')).toBeUndefined()
  })
})
