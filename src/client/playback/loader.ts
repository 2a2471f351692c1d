import type { Analysis } from '../../contract/info.ts'
import { type IsCurrent, type Latest, sleep, type Timers } from '../retry.ts'
import type { AudioPair } from './audio_pair.ts'
import {
  afterFailure,
  afterMediaError,
  ANALYSIS,
  playableFiles,
  effectiveVolume,
  type VariantFile,
  gainOf,
  isOutage,
  isSkipped,
  type Refusal,
} from './policy.ts'
import { type SessionClient, storageFault } from './session.ts'
import {
  type Clip,
  nextIndex,
  goTo,
  hasTrack,
  NO_ATTEMPTS,
  type PlaybackOptions,
  type PlayView,
  type Prefetched,
  type Source,
  type StartOptions,
  type State,
  type Store,
  type TimedView,
} from './state.ts'

/** The state and the services that the parts of the engine share. */
export interface EngineContext {
  source: Pick<Source, 'baseUrl'>
  store: Store
  options: PlaybackOptions
  /**
   * Where playback may start. The first entry whose track is in the session applies; if there is none, the last entry applies, but without
   * its position and its clip.
   */
  starts: StartOptions[]
  session: SessionClient
  audio: AudioPair
  timers: Timers
  latest: Latest
  signal: AbortSignal
}

/** Maximum milliseconds to wait for a track's gain before the track loads without it. */
const GAIN_TIMEOUT = 800
/** While a track plays, its gain changes by half a decibel every 20 milliseconds, so that listeners hear neither a click nor a jump. */
const GAIN_STEP = 10 ** (0.5 / 20)
const GAIN_PACE = 20

/** Opens the session, loads tracks into the audio element, and recovers from errors. */
export class Loader {
  readonly #core: EngineContext
  /** Cached gains by the path of the analysis, because a reloaded file needs its gain at once, even during an outage of the storage. */
  readonly #gains = new Map<string, number>()
  /** Number of tracks that may be skipped from the current one on. */
  #passes = 0

  constructor(core: EngineContext) {
    this.#core = core
  }

