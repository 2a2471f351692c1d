import type { Calls } from '../../contract/index.ts'
import type { Success } from '../client.ts'

/** Everything that changes while a session plays, and the one place that changes it. */

export type Session = Pick<Success<Calls['playSession']>, 'play_session' | 'list' | 'tracks' | 'first_track'>
export type SessionTrack = Session['tracks'][number]

export type PlayView = Omit<Success<Calls['playTrack']>, 'ok' | 'api_request_id'>
export type Chapter = PlayView['chapters'][number]

/** A play view and when its URLs end, by this machine's clock. */
export interface TimedView {
  view: PlayView
  until: number
}

/** What keeps the player from playing, if anything does. */
export type Status = 'loading' | 'ready' | 'processing' | 'offline' | 'expired' | 'empty' | 'failed'

export type Loop = 'none' | 'all' | 'one'

/** The file that an audio element has, and when its URL ends. */
export interface LoadedFile {
  trackId: string
  variant: string
  url: string
  until: number
}

/** The next track, loaded ahead. */
export interface Prefetched extends LoadedFile {
  view: PlayView
  gain: number
}

/** What went wrong with the files of one track. */
export interface Attempts {
  /** How many of the files have been given up. */
  skipped: number
  failures: number
  failedAt: number
}
export const NO_ATTEMPTS: Attempts = { skipped: 0, failures: 0, failedAt: 0 }

export interface State {
  status: Status
  /** Why it failed. */
  code: string | null
  session: Session | null
  /** The track's place in the session, from 0. */
  index: number
  /** The places in playing order. */
  order: readonly number[]
  view: PlayView | null
  /** What the listener wants. It stays true when the session ends, so that another one goes on; see `isSounding`. */
  playing: boolean
  loaded: LoadedFile | null
  prefetched: Prefetched | null
  /** The factor that brings the track to its loudness. */
  gain: number
  attempts: Attempts
  /** Questions in a row that the service could not answer yet. */
  polls: number
  /** Whether anything could be played before. */
  wasReady: boolean
  /** Whether the page knows that the session has ended. */
  expiryAnnounced: boolean
  /** When playback is to end: a time by this machine's clock, or the end of the track. */
  sleep: number | 'track' | null
}

export const initialState = (status: Status): State => ({
  status,
  code: null,
  session: null,
  index: 0,
  order: [],
  view: null,
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

/** Whether there is sound, or will be without anybody doing anything. */
export const isSounding = ({ playing, status }: Pick<State, 'playing' | 'status'>) =>
  playing && status !== 'expired' && status !== 'empty'

/** Title, subtitle and album of the track that is shown; before its play view is there, from the session. */
export function namesOf({ view, session, index }: State) {
  const track = session?.tracks[index]
  const list = (view ?? session)?.list
  return {
    title: view?.track.player_title ?? track?.player_title ?? view?.track.file_name ?? '',
    subtitle: view?.track.player_subtitle ?? track?.player_subtitle ?? list?.subtitle ?? '',
    album: list?.title ?? view?.track.tags?.album ?? '',
  }
}

/** Where the data comes from: a session that somebody created, or a key to create sessions with, or both. */
export interface Source {
  baseUrl: string
  playSessionId: string | null
  apiKey: string | null
  scope: string | null
  resourceId: string | null
  /** Asked for when a session is created. */
  variants: string[]
  isDownloadable: boolean
  normalize: boolean
  /** Seconds that a created session lives; the service's default without it. */
  expiresIn: number | null
}

/** What may be changed at any time. */
export interface PlaybackOptions {
  /** Files to try first, by the index of their variant. */
  variants: string[]
  loop: Loop
  shuffle: boolean
  /** Plays every track at the same loudness. */
  normalize: boolean
  volume: number
  muted: boolean
  rate: number
}

/** Where to begin. A track is named by its id, or by its number from 1. */
export interface StartOptions {
  track: string | null
  position: number
  play: boolean
  /** Tracks to go forward from there, or back below zero: `next` and `previous` before there is a session. */
  step?: number
}

interface TrackDetail {
  track: SessionTrack | null
  /** The track's place in the session, from 0. */
  index: number
}

/** What happens, by name, with its detail. */
export interface PlaybackEvents {
  ready: TrackDetail & { tracks: SessionTrack[] }
  play: TrackDetail
  pause: TrackDetail
  /** Seconds. */
  timeupdate: { currentTime: number; duration: number }
  /** A track has come to its end; `last` when nothing follows. */
  ended: TrackDetail & { last: boolean }
  trackchange: TrackDetail
  /** `code` is one of the service's, or `no_playable_variant`. `message` is the service's, for developers. */
  error: { code: string; message: string | null }
  /** `renewed`: another session took the place of one that ended. */
  sessionrefresh: { playSessionId: string; expiresAt: string; renewed: boolean }
  /** The session has ended and cannot be renewed from here. */
  sessionexpired: { playSessionId: string | null }
}

/** Who hears of it. */
export interface PlaybackCallbacks {
  onChange: () => void
  onTime: () => void
  onEvent: <N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]) => void
  /** Another audio element plays now. */
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
  /** Where a track goes on that is begun at its start, in seconds. */
  resumeAt?: (track: SessionTrack) => number
}

