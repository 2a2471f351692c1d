import { Latest, Timers } from '../retry.ts'
import { AudioPair } from './audio_pair.ts'
import { type EngineContext, Loader } from './loader.ts'
import { Pauses } from './pauses.ts'
import { afterEnded, effectiveVolume, isProgress, onPlay } from './policy.ts'
import { Refresher } from './refresh.ts'
import { SessionClient } from './session.ts'
import {
  adoptSession,
  type Clip,
  nextIndex,
  isSounding,
  type LoadedFile,
  indexOfTrack,
  type PlaybackCallbacks,
  type PlaybackOptions,
  playingOrder,
  type Session,
  type Source,
  type StartOptions,
  type State,
  Store,
} from './state.ts'

/**
 * Plays a session, without a user interface. Playback starts at the first entry of `starts` whose track is in the session. Until a session
 * is open, the methods below change these entries.
 */
export class Playback {
  readonly #callbacks: PlaybackCallbacks
  readonly #ended = new AbortController()
  readonly #core: EngineContext
  readonly #loader: Loader
  readonly #refresher: Refresher
  readonly #pauses: Pauses
  /** The file whose refresh is scheduled. */
  #planned: LoadedFile | null = null
  #isReporting = false

  constructor(
    source: Source,
    options: PlaybackOptions,
    starts: readonly StartOptions[],
    callbacks: PlaybackCallbacks,
    makeAudio = () => new Audio(),
  ) {
    const { signal } = this.#ended
    this.#callbacks = callbacks
    const store = new Store({ ...callbacks, onChange: () => this.#changed() })
    const onRefresh = ({ play_session }: Pick<Session, 'play_session'>, renewed = false) =>
      store.emit('sessionrefresh', { playSessionId: play_session.id, expiresAt: play_session.expires_at, renewed })
    let joined: Promise<void> | undefined
    const next = () => {
      const after = afterEnded(store.state, options)
      return after.next === 'play' ? this.#loader.ahead(after.index) : null
    }
    const onSession = (session: Session, renewed: boolean) => {
      store.set({ ...adoptSession(store.state, session, options), expiryAnnounced: false })
      if (renewed) onRefresh(session, true)
      // Without this module, there is a short silence between tracks.
      if (session.tracks.length > 1)
        joined ??= import('./gapless.ts').then(({ joinTracks }) => joinTracks(this.#core, next)).catch(() => {})
    }
    const audio = new AudioPair(
      {
        onTime: () => this.#onTime(),
        onState: () => {
          callbacks.onChange()
          this.#pauses.watchClip()
          this.#refresher.watchForStall()
          this.#reportHeard()
        },
        onEnded: () => this.#onEnded(),
        onError: () => void this.#loader.recover(),
        onStop: () => store.set({ playing: false }),
        onSwap: callbacks.onSwap,
      },
      signal,
      makeAudio,
    )
    const session = new SessionClient(source, options, { onSession, onRefresh }, signal)
    const timers = new Timers(signal)
    const latest = new Latest(signal)
    this.#core = { source, store, options, starts: [...starts], session, audio, timers, latest, signal }
    this.#loader = new Loader(this.#core)
    this.#refresher = new Refresher(this.#core, this.#loader)
    this.#pauses = new Pauses(this.#core, () => this.pause())
    this.changeOptions({})
  }

  get state(): Readonly<State> {
    return this.#core.store.state
  }
  /** The audio element that plays. */
  get audio(): HTMLAudioElement {
    return this.#core.audio.audio
  }
  /** Whether playback is stopped and will not start by itself. True after the session has ended. */
  get paused(): boolean {
    return !isSounding(this.state)
  }
  get time(): number {
    return this.#core.audio.time
  }
  get duration(): number {
    return this.#refresher.duration
  }
  /** Whether playback waits for data. */
  get isWaiting(): boolean {
    return this.#core.audio.isWaiting
  }
  get hasNext(): boolean {
    return nextIndex(this.state, this.#core.options) !== undefined
  }

  open(): Promise<void> {
    return this.#loader.open()
  }

  async play(): Promise<void> {
    const { store, audio } = this.#core
    this.#changeStarts({ play: true })
    store.set({ playing: true })
    // A listener of the `play` event may have paused playback again.
    if (!this.state.playing) return
    this.#pauses.onPlay()
    if (audio.audio.ended) audio.seek(0)
    const next = onPlay(this.state.status, this.#isStale && !audio.has(audio.time, this.duration))
    if (next === 'wait') return
    if (next === 'reload') return await this.#loader.reload()
    this.#refresher.plan()
    await this.#loader.start()
  }

  pause(): void {
    this.#changeStarts({ play: false })
    this.#core.store.set({ playing: false })
    this.#core.audio.pause()
  }

  async seek(seconds: number): Promise<void> {
    const { audio } = this.#core
    const { session, status } = this.state
    // The maximum is slightly before the end, so that a seek to the right edge of the waveform does not end the track.
    const last = session ? Math.max(0, this.duration - 0.05) : Infinity
    const position = Math.min(Math.max(0, seconds), last)
    if (!Number.isFinite(position)) return
    this.#pauses.onSeek(position)
    if (!session) {
      this.#changeStarts({ position, clip: null })
      audio.clear(position)
    } else if (status === 'ready' && this.#isStale && !audio.has(position, position + 1)) {
      audio.clear(position)
      await this.#loader.reload()
    } else audio.seek(position)
    this.#callbacks.onTime()
  }

  next(): Promise<void> {
    return this.#step(1)
  }

  /** Goes to the previous track, or to the start of the current track if more than 3 seconds of it have played. */
  previous(): Promise<void> {
    return this.time > 3 ? this.seek(0) : this.#step(-1)
  }

  /**
   * Goes to a position in the current track, or in the given `track`, from where a clip may be played. Resolves to false if the session does not
   * contain that track.
   */
  async goTo({ track, position, clip = null }: Omit<StartOptions, 'play' | 'step'>): Promise<boolean> {
    const { session, index } = this.state
    if (!session && track !== null) {
      this.#startAt({ track, position, clip, play: this.#core.starts[0]!.play })
      return true
    }
    const target = track === null ? index : indexOfTrack(session, track)
    if (target === index) {
      const isSought = this.seek(position)
      this.setClip(clip)
      await isSought
    } else await this.#loader.select(target, position, this.state.playing, clip)
    return target >= 0
  }

  /** Sets the part of the current track that is played, without a seek. Null plays on to the end of the track. */
  setClip(clip: Clip | null): void {
    this.#pauses.setClip(clip)
  }

  /** Plays a track by its id or its number, counted from 1. */
  async selectTrack(track: string): Promise<void> {
    const { session } = this.state
    if (session) await this.select(indexOfTrack(session, track))
    else this.#startAt({ track, position: 0, play: true })
  }

  select(index: number): Promise<void> {
    return this.#loader.select(index, 0, true)
  }

  retry(): Promise<void> {
    return this.#loader.reload()
  }

  /** Returns a download URL for the current track in the given variant; by default in the variant that is loaded. */
  download(variant: string) {
    const { store, session } = this.#core
    return session.download(store.track()?.id ?? '', variant || (this.state.loaded?.variant ?? ''))
  }

  /** Applies changed options. The caller has already changed the `options` object itself. */
  changeOptions(change: Partial<PlaybackOptions>): void {
    const { store, options, audio } = this.#core
    audio.setRate(options.rate)
    this.#pauses.watchClip()
    audio.setVolume(effectiveVolume(options.volume, this.state.gain), options.muted)
    const { session, index, view } = this.state
    if ('shuffle' in change) store.set({ order: playingOrder(session?.tracks.length ?? 0, options.shuffle, index) })
    if (!('normalize' in change) || !view) return
    this.#refresher.prefetchAgain()
    void this.#loader.followGain(view)
  }

  /**
   * Sets the sleep timer: playback pauses at a time, in milliseconds since 1970 by this machine's clock, or at the end of the track. Null
   * cancels the timer.
   */
  sleepAt(sleep: number | 'track' | null): void {
    this.#pauses.sleepAt(sleep)
  }

  /** Start options with which another playback continues at the same position. */
  get resumePoint(): StartOptions {
    const { id } = this.#core.store.track() ?? {}
    const { playing: play, clip } = this.state
    return id ? { track: id, position: this.time, clip, play } : this.#core.starts[0]!
  }

  close(): void {
    this.#ended.abort()
    this.#core.store.set({ loaded: null })
    this.#core.audio.clear(0)
  }

  #changeStarts(change: Partial<StartOptions>): void {
    for (const start of this.#core.starts) Object.assign(start, change)
  }

  /** Adds an entry to `starts` that takes precedence over the existing entries if its track is in the session. */
  #startAt(start: StartOptions): void {
    this.#core.starts.unshift(start)
    this.#core.audio.clear(start.position)
  }

  async #step(by: 1 | -1): Promise<void> {
    const { starts, options } = this.#core
    const index = nextIndex(this.state, options, by)
    if (index !== undefined) return await this.#loader.select(index)
    if (!this.state.session)
      for (const start of starts) Object.assign(start, { step: (start.step ?? 0) + by, clip: null })
    // `next` does nothing at the last track; `previous` restarts the first track.
    if (!this.state.session || by < 0) await this.seek(0)
  }

  get #isStale(): boolean {
    return (this.state.loaded?.until ?? 0) <= Date.now() + 1000
  }

  #changed(): void {
    if (this.#ended.signal.aborted) return
    if (this.#planned !== this.state.loaded) {
      this.#planned = this.state.loaded
      this.#refresher.plan()
    }
    this.#callbacks.onChange()
  }

  /** Handles a change of the position, whether by playback or by a seek. */
  #onTime(): void {
    const { store } = this.#core
    const { time: currentTime, duration } = this
    const { attempts } = this.state
    if (isProgress(attempts, currentTime)) store.set({ attempts: { ...attempts, failures: 0 }, polls: 0 })
    store.emit('timeupdate', { currentTime, duration })
    this.#callbacks.onTime()
    this.#pauses.watchClip()
    this.#refresher.prefetch(duration - currentTime)
  }

  /** When there is sound for the first time: loads the module that reports to the service which seconds were heard. */
  #reportHeard(): void {
    const { audio } = this
    if (this.#isReporting || !this.state.session?.heard_token || audio.paused || audio.readyState < 3) return
    this.#isReporting = true
    const [position, since] = [audio.currentTime, performance.now()]
    // Without this module, nothing is counted.
    void import('./report.ts')
      .then(({ reportHeard }) => reportHeard(this.#core, position, since, this.#callbacks.isReporting))
      .catch(() => {})
  }

  #onEnded(): void {
    const { store, latest, options } = this.#core
    const after = afterEnded(this.state, options)
    const isCurrent = latest.current()
    store.emit('ended', { ...store.detail(), last: after.next === 'stop' })
    // A listener of the `ended` event may have paused playback or changed the track.
    if (!this.state.playing || !isCurrent()) return
    if (after.next !== 'play') {
      store.set({ sleep: null, playing: false })
      if (after.next === 'wait') void this.#loader.select(after.index)
    } else if (after.index === this.state.index) void this.seek(0).then(() => this.play())
    else void this.#loader.advance(after.index)
  }
}
