import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import type { JobEvent } from '../../src/contract/job.ts'
import {
  aReadyTrack,
  aShop,
  aWaitingTrack,
  eventually,
  laterBy,
  made,
  query,
  serveTranscoder,
  storedFiles,
  sweep,
  upload,
} from './ready_track.ts'
import { call, ok } from './support.ts'

afterEach(() => void vi.useRealTimers())

/** A track with its session, and what a test asks of it. */
async function aPlayedTrack() {
  const { key, collection_id } = await aShop()
  const track_id = await aReadyTrack(key, collection_id)
  const body = { track_id, expires_in: 86_400 }
  const { play_session_id } = await ok('POST', '/v1/play_session/track', { key, body })
  return {
    key,
    track_id,
    read: async () => (await ok('GET', `/v1/track/${track_id}`, { key })).track,
    reprocess: () => call('POST', `/v1/track/${track_id}/reprocess`, { key }),
    renew: (facts: object = {}) => call('POST', `/v1/track/${track_id}/upload`, { key, body: facts }),
    /** The paths that the track plays now. */
    async plays() {
      const { variants } = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
      return variants.map(({ path }: { path: string }) => path) as string[]
    },
  }
}

const noAudio: JobEvent = { type: 'error', error: { code: 'no_audio', message: 'No audio', retryable: false } }
const pathOf = (url: string) => decodeURIComponent(new URL(url).pathname.split(`/${env.S3_BUCKET}/`)[1]!)

describe('a new upload URL', () => {
  it('of a track that still waits leads to the same place', async () => {
    serveTranscoder()
    const { key, collection_id } = await aShop()
    const body = { collection_id, file_name: 'a.mp3' }
    const { track_id, track_upload: first } = await ok('POST', '/v1/track', { key, body })
    const renewed = await ok('POST', `/v1/track/${track_id}/upload`, { key, body: { file_name: 'b.flac' } })
    expect(pathOf(renewed.track_upload.upload_url)).toBe(pathOf(first.upload_url))
    expect(renewed.track).toMatchObject({ status: 'initializing', file_name: 'b.flac', file_name_original: 'b.flac' })
    await upload(key, track_id)
  })

  it('of a track whose URL expired lets it start again', async () => {
    serveTranscoder()
    const { key, collection_id } = await aShop()
    const track_id = await aWaitingTrack(key, collection_id)
    laterBy(2)
    await sweep()
    const failed = (await ok('GET', `/v1/track/${track_id}`, { key })).track
    expect([failed.status, failed.info.error.code]).toEqual(['failed', 'upload_expired'])
    const { track, track_upload } = await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    expect([track.status, track.info]).toEqual(['initializing', {}])
    expect(Date.parse(track_upload.expires_at)).toBeGreaterThan(Date.now())
    await upload(key, track_id)
  })

  it('of a track whose file was empty lets it start again', async () => {
    serveTranscoder()
    const { key, collection_id } = await aShop()
    const { track_id, track_upload } = await ok('POST', '/v1/track', {
      key,
      body: { collection_id, file_name: 'a.mp3' },
    })
    await env.MEDIA.put(pathOf(track_upload.upload_url), '')
    expect((await ok('GET', `/v1/track/${track_id}`, { key })).track.info.error.code).toBe('empty_file')
    await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    await upload(key, track_id)
  })

  it('of a ready track leads to a fresh place; it plays what it has until the new file is processed', async () => {
    serveTranscoder()
    const { key, track_id, read, renew, plays } = await aPlayedTrack()
    const before = await plays()
    const [{ upload_path: old } = { upload_path: '' }] = await query<{ upload_path: string }>(
      'select upload_path from tracks',
    )
    const { body } = await renew({ file_name: 'take two.wav' })
    expect([body.track.status, body.track.file_name]).toEqual(['ready', 'take two.wav'])
    const fresh = pathOf(body.track_upload.upload_url)
    expect(fresh).not.toBe(old)
    // Bytes at the old place are nobody's.
    await env.MEDIA.put(old, 'changed')
    await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    expect([(await read()).status, await plays()]).toEqual(['ready', before])
    await env.MEDIA.put(fresh, 'RIFF take two')
    const { track } = await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    expect(track.status).toBe('processing')
    expect(await plays()).toHaveLength(before.length)
    await eventually(async () => (await read()).status === 'ready')
    expect((await plays()).filter((path) => before.includes(path))).toEqual([])
    expect(await storedFiles(old)).toContain(old)
    laterBy(3)
    await sweep()
    await eventually(async () => (await storedFiles('media/')).every((path) => !before.includes(path)))
    await eventually(async () => !(await storedFiles()).includes(old))
    expect(await storedFiles()).toEqual(expect.arrayContaining([fresh, ...(await plays())]))
  })

  it('is refused for a file that would be too large', async () => {
    serveTranscoder()
    const { renew } = await aPlayedTrack()
    const { status, body } = await renew({ file_size: Number(env.MAX_UPLOAD_BYTES) + 1 })
    expect([status, body.code]).toEqual([413, 'file_too_large'])
  })

  it('keeps a ready track ready when its new file never comes or is empty', async () => {
    serveTranscoder()
    const { read, renew, plays } = await aPlayedTrack()
    const before = await plays()
    const { body } = await renew()
    await env.MEDIA.put(pathOf(body.track_upload.upload_url), '')
    const refused = await read()
    expect([refused.status, refused.info.error.code]).toEqual(['ready', 'empty_file'])
    await renew()
    laterBy(3)
    await sweep()
    expect([(await read()).status, await plays()]).toEqual(['ready', before])
  })
})

