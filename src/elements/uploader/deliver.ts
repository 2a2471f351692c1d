import type { Failure } from '../../client/types.ts'
import { delayAfter, isOffline, MAX_ATTEMPTS, OFFLINE_DELAY, wait } from './backoff.ts'
import { sendCover } from './cover.ts'
import { type Meaning, meaningOfCall, meaningOfUpload } from './failures.ts'
import type { Host } from './host.ts'
import { type Item, type Problem, viewOf } from './item.ts'
import { problemOf } from './problem.ts'
import { headOf } from './rules.ts'
import { sendFile } from './stall.ts'
import { hasArrived, isFresh, leave, makeTarget } from './target.ts'

/** What is answered when nobody listens any more. */
const ABORTED = { ok: true } as const

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
    // A pause may have ended just before the file was cancelled.
    if (signal.aborted) return { end: 'aborted' }
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
    await wait(delay, signal, (nudge) => (item.nudge = nudge))
  }
}

/** Runs one piece of work after the other, in the order they came. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>

async function tryOnce(item: Item, host: Host, inOrder: Turn, signal: AbortSignal): Promise<Step> {
  const { texts } = host.settings()
  const refuse = (failure: Failure, meaning: Meaning): Step => ({
    ok: false,
    meaning,
    problem: problemOf(failure, texts),
  })

  if (item.target && !isFresh(item.target)) leave(item)
  const again = item.target !== null
  if (!again) {
    // In order, because a collection plays its tracks in the order they were made.
    const made = await inOrder(() => makeTarget(item, host, signal))
    if (signal.aborted) return ABORTED
    if (!made.ok) return refuse(made, meaningOfMaking(made, host))
    item.target = made.target
    host.emit('upload-start', viewOf(item))
  }
  const { target } = item
  // The page may have cancelled it just now.
  if (signal.aborted || !target) return ABORTED
  void sendCover(item, host)
  // One that was changed or deleted since it was chosen can be read no more.
  if (!(await headOf(item.file, 1))) {
    return { ok: false, meaning: 'final', problem: { code: 'file_changed', message: texts.fileChanged } }
  }
  // The bytes may all be there, and only the answer was lost.
  if (again && (await hasArrived(target, signal))) return { ok: true }

  const sent = await sendFile(target.track_upload, item.file, signal, (fraction) => {
    if (signal.aborted) return
    item.sent = Math.round(fraction * item.file.size)
    host.emit('upload-progress', { ...viewOf(item), loaded: item.sent, total: item.file.size })
    host.changed(item)
  })
  if (sent.ok) return { ok: true }
  if (sent.status !== 0) return { ok: false, meaning: meaningOfUpload(sent), problem: refusedBy(sent) }
  return refuse(sent, 'passing')
}

const refusedBy = ({ status, message }: Failure): Problem => ({ code: `storage_${status}`, message })

/** The end of a session that was opened here is no obstacle: the next attempt opens another. */
const meaningOfMaking = (failure: Failure, host: Host): Meaning =>
  failure.status === 410 && host.connection().renews ? 'stale' : meaningOfCall(failure)
