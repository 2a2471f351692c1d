import { expect } from 'vitest'

import type { UploadHandle } from '../../src/contract/media.ts'
import type { createRecorder } from './examples_recorder.ts'
import { bytes, send, TIMEOUT } from './steps.ts'

/** The parts of the scenario that upload files. */

export type Recorder = ReturnType<typeof createRecorder>
export type Call = Recorder['call']
/** The ids that later steps need. */
export interface Scene {
  call: Call
  root: string
  server: string
  organization_id: string
  collection_id: string
  /** Two tracks that are ready. */
  tracks: [string, string]
  audio: Buffer
}

export const upload = (handle: UploadHandle, audio: Buffer) => send(handle, bytes(audio))

export async function untilReady({ call, server }: Pick<Scene, 'call' | 'server'>, track_id: string) {
  const status = async () => (await call('getTrack', server, { params: { track_id } }, false)).track.status
  await expect.poll(status, TIMEOUT).toBe('ready')
}

/** Uploads the only part of a file and returns it as a client reports it. */
async function putPart({ url, audio }: { url: UploadHandle; audio: Buffer }) {
  const response = await upload(url, audio)
  return [{ part_number: 1, etag: response.headers.get('etag')! }]
}

export async function uploadInParts({ call, server, collection_id, audio }: Scene) {
  const { track_id } = await call('createTrack', server, { body: { collection_id, file_name: 'Take 3.mp3' } }, false)
  const file = { file_size: audio.length, content_type: 'audio/mpeg', fingerprint: 'take-3.mp3:1754300000' }
  const started = await call('createTrackMultipart', server, { params: { track_id }, body: file })
  const params = { track_id, multipart_upload_id: started.multipart_upload.id }
  const done = await putPart({ url: started.parts[0], audio })
  await call('signTrackParts', server, { params, body: { done, next: [1] } })
  await call('getTrackMultipart', server, { params })
  await call('completeTrackMultipart', server, { params, body: { done } })
  const again = await call('createTrackMultipart', server, { params: { track_id }, body: file }, false)
  await call('deleteTrackMultipart', server, { params: { track_id, multipart_upload_id: again.multipart_upload.id } })
}

export async function useSession({ call, server, collection_id, audio }: Scene) {
  const { upload_session_id } = await call('createUploadSession', server, { body: { collection_id, max_tracks: 20 } })
  const session = { upload_session_id }
  const create = async (file_name: string, isExample: boolean) =>
    (await call('createSessionTrack', server, { params: session, body: { file_name } }, isExample)).track_id as string
  const params = { ...session, track_id: await create('Demo.mp3', true) }
  await call('getUploadSession', server, { params: session })
  const file = { file_size: audio.length, content_type: 'audio/mpeg' }
  const started = await call('createSessionMultipart', server, { params, body: file })
  const parts = { ...params, multipart_upload_id: started.multipart_upload.id }
  const done = await putPart({ url: started.parts[0], audio })
  await call('signSessionParts', server, { params: parts, body: { done, next: [1] } })
  await call('getSessionMultipart', server, { params: parts })
  await call('completeSessionMultipart', server, { params: parts, body: { done } })
  await untilReady({ call, server }, params.track_id)
  await call('getSessionTrack', server, { params })

  const unused = { ...session, track_id: await create('Wrong file.mp3', false) }
  const given = await call('createSessionMultipart', server, { params: unused, body: file }, false)
  const givenUp = { ...unused, multipart_upload_id: given.multipart_upload.id }
  await call('deleteSessionMultipart', server, { params: givenUp })
  await call('deleteSessionTrack', server, { params: unused })
}
