import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { uploadPath } from '../../../src/adapters/bucket/track_paths.ts'
import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import { aTrack, DAY, db, ok, readTrack, expectError } from '../support/api.ts'
import {
  aTenant,
  deliver,
  eventually,
  jobRow,
  runSweep,
  trackRow,
  putUpload,
  uploadEvent,
} from '../support/fixtures.ts'
import { eventStream, lossyResult, startTranscoder } from '../support/transcoder.ts'

/** Uploads that arrive in time, late, empty, or never (docs/architecture.md#how-audio-flows). */

let key: string
let row: Awaited<ReturnType<typeof trackRow>>
beforeEach(async () => {
  const tenant = await aTenant()
  ;({ key } = tenant)
  row = await trackRow((await aTrack(key, tenant.collection_id)).id)
})
const read = () => readTrack(key, row.id)
const complete = async () => (await ok('POST', `/v1/track/${row.id}/upload_complete`, { key })).track
const event = () => deliver('ingest', uploadEvent(uploadPath(row)))
const change = (values: Partial<typeof row>) => db.update(tracks).set(values).where(eq(tracks.id, row.id))
/** Makes the next check of the track due, and runs the sweep. */
const sweepNow = async () => {
  await change({ next_check_at: 0 })
  await runSweep()
}
/** Makes the upload URL expire. */
const lapse = () => change({ upload_expires_at: Date.now() - 1, next_check_at: 0 })
const allJobs = () => db.select().from(jobs)

describe('an upload that arrived', () => {
  it.each([
    ["R2's event", event],
    ['reading the track', read],
    ['upload_complete', complete],
    ['the sweep', sweepNow],
  ])('starts a job through %s', async (_, reach) => {
    await putUpload(row)
    await reach()
    const [job, ...others] = await allJobs()
    expect(others).toEqual([])
    expect(await trackRow(row.id)).toMatchObject({ status: 'processing', job_id: job!.id })
    expect(job!.payload).toMatchObject({
      kind: 'transcode',
      track_id: row.id,
      source_path: uploadPath(row),
      source_size: 10,
    })
  })

  it('starts only one job when it is detected in all four ways, several times and simultaneously', async () => {
    await putUpload(row)
    const four = () => [event(), read(), complete(), sweepNow()]
    await Promise.all([...four(), ...four()])
    await Promise.all(four())
    expect(await allJobs()).toHaveLength(1)
    expect((await read()).status).toBe('processing')
  })

  it('is processed through the queue', async () => {
    const { transcodes } = startTranscoder({ transcode: () => eventStream({ type: 'ping' }, lossyResult()) })
    await putUpload(row)
    expect(await complete()).toMatchObject({ status: 'processing', info: { progress: 0 } })
    await eventually(async () => (await read()).status === 'ready')
    expect(transcodes).toHaveLength(1)
  })

  it('does not start another job when it is overwritten', async () => {
    await putUpload(row)
    await event()
    await putUpload(row, 'something else')
    await event()
    expect(await allJobs()).toHaveLength(1)
  })

  it('is reported as processing by the update that detects it', async () => {
    await putUpload(row)
    const { track } = await ok('PUT', `/v1/track/${row.id}`, { key, body: { title: 'So What' } })
    expect(track).toMatchObject({ status: 'processing', track_status_id: 'processing', player_title: 'So What' })
  })
})

