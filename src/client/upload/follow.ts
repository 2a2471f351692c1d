import { isPassing } from '../failure.ts'
import { poll } from '../retry.ts'
import type { Failure } from '../types.ts'
import type { Problem, UploadItem } from './item.ts'
import { DELAYS, mayHelpToRepeat } from './policy.ts'
import { readTrack, type UploadContext } from './session.ts'

/** For each file that is followed, so that many together stay far below the service's rate limit, in milliseconds. */
const SHARE = 200

let followed = 0

/** Polls the track of a file whose bytes are there until it is ready or has failed. */
export async function follow(item: UploadItem, context: UploadContext): Promise<void> {
  const { signal } = item.controller
  const { target } = item
  if (!target || signal.aborted) return
  async function ask(from: NonNullable<typeof target>) {
    const seen = await readTrack(from, signal)
    if (!seen.ok && isPassing(seen) && !signal.aborted) {
      item.problem = { code: seen.code, message: seen.message }
      context.changed(item)
    }
    return seen
  }
  followed++
  const last = await poll(
    () => ask(target),
    ({ track }) => signal.aborted || update(item, track, context),
    { signal, recovery: DELAYS, least: () => followed * SHARE, maxFailures: Infinity },
  )
  followed--
  if (!last.ok && !signal.aborted) lose(item, last, context)
}

interface Seen {
  status: NonNullable<UploadItem['status']>
  progress: number | null
  duration: number
  error: Problem | null
}

/** Takes over what the service says of a track; true when that was the last word. */
function update(item: UploadItem, { status, progress, duration, error }: Seen, context: UploadContext): boolean {
  const isNew = status !== item.status || progress !== item.progress || item.problem !== null
  Object.assign(item, { status, progress, duration, problem: null })
  if (status === 'failed') {
    const { code, message } = error ?? { code: 'internal', message: '' }
    Object.assign(item, { state: 'failed', problem: { code, message }, retriable: mayHelpToRepeat(code) })
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

/** The file is there, but what becomes of it is no longer to be seen from here. */
function lose(item: UploadItem, failure: Failure, context: UploadContext): void {
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
