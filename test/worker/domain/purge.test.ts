import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { aTrack, ok, query, readTrack } from '../support/api.ts'
import {
  aTenant,
  advanceHours,
  deliver,
  eventually,
  putUpload,
  runSweep,
  storedFiles,
  trackRow,
} from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { serveTranscoder } from '../support/transcoder.ts'

afterEach(() => {
  vi.useRealTimers()
  faults?.mockRestore()
})
let faults: { mockRestore: () => void } | undefined

/** R2's error for an object that a bucket lock rule protects (R2, Error codes). */
const LOCKED = 'delete: The object is locked by the bucket policy. (10069)'

/** Makes R2 delete nothing below `prefix`, as a bucket lock rule does. Returns a function that ends the rule. */
function lockPrefix(prefix: string) {
  const bucket = Object.getPrototypeOf(env.MEDIA) as R2Bucket
  const deleteForReal = Object.getOwnPropertyDescriptor(bucket, 'delete')!.value as R2Bucket['delete']
  const spy = vi.spyOn(bucket, 'delete').mockImplementation(async function (this: R2Bucket, keys) {
    if ([keys].flat().some((key) => key.startsWith(prefix))) throw new Error(LOCKED)
    await Reflect.apply(deleteForReal, this, [keys])
  })
  faults = spy
  return () => spy.mockRestore()
}

/** Makes R2 refuse the next `times` deletions, including those of the Worker. */
function breakDeletes(times: number) {
  const bucket = Object.getPrototypeOf(env.MEDIA) as R2Bucket
  const spy = vi.spyOn(bucket, 'delete')
  for (let time = 0; time < times; time++) spy.mockRejectedValueOnce(new Error('R2 is unreachable'))
  faults = spy
  return spy
}

/** The purges that run first. The second purge of each path, which runs when all its upload URLs have expired, is excluded. */
const jobsOf = (state: string) =>
  query<{ id: string; attempt: number }>(
    `select id, attempt from jobs where state = ? and payload ->> 'kind' = 'purge'
      and lease_until < created_at + 6 * 3600 * 1000`,
    state,
  )

/** A deleted track whose first purge failed. */
async function aFailedPurge() {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  const track_id = await aProcessedTrack(key, collection_id)
  const deletes = breakDeletes(1)
  await ok('DELETE', `/v1/track/${track_id}`, { key })
  await eventually(async () => (await jobsOf('open'))[0]?.attempt === 1 && deletes.mock.settledResults.length > 0)
  expect((await storedFiles()).length).toBeGreaterThan(5)
  const [job] = await jobsOf('open')
  return { job_id: job!.id }
}

describe('a purge', () => {
  it('is repeated after a failure when its message is delivered again', async () => {
    const { job_id } = await aFailedPurge()
    advanceHours(0.1)
    expect(await deliver('task', { job_id })).toMatchObject({ acknowledged: true })
    expect([await storedFiles(), await jobsOf('done')]).toEqual([[], [{ id: job_id, attempt: 2 }]])
  })

  it('is retried by the queue and not acknowledged when it fails again', async () => {
    const { job_id } = await aFailedPurge()
    advanceHours(0.1)
    breakDeletes(1)
    expect(await deliver('task', { job_id })).toEqual({ acknowledged: false, retried_in: 5 })
    expect(await jobsOf('open')).toEqual([{ id: job_id, attempt: 2 }])
  })

  it('is found by the sweep when its message was lost', async () => {
    await aFailedPurge()
    advanceHours(1)
    await runSweep()
    await eventually(async () => (await storedFiles()).length === 0)
    await eventually(async () => (await jobsOf('done')).length === 1)
  })

  it('is retried an hour after it reached the dead-letter queue', async () => {
    const { job_id } = await aFailedPurge()
    advanceHours(0.1)
    expect(await deliver('dead', { job_id })).toMatchObject({ acknowledged: true })
    await runSweep()
    expect(await jobsOf('open')).toHaveLength(1)
    advanceHours(1.5)
    await runSweep()
    await eventually(async () => (await jobsOf('done')).length === 1)
    expect(await storedFiles()).toEqual([])
  })
  it('keeps objects that a bucket lock rule protects, deletes the others, and tries again after twelve hours', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const track_id = await aProcessedTrack(key, collection_id)
    const unlock = lockPrefix('uploads/')
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    await eventually(async () => (await storedFiles()).every((path) => path.startsWith('uploads/')))
    const [job] = await eventually(async () => {
      const found = await jobsOf('open')
      return found[0]?.attempt === 0 && found
    })
    expect(await storedFiles()).toHaveLength(1)
    // However often it is tried, it is neither an attempt nor a dead letter.
    expect(await deliver('task', { job_id: job!.id }, { attempts: 10 })).toMatchObject({ acknowledged: true })
    expect(await jobsOf('open')).toEqual([{ id: job!.id, attempt: 0 }])
    unlock()
    advanceHours(13)
    await runSweep()
    await eventually(async () => (await storedFiles()).length === 0)
  })

  it('lets a track fail whose bad upload a bucket lock rule protects', async () => {
    const { key, collection_id } = await aTenant()
    const { id: track_id } = await aTrack(key, collection_id)
    await putUpload(await trackRow(track_id), 'this is a text')
    lockPrefix('uploads/')
    await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
    expect(await readTrack(key, track_id)).toMatchObject({ status: 'failed', info: { error: { code: 'text_file' } } })
  })
})
