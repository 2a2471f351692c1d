import { MAX_COVER_BYTES } from '../../contract/facts.ts'
import { uploadFile } from '../client.ts'
import { backoff, deadline, type Failure, isTransient, noResponse, poll, retry, sleep } from '../retry.ts'
import { COVER_ACCEPT, headOf, isAccepted } from './accept.ts'
import { MULTIPART_THRESHOLD, type Problem, type Target, type UploadItem } from './item.ts'
import { PartSender } from './parts.ts'
import {
  afterCall,
  afterUpload,
  createTarget,
  DELAYS,
  discardTrack,
  hasArrived,
  isFresh,
  isOffline,
  MAX_ATTEMPTS,
  isRetriable,
  OFFLINE_DELAY,
  problemOfUpload,
  readTrack,
  type Step,
  stepOf,
  STORAGE_LOST,
  type UploadContext,
  type Verdict,
} from './session.ts'

/** Uploads one file and its cover, then polls the track until it is ready. */

/**
 * How the delivery of a file ended. `stopped`: a problem affects all files, and this file stays queued. `elsewhere`: another tab is
 * uploading the file.
 */
export type Delivery = { end: 'done' | 'aborted' | 'elsewhere' } | { end: 'failed' | 'stopped'; problem: Problem }

/** Returns the end of a delivery in which code of the page threw an error. */
export const failedWith = (error: unknown): Delivery => ({
  end: 'failed',
  problem: { code: 'internal', message: String(error) },
})

const CHANGED = stepOf({ code: 'file_changed', message: '' }, 'fail')
const ABORTED = stepOf(noResponse(true), 'retry')

/** Detaches an item from its track, so that the next attempt creates another one and sends the cover again. A track without a file is discarded. */
export function detachTrack(item: UploadItem, context: UploadContext): void {
  if (item.status === null) discardTrack(item, context)
  item.target = item.request = item.parts = null
  requeueCover(item)
}

/** Deletes all traces of an incomplete upload, here and in the service, unless another tab is uploading the file. */
export async function discardUpload(item: UploadItem, context: UploadContext): Promise<void> {
  if (item.status !== null || !(await context.ledger.claim(item))) return
  detachTrack(item, context)
  await context.ledger.remove(item)
}

/**
 * Uploads a file's bytes to the storage, with retries. The URL is requested just before the first attempt and again when it has expired. A
 * URL signed for one `PUT` cannot be resumed, so each attempt sends a small file from its start; a large file is sent in parts, and
 * continues with those that are not stored yet.
 */
export async function deliver(item: UploadItem, context: UploadContext): Promise<Delivery> {
  const { signal } = item.controller
  if (item.fingerprint && !(await context.ledger.claim(item))) return { end: 'elsewhere' }
  // Another tab has sent the file.
  if (item.status) {
    void sendCover(item, context)
    return { end: 'done' }
  }
  for (let attempt = 0; ;) {
    // The file may have been canceled at the end of the delay.
    if (signal.aborted) return { end: 'aborted' }
    Object.assign(item, { state: 'uploading', problem: null, retryAt: null, sent: item.stored })
    context.changed(item)
    const { stored } = item
    const step = await attemptOnce(item, context, signal)
    const mayHaveArrived = !step.ok && (step.verdict === 'fail' || step.verdict === 'renew')
    // The file may have arrived nevertheless: the response was lost, or another tab has sent the file.
    const isThere = mayHaveArrived && item.target && (await hasArrived(item.target, context, signal))
    if (signal.aborted) return { end: 'aborted' }
    if (step.ok || isThere) return { end: 'done' }
    // The file was paused, and the parts that were in flight have arrived.
    if (item.state === 'paused') return { end: 'aborted' }
    const { verdict } = step
    const problem = await explained(step.problem, item, context, signal)
    if (signal.aborted) return { end: 'aborted' }
    // Attempts are counted again from 0 after more parts were stored.
    if (item.stored > stored) attempt = 0
    if (verdict === 'stop') return { end: 'stopped', problem }
    if (verdict === 'fail' || attempt + 1 === MAX_ATTEMPTS) return { end: 'failed', problem }
    if (verdict === 'renew') detachTrack(item, context)
    const offline = isOffline()
    const delay = offline ? OFFLINE_DELAY : verdict === 'renew' && attempt === 0 ? 0 : backoff(attempt, DELAYS)
    if (!offline) attempt++
    await waitForNext(item, problem, delay, offline, context)
  }
}

