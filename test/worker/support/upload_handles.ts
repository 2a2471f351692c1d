import { env } from 'cloudflare:workers'
import { expect } from 'vitest'

import { createTrack, ok, query } from './api.ts'
import { aTenant, eventually, fileRows, advanceHours, runSweep, storedFiles, trackRow } from './fixtures.ts'
import { signedParts } from './signature.ts'
import { errorEvent, completeResult, serveTranscoder } from './transcoder.ts'

/** Functions for tracks with several upload handles (docs/decisions/0063). */

/** A file with a duration of `seconds` for the transcoder of these tests, which counts each byte as a second. */
export const aFile = (seconds: number) => `RIFF\0${'.'.repeat(seconds - 5)}`

/** A transcoder that fails like the real one when the source is missing or its length differs from the length in the job. */
export function serveSources(isBusy = () => false) {
  return serveTranscoder(async (job) => {
    if (isBusy()) return errorEvent('cancelled', 'The transcoder is busy', true)
    const object = await env.MEDIA.head(signedParts(job.source.url).key)
    if (!object) return errorEvent('source_unavailable', 'It is not there')
    if (object.size !== job.source.size) return errorEvent('source_length', 'It has another length')
    return completeResult(job, { duration: object.size, info: { codec: 'pcm', size: object.size } })
  })
}

/** Starts a transcoder and passes it the jobs that waited. */
export async function serveWaiting() {
  serveSources()
  await query('update jobs set lease_until = 0 where rank is not null')
  await runSweep()
}

/** Creates a track that waits for its first file; returns functions for its upload handles. */
export async function aTrackWithHandles(file_name = 'a.wav') {
  const { key, collection_id } = await aTenant()
  const made = await createTrack(key, collection_id, { file_name })
  const track_id = made.track_id
  const at = `/v1/track/${track_id}` as const
  return {
    key,
    track_id,
    at,
    first: made.track_upload.upload_url,
    read: async () => (await ok('GET', at, { key })).track,
    renew: async (body: object = {}) => (await ok('POST', `${at}/upload`, { key, body })).track_upload.upload_url,
    complete: async () => (await ok('POST', `${at}/upload_complete`, { key })).track,
    /** Waits until a file of this duration is ready, and checks every field and every stored file that identifies it. */
    async isOnly(seconds: number, name: string, replaced: [string, number][]) {
      await eventually(async () => {
        const [row] = await query<{ status: string; duration: number }>(
          'select status, duration from tracks where id = ?',
          track_id,
        )
        return row!.status === 'failed' || (row!.status === 'ready' && row!.duration === seconds)
      })
      const { file_name, file_name_original, status, duration, info } = (await ok('GET', at, { key })).track
      const { source_path, source_size } = await trackRow(track_id)
      const original = (await fileRows(track_id)).find(({ index }) => index === 'original')
      expect({ file_name, file_name_original, status, duration, size: info.size, source_size }).toEqual({
        file_name: name,
        file_name_original: name,
        status: 'ready',
        duration: seconds,
        size: seconds,
        source_size: seconds,
      })
      expect([original?.path, original?.size]).toEqual([source_path, seconds])
      expect((await env.MEDIA.head(source_path!))?.size).toBe(seconds)
      expect(info.replaced_uploads ?? []).toEqual(replaced.map(([file_name, size]) => ({ file_name, size })))
      // The loop runs twice, because the files that a job leaves behind are purged later.
      for (let time = 0; time < 2; time++) {
        advanceHours(4)
        await runSweep()
      }
      await eventually(async () => (await storedFiles('uploads/')).length === 1)
      expect(await storedFiles('uploads/')).toEqual([source_path])
    },
  }
}
export const pathOf = (url: string) => signedParts(url).key
export const putFile = (url: string, seconds: number) => env.MEDIA.put(pathOf(url), aFile(seconds))
