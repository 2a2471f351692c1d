import type { Failure } from '../../client/types.ts'
import { uploadFile } from '../../client/upload.ts'
import { delayAfter, isOffline, MAX_ATTEMPTS, OFFLINE_DELAY, wait } from './backoff.ts'
import { sendCover } from './cover.ts'
import { type Meaning, meaningOfCall, meaningOfUpload } from './failures.ts'
import type { Host } from './host.ts'
import { type Item, newTicket, type Problem, type Target, viewOf } from './item.ts'
import { problemOf } from './problem.ts'
import { watchStall } from './stall.ts'

/** A URL this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000

type Step = { ok: true } | { ok: false; meaning: Meaning; problem: Problem }

/** How the delivery of a file ended; `halted` concerns every file and leaves this one as it was. */
export type Delivery = { end: 'done' | 'aborted' } | { end: 'failed' | 'halted'; problem: Problem }

/**
 * Brings a file's bytes to the storage, with as many attempts as that takes: the URL is asked for just before the first one and again
 * when it has expired. A URL that is signed for one `PUT` cannot be continued, so each attempt sends the file from its beginning.
 */
export async function deliver(item: Item, host: Host, inOrder: Turn): Promise<Delivery> {
  const { signal } = item.controller
  for (let attempt = 1; ;) {
    Object.assign(item, { state: 'uploading', problem: null, retryAt: null, sent: 0 })
    host.changed(item)
    const step = await tryOnce(item, host, inOrder, signal)
    if (signal.aborted) return { end: 'aborted' }
    if (step.ok) return { end: 'done' }
    const { meaning, problem } = step
    if (meaning === 'halt') return { end: 'halted', problem }
    if (meaning === 'final' || attempt === MAX_ATTEMPTS) return { end: 'failed', problem }
    if (meaning === 'stale') leave(item)
    const offline = isOffline()
    const delay = offline ? OFFLINE_DELAY : meaning === 'stale' && attempt === 1 ? 0 : delayAfter(attempt)
    if (!offline) attempt++
    const retryAt = offline ? null : Date.now() + delay
    Object.assign(item, { state: 'waiting', problem, retryAt })
    host.emit('retrying', {
      ...viewOf(item),
      ...problem,
      retry_at: retryAt === null ? null : new Date(retryAt).toISOString(),
    })
    host.changed(item)
    if (!(await wait(delay, signal, (nudge) => (item.nudge = nudge)))) return { end: 'aborted' }
  }
}

/** Runs one piece of work after the other, in the order they came. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>

/** The next attempt makes another track: this one's URL is no longer of use. */
export function leave(item: Item): void {
  item.target = null
  item.ticket = newTicket()
}

async function tryOnce(item: Item, host: Host, inOrder: Turn, signal: AbortSignal): Promise<Step> {
  const { texts } = host.settings()
  const refuse = (failure: Failure, meaning: Meaning): Step => ({
    ok: false,
    meaning,
    problem: problemOf(failure, texts),
  })

  const again = item.target !== null && isFresh(item.target)
  if (!again) {
    if (item.target) leave(item)
    // In order, because a collection plays its tracks in the order they were made.
    const made = await inOrder(() => makeTarget(item, host, signal))
    if (signal.aborted) return { ok: true }
    if (!made.ok) return refuse(made, meaningOfMaking(made, host))
    item.target = made.target
    host.emit('upload-start', viewOf(item))
    void sendCover(item, host)
  }
  if (!item.target) return { ok: true }
  if (!(await isReadable(item.file))) {
    return { ok: false, meaning: 'final', problem: { code: 'file_changed', message: texts.fileChanged } }
  }
  // The bytes may all be there, and only the answer was lost.
  if (again && (await hasArrived(item.target, host, signal))) return { ok: true }

  const stall = watchStall(signal)
  const sent = await uploadFile(item.target.track_upload, item.file, {
    signal: stall.signal,
    onProgress(fraction) {
      if (signal.aborted) return
      stall.alive(fraction)
      item.sent = Math.round(fraction * item.file.size)
      host.emit('upload-progress', { ...viewOf(item), loaded: item.sent, total: item.file.size })
      host.changed(item)
    },
  })
  stall.end()
  if (sent.ok) return { ok: true }
  // A stalled upload is aborted here, and is as passing as a lost connection.
  const failure: Failure = sent.code === 'aborted' ? { ...sent, code: 'network' } : sent
  if (failure.status !== 0) return { ok: false, meaning: meaningOfUpload(failure), problem: refusedBy(failure) }
  return refuse(failure, 'passing')
}

const refusedBy = ({ status, message }: Failure): Problem => ({ code: `storage_${status}`, message })

const isFresh = ({ received, track_upload }: Target) => Date.now() < received + track_upload.ttl * 1000 - MARGIN

async function makeTarget(
  item: Item,
  host: Host,
  signal: AbortSignal,
): Promise<{ ok: true; target: Target } | Failure> {
  const { client, session } = host.connection()
  const opened = await session()
  if (!opened.ok) return opened
  const { upload_session_id } = opened
  const { file } = item
  const made = await client.post('/v1/upload/{upload_session_id}/track', {
    params: { upload_session_id },
    body: { ...host.settings().describe(file), file_name: file.name, file_size: file.size },
    idempotency_key: item.ticket,
    signal,
  })
  if (!made.ok) {
    if (made.status === 404 || made.status === 410) host.connection().forget(upload_session_id)
    return made
  }
  const { track_id, track_upload, track_cover_upload } = made
  return { ok: true, target: { upload_session_id, track_id, track_upload, track_cover_upload, received: Date.now() } }
}

/** The end of a session that was opened here is no obstacle: the next attempt opens another. */
const meaningOfMaking = (failure: Failure, host: Host): Meaning =>
  failure.status === 410 && host.connection().renews ? 'stale' : meaningOfCall(failure)

/** A file that was changed or deleted since it was chosen can be read no more. */
const isReadable = (file: File) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )

async function hasArrived({ upload_session_id, track_id }: Target, host: Host, signal: AbortSignal): Promise<boolean> {
  const params = { upload_session_id, track_id }
  const seen = await host.connection().client.get('/v1/upload/{upload_session_id}/track/{track_id}', { params, signal })
  return seen.ok && seen.track.status !== 'initializing'
}