describe('reprocess', () => {
  it('is 409 for a track that never had a file', async () => {
    const { key, collection_id } = await aShop()
    const track_id = await aWaitingTrack(key, collection_id)
    const { status, body } = await call('POST', `/v1/track/${track_id}/reprocess`, { key })
    expect([status, body.code]).toEqual([409, 'track_not_uploaded'])
  })

  it('makes the variants again; the track plays on, and the old files go when nobody can be playing them', async () => {
    const jobs = serveTranscoder()
    const { read, reprocess, plays } = await aPlayedTrack()
    const before = await plays()
    const { body } = await reprocess()
    expect(body.track.status).toBe('processing')
    expect(await plays()).toHaveLength(before.length)
    await eventually(async () => (await read()).status === 'ready')
    expect(jobs.length).toBe(2)
    expect(jobs[1]!.source.url.split('?')[0]).toBe(jobs[0]!.source.url.split('?')[0])
    const after = await plays()
    expect(after.filter((path) => before.includes(path))).toEqual([])
    await sweep()
    expect(await storedFiles()).toEqual(expect.arrayContaining([...before, ...after]))
    laterBy(3)
    await sweep()
    await eventually(async () => (await storedFiles()).every((path) => !before.includes(path)))
    // The upload itself is the variant `original`, and stays.
    expect(await storedFiles('uploads/')).toHaveLength(1)
    expect(await storedFiles()).toEqual(expect.arrayContaining(after))
  })

  it('runs once, however often it is asked for', async () => {
    let finish = () => undefined as void
    const { promise, resolve } = Promise.withResolvers<void>()
    let first = true
    const jobs = serveTranscoder(async (job) => {
      if (!first) await promise
      first = false
      return made(job)
    })
    finish = resolve
    const { read, reprocess } = await aPlayedTrack()
    const answers = await Promise.all([1, 2, 3, 4].map(reprocess))
    expect(answers.map(({ body }) => body.track.status)).toEqual(Array(4).fill('processing'))
    expect(await query(`select id from jobs where state = 'open'`)).toHaveLength(1)
    finish()
    await eventually(async () => (await read()).status === 'ready')
    expect(jobs.length).toBe(2)
  })

  it('that fails keeps the variants and says incomplete, and why', async () => {
    let fails = false
    serveTranscoder((job) => (fails ? noAudio : made(job)))
    const { read, reprocess, plays } = await aPlayedTrack()
    const before = await plays()
    fails = true
    await reprocess()
    await eventually(async () => (await read()).status === 'incomplete')
    expect((await read()).info.error).toMatchObject({ code: 'no_audio', message: 'No audio' })
    expect(await plays()).toEqual(before)
    expect(await storedFiles()).toEqual(expect.arrayContaining(before))
    fails = false
    await reprocess()
    await eventually(async () => (await read()).status === 'ready')
    expect((await read()).info.error).toBe(undefined)
  })

  it('lets a failed track try again', async () => {
    let fails = true
    serveTranscoder((job) => (fails ? noAudio : made(job)))
    const { key, collection_id } = await aShop()
    const track_id = await aWaitingTrack(key, collection_id)
    await upload(key, track_id, 'failed')
    fails = false
    await ok('POST', `/v1/track/${track_id}/reprocess`, { key })
    await eventually(async () => (await ok('GET', `/v1/track/${track_id}`, { key })).track.status === 'ready')
  })
})
