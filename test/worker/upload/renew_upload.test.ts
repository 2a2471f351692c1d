import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { aWaitingTrack, createTrack, ok, query, readTrack } from '../support/api.ts'
import { aTenant, eventually, advanceHours, storedFiles, runSweep } from '../support/fixtures.ts'
import { aPlayedTrack } from '../support/played_track.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { errorEvent, serveTranscoder } from '../support/transcoder.ts'
import { pathOf } from '../support/upload_handles.ts'

afterEach(() => void vi.useRealTimers())

describe('a new upload URL', () => {
  it('points to a new path for a track that still waits for its file', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const { track_id, track_upload: first } = await createTrack(key, collection_id)
    const renewed = await ok('POST', `/v1/track/${track_id}/upload`, { key, body: { file_name: 'b.flac' } })
    expect(pathOf(renewed.track_upload.upload_url)).not.toBe(pathOf(first.upload_url))
    expect(renewed.track).toMatchObject({ status: 'initializing', file_name: 'b.flac', file_name_original: 'b.flac' })
    await uploadAndProcess(key, track_id)
  })

  it('restarts a track whose previous URL expired', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    advanceHours(2)
    await runSweep()
    const failed = await readTrack(key, track_id)
    expect([failed.status, failed.info.error!.code]).toEqual(['failed', 'upload_expired'])
    const { track, track_upload } = await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    expect([track.status, track.info]).toEqual(['initializing', {}])
    expect(Date.parse(track_upload.expires_at)).toBeGreaterThan(Date.now())
    await uploadAndProcess(key, track_id)
  })

  it('restarts a track whose previous file was empty', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const { track_id, track_upload } = await createTrack(key, collection_id)
    await env.MEDIA.put(pathOf(track_upload.upload_url), '')
    expect((await readTrack(key, track_id)).info.error!.code).toBe('empty_file')
    await ok('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    await uploadAndProcess(key, track_id)
  })

  it('points to a new path for a ready track, which plays its old file until the new file is processed', async () => {
    serveTranscoder()
    const { key, track_id, read, renew, plays } = await aPlayedTrack()
    const before = await plays()
    const [{ upload_path: old } = { upload_path: '' }] = await query<{ upload_path: string }>(
      'select upload_path from tracks',
    )
    const { body } = await renew({ file_name: 'take two.wav' })
    // The track keeps the name of the file that it plays.
    expect([body.track.status, body.track.file_name]).toEqual(['ready', 'So What.mp3'])
    const fresh = pathOf(body.track_upload.upload_url)
    expect(fresh).not.toBe(old)
    // A file at the old path is ignored.
    await env.MEDIA.put(old, 'changed')
    await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    expect([(await read()).status, await plays()]).toEqual(['ready', before])
    await env.MEDIA.put(fresh, 'RIFF\0take two')
    const { track } = await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    expect([track.status, track.file_name]).toEqual(['processing', 'So What.mp3'])
    expect(await plays()).toHaveLength(before.length)
    await eventually(async () => (await read()).status === 'ready')
    expect((await plays()).filter((path) => before.includes(path))).toEqual([])
    expect((await read()).file_name).toBe('take two.wav')
    expect(await storedFiles(old)).toContain(old)
    advanceHours(3)
    await runSweep()
    await eventually(async () => (await storedFiles('media/')).every((path) => !before.includes(path)))
    await eventually(async () => !(await storedFiles()).includes(old))
    expect(await storedFiles()).toEqual(expect.arrayContaining([fresh, ...(await plays())]))
  })

  it('leaves no file behind at an earlier URL', async () => {
    serveTranscoder()
    const { key, track_id, read, renew } = await aPlayedTrack()
    const send = async () => {
      const path = pathOf((await renew()).body.track_upload.upload_url)
      await env.MEDIA.put(path, 'RIFF\0another')
      return path
    }
    const complete = () => ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    // Three of the earlier uploads are never completed, and one fails. The last upload is processed.
    for (let n = 0; n < 3; n++) await send()
    serveTranscoder(() => errorEvent('no_audio', 'No audio'))
    await send()
    await complete()
    await eventually(async () => (await read()).status === 'incomplete')
    serveTranscoder()
    const last = await send()
    await complete()
    await eventually(async () => (await read()).status === 'ready')
    // Three files are left: the file that played before, the file that failed, and the last file.
    expect(await storedFiles('uploads/')).toHaveLength(3)
    advanceHours(3)
    await runSweep()
    await eventually(async () => (await storedFiles('uploads/')).length === 1)
    expect(await storedFiles('uploads/')).toEqual([last])
  })

  it('is refused for a file that exceeds the size limit', async () => {
    serveTranscoder()
    const { renew } = await aPlayedTrack()
    const { status, body } = await renew({ file_size: Number(env.MAX_UPLOAD_BYTES) + 1 })
    expect([status, body.code]).toEqual([413, 'file_too_large'])
  })

  it('leaves a ready track ready when the new file never arrives or is empty', async () => {
    serveTranscoder()
    const { read, renew, plays } = await aPlayedTrack()
    const before = await plays()
    const { body } = await renew()
    await env.MEDIA.put(pathOf(body.track_upload.upload_url), '')
    const refused = await read()
    expect([refused.status, refused.info.error!.code]).toEqual(['ready', 'empty_file'])
    await renew()
    advanceHours(3)
    await runSweep()
    expect([(await read()).status, await plays()]).toEqual(['ready', before])
  })
})
