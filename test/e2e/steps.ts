import { expect, vi } from 'vitest'

import { type Client, waitForTrack } from '../../src/client/index.ts'
import type { UploadHandle } from '../../src/contract/media.ts'

/** Steps that the e2e tests share. A step that fails reports the response of the service. */

/** A timeout that only detects a hang: on one busy core, a step of seconds can take minutes. */
export const TIMEOUT = { timeout: 300_000 }

type Answer = { ok: boolean }

/** Returns the response of a call that must succeed. */
export async function must<T extends Answer>(answer: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await answer
  expect(result, JSON.stringify(result)).toMatchObject({ ok: true })
  return result as Extract<T, { ok: true }>
}

/** Uploads a body to an upload handle. */
export async function send(
  handle: UploadHandle,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(handle.upload_url, { method: handle.method, body, headers })
  expect(response.status, await response.clone().text()).toBe(200)
  return response
}

export const bytes = (buffer: Buffer) => new Uint8Array(buffer)

/** Creates a track and uploads its audio. With `complete: false` the service must detect the upload itself. */
export async function upload(client: Client, collection_id: string, file_name: string, audio: Buffer, complete = true) {
  const created = await must(client.post('/v1/track', { body: { collection_id, file_name } }))
  await send(created.track_upload, bytes(audio))
  const { track_id } = created
  if (complete) await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  return created
}

/** Waits until a track reaches a final status. */
export async function settle(client: Client, track_id: string) {
  return (await must(waitForTrack(client, track_id))).track
}

/** Waits until the transcoder is processing a track. */
export async function untilTranscoding(client: Client, track_id: string) {
  const expectProgress = async () => {
    const { track } = await must(client.get('/v1/track/{track_id}', { params: { track_id } }))
    expect(track.status).toBe('processing')
    // Only the first progress is expected, because the next one is written ten seconds later, when the track may be finished.
    expect(track.info.progress).toBeGreaterThan(0)
  }
  await vi.waitFor(expectProgress, { ...TIMEOUT, interval: 100 })
}

/** Creates a play session for one track, and reads its play view without a key. */
export async function play(client: Client, listener: Client, track_id: string) {
  const session = await must(client.post('/v1/play_session/track', { body: { track_id, is_downloadable: true } }))
  const { play_session_id } = session
  const params = { play_session_id, play_track_id: track_id }
  const view = await must(listener.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
  return { session, view, params }
}

/** Returns the sorted field names of an object, without `api_request_id`, which may be absent (specification §2). */
export const keys = (value: object) =>
  Object.keys(value)
    .filter((key) => key !== 'api_request_id')
    .toSorted()
export const words = (text: string) => text.split(' ').toSorted()

/** Waits until a track has its own or an inherited cover, and returns its play view. */
export async function untilCovered(client: Client, track_id: string) {
  const readCovered = async () => {
    const { view } = await play(client, client, track_id)
    expect(view.track.image_colors).not.toEqual([])
    return view
  }
  return await vi.waitFor(readCovered, { ...TIMEOUT, interval: 300 })
}

/** Waits until a play session has expired. */
export async function untilEnded(client: Client, play_session_id: string): Promise<void> {
  const expectExpired = async () =>
    expect(await client.get('/v1/play/{play_session_id}', { params: { play_session_id } })).toMatchObject({
      status: 410,
    })
  await vi.waitFor(expectExpired, { ...TIMEOUT, interval: 500 })
}