/** Holds the state, and tells who wants to hear of its changes. */
export class Store {
  readonly #state = initialState('loading')
  readonly #callbacks: PlaybackCallbacks

  constructor(callbacks: PlaybackCallbacks) {
    this.#callbacks = callbacks
  }

  get state(): Readonly<State> {
    return this.#state
  }

  /** The track at a place, else the one that is shown. */
  track(index = this.#state.index): SessionTrack | undefined {
    return this.#state.session?.tracks[index]
  }

  /** Where a track goes on when nothing says where it begins. */
  resumeAt(index: number): number {
    const track = this.track(index)
    return (track && this.#callbacks.resumeAt?.(track)) ?? 0
  }

  /** Every change of `isSounding` is an event, also that by the end of a session. */
  set(change: Partial<State>): void {
    const before = isSounding(this.#state)
    Object.assign(this.#state, change)
    this.#callbacks.onChange()
    const now = isSounding(this.#state)
    if (now !== before) this.emit(now ? 'play' : 'pause', this.detail())
  }

  emit<N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]): void {
    this.#callbacks.onEvent(name, detail)
  }

  /** The detail of an event that is about the track that is shown. */
  detail(): TrackDetail {
    return { track: this.track() ?? null, index: this.#state.index }
  }
}

/**
 * The places in playing order; shuffled, the one that plays now stands first. Tracks are named by their place in the session: a
 * playlist may hold one twice.
 */
export function playingOrder(count: number, shuffle: boolean, current: number, random = Math.random): number[] {
  const places = Array.from({ length: count }, (_, i) => i)
  if (!shuffle) return places
  const rest = places.filter((place) => place !== current)
  // Fisher and Yates.
  for (let i = rest.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[rest[i], rest[other]] = [rest[other]!, rest[i]!]
  }
  return current < count ? [current, ...rest] : rest
}

/** The place after or before another, or undefined at the end. */
export function neighbour(order: readonly number[], current: number, step: number, loop: Loop): number | undefined {
  const at = order.indexOf(current)
  if (at < 0) return order[0]
  const next = at + step
  if (loop === 'all' && order.length > 0) return order[(next + order.length) % order.length]
  return order[next]
}

type Options = Pick<PlaybackOptions, 'shuffle' | 'loop'>

/** The place that follows the one that plays, or the one before it. */
export const following = ({ order, index }: Pick<State, 'order' | 'index'>, { loop }: Options, step = 1) =>
  neighbour(order, index, step, loop)

/** The place of a track by its id or its number from 1; below zero when it is not there. */
export const placeOf = (session: Session | null, wanted: string | null) =>
  session?.tracks.findIndex(({ id }, place) => id === wanted || String(place + 1) === wanted) ?? -1

/** Whether a track is there, or none was asked for. */
export const hasTrack = (session: Session | null, wanted: string | null) =>
  wanted === null || placeOf(session, wanted) >= 0

/** Takes another session's tracks. The track that plays may have another place in it; if it is not in it, it keeps its entry while it plays. */
export function adopt(state: State, session: Session, { shuffle }: Options): Partial<State> {
  const current = state.session?.tracks[state.index]
  let { tracks } = session
  let { index } = state
  if (current && tracks[index]?.id !== current.id) {
    index = placeOf(session, current.id)
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

/** Goes to a track by its id or its number from 1, else to the one that can be played already, else to the first; then on by some steps. */
export function goTo({ session }: State, { track, step = 0 }: StartOptions, options: Options): Partial<State> {
  const asked = placeOf(session, track)
  let index = Math.max(0, asked >= 0 ? asked : placeOf(session, session?.first_track?.track_id ?? null))
  const order = playingOrder(session?.tracks.length ?? 0, options.shuffle, index)
  const by = Math.sign(step)
  for (let at = 0; at !== step; at += by) index = following({ order, index }, options, by) ?? index
  return { index, order }
}

/** The chapter at a time; below zero before the first. */
export const chapterAt = (chapters: readonly Chapter[], time: number) =>
  chapters.findLastIndex(({ start }) => start <= time + 0.05)

/** Where the next or the previous chapter begins; the present one's beginning first, when more than 3 seconds were played. */
export function chapterStep(chapters: readonly Chapter[], time: number, step: 1 | -1): number | undefined {
  const at = chapterAt(chapters, time)
  if (step === -1 && at >= 0 && time - chapters[at]!.start > 3) return chapters[at]!.start
  return chapters[at + step]?.start
}
