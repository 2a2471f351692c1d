import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { aPlaySession, aVariant, indexesOf, query, expectError } from '../support/api.ts'
import { aReadyTrack, eventually, advanceHours, runSweep, storedFiles } from '../support/fixtures.ts'
import { aLongTrack, early } from '../support/long_track.ts'
import { isSignedFor } from '../support/signature.ts'
import { errorEvent, eventStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** The listener's view of a track's early file, which lets long files play before processing ends. */

let work: Awaited<ReturnType<typeof aLongTrack>>
beforeEach(async () => {
  work = await aLongTrack()
})
afterEach(async () => {
  vi.useRealTimers()
  await work.leave()
})

describe('an early file', () => {
  it('plays at once, and its view is marked as preliminary', async () => {
    await work.startEarly()
    const { status, body } = await work.view()
    expect(status).toBe(200)
    expect(body.track).toMatchObject({ status: 'processing', duration: 3600.123, is_preliminary: true })
    expect(body.levels).toEqual({ levels: [] })
    expect(body.variants).toEqual([
      { path: `${work.base}/early`, url: expect.any(String), variant: { index: 'early' } },
    ])
    expect(await isSignedFor('GET', body.variants[0]!.url)).toBe(true)
    const track = await work.read()
    expect(track).toMatchObject({ status: 'processing', duration: 3600.123, info: { progress: expect.any(Number) } })
    const made = await work.session()
    expect(made.tracks).toMatchObject([{ id: work.track_id, duration: 3600.123 }])
    expect(made.first_track).toMatchObject({
      track: { is_preliminary: true },
      variants: [{ path: `${work.base}/early` }],
    })
  })

  it('is replaced by all variants in one step, and is kept while a URL to it is valid', async () => {
    await work.startEarly()
    const { play_session_id } = await work.session()
    await work.end(lossyResult())
    const { body } = await work.viewIn(play_session_id)
    expect(body.track).toMatchObject({ status: 'ready', duration: 12.346, is_preliminary: false })
    expect(indexesOf(body)).toEqual(['aac-160', 'mp3-128', 'opus-96'])
    expect((await work.rows()).some(({ is_early }) => is_early)).toBe(false)
    advanceHours(1)
    await runSweep()
    expect(await storedFiles('media/')).toEqual([`${work.base}/early`])
    advanceHours(2)
    await runSweep()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })

  it("that is also a final variant plays under that variant's name, and is kept as that variant", async () => {
    await work.startEarly(early({ index: 'lossless', bitrate: 900 }))
    expect(indexesOf((await work.view(['aac-160', 'lossless'])).body)).toEqual(['lossless'])
    expect((await work.view(['lossless'])).body.track.is_preliminary).toBe(true)
    expect((await work.view(['aac-160', 'original'])).status).toBe(409)
    await work.end(
      lossyResult({ variants: [{ index: 'lossless', size: 1000, bitrate: 900, duration: 12.3456 }], skipped: [] }),
    )
    const { body } = await work.view(['lossless'])
    expect(body).toMatchObject({ track: { is_preliminary: false }, variants: [{ path: `${work.base}/lossless.flac` }] })
    advanceHours(3)
    await runSweep()
    expect(await storedFiles('media/')).toEqual([`${work.base}/lossless.flac`])
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'purge'`)).toEqual([])
  })

  it.each([
    ['with the usual variants', undefined, 1411, true],
    ['with lossless ones', ['lossless'], 1411, true],
    ['with the upload', ['original'], 1411, true],
    ['with better ones', ['aac-160', 'mp3-128'], 128, true],
    ['with equal ones', ['mp3-128'], 128, true],
    ['with worse ones', ['mp3-128', 'opus-96'], 129, false],
    ['with previews', ['preview'], 32, false],
    ['with data', ['waveform', 'analysis'], 32, false],
    ['with a custom variant', ['radio'], 320, true],
    ['with a worse custom one', ['radio', 'aac-160'], 321, false],
    ['with a custom mono variant', ['mono'], 64, false],
    ['with a custom mono FLAC', ['mono-flac'], 64, false],
    ['with a custom preview', ['teaser'], 64, false],
    ['with a custom FLAC', ['flac'], 1411, true],
  ])('in a session %s (%j) and with a bitrate of %i kbit/s is played: %j', async (_, variants, bitrate, plays) => {
    for (const body of [
      { name: 'Radio', codec: 'mp3', bitrate: 320 },
      { name: 'Mono', codec: 'mp3', bitrate: 320, channels: 1 },
      { name: 'Mono FLAC', codec: 'flac', channels: 1 },
      { name: 'Teaser', codec: 'mp3', bitrate: 320, type: 'preview' },
      { name: 'FLAC', codec: 'flac' },
    ]) {
      await aVariant(work.key, body)
    }
    await work.startEarly(early({ bitrate }))
    const { play_session_id, first_track } = await work.session({ variants })
    const { status, body } = await work.viewIn(play_session_id)
    expect([status, first_track !== null]).toEqual(plays ? [200, true] : [409, false])
    if (!plays) expect(body.code).toBe('track_not_ready')
  })

  it('is skipped by sessions that may not play it, and the next track becomes their first track', async () => {
    await work.startEarly()
    const next = await aReadyTrack(work.key, work.collection_id)
    const { key, collection_id } = work
    const { first_track, tracks } = await aPlaySession(key, 'collection', collection_id, { variants: ['preview'] })
    expect([first_track!.track_id, tracks.length]).toEqual([next, 2])
    const all = await aPlaySession(key, 'collection', collection_id)
    expect(all.first_track!.track_id).toBe(work.track_id)
  })

  it.each([early(), early({ index: 'lossless' })])('cannot be downloaded: %j', async (event) => {
    await work.startEarly(event)
    const { play_session_id } = await work.session({ is_downloadable: true })
    for (const index of ['early', 'lossless', 'aac-160']) {
      const path = `/v1/play/${play_session_id}/${work.track_id}/${index}/download`
      await expectError(409, 'track_not_ready', 'GET', path)
    }
  })

  it('returns 404 when it is downloaded after the track has been processed', async () => {
    await work.startEarly()
    await work.end(lossyResult())
    const { play_session_id } = await work.session({ is_downloadable: true })
    await expectError(404, 'not_found', 'GET', `/v1/play/${play_session_id}/${work.track_id}/early/download`)
  })

  it('is reported again to a consumer that attaches again, which changes nothing', async () => {
    await work.startEarly()
    await work.end(early())
    startTranscoder({ transcode: () => eventStream(early(), early(), { type: 'ping' }) })
    await work.changeJob({ lease_until: 0 })
    const before = await work.rows()
    await work.run()
    expect(await work.rows()).toEqual(before)
    expect(await query(`select 1 from jobs where payload ->> 'kind' = 'purge'`)).toEqual([])
    expect((await work.view()).status).toBe(200)
  })

  it('is removed when the job fails, because no variants will replace it', async () => {
    await work.startEarly()
    const { play_session_id } = await work.session()
    await work.end(errorEvent('decode_failed', 'The audio is damaged'))
    expect(await work.read()).toMatchObject({
      status: 'failed',
      duration: 0,
      info: { error: { code: 'decode_failed' } },
    })
    expect((await work.viewIn(play_session_id)).body.code).toBe('track_not_ready')
    expect(await work.rows()).toEqual([])
    expect(await storedFiles('media/')).toEqual([`${work.base}/early`])
    advanceHours(3)
    await runSweep()
    await eventually(async () => (await storedFiles('media/')).length === 0)
  })

  it('continues to play during the tolerant pass', async () => {
    await work.startEarly()
    work.stream.send({ type: 'fallback', reason: 'decoding failed' })
    await eventually(async () => (await work.read()).status === 'fallback_processing')
    expect((await work.view()).body.track).toMatchObject({ status: 'fallback_processing', is_preliminary: true })
  })
})
