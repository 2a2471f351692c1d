import type { Track } from '../contract/track.ts'
import type { Client } from './client.ts'
import { isPassing, noAnswer } from './failure.ts'
import { pause } from './pause.ts'
import type { Failure } from './types.ts'

export interface WaitOptions {
  /** Called after every poll. */
  onChange?: (track: Track) => void
  signal?: AbortSignal
}

const FIRST_DELAY = 500
const LONGEST_DELAY = 4000
/** Polls that may fail in a row for want of a connection or for a fault of the server, about half a minute. */
const PATIENCE = 10

/** Polls a track until it is `ready`, `incomplete` or `failed`. */
export async function waitForTrack(
  client: Client,
  track_id: string,
  { onChange, signal }: WaitOptions = {},
): Promise<{ ok: true; track: Track } | Failure> {
  let misses = 0
  for (let delay = FIRST_DELAY; ; delay = Math.min(LONGEST_DELAY, delay * 1.3)) {
    const result = await client.get('/v1/track/{track_id}', { params: { track_id }, ...(signal && { signal }) })
    if (result.ok) {
      misses = 0
      onChange?.(result.track)
      if (isFinal(result.track)) return { ok: true, track: result.track }
    } else if (result.code === 'aborted' || !isPassing(result) || ++misses > PATIENCE) {
      return result
    }
    await pause(delay, signal)
    if (signal?.aborted) return noAnswer(true)
  }
}

/** Whether nothing more happens to a track by itself. */
export const isFinal = (track: Pick<Track, 'status'>) =>
  track.status === 'ready' || track.status === 'incomplete' || track.status === 'failed'
