import { env } from 'cloudflare:workers'

import { eventually } from './fixtures.ts'
import { aWaitingTrack, ok, query } from './support.ts'

/** Tracks that go the whole way, by the queues and the test's transcoder. */

/** Puts the bytes where the track's newest handle leads, says so, and waits for the transcoder's answer to be written down. */
export async function uploadAndProcess(key: string, track_id: string, until = 'ready') {
  const [row] = await query<{ upload_path: string }>('select upload_path from tracks where id = ?', track_id)
  await env.MEDIA.put(row!.upload_path, 'RIFF\0audio')
  await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
  // Not through the interface: the queues take 0.4 s, and every look would cost the cores as much as a test's own calls.
  await eventually(async () => (await query('select status from tracks where id = ?', track_id))[0]?.status === until)
}

/** A track that went all the way. */
export async function aProcessedTrack(key: string, collection_id: string, body: object = {}) {
  const track_id = await aWaitingTrack(key, collection_id, body)
  await uploadAndProcess(key, track_id)
  return track_id
}
