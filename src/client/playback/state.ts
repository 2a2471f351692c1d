import type { Calls } from '../../contract/client_operations.ts'
import type { Success } from '../client.ts'

/** The state of playback, the store that holds it, and functions that compute changes to it. */

type SessionAnswer = Success<Calls['playSession']>
export type Session = Pick<SessionAnswer, 'play_session' | 'list' | 'tracks' | 'first_track' | 'views'> &
  Partial<Pick<SessionAnswer, 'heard_token'>>
export type SessionTrack = Session['tracks'][number]

export type PlayView = Omit<Success<Calls['playTrack']>, 'ok' | 'api_request_id' | 'heard_token'>
export type Chapter = PlayView['chapters'][number]

/** A play view. `until`: when its URLs expire, in milliseconds since 1970 by this machine's clock. */
export interface TimedView {
  view: PlayView
  until: number
}

/** A part of a track, in seconds. Playback pauses at its end. */
export interface Clip {
  start: number
  end: number
}

/** `ready`, or the reason why the player cannot play. */
export type Status = 'loading' | 'ready' | 'processing' | 'offline' | 'expired' | 'empty' | 'failed'

export type Loop = 'none' | 'all' | 'one'

/** The file that an audio element has loaded. `until`: when its URL expires, in milliseconds since 1970 by this machine's clock. */
export interface LoadedFile {
  trackId: string
  variant: string
  url: string
  until: number
}

/** The preloaded next track. */
export interface Prefetched extends LoadedFile {
  view: PlayView
  gain: number
}

/** Media errors of the current track. */
export interface Attempts {
  /** Number of files that were skipped because they could not be played. */
  skipped: number
  failures: number
  failedAt: number
}
export const NO_ATTEMPTS: Attempts = { skipped: 0, failures: 0, failedAt: 0 }

export interface State {
  status: Status
  /** Error code that explains the status; null if there is no error. */
  code: string | null
  session: Session | null
  /** The track's index in the session, from 0. */
  index: number
  /** The indices of the tracks in playing order. */
  order: readonly number[]
  view: PlayView | null
  /** The part of the track that is played; null for all of it. */
  clip: Clip | null
  /** Whether the listener wants playback. Stays true when the session ends, so that a new session continues playback; see `isSounding`. */
  playing: boolean
  loaded: LoadedFile | null
  prefetched: Prefetched | null
  /** Linear gain that normalizes the track's loudness. */
  gain: number
  attempts: Attempts
  /** Number of consecutive requests that failed because the track was not ready, or because the service or the storage was unavailable. */
  polls: number
  /** Whether any track has been ready since this playback was created. */
  wasReady: boolean
  /** Whether the page has been informed that the session ended. */
  expiryAnnounced: boolean
  /** When the sleep timer pauses playback: milliseconds since 1970 on this device's clock, or `track` for the end of the track. */
  sleep: number | 'track' | null
}

export const initialState = (status: Status): State => ({
  status,
  code: null,
  session: null,
  index: 0,
  order: [],
  view: null,
  clip: null,
  playing: false,
  loaded: null,
  prefetched: null,
  gain: 1,
  attempts: NO_ATTEMPTS,
  polls: 0,
  wasReady: false,
  expiryAnnounced: false,
  sleep: null,
})

/** Whether the player is playing, or will play without further action by the listener. */
export const isSounding = ({ playing, status }: Pick<State, 'playing' | 'status'>) =>
  playing && status !== 'expired' && status !== 'empty'

/** Returns the title, subtitle and album of the current track. Until its play view has loaded, they come from the session. */
export function namesOf({ view, session, index }: State) {
  const track = session?.tracks[index]
  const list = (view ?? session)?.list
  return {
    title: view?.track.player_title ?? track?.player_title ?? view?.track.file_name ?? '',
    subtitle: view?.track.player_subtitle ?? track?.player_subtitle ?? list?.subtitle ?? '',
    album: list?.title ?? view?.track.tags?.album ?? '',
  }
}