describe('the check of an upload', () => {
  it.each([
    ['text_file', 'This is not a song.\n'],
    ['text_file', '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nRIFF\0\0'],
    ['playlist_file', '#EXTM3U\nhttp://localhost/a.mp3\n'],
    ['image_file', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
    ['archive_file', 'PK\x03\x04\x14\0'],
  ])('rejects an unusable file at once with %s, regardless of the length of the queue', async (code, bytes) => {
    startTranscoder({ transcode: () => new Response('busy', { status: 503 }) })
    await env.MEDIA.put(
      uploadPath(row),
      Uint8Array.from(bytes, (c) => c.charCodeAt(0)),
    )
    expect(await complete()).toMatchObject({ status: 'failed', info: { error: { code, attempt: 0 } } })
    expect(await allJobs()).toEqual([])
    expect(await env.MEDIA.head(uploadPath(row))).toBe(null)
  })

  it('accepts a file that starts with a long ID3 tag', async () => {
    const tag = Uint8Array.of(0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0x40, 0, ...new Uint8Array(8192), 0xff, 0xfb, 0x90, 0)
    await env.MEDIA.put(uploadPath(row), tag)
    expect(await complete()).toMatchObject({ status: 'processing' })
  })

  it('makes the track fail permanently with empty_file when the file is empty', async () => {
    await putUpload(row, '')
    expect(await complete()).toMatchObject({
      status: 'failed',
      track_status_id: 'failed',
      info: { error: { code: 'empty_file', message: expect.stringContaining('empty'), attempt: 0 } },
    })
    await putUpload(row, 'late bytes')
    await event()
    expect((await read()).status).toBe('failed')
    expect(await allJobs()).toEqual([])
  })

  it('makes the track fail with file_too_large when the file is too large, and deletes the file', async () => {
    await putUpload(row, 'x'.repeat(1_000_001))
    await event()
    expect((await read()).info.error).toMatchObject({ code: 'file_too_large' })
    expect(await env.MEDIA.head(uploadPath(row))).toBeNull()
  })

  it('accepts a file of exactly the maximum size', async () => {
    await putUpload(row, '\0'.repeat(1_000_000))
    await event()
    expect((await read()).status).toBe('processing')
  })
})

describe('a missing upload', () => {
  it('is awaited until its URL expires', async () => {
    await sweepNow()
    const { next_check_at } = await trackRow(row.id)
    expect(next_check_at).toBeGreaterThan(Date.now() + 50_000)
    expect((await read()).status).toBe('initializing')
  })

  it('makes the track fail with upload_expired when its URL has expired', async () => {
    await lapse()
    await runSweep()
    expect(await read()).toMatchObject({ status: 'failed', info: { error: { code: 'upload_expired' } } })
  })

  it('is accepted when it arrives late, and the failed track is processed', async () => {
    await lapse()
    expect((await read()).status).toBe('failed')
    await putUpload(row)
    await event()
    const track = await read()
    expect(track.status).toBe('processing')
    expect(track.info).not.toHaveProperty('error')
  })
})

describe("R2's events", () => {
  it('are acknowledged when they do not refer to a track', async () => {
    const { organization_id, collection_id } = row
    for (const object of [
      `uploads/${organization_id}/${collection_id}/cover-0123456789ab`,
      `uploads/${organization_id}/${collection_id}/${crypto.randomUUID()}`,
      `media/${organization_id}/${collection_id}/x/aac-160.m4a`,
    ]) {
      expect(await deliver('ingest', uploadEvent(object))).toMatchObject({ acknowledged: true })
    }
    expect(await allJobs()).toEqual([])
  })

  it('are acknowledged when their track was deleted', async () => {
    await putUpload(row)
    await ok('DELETE', `/v1/track/${row.id}`, { key })
    expect(await event()).toMatchObject({ acknowledged: true })
    await expectError(404, 'not_found', 'GET', `/v1/track/${row.id}`, { key })
    expect((await allJobs()).map(({ payload }) => payload.kind)).toEqual(['purge', 'purge'])
  })

  it('are retried when they cannot be parsed', async () => {
    expect(await deliver('ingest', { nonsense: true })).toEqual({ acknowledged: false, retried_in: 5 })
  })
})

describe('the sweep', () => {
  it('starts jobs whose message was lost', async () => {
    await putUpload(row)
    await complete()
    const [job] = await allJobs()
    await eventually(async () => (await jobRow(job!.id)).tries === 1)
    // The job's next message was lost together with its worker.
    await db.update(jobs).set({ lease_until: 0 })
    startTranscoder({ transcode: () => eventStream(lossyResult()) })
    await runSweep()
    await eventually(async () => (await read()).status === 'ready')
  })

  it('deletes jobs that ended a week ago', async () => {
    const week = 7 * DAY
    const old = { organization_id: 'o', payload: { kind: 'purge' as const, prefixes: [] }, lease_until: 0 }
    const at = (days: number) => Date.now() - week + days * DAY
    const later = Date.now() + week
    await db.insert(jobs).values([
      { ...old, id: 'ended', state: 'done', created_at: at(-1), wake_at: later },
      { ...old, id: 'open', state: 'open', created_at: at(-1), wake_at: later },
      { ...old, id: 'young', state: 'failed', created_at: at(1), wake_at: later },
    ])
    await runSweep()
    expect((await allJobs()).map(({ id }) => id).toSorted()).toEqual(['open', 'young'])
  })
})
