import { env } from 'cloudflare:workers'
import { expect, onTestFinished } from 'vitest'

import type { ImportJob } from '../../../src/contract/job.ts'
import { ok, query, readTrack } from './api.ts'
import { deliver, jobRow, trackRow, untilUnfollowed } from './fixtures.ts'
import { isSignedFor, signedParts } from './signature.ts'
import { completeResult, eventStream } from './transcoder.ts'

/** Tracks whose file is fetched from a `source_url` (docs/decisions/0127). */

export const SOURCE = 'https://radio.shop.com/feed/Side%20A.mp3?signature=secret'
/** The start of a WAV file, which is processed by a stub. */
export const AUDIO = 'RIFF\0audio'

/** Creates a track whose file is fetched. Its job ends with the test. */
export async function anImport({ key, collection_id }: { key: string; collection_id: string }, body: object = {}) {
  const { track } = await ok('POST', '/v1/track', {
    key,
    body: { collection_id, file_name: 'Mine.wav', source_url: SOURCE, ...body },
  })
  const job_id = (await trackRow(track.id)).job_id!
  onTestFinished(async () => {
    await query(`update jobs set state = 'done', slot = null where id = ?`, job_id)
  })
  return {
    track,
    job_id,
    job: () => jobRow(job_id),
    read: () => readTrack(key, track.id),
    /** Delivers the message of the job, waits until it is no longer followed, and returns it. */
    async run() {
      await deliver('transcode', { job_id })
      await untilUnfollowed(job_id)
      return jobRow(job_id)
    },
  }
}

/** Stores a file as the transcoder does, and returns its event. */
export async function storeSource(job: ImportJob, bytes = AUDIO, file_name: string | null = null) {
  const [url] = job.parts.urls
  const { key } = signedParts(url!)
  const upload = env.MEDIA.resumeMultipartUpload(key, new URL(url!).searchParams.get('uploadId')!)
  expect(await isSignedFor('PUT', url!)).toBe(true)
  const { etag } = await upload.uploadPart(1, bytes)
  return { type: 'imported' as const, size: bytes.length, parts: [`"${etag}"`], file_name }
}

/** A transcoder's reply to an import that succeeds. */
export const fetching = (bytes?: string, file_name?: string | null) => async (job: ImportJob) =>
  eventStream({ type: 'progress', fraction: 0.5 }, await storeSource(job, bytes, file_name))
/** A transcoder's reply to a transcode that succeeds. */
export const transcode = (job: Parameters<typeof completeResult>[0]) => eventStream(completeResult(job))

/** The URLs that are stored. */
export const sealedUrls = () => query('select * from source_urls')

/** The events of a track, with the code of an error. */
export const eventsOf = (track_id: string) =>
  query<{ type: string; error: string | null }>(
    `select type, data ->> 'error' as error from events where subject = 'track:' || ? order by seq`,
    track_id,
  )