/** What to play: an existing session, or a key with which sessions are created, or both. */
export interface Source {
  baseUrl: string
  playSessionId: string | null
  apiKey: string | null
  scope: string | null
  resourceId: string | null
  /** The variants to request when a session is created. */
  variants: string[]
  isDownloadable: boolean
  normalize: boolean
  /** Lifetime of the sessions that are created, in seconds; null for the service's default. */
  expiresIn: number | null
  /** The session, if the page has it already: a response of `GET /v1/play/{play_session_id}`. It is opened once without a request. */
  session?: Session | null
}

/** Options that can change at any time. */
export interface PlaybackOptions {
  /** Indices of the variants to try first. */
  variants: string[]
  loop: Loop
  shuffle: boolean
  /** Whether all tracks play at the same loudness. */
  normalize: boolean
  volume: number
  muted: boolean
  rate: number
}

/** Where playback starts. `track` is the id of a track or its number in the list, counted from 1. */
export interface StartOptions {
  track: string | null
  position: number
  /** The part of the track to play, which contains the position. */
  clip?: Clip | null
  play: boolean
  /** Number of tracks to move from `track`, negative for backward. Set by `next` and `previous` before a session is open. */
  step?: number
}

interface TrackDetail {
  track: SessionTrack | null
  /** The track's index in the session, from 0. */
  index: number
}

/** The details of the events, by the name of the event. */
export interface PlaybackEvents {
  ready: TrackDetail & { tracks: SessionTrack[] }
  play: TrackDetail
  pause: TrackDetail
  /** The position and the duration are in seconds. */
  timeupdate: { currentTime: number; duration: number }
  /** A track has ended. `last`: no track follows. */
  ended: TrackDetail & { last: boolean }
  trackchange: TrackDetail
  /** `code` is an error code of the service or `no_playable_variant`. `message` is the message of the service, for developers. */
  error: { code: string; message: string | null }
  /** A session was opened. `renewed`: it replaced a session that had ended. */
  sessionrefresh: { playSessionId: string; expiresAt: string; renewed: boolean }
  /** The session has ended and cannot be renewed from here. */
  sessionexpired: { playSessionId: string | null }
}

/** Callbacks of a playback. */
export interface PlaybackCallbacks {
  onChange: () => void
  onTime: () => void
  onEvent: <N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]) => void
  /** Called when the other audio element has taken over. */
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
  /** Returns the position in seconds at which a track starts if no other position is given. */
  resumeAt?: (track: SessionTrack) => number
  /** Returns whether the playback may report to the service which seconds were heard; by default it may (docs/listening.md). */
  isReporting?: () => boolean
}

/** Holds the state and reports changes to it. */
export class Store {
  readonly #state = initialState('loading')
  readonly #callbacks: PlaybackCallbacks
  /** Called with the name of each event, before the callbacks. */
  onEvent?: (name: keyof PlaybackEvents) => void

  constructor(callbacks: PlaybackCallbacks) {
    this.#callbacks = callbacks
  }

  get state(): Readonly<State> {
    return this.#state
  }

  /** Returns the track at an index; by default the current track. */
  track(index = this.#state.index): SessionTrack | undefined {
    return this.#state.session?.tracks[index]
  }

