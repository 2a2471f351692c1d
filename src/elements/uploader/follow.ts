import { isPassing } from '../../client/failure.ts'
import type { Failure } from '../../client/types.ts'
import { delayAfter, wait } from './backoff.ts'
import { mayHelpToRepeat } from './failures.ts'
import type { Host } from './host.ts'
import { type Item, type Problem, viewOf } from './item.ts'
import { problemOf } from './problem.ts'

const FIRST_DELAY = 500
const LONGEST_DELAY = 4000
/** For each file that is followed, so that many together stay far below the service's rate limit, in milliseconds. */
const SHARE = 200

let followed = 0

/** Polls the track of a file whose bytes are there until it is ready or has failed. */
export async function follow(item: Item, host: Host): Promise<void> {
  const { signal } = item.controller
  const { target } = item
  if (!target || signal.aborted) return
  const { client, upload_session_id, track_id } = target
  const params = { upload_session_id, track_id }
  let misses = 0
  followed++
  try {
    for (let delay = FIRST_DELAY; ; delay = Math.min(LONGEST_DELAY, delay * 1.3)) {
      const seen = await client.get('/v1/upload/{upload_session_id}/track/{track_id}', { params, signal })
      if (signal.aborted) return
      if (seen.ok) {
        misses = 0
        if (take(item, seen.track, host)) return
      } else if (isPassing(seen)) {
        misses++
        item.problem = problemOf(seen, host.settings().texts)
        host.changed(item)
      } else {
        return lose(item, seen, host)
      }
      const pause = misses > 0 ? delayAfter(misses) : Math.max(delay, followed * SHARE)
      if (!(await wait(pause, signal, () => {}))) return
    }
  } finally {
    followed--
  }
}

interface Seen {
  status: NonNullable<Item['status']>
  progress: number | null
  duration: number
  error: Problem | null
}

/** Takes over what the service says of a track; true when that was the last word. */
function take(item: Item, { status, progress, duration, error }: Seen, host: Host): boolean {
  const { texts } = host.settings()
  const news = status !== item.status || progress !== item.progress || item.problem !== null
  Object.assign(item, { status, progress, duration, problem: null })
  if (status === 'failed') {
    const problem = error ?? { code: 'internal', message: texts.failedWithoutReason }
    Object.assign(item, { state: 'failed', problem, retriable: mayHelpToRepeat(problem.code) })
    host.emit('failed', { ...viewOf(item), ...problem })
  } else if (status === 'ready' || status === 'incomplete') {
    item.state = 'ready'
    if (status === 'incomplete') item.problem = { code: 'incomplete', message: texts.incomplete }
    host.emit('ready', { ...viewOf(item), duration })
  } else if (news) {
    host.emit('processing', { ...viewOf(item), status, progress })
  }
  if (news || item.state !== 'processing') host.changed(item)
  return item.state !== 'processing'
}

/** The file is there, but what becomes of it is no longer to be seen from here. */
function lose(item: Item, failure: Failure, host: Host): void {
  const { texts } = host.settings()
  if (failure.status === 404) {
    const problem = { code: 'not_found', message: texts.trackDeleted }
    Object.assign(item, { state: 'failed', problem, retriable: true })
    host.emit('failed', { ...viewOf(item), ...problem })
  } else {
    const problem = { code: failure.code, message: texts.unfollowed }
    Object.assign(item, { state: 'uploaded', problem })
    host.emit('unfollowed', { ...viewOf(item), ...problem })
  }
  host.changed(item)
}