/** Milliseconds for which the service may take to answer whether it can be reached. */
const REACHED = 5000

/** Returns the problem of a lost connection to the storage: if the service still answers, only the storage does not. */
async function explained(problem: Problem, { target }: UploadItem, context: UploadContext, signal: AbortSignal) {
  if (problem.code !== STORAGE_LOST) return problem
  const limit = deadline(REACHED, signal)
  const answer = target && !isOffline() && (await readTrack(target, context, limit.signal))
  limit.end()
  const isReached = answer && (answer.ok || answer.status > 0)
  return { ...problem, code: isReached ? 'storage_unavailable' : 'network' }
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

async function attemptOnce(item: UploadItem, context: UploadContext, signal: AbortSignal): Promise<Step> {
  const { file } = item
  if (item.target && !isFresh(item)) detachTrack(item, context)
  const isRepeated = item.target !== null
  // A file that was changed or deleted after the user chose it can no longer be read.
  const isThere = async () => file !== null && (await headOf(file, 1)) !== null
  if (!isRepeated) {
    // Tracks are created in the order of the list, because a collection plays its tracks in the order in which they were created.
    const created = await context.inOrder(async () => ((await isThere()) ? createTarget(item, context, signal) : null))
    if (!created) return CHANGED
    if (created.ok) {
      item.target = created.target
      void context.ledger.save(item)
    }
    if (signal.aborted) return ABORTED
    if (!created.ok) return stepOf(created, afterCreating(created, context))
    context.emit('upload-start', item, {})
  }
  const { target } = item
  // A listener of `upload-start` may have canceled the file.
  if (signal.aborted || !target || !file) return ABORTED
  if (!(await isThere())) return CHANGED
  void sendCover(item, context)
  if (file.size > MULTIPART_THRESHOLD) return new PartSender(item, file, target, context, signal).send()
  // If the response to the previous attempt was lost, all bytes may have arrived.
  if (isRepeated && (await hasArrived(target, context, signal))) return { ok: true }
  return sendFile(item, file, target, context, signal)
}

async function sendFile(
  item: UploadItem,
  file: File,
  target: Target,
  context: UploadContext,
  signal: AbortSignal,
): Promise<Step> {
  const sent = await uploadFile(target.track_upload!, file, {
    signal,
    onProgress(fraction) {
      if (signal.aborted) return
      item.advance(Math.round(fraction * item.size))
      context.emit('upload-progress', item, { loaded: item.sent, total: item.size })
      context.changed(item)
    },
  })
  return sent.ok ? { ok: true } : { ok: false, verdict: afterUpload(sent), problem: problemOfUpload(sent) }
}

/** A session that was opened by this module can be renewed when it has ended: the next attempt opens another. */
const afterCreating = (failure: Failure, context: UploadContext): Verdict =>
  failure.status === 410 && !context.session().fixedId ? 'renew' : afterCall(failure)

/** Sets the cover of a file's track. The cover is sent once the track exists. */
export async function setCover(item: UploadItem, file: File, context: UploadContext): Promise<void> {
  item.cover?.controller.abort()
  item.cover = { file, state: 'queued', problem: null, controller: new AbortController() }
  const code = faultOf(file)
  if (code) return failCover(item, context, { code, message: '' })
  context.changed(item)
  await sendCover(item, context)
}

/** Returns why an image is rejected as a cover, or null if it is accepted. */
function faultOf(file: File): string | null {
  if (!isAccepted(file, COVER_ACCEPT)) return 'unsupported_image'
  return file.size > MAX_COVER_BYTES ? 'image_too_large' : null
}

/** Aborts the upload of the cover and queues it again. An image that `faultOf` rejects stays rejected. */
export function requeueCover({ cover }: UploadItem): void {
  if (!cover || faultOf(cover.file)) return
  cover.controller.abort()
  Object.assign(cover, { state: 'queued', problem: null, controller: new AbortController() })
}

/** Sends the cover if it is queued and the track exists. */
export async function sendCover(item: UploadItem, context: UploadContext): Promise<void> {
  const { cover, target } = item
  if (!target || cover?.state !== 'queued') return
  const { signal } = cover.controller
  const upload = target.track_cover_upload
  if (!upload) return failCover(item, context, { code: 'upload_link_expired', message: '' })
  Object.assign(cover, { state: 'uploading', problem: null })
  context.emit('cover-start', item, { cover: cover.file })
  context.changed(item)
  const sent = await retry(
    () => uploadFile(upload, cover.file, { signal }),
    (answer, attempt) => {
      if (answer.ok || afterCall(answer) !== 'retry' || attempt + 1 >= MAX_ATTEMPTS) return null
      return isOffline() ? OFFLINE_DELAY : backoff(attempt, DELAYS)
    },
    signal,
    { online: true },
  )
  // Ignores the result if the cover or the track was replaced in the meantime.
  if (item.cover !== cover || item.target !== target || signal.aborted) return
  if (!sent.ok) return failCover(item, context, { code: sent.code, message: sent.message })
  cover.state = 'ready'
  context.emit('cover-complete', item, { cover: cover.file })
  context.changed(item)
}

function failCover(item: UploadItem, context: UploadContext, problem: Problem): void {
  const { cover } = item
  if (!cover) return
  Object.assign(cover, { state: 'failed', problem })
  context.emit('cover-failed', item, { ...problem, cover: cover.file })
  context.changed(item)
}

/**
 * Milliseconds that each polled track adds to the minimum delay between polls, so that all polls together stay far below the service's rate
 * limit.
 */
const POLL_SHARE = 200

let followed = 0

/** Polls the track of an uploaded file until it is ready or has failed. */
export async function followTrack(item: UploadItem, context: UploadContext): Promise<void> {
  const { signal } = item.controller
  const { target } = item
  if (!target || signal.aborted) return
  async function readOnce(from: NonNullable<typeof target>) {
    const answer = await readTrack(from, context, signal)
    if (!answer.ok && isTransient(answer) && !signal.aborted) {
      item.problem = { code: answer.code, message: answer.message }
      context.changed(item)
    }
    return answer
  }
  followed++
  const last = await poll(
    () => readOnce(target),
    ({ track }) => signal.aborted || update(item, track, context),
    { signal, recovery: DELAYS, minDelay: () => followed * POLL_SHARE, maxFailures: Infinity },
  )
  followed--
  if (!last.ok && !signal.aborted) endFollowing(item, last, context)
}

interface TrackState {
  status: NonNullable<UploadItem['status']>
  progress: number | null
  duration: number
  error: Problem | null
}

/** Applies the state of the track to the item. Returns true if the state of the item is final. */
function update(item: UploadItem, { status, progress, duration, error }: TrackState, context: UploadContext): boolean {
  const isNew = status !== item.status || progress !== item.progress || item.problem !== null
  Object.assign(item, { status, progress, duration, problem: null })
  if (status === 'failed') {
    const { code, message } = error ?? { code: 'internal', message: '' }
    Object.assign(item, { state: 'failed', problem: { code, message }, retriable: isRetriable(code) })
    context.emit('file-failed', item, { code, message })
  } else if (status === 'ready' || status === 'incomplete') {
    item.state = 'ready'
    if (status === 'incomplete') item.problem = { code: 'incomplete', message: '' }
    context.emit('track-ready', item, { duration })
  } else if (isNew) {
    context.emit('track-processing', item, { status, progress })
  }
  if (isNew || item.state !== 'processing') context.changed(item)
  return item.state !== 'processing'
}

/** Handles a track that can no longer be read, because it was deleted or the service refuses the request. Its file has arrived before. */
function endFollowing(item: UploadItem, failure: Failure, context: UploadContext): void {
  if (failure.status === 404) {
    const problem = { code: 'track_deleted', message: '' }
    Object.assign(item, { state: 'failed', problem, retriable: true })
    context.emit('file-failed', item, problem)
  } else {
    const problem = { code: failure.code, message: failure.message }
    Object.assign(item, { state: 'uploaded', problem })
    context.emit('track-unfollowed', item, problem)
  }
  context.changed(item)
}