  /** Returns the position in seconds at which a track starts if no other position is given. */
  resumeAt(index: number): number {
    const track = this.track(index)
    return (track && this.#callbacks.resumeAt?.(track)) ?? 0
  }

  /** Changes the state. Emits `play` or `pause` whenever `isSounding` changes, even if the cause is the end of a session. */
  set(change: Partial<State>): void {
    const before = isSounding(this.#state)
    Object.assign(this.#state, change)
    this.#callbacks.onChange()
    const now = isSounding(this.#state)
    if (now !== before) this.emit(now ? 'play' : 'pause', this.detail())
  }

  emit<N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]): void {
    this.onEvent?.(name)
    this.#callbacks.onEvent(name, detail)
  }

  /** Returns the event detail for the current track. */
  detail(): TrackDetail {
    return { track: this.track() ?? null, index: this.#state.index }
  }
}

/**
 * Returns the indices of the tracks in playing order. If shuffled, the current track comes first. Returns indices and not ids, because a
 * playlist may contain a track twice.
 */
export function playingOrder(count: number, shuffle: boolean, current: number, random = Math.random): number[] {
  const indices = Array.from({ length: count }, (_, i) => i)
  if (!shuffle) return indices
  const others = indices.filter((index) => index !== current)
  // Shuffles the indices (Fisher–Yates).
  for (let i = others.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[others[i], others[j]] = [others[j]!, others[i]!]
  }
  return current < count ? [current, ...others] : others
}

/** Returns the index that is `step` entries away from `current` in playing order, or undefined if the order ends before. */
export function neighbor(order: readonly number[], current: number, step: number, loop: Loop): number | undefined {
  const at = order.indexOf(current)
  if (at < 0) return order[0]
  const next = at + step
  if (loop === 'all' && order.length > 0) return order[(next + order.length) % order.length]
  return order[next]
}

type Options = Pick<PlaybackOptions, 'shuffle' | 'loop'>

/** Returns the index of the track that is `step` tracks away from the current one; by default of the next track. */
export const nextIndex = ({ order, index }: Pick<State, 'order' | 'index'>, { loop }: Options, step = 1) =>
  neighbor(order, index, step, loop)

/** Returns the index of the track with an id or a number, counted from 1; -1 if the session has no such track. */
export const indexOfTrack = (session: Session | null, track: string | null) =>
  session?.tracks.findIndex(({ id }, index) => id === track || String(index + 1) === track) ?? -1

/** Whether the session contains a track. True if the track is null. */
export const hasTrack = (session: Session | null, track: string | null) =>
  track === null || indexOfTrack(session, track) >= 0

/**
 * Returns the changes to the state after another session was opened. The current track may have a different index in that session. If the
 * session does not contain the track, the track is inserted into its list.
 */
export function adoptSession(state: State, session: Session, { shuffle }: Options): Partial<State> {
  const current = state.session?.tracks[state.index]
  let { tracks } = session
  let { index } = state
  if (current && tracks[index]?.id !== current.id) {
    index = indexOfTrack(session, current.id)
    if (index < 0) {
      index = Math.min(state.index, tracks.length)
      tracks = tracks.toSpliced(index, 0, current)
    }
  }
  const { length } = tracks
  return {
    session: { ...session, tracks },
    index,
    ...(state.order.length !== length && { order: playingOrder(length, shuffle, index) }),
  }
}

/**
 * Returns the changes to the state for a start at a track, given by its id or its number, counted from 1. If the session has no such track,
 * playback starts at the first playable track, or else at the first one. `step` is the number of tracks to move from there.
 */
export function goTo({ session }: State, { track, step = 0 }: StartOptions, options: Options): Partial<State> {
  const start = indexOfTrack(session, track)
  let index = Math.max(0, start >= 0 ? start : indexOfTrack(session, session?.first_track?.track_id ?? null))
  const order = playingOrder(session?.tracks.length ?? 0, options.shuffle, index)
  const by = Math.sign(step)
  for (let at = 0; at !== step; at += by) index = nextIndex({ order, index }, options, by) ?? index
  return { index, order }
}

/** Returns the index of the chapter at a time; -1 before the first chapter. */
export const chapterAt = (chapters: readonly Chapter[], time: number) =>
  chapters.findLastIndex(({ start }) => start <= time + 0.05)

/**
 * Returns the start of the next or previous chapter, in seconds. A step back returns the start of the current chapter if more than 3
 * seconds of it have played.
 */
export function chapterStep(chapters: readonly Chapter[], time: number, step: 1 | -1): number | undefined {
  const at = chapterAt(chapters, time)
  if (step === -1 && at >= 0 && time - chapters[at]!.start > 3) return chapters[at]!.start
  return chapters[at + step]?.start
}
