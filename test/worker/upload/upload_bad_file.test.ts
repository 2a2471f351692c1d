import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { call } from '../support/api.ts'
import { beforeBatch, eventually, storedFiles, trackRow } from '../support/fixtures.ts'
import { aTrackWithHandles, pathOf, putFile, serveSources } from '../support/upload_handles.ts'

/** Files that are rejected without decoding, when the track has several upload handles (docs/decisions/0063). */

afterEach(() => void vi.useRealTimers())

describe('a rejected file', () => {
  it('at an older handle is deleted', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await env.MEDIA.put(pathOf(track.first), 'Dear diary, ')
    const renewed = await track.renew()
    expect((await track.read()).status).toBe('initializing')
    expect(await storedFiles('uploads/')).toEqual([])
    await putFile(renewed, 12)
    await track.complete()
    await track.isOnly(12, 'a.wav', [])
  })

  it.each(['one check', 'two checks'])(
    'at the newest handle does not replace a valid older file when both are detected in %s',
    async (checks) => {
      serveSources()
      const track = await aTrackWithHandles()
      const renewed = await track.renew({ file_name: 'b.wav' })
      await putFile(track.first, 12)
      if (checks === 'two checks') await track.complete()
      await env.MEDIA.put(pathOf(renewed), '')
      expect((await track.complete()).status).not.toBe('failed')
      await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
      await track.complete()
      expect(await trackRow(track.track_id)).toMatchObject({ status: 'ready', awaiting_upload: false })
      await track.isOnly(12, 'a.wav', [])
    },
  )

  it('at the newest handle does not make the track fail when an older file is accepted during the same check', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await putFile(track.first, 12)
    await env.MEDIA.put(pathOf(await track.renew()), '')
    let times = 0
    // Before the check accepts the older file, another request accepts it and its job ends.
    const bindings = beforeBatch(async () => {
      if (times++ > 0) return
      await track.complete()
      await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    })
    const { body } = await call('POST', `${track.at}/upload_complete`, { key: track.key, bindings })
    expect(body.track.status).toBe('ready')
    await track.isOnly(12, 'a.wav', [])
  })
})
