import { isPassing } from '../../client/failure.ts'
import type { Failure } from '../../client/index.ts'
import type { Loop } from './queue.ts'
import type { Session, View } from './service.ts'

/** What keeps the player from playing, if anything does. */
export type Status = 'loading' | 'ready' | 'processing' | 'offline' | 'expired' | 'empty' | 'failed'

/** Everything that is shown. */
export interface State {
  status: Status
  /** Why it failed. */
  code: string | null
  session: Session | null
  /** The track's place in the session. */
  place: number
  view: View | null
  /** What the listener wants; the sound may be a moment late. */
  playing: boolean
}

export const emptyState = (status: Status): State => ({
  status,
  code: null,
  session: null,
  place: 0,
  view: null,
  playing: false,
})

/** What may be changed at any time. */
export interface Wishes {
  variants: string[]
  loop: Loop
  shuffle: boolean
  normalize: boolean
  volume: number
  muted: boolean
  rate: number
}

/** Where to begin. A track is named by its id, or by its number from 1. */
export interface Beginning {
  track: string | null
  position: number
  play: boolean
}

/** Who hears of it. */
export interface Told {
  onChange: () => void
  onTime: () => void
  onEvent: (name: string, detail?: object) => void
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
}

const FIRST_POLL = 2000
const LAST_POLL = 30_000

/** Milliseconds until the service is asked again what it could not answer: politely, less and less often. */
export const pollDelay = (polls: number) => Math.min(LAST_POLL, FIRST_POLL * 1.5 ** polls)

/** What a refusal of the service means to a listener; null when nobody is waiting for the answer any more. */
export function statusAfter(failure: Failure): 'expired' | 'processing' | 'offline' | 'failed' | null {
  const { code } = failure
  if (code === 'aborted') return null
  if (code === 'session_expired') return 'expired'
  if (code === 'track_not_ready') return 'processing'
  return isPassing(failure) ? 'offline' : 'failed'
}

/** What `tonearm-sessionrefresh` tells. */
export const sessionDetail = ({ play_session }: Pick<View, 'play_session'>, renewed: boolean) => ({
  play_session_id: play_session.id,
  expires_at: play_session.expires_at,
  renewed,
})
