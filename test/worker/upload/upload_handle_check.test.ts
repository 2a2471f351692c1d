import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { aWaitingTrack, call, ok, query } from '../support/api.ts'
import {
  aTenant,
  deliver,
  eventually,
  advanceHours,
  runSweep,
  storedFiles,
  trackRow,
  uploadEvent,
} from '../support/fixtures.ts'
import { aTrackWithHandles, pathOf, putFile, serveSources } from '../support/upload_handles.ts'

/** Tests the check of upload handles after their URLs have expired (docs/decisions/0063). */

afterEach(() => void vi.useRealTimers())

describe('an upload handle', () => {
  it('is checked when it expires, even if no notification arrived', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await track.renew()
    await putFile(track.first, 12)
    await query('update tracks set next_check_at = 9e15')
    advanceHours(3)
    await runSweep()
    await track.isOnly(12, 'a.wav', [])
  })

  it.each(['was replaced', 'was refused'])(
    'that %s leaves no file behind, even if a file arrives after its expiry',
    async (how) => {
      serveSources()
      const track = await aTrackWithHandles()
      if (how === 'was refused') {
        await env.MEDIA.put(pathOf(track.first), '')
        expect((await track.complete()).status).toBe('failed')
        await putFile(track.first, 12)
      }
      await putFile(await track.renew({ file_name: 'b.wav' }), 25)
      await track.complete()
      await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
      advanceHours(3)
      await runSweep()
      await eventually(
        async () => (await query('select 1 from upload_handles where path = ?', pathOf(track.first))).length === 0,
      )
      await putFile(track.first, 12)
      await deliver('ingest', uploadEvent(pathOf(track.first)))
      await track.isOnly(25, 'b.wav', how === 'was refused' ? [['a.wav', 12]] : [])
    },
  )

  it('of a trashed track keeps the file that is sent to it', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { key } = track
    const renewed = await track.renew({ file_name: 'b.wav' })
    await ok('DELETE', `${track.at}?trash=true`, { key })
    await putFile(renewed, 12)
    advanceHours(3)
    await runSweep()
    await eventually(
      async () =>
        (await query('select 1 from upload_handles where path = ? and check_at > ?', pathOf(renewed), Date.now()))
          .length === 1,
    )
    expect(await storedFiles('uploads/')).toEqual([pathOf(renewed)])
    await ok('POST', `/v1/trash/${track.track_id}/restore`, { key })
    await track.complete()
    await track.isOnly(12, 'b.wav', [])
  })

  it('that received a file in the trash is listed when a newer file replaces it', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { key } = track
    const renewed = await track.renew({ file_name: 'b.wav' })
    await ok('DELETE', `${track.at}?trash=true`, { key })
    await putFile(renewed, 12)
    advanceHours(3)
    await runSweep()
    await ok('POST', `/v1/trash/${track.track_id}/restore`, { key })
    await putFile(await track.renew({ file_name: 'c.wav' }), 13)
    await track.complete()
    await track.isOnly(13, 'c.wav', [['b.wav', 12]])
  })

  it('that received a file in the trash is used when a newer upload in parts is aborted', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { key } = track
    await putFile(track.first, 9)
    await track.complete()
    await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    const renewed = await track.renew({ file_name: 'b.wav' })
    await ok('DELETE', `${track.at}?trash=true`, { key })
    await putFile(renewed, 12)
    advanceHours(3)
    await runSweep()
    await ok('POST', `/v1/trash/${track.track_id}/restore`, { key })
    const { multipart_upload } = await ok('POST', `${track.at}/multipart`, { key, body: { file_size: 12 } })
    await ok('DELETE', `${track.at}/multipart/${multipart_upload.id}`, { key })
    await track.complete()
    await track.isOnly(12, 'b.wav', [])
  })

  it('of a deleted track has no row a week later', async () => {
    const track = await aTrackWithHandles()
    await track.renew()
    advanceHours(30 * 24)
    await runSweep()
    await ok('DELETE', track.at, { key: track.key })
    advanceHours(8 * 24)
    await runSweep()
    expect(await query('select * from upload_handles where track_id = ?', track.track_id)).toEqual([])
  })

  it('of a deleted track keeps no file that is sent to it', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aWaitingTrack(key, collection_id)
    const { body } = await call('POST', `/v1/track/${track_id}/upload`, { key, body: {} })
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    await putFile(body.track_upload.upload_url, 12)
    advanceHours(3)
    await runSweep()
    await eventually(async () => (await storedFiles()).length === 0)
  })
})
