import { randomKey } from '../../client/client.ts'
import { isPassing, noAnswer } from '../../client/failure.ts'
import type { Failure } from '../../client/types.ts'
import type { Connection } from './connection.ts'
import { recallCover } from './cover.ts'
import type { Host } from './host.ts'
import type { Description, Item, Order, Target } from './item.ts'

/** A URL this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000

/** Whether a target's URL has time left. */
export const isFresh = ({ received, track_upload }: Target) => Date.now() < received + track_upload.ttl * 1000 - MARGIN

/** The next attempt makes another track, which gets the cover, too. */
export function leave(item: Item): void {
  item.target = null
  item.order = null
  recallCover(item)
}

/** Makes the track of a file, where the page says now. */
export async function makeTarget(
  item: Item,
  host: Host,
  signal: AbortSignal,
): Promise<{ ok: true; target: Target } | Failure> {
  for (;;) {
    if (signal.aborted) return noAnswer(true)
    const connection = host.connection()
    const made = await ask(item, connection, host, signal)
    // A refusal of a key or session that the page has replaced meanwhile says nothing of the next one.
    if (made.ok || isPassing(made) || connection === host.connection()) return made
  }
}

async function ask(item: Item, { client, session, forget }: Connection, host: Host, signal: AbortSignal) {
  const opened = await session()
  if (!opened.ok) return opened
  const { upload_session_id } = opened
  // Under one `Idempotency-Key` the service takes but one path and one body.
  if (item.order?.upload_session_id !== upload_session_id) item.order = orderOf(item.file, upload_session_id, host)
  const { ticket, description } = item.order
  const made = await client.post('/v1/upload/{upload_session_id}/track', {
    params: { upload_session_id },
    body: { ...description, file_name: item.file.name, file_size: item.file.size },
    idempotency_key: ticket,
    signal,
  })
  if (!made.ok) {
    if (made.status === 404 || made.status === 410) forget(upload_session_id)
    // Refused, so nothing was made: the next one may say something else.
    if (!isPassing(made)) item.order = null
    return made
  }
  const { track_id, track_upload, track_cover_upload } = made
  const target = { client, upload_session_id, track_id, track_upload, track_cover_upload, received: Date.now() }
  return { ok: true as const, target }
}

const orderOf = (file: File, upload_session_id: string, host: Host): Order => ({
  upload_session_id,
  ticket: randomKey(),
  // A copy, as it travels: the page may go on using what it gave.
  description: JSON.parse(JSON.stringify({ ...host.settings().describe(file) })) as Description,
})

/** Whether the bytes of a file are there. */
export async function hasArrived(target: Target, signal: AbortSignal): Promise<boolean> {
  const { client, upload_session_id, track_id } = target
  const params = { upload_session_id, track_id }
  const seen = await client.get('/v1/upload/{upload_session_id}/track/{track_id}', { params, signal })
  return seen.ok && seen.track.status !== 'initializing'
}
