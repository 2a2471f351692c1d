import type { SessionTrack } from './service.ts'

interface TrackDetail {
  track: SessionTrack | null
  /** The track's place in the session, from 0. */
  index: number
}
interface SessionDetail {
  play_session_id: string
  expires_at: string
  /** Whether a new session took the place of one that ended. */
  renewed: boolean
}

/** The player's events, each a `CustomEvent` that bubbles and leaves shadow trees. */
export interface PlayerEventMap {
  'tonearm-ready': CustomEvent<TrackDetail & { tracks: SessionTrack[] }>
  'tonearm-play': CustomEvent<TrackDetail>
  'tonearm-pause': CustomEvent<TrackDetail>
  /** Seconds. */
  'tonearm-timeupdate': CustomEvent<{ current_time: number; duration: number }>
  /** A track has come to its end; `last` when nothing follows. */
  'tonearm-ended': CustomEvent<TrackDetail & { last: boolean }>
  'tonearm-trackchange': CustomEvent<TrackDetail>
  /** `code` is one of the service's, `no_playable_variant`, or `download_failed` when the storage refused a file. */
  'tonearm-error': CustomEvent<{ code: string; message: string }>
  'tonearm-sessionrefresh': CustomEvent<SessionDetail>
  /** The session has ended and cannot be renewed from here: set another `play-session-id` to go on. */
  'tonearm-sessionexpired': CustomEvent<{ play_session_id: string | null }>
}
