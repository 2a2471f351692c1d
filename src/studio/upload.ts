import { uploadFile, waitForTrack } from '../client/index.ts'
import type { Client, Failure } from './api.ts'
import { announce } from './dom.ts'
import { explain } from './format.ts'
import type { TrackRow } from './track_row.ts'

/** More at once would only share the same line. */
const AT_ONCE = 3
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await work()
  } finally {
    running--
    waiting.shift()?.()
  }
}

/** Creates a track for a file, uploads it and follows it until it can be played; answers its id then. */
export async function uploadTrack(
  client: Client,
  collection_id: string,
  file: File,
  row: TrackRow,
): Promise<string | undefined> {
  const track_id = await inTurn(() => send(client, collection_id, file, row))
  return track_id && ((await follow(client, track_id, row)) ? track_id : undefined)
}

async function send(client: Client, collection_id: string, file: File, row: TrackRow): Promise<string | undefined> {
  const refuse = (failure: Failure) => {
    row.showProblem(explain(failure))
    return undefined
  }
  const created = await client.post('/v1/track', { body: { collection_id, file_name: file.name } })
  if (!created.ok) return refuse(created)
  const { track_id, track_upload } = created
  row.showUpload(0)
  const sent = await uploadFile(track_upload, file, { onProgress: row.showUpload })
  if (!sent.ok) return refuse(sent)
  const completed = await client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } })
  return completed.ok ? track_id : refuse(completed)
}

/** Polls a track until nothing more happens to it; answers whether it can be played. */
export async function follow(client: Client, track_id: string, row: TrackRow): Promise<boolean> {
  const result = await waitForTrack(client, track_id, { onChange: row.showTrack })
  if (!result.ok) {
    row.showProblem(explain(result))
    return false
  }
  const { status, file_name } = result.track
  announce(`${file_name}: ${status}`)
  return status !== 'failed'
}
