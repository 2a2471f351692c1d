import { env } from 'cloudflare:workers'

import { aWaitingTrack, ok, query } from './api.ts'
import { eventually } from './fixtures.ts'

/** Tracks that are processed completely, by the queues and the transcoder of the test. */

/** Stores bytes at the track's newest upload URL, completes the upload, and waits until the track has the status `until`. */
export async function uploadAndProcess(key: string, track_id: string, until = 'ready') {
  const [row] = await query<{ upload_path: string }>('select upload_path from tracks where id = ?', track_id)
  await env.MEDIA.put(row!.upload_path, 'RIFF\0audio')
  await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
  // Polls the database and not the API: the queues take 0.4 s, and polling the API would need as much CPU time as the calls of the test.
  await eventually(async () => (await query('select status from tracks where id = ?', track_id))[0]?.status === until)
}

/** Creates a track that is uploaded and processed. */
export async function aProcessedTrack(key: string, collection_id: string, body: object = {}) {
  const track_id = await aWaitingTrack(key, collection_id, body)
  await uploadAndProcess(key, track_id)
  return track_id
}