  get #state(): Readonly<State> {
    return this.#core.store.state
  }

  async open(): Promise<void> {
    const { store, session, options, starts } = this.#core
    const isCurrent = this.#supersede()
    if (this.#state.status !== 'offline') store.set({ status: 'loading', code: null })
    const answer = await session.open()
    if (!isCurrent()) return
    if (!answer.ok) return this.#refused(answer, () => void this.open())
    if (answer.tracks.length === 0) return store.set({ status: 'empty' })
    // The position and the clip of an entry apply only to the track of the entry.
    const found = starts.find(({ track }) => hasTrack(this.#state.session, track))
    const start = found ?? { ...starts.at(-1)!, position: 0, clip: null }
    store.set(goTo(this.#state, start, options))
    await this.select(this.#state.index, start.position, start.play, start.clip)
  }

  /** Switches to a track. Skips up to `passes` tracks that cannot be played; 0 if the listener chose the track. */
  async select(
    index: number,
    position = 0,
    play = this.#state.playing,
    clip: Clip | null = null,
    passes = 0,
  ): Promise<void> {
    const { store, session, audio } = this.#core
    const id = store.track(index)?.id
    if (id === undefined) return
    const isCurrent = this.#leave()
    const isChanged = this.#state.index !== index || !this.#state.wasReady
    const starts = play && !this.#state.playing
    audio.clear(clip || (position > 0 && position < Infinity) ? position : store.resumeAt(index))
    this.setGain(1)
    store.set({ index, clip, status: 'loading', code: null, loaded: null, polls: 0, ...(isChanged && { view: null }) })
    if (isChanged) store.emit('trackchange', store.detail())
    if (!isCurrent()) return
    if (starts) store.set({ playing: true })
    this.#passes = passes
    const answer = await session.view(id)
    if (!isCurrent()) return
    if (answer.ok) return await this.#show(answer, isCurrent)
    await this.#skip(answer)
  }

  /** After a refusal, goes to the next track if the listener did not choose this one and it cannot be played. */
  async #skip(failure: Refusal): Promise<void> {
    const next = nextIndex(this.#state, this.#core.options)
    if (isSkipped(failure) && this.#passes > 0 && next !== undefined)
      return await this.select(next, 0, this.#state.playing, null, this.#passes - 1)
    this.#refused(failure)
  }

  /** Returns the preloaded file of a track that starts at its beginning. */
  ahead(index: number): Prefetched | null {
    const { store } = this.#core
    const { prefetched } = this.#state
    // Compares ids, because the index of a track may differ in a renewed session.
    return prefetched?.trackId === store.track(index)?.id && !store.resumeAt(index) ? prefetched : null
  }

  /** Continues with the next track. If the other element has preloaded it, that element plays it. */
  async advance(index: number): Promise<void> {
    const { store, audio } = this.#core
    const ahead = this.ahead(index)
    if (!ahead || !audio.swapTo(ahead.url)) return await this.select(index, 0, true, null, this.#state.order.length)
    const isCurrent = this.#leave()
    const { gain, view } = ahead
    this.setGain(gain)
    const started = audio.play()
    store.set({ index, view, status: 'ready', loaded: ahead })
    store.emit('trackchange', store.detail())
    if ((await started) || !isCurrent()) return
    // iOS lets an element play only if a gesture has started that element before.
    audio.swapBack()
    await this.select(index)
  }

  /** Starts playback, or shows the play button if the browser requires a user gesture first. */
  async start(): Promise<void> {
    if (!(await this.#core.audio.play())) this.#core.store.set({ playing: false })
  }

  /** Reloads the track at its position, with valid URLs. */
  async reload(): Promise<void> {
    const { store, session } = this.#core
    const id = store.track()?.id
    // If the listener presses play in an expired session, the page is informed again, even if the session was never opened.
    if (this.#state.status === 'expired') store.set({ expiryAnnounced: false })
    if (id === undefined) return await this.open()
    const isCurrent = this.#supersede()
    // After a refusal, only a fresh response can show that the problem is solved, so the cache is not used.
    const answer = await (this.#state.status === 'ready' ? session.view(id) : session.refresh(id))
    if (!isCurrent()) return
    if (!answer.ok) return this.#refused(answer)
    await this.#show(answer, isCurrent)
  }

  /**
   * Recovers from a file that failed or stalled. Its URL may have expired, so a fresh one is tried first. If that fails as well, a request
   * to the storage shows whether to wait for the end of an outage or to try the next file (docs/decisions/0065).
   */
  async recover(isStalled = false): Promise<void> {
    const { store, session, audio } = this.#core
    const { loaded, attempts, polls } = this.#state
    if (!loaded) return
    const isCurrent = this.#supersede()
    const isFresh = !isStalled && attempts.failures > 0 && loaded.until > Date.now()
    const fault = isFresh && !audio.isCorrupt ? await storageFault(loaded.url) : null
    if (!isCurrent()) return
    if (fault && isOutage(fault, polls)) {
      store.set({ attempts: { ...attempts, failures: 1 } })
      return this.#refused(fault, () => void this.recover())
    }
    const answer = await session.refresh(loaded.trackId)
    if (!isCurrent()) return
    // The play view of a deleted track may have been read long before.
    if (!answer.ok) return await this.#skip(answer)
    // The failure is counted only after the service has responded: while the connection is lost, a failure does not mean that the file is bad.
    if (!isStalled) store.set({ attempts: afterMediaError(attempts, audio.time, fault !== null || audio.isCorrupt) })
    await this.#show(answer, isCurrent)
  }

  /** Shows a newer play view and loads its best file. */
  async show(timed: TimedView): Promise<void> {
    await this.#show(timed, this.#supersede())
  }

  /** Gradually changes the gain of the playing track to `gain`, unless the track has changed before `gain` is known. */
  async followGain(view: PlayView, gain = this.gainOf(view)): Promise<void> {
    const isCurrent = this.#core.latest.current()
    const target = await gain
    if (isCurrent()) this.#approachGain(target)
  }

  /** Returns the gain of a track from its analysis; 1 if normalization is off. */
  async gainOf(view: PlayView): Promise<number> {
    const { options } = this.#core
    const { normalize } = options
    const analysis = normalize && view.variants.find(({ variant }) => variant.index === ANALYSIS)
    const gain = analysis ? await this.#readGain(analysis) : 1
    // The option `normalize` may have changed during the request.
    return options.normalize === normalize ? gain : await this.gainOf(view)
  }

  /** Returns the gain from an analysis; 1 if the analysis cannot be read. */
  async #readGain({ path, url }: VariantFile): Promise<number> {
    const gains = this.#gains
    const read = async (response: Response) =>
      response.ok && gains.set(path, gainOf((await response.json()) as Partial<Analysis>))
    if (!gains.has(path))
      await fetch(url, { signal: this.#core.signal })
        .then(read)
        .catch(() => {})
    return gains.get(path) ?? 1
  }

  #approachGain(gain: number): void {
    const { gain: now } = this.#state
    this.setGain(Math.min(Math.max(gain, now / GAIN_STEP), now * GAIN_STEP))
    if (this.#state.gain !== gain) this.#core.timers.after('gain', GAIN_PACE, () => this.#approachGain(gain))
  }

  setGain(gain: number): void {
    const { store, audio, options, timers } = this.#core
    timers.stop('gain')
    store.set({ gain })
    audio.setVolume(effectiveVolume(options.volume, gain), options.muted)
  }

  /** Returns the files of a track that this browser can play, best first. */
  filesOf(view: PlayView): VariantFile[] {
    const { audio, options } = this.#core
    return playableFiles(view.variants, options.variants, (type) => audio.audio.canPlayType(type) !== '')
  }

  /** Informs the page once that the session has ended. The loaded file keeps playing. */
  expire(): void {
    const { store } = this.#core
    if (this.#state.expiryAnnounced) return
    store.set({ expiryAnnounced: true })
    store.emit('sessionexpired', { playSessionId: this.#state.session?.play_session.id ?? null })
  }

  /**
   * Makes all earlier operations stale and cancels a scheduled poll. Returns a function that reports whether the new operation is still the
   * latest.
   */
  #supersede(): IsCurrent {
    this.#core.timers.stop('poll')
    return this.#core.latest.next()
  }

  /** Before a change of the track: stops the timers of the current track and resets its attempts. */
  #leave(): IsCurrent {
    for (const name of ['refresh', 'better', 'stall']) this.#core.timers.stop(name)
    this.#core.store.set({ attempts: NO_ATTEMPTS })
    return this.#supersede()
  }

  /** Shows a play view, loads its best file at the current position, and plays the file if the listener wants playback. */
  async #show({ view, until }: TimedView, isCurrent: IsCurrent): Promise<void> {
    const { store, audio } = this.#core
    store.set({ view })
    const gain = this.gainOf(view)
    const ended = new AbortController()
    const soon = await Promise.race([gain, sleep(GAIN_TIMEOUT, ended.signal).then(() => null)])
    ended.abort()
    if (!isCurrent()) return
    if (soon === null) void this.followGain(view, gain)
    else this.setGain(soon)
    const entry = this.filesOf(view)[this.#state.attempts.skipped]
    if (!entry) return this.#fail('no_playable_variant', null)
    audio.load(entry.url, audio.time, this.#state.playing)
    const loaded = { trackId: view.track_id, variant: entry.variant.index, url: entry.url, until }
    const isFirst = !this.#state.wasReady
    // After a failure, the outage is over only when the file plays, so the number of polls is not reset here.
    const polls = this.#state.attempts.failures && this.#state.polls
    store.set({ loaded, polls, status: 'ready', code: null, wasReady: true })
    if (isFirst) store.emit('ready', { ...store.detail(), tracks: this.#state.session?.tracks ?? [] })
    if (this.#state.playing && isCurrent()) await this.start()
  }

  /** Handles a refusal by the service or the storage, or a missing response. Calls `again` later if the failure is transient. */
  #refused(failure: Refusal, again = () => void this.reload()): void {
    const { store, timers } = this.#core
    const { code } = failure
    const { polls } = this.#state
    const { status, delay } = afterFailure(failure, polls)
    if (status === 'failed') return this.#fail(code, failure.message)
    store.set({ status, code, polls: polls + 1 })
    if (delay === undefined) this.expire()
    else timers.after('poll', delay, again, status === 'offline')
  }

  #fail(code: string, message: string | null): void {
    const { store } = this.#core
    // Resets the attempts, so that a retry starts with the best file again.
    store.set({ status: 'failed', code, attempts: NO_ATTEMPTS, playing: false })
    store.emit('error', { code, message })
  }
}
