import { createClient, uploadFile, waitForTrack } from '../../src/client/index.ts'
import { DEMO_SONG, playDemoSong, wavOf } from '../shared/demo_song.ts'

/** The track that a new STATE_DIR has, so that there is something to play, and the link to its page. */

const RATE = 44_100
/** Milliseconds for which the start waits for the track. Its page shows the progress if it takes longer. */
const WAIT = 20_000

/** A failed answer as an error. */
async function must<T extends { ok: boolean }>(answer: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await answer
  if (result.ok) return result as Extract<T, { ok: true }>
  throw new Error((result as T & { message?: string }).message)
}

/** Makes a collection with one track and a link. Returns the id of the link. */
export async function makeDemoTrack(base_url: string, api_key: string): Promise<string> {
  const client = createClient({ base_url, api_key })
  const { title, artist } = DEMO_SONG
  const { collection_id } = await must(
    client.post('/v1/collection', { body: { title: 'Demo', player_subtitle: artist } }),
  )
  const { track_id, track_upload } = await must(
    client.post('/v1/track', { body: { collection_id, file_name: `${title}.wav`, player_title: title } }),
  )
  await must(uploadFile(track_upload, new Blob([wavOf(playDemoSong(RATE), RATE)])))
  await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  const { share_id } = await must(client.post('/v1/share', { body: { scope: 'track', id: track_id } }))
  await waitForTrack(client, track_id, { signal: AbortSignal.timeout(WAIT) }).catch(() => undefined)
  return share_id
}

/** Returns the address of the page that plays the demo track; undefined if it was deleted. */
export async function demoAddress(
  base_url: string,
  { secret, share_id }: { secret: string; share_id?: string },
): Promise<string | undefined> {
  if (!share_id) return undefined
  const client = createClient({ base_url, api_key: secret })
  const shared = await client.get('/v1/share/{share_id}', { params: { share_id } })
  if (!shared.ok) return undefined
  const { resource_id, url } = shared.share
  const found = await client.get('/v1/track/{track_id}', { params: { track_id: resource_id } })
  return found.ok ? url : undefined
}
