import { afterEach, describe, expect, it, vi } from 'vitest'

import { ok, query } from '../support/api.ts'
import {
  beforeBatch,
  deliver,
  eventually,
  advanceHours,
  runSweep,
  storedFiles,
  trackRow,
  uploadEvent,
} from '../support/fixtures.ts'
import { errorEvent, serveTranscoder } from '../support/transcoder.ts'
import { aTrackWithHandles, pathOf, putFile, serveSources, serveWaiting } from '../support/upload_handles.ts'

/** Tests that the complete file of the newest upload handle is used (docs/decisions/0063). */

afterEach(() => void vi.useRealTimers())

describe('a file at a renewed URL that is sent after the first file was detected', () => {
  it('becomes the file of the track when the first file is ready', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await putFile(track.first, 12)
    const renewed = await track.renew({ file_name: 'b.wav' })
    await track.read()
    await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    await putFile(renewed, 25)
    expect((await track.complete()).status).toBe('processing')
    await track.isOnly(25, 'b.wav', [])
  })

  it("can be found by its name in any script when it has become the track's file", async () => {
    serveSources()
    const track = await aTrackWithHandles('Ёлка.wav')
    const found = async (q: string) => (await ok('GET', `/v1/track?q=${q}`, { key: track.key })).count
    const processed = async (q: string) => {
      await track.complete()
      await eventually(async () => (await found(q)) === 1)
    }
    await putFile(track.first, 12)
    await processed('елка')
    await putFile(await track.renew({ file_name: 'Αθήνα.wav' }), 25)
    await processed('αθηνα')
    expect(await found('елка')).toBe(0)
    await putFile(await track.renew({ file_name: 'plain.wav' }), 14)
    await processed('plain')
    expect(await found('αθηνα')).toBe(0)
  })

  it('becomes the file of the track while the first file is queued', async () => {
    serveSources(() => true)
    const track = await aTrackWithHandles()
    await putFile(track.first, 12)
    const renewed = await track.renew({ file_name: 'b.wav' })
    expect((await track.read()).status).toBe('processing')
    await putFile(renewed, 25)
    expect((await track.complete()).status).toBe('processing')
    await serveWaiting()
    await track.isOnly(25, 'b.wav', [['a.wav', 12]])
    const sizes = await query(`select data ->> 'size' as size from events where type = 'track.uploaded' order by seq`)
    expect(sizes).toEqual([{ size: 12 }, { size: 25 }])
  })
})

describe('a track with several upload handles', () => {
  it.each(['first to last', 'last to first'])('uses the newest file when files are sent from the %s', async (order) => {
    serveSources(() => true)
    const track = await aTrackWithHandles()
    const urls = [track.first]
    for (let n = 1; n <= 10; n++) urls.push(await track.renew({ file_name: `${n}.wav` }))
    expect(new Set(urls.map(pathOf)).size).toBe(11)
    const files = urls.map((url, n) => ({ url, name: n === 0 ? 'a.wav' : `${n}.wav`, seconds: 10 + n }))
    const sent = order === 'first to last' ? files : files.toReversed()
    for (const { url, seconds } of sent) {
      await putFile(url, seconds)
      await track.complete()
    }
    await serveWaiting()
    const replaced = sent.filter(({ name }) => name !== '10.wav').map(({ name, seconds }) => [name, seconds])
    await track.isOnly(20, '10.wav', replaced as [string, number][])
  })

  it('uses an older file under the name of that file when no file arrives at the newest handle', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const used = await track.renew({ file_name: 'used.wav' })
    await track.renew({ file_name: 'unused.wav' })
    await putFile(used, 12)
    expect(await track.complete()).toMatchObject({ status: 'processing', file_name: 'used.wav' })
    await track.isOnly(12, 'used.wav', [])
  })

  it('lists the older of two replaced files in info, regardless of how the file is detected', async () => {
    serveSources()
    for (const detection of ['complete', 'event', 'the end of its URL'] as const) {
      const track = await aTrackWithHandles()
      await putFile(track.first, 9)
      await track.complete()
      await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
      const [older, newer] = [await track.renew({ file_name: 'o.wav' }), await track.renew({ file_name: 'n.wav' })]
      expect((await track.read()).file_name).toBe('a.wav')
      await putFile(newer, 12)
      await track.complete()
      await putFile(older, 25)
      if (detection === 'complete') await track.complete()
      if (detection === 'event') await deliver('ingest', uploadEvent(pathOf(older)))
      if (detection !== 'the end of its URL') expect(await storedFiles('uploads/')).not.toContain(pathOf(older))
      else {
        await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
        advanceHours(4)
        await runSweep()
        await eventually(async () => !(await storedFiles('uploads/')).includes(pathOf(older)))
      }
      await track.isOnly(12, 'n.wav', [['o.wav', 25]])
      await ok('DELETE', track.at, { key: track.key })
      advanceHours(8)
      await runSweep()
      await eventually(async () => (await storedFiles()).length === 0)
      vi.useRealTimers()
    }
  })

  it('lists a replaced file without a name under the name that the track had when the URL was issued', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    await putFile(track.first, 9)
    await track.complete()
    await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    const unnamed = await track.renew()
    await putFile(await track.renew({ file_name: 'b.wav' }), 12)
    await track.complete()
    await eventually(async () => (await trackRow(track.track_id)).file_name === 'b.wav')
    await putFile(unnamed, 25)
    await track.complete()
    await track.isOnly(12, 'b.wav', [['a.wav', 25]])
  })

  it('keeps the order of its handles even if the clock is set back', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    advanceHours(5)
    const later = await track.renew({ file_name: 'b.wav' })
    vi.useRealTimers()
    const last = await track.renew({ file_name: 'c.wav' })
    await putFile(later, 12)
    await putFile(last, 13)
    await track.complete()
    await track.isOnly(13, 'c.wav', [['b.wav', 12]])
  })

  it('does not restart processing when a URL is requested while the first file is detected', async () => {
    serveSources(() => true)
    const track = await aTrackWithHandles()
    await putFile(track.first, 12)
    const bindings = beforeBatch(async () => void (await track.complete()))
    const { track: renewed } = await ok('POST', `${track.at}/upload`, { key: track.key, body: {}, bindings })
    expect(renewed).toMatchObject({ status: 'processing', info: { progress: 0 } })
  })
})

describe('a file that replaces the file of a playing track', () => {
  it('renames the track when its variants are ready, but not when it fails', async () => {
    serveSources()
    const track = await aTrackWithHandles()
    const { key } = track
    await putFile(track.first, 9)
    await track.complete()
    await eventually(async () => (await trackRow(track.track_id)).status === 'ready')
    const jobs = serveTranscoder(() => errorEvent('no_audio', 'No audio'))
    await putFile(await track.renew({ file_name: 'b.wav' }), 12)
    expect(await track.complete()).toMatchObject({ status: 'processing', file_name: 'a.wav' })
    await eventually(async () => (await trackRow(track.track_id)).status === 'incomplete')
    expect(await track.read()).toMatchObject({ file_name: 'a.wav', file_name_original: 'a.wav', duration: 9 })
    expect(jobs.map(({ tags }) => tags!.defaults.title)).toEqual(['b'])
    // The sweep checks the handle, but keeps it, because it has the name of the failed file.
    advanceHours(8 * 24)
    await runSweep()
    serveSources()
    await ok('POST', `${track.at}/reprocess`, { key })
    await track.isOnly(12, 'b.wav', [])
    advanceHours(24 * 24)
    await runSweep()
    expect(await query('select * from upload_handles')).toEqual([])
  })
})
