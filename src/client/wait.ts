import type { Track } from '../contract/track.ts'
import type { Client } from './client.ts'
import { poll } from './retry.ts'
import type { Failure } from './types.ts'

export interface WaitOptions {
  /** Called after every poll. */
  onChange?: (track: Track) => void
  signal?: AbortSignal
}

/** Polls a track until it is `ready`, `incomplete` or `failed`. */
export async function waitForTrack(
  client: Client,
  track_id: string,
  { onChange, signal }: WaitOptions = {},
): Promise<{ ok: true; track: Track } | Failure> {
  const ask = () => client.get('/v1/track/{track_id}', { params: { track_id }, ...(signal && { signal }) })
  const last = await poll(
    ask,
    ({ track }) => {
      onChange?.(track)
      return isFinal(track)
    },
    { signal },
  )
  return last.ok ? { ok: true, track: last.track } : last
}

/** Whether nothing more happens to a track by itself. */
export const isFinal = (track: Pick<Track, 'status'>) =>
  track.status === 'ready' || track.status === 'incomplete' || track.status === 'failed'
