import { noAnswer } from '../failure.ts'
import { backoff, sleep } from '../retry.ts'
import type { Failure } from '../types.ts'
import { headOf } from './accept.ts'
import { recallCover, sendCover } from './cover.ts'
import type { Problem, Target, UploadItem } from './item.ts'
import { PARTS_FROM, PartSender } from './parts.ts'
import {
  afterCall,
  afterUpload,
  DELAYS,
  isOffline,
  MAX_ATTEMPTS,
  OFFLINE_DELAY,
  problemOfUpload,
  type Step,
  stepOf,
  type Verdict,
} from './policy.ts'
import { createTarget, isFresh, readTrack, type UploadContext } from './session.ts'
import { uploadFile } from './transport.ts'

/** How the delivery of a file ended; `stopped` concerns every file and leaves this one as it was. */
export type Delivery = { end: 'done' | 'aborted' } | { end: 'failed' | 'stopped'; problem: Problem }

const CHANGED = stepOf({ code: 'file_changed', message: '' }, 'fail')

/** The next attempt makes another track, which gets the cover, too. */
export function leaveTrack(item: UploadItem, { ledger }: UploadContext): void {
  void ledger.forget(item)
  item.target = null
  item.request = null
  item.parts = null
  recallCover(item)
}

/**
 * Brings a file's bytes to the storage, with as many attempts as that takes: the URL is asked for just before the first one and again
 * when it has expired. A URL that is signed for one `PUT` cannot be continued, so each attempt sends a file from its beginning, or a
 * large one from where it was.
 */
export async function deliver(item: UploadItem, context: UploadContext): Promise<Delivery> {
  const { signal } = item.controller
  for (let attempt = 0; ;) {
    // A pause may have ended just before the file was cancelled.
    if (signal.aborted) return { end: 'aborted' }
    Object.assign(item, { state: 'uploading', problem: null, retryAt: null, sent: item.stored })
    context.changed(item)
    const { stored } = item
    const step = await tryOnce(item, context, signal)
    if (signal.aborted) return { end: 'aborted' }
    if (step.ok) return { end: 'done' }
    const { verdict, problem } = step
    // As long as parts arrive, it goes on.
    if (item.stored > stored) attempt = 0
    if (verdict === 'stop') return { end: 'stopped', problem }
    if (verdict === 'fail' || attempt + 1 === MAX_ATTEMPTS) return { end: 'failed', problem }
    if (verdict === 'renew') leaveTrack(item, context)
    const offline = isOffline()
    const delay = offline ? OFFLINE_DELAY : verdict === 'renew' && attempt === 0 ? 0 : backoff(attempt, DELAYS)
    if (!offline) attempt++
    await waitForNext(item, problem, delay, offline, context)
  }
}

async function waitForNext(
  item: UploadItem,
  problem: Problem,
  delay: number,
  offline: boolean,
  { emit, changed }: UploadContext,
): Promise<void> {
  const retryAt = offline ? null : Date.now() + delay
  item.wake = new AbortController()
  Object.assign(item, { state: 'waiting', problem, retryAt })
  emit('upload-retry', item, { ...problem, retryAt: retryAt === null ? null : new Date(retryAt).toISOString() })
  changed(item)
  await sleep(delay, item.controller.signal, { wake: item.wake.signal, online: true })
}

async function tryOnce(item: UploadItem, context: UploadContext, signal: AbortSignal): Promise<Step> {
  const { file } = item
  if (!file) return CHANGED
  if (item.target && !isFresh(item)) leaveTrack(item, context)
  const isRepeated = item.target !== null
  if (!isRepeated) {
    // In order, because a collection plays its tracks in the order they were made.
    const created = await context.inOrder(() => createTarget(item, file, context, signal))
    if (signal.aborted) return stepOf(noAnswer(true), 'fail')
    if (!created.ok) return stepOf(created, afterCreating(created, context))
    item.target = created.target
    context.emit('upload-start', item, {})
  }
  const { target } = item
  // The page may have cancelled it just now.
  if (signal.aborted || !target) return stepOf(noAnswer(true), 'fail')
  void sendCover(item, context)
  // One that was changed or deleted since it was chosen can be read no more.
  if (!(await headOf(file, 1))) return CHANGED
  if (file.size > PARTS_FROM) return new PartSender(item, file, target, context, signal).send()
  // The bytes may all be there, and only the answer was lost.
  if (isRepeated && (await hasArrived(target, signal))) return { ok: true }
  return sendWhole(item, file, target, context, signal)
}

async function sendWhole(
  item: UploadItem,
  file: File,
  target: Target,
  context: UploadContext,
  signal: AbortSignal,
): Promise<Step> {
  const sent = await uploadFile(target.track_upload, file, {
    signal,
    onProgress(fraction) {
      if (signal.aborted) return
      item.sent = Math.round(fraction * item.size)
      context.emit('upload-progress', item, { loaded: item.sent, total: item.size })
      context.changed(item)
    },
  })
  return sent.ok ? { ok: true } : { ok: false, verdict: afterUpload(sent), problem: problemOfUpload(sent) }
}

/** The end of a session that was opened here is no obstacle: the next attempt opens another. */
const afterCreating = (failure: Failure, context: UploadContext): Verdict =>
  failure.status === 410 && context.session().renews ? 'renew' : afterCall(failure)

async function hasArrived(target: Target, signal: AbortSignal): Promise<boolean> {
  const seen = await readTrack(target, signal)
  return seen.ok && seen.track.status !== 'initializing'
}
