import type { Analysis } from '../../contract/info.ts'
import { type IsCurrent, type Latest, sleep, type Timers } from '../retry.ts'
import type { AudioPair } from './audio_pair.ts'
import {
  afterFailure,
  afterMediaError,
  ANALYSIS,
  candidates,
  effectiveVolume,
  type Entry,
  gainOf,
  isOutage,
  isPassedOver,
  type Refusal,
} from './policy.ts'
import { type SessionClient, storageFault } from './session.ts'
import {
  following,
  goTo,
  hasTrack,
  NO_ATTEMPTS,
  type PlaybackOptions,
  type PlayView,
  type StartOptions,
  type State,
  type Store,
  type TimedView,
} from './state.ts'

/** What the parts of the engine share. */
export interface Core {
  store: Store
  options: PlaybackOptions
  /** Where to begin: the first whose track is in the session counts, else the last without its position. */
  starts: StartOptions[]
  session: SessionClient
  audio: AudioPair
  timers: Timers
  latest: Latest
  signal: AbortSignal
}

/** Milliseconds for which a track waits for its gain. */
const GAIN_TIMEOUT = 800
/** A gain that changes while a track plays does so by half a decibel every 20 milliseconds: the ear hears no click and no jump. */
const GAIN_STEP = 10 ** (0.5 / 20)
const GAIN_PACE = 20

/** Gets what is to be heard into the audio element: opens the session, changes tracks, and recovers from what goes wrong. */
export class Loader {
  readonly #core: Core
  /** By the path of the analysis. A file that is loaded again needs its gain at once, also during an outage of the storage. */
  readonly #gains = new Map<string, number>()

  constructor(core: Core) {
    this.#core = core
  }

  get #state(): Readonly<State> {
    return this.#core.store.state
  }

  async open(): Promise<void> {
    const { store, session, options, starts } = this.#core
    const isCurrent = this.#begin()
    if (this.#state.status !== 'offline') store.set({ status: 'loading', code: null })
    const answer = await session.open()
    if (!isCurrent()) return
    if (!answer.ok) return this.#refused(answer, () => void this.open())
    if (answer.tracks.length === 0) return store.set({ status: 'empty' })
    // A position belongs to its track.
    const start = starts.find(({ track }) => hasTrack(this.#state.session, track)) ?? { ...starts.at(-1)!, position: 0 }
    store.set(goTo(this.#state, start, options))
    await this.select(this.#state.index, start.position, start.play)
  }

  /** Changes to a track. When the listener did not choose it, up to `passes` tracks that cannot be played are passed over. */
  async select(index: number, position = 0, play = this.#state.playing, passes = 0): Promise<void> {
    const { store, session, audio } = this.#core
    const id = store.track(index)?.id
    if (id === undefined) return
    const isCurrent = this.#leave()
    const isChanged = this.#state.index !== index || !this.#state.wasReady
    const starts = play && !this.#state.playing
    audio.clear((position > 0 && position < Infinity && position) || store.resumeAt(index))
    this.setGain(1)
    store.set({ index, status: 'loading', code: null, loaded: null, polls: 0, ...(isChanged && { view: null }) })
    if (isChanged) store.emit('trackchange', store.detail())
    if (!isCurrent()) return
    if (starts) store.set({ playing: true })
    const answer = await session.view(id)
    if (!isCurrent()) return
    if (answer.ok) return await this.#show(answer, isCurrent)
    const next = following(this.#state, this.#core.options)
    if (isPassedOver(answer) && passes > 0 && next !== undefined)
      return await this.select(next, 0, this.#state.playing, passes - 1)
    this.#refused(answer, () => void this.reload())
  }

  /** Goes on with the track that follows: in the other element, if that has loaded it ahead. */
  async advance(index: number): Promise<void> {
    const { store, audio } = this.#core
    const { prefetched, order } = this.#state
    // By its id: in a renewed session it may have another place.
    const isAhead = prefetched?.trackId === store.track(index)?.id && !store.resumeAt(index)
    if (!isAhead || !audio.swapTo(prefetched!.url)) return await this.select(index, 0, true, order.length)
    const isCurrent = this.#leave()
    const { gain, view } = prefetched!
    this.setGain(gain)
    const started = audio.play()
    store.set({ index, view, status: 'ready', loaded: prefetched })
    store.emit('trackchange', store.detail())
    if ((await started) || !isCurrent()) return
    // Only the element that a gesture has started may play (iOS).
    audio.swapBack()
    await this.select(index)
  }

  /** Browsers may demand a gesture of the listener; the play button is there for that. */
  async start(): Promise<void> {
    if (!(await this.#core.audio.play())) this.#core.store.set({ playing: false })
  }

  /** Loads the track again where it is, with URLs that are good now. */
  async reload(): Promise<void> {
    const { store, session } = this.#core
    const id = store.track()?.id
    // A listener who presses play in an ended session sees the message again, also when the session never opened.
    if (this.#state.status === 'expired') store.set({ expiryAnnounced: false })
    if (id === undefined) return await this.open()
    const isCurrent = this.#begin()
    // After a refusal only a fresh answer shows that it is over.
    const answer = await (this.#state.status === 'ready' ? session.view(id) : session.refresh(id))
    if (!isCurrent()) return
    if (!answer.ok) return this.#refused(answer, () => void this.reload())
    await this.#show(answer, isCurrent)
  }

  /**
   * The file failed, or nothing of it comes. Its URL may have ended, so a fresh one is tried first. When that fails too, the storage is asked:
   * an outage is waited for, and a file that is at fault gives way to the next one (docs/decisions/0065).
   */
  async recover(isStalled = false): Promise<void> {
    const { store, session, audio } = this.#core
    const { loaded, attempts, polls } = this.#state
    if (!loaded) return
    const isCurrent = this.#begin()
    const isFresh = !isStalled && attempts.failures > 0 && loaded.until > Date.now()
    const fault = isFresh && !audio.isCorrupt ? await storageFault(loaded.url) : null
    if (!isCurrent()) return
    if (fault && isOutage(fault, polls)) {
      store.set({ attempts: { ...attempts, failures: 1 } })
      return this.#refused(fault, () => void this.recover())
    }
    const answer = await session.refresh(loaded.trackId)
    if (!isCurrent()) return
    if (!answer.ok) return this.#refused(answer, () => void this.reload())
    // Counted only now: without a connection there is nothing wrong with any file.
    if (!isStalled) store.set({ attempts: afterMediaError(attempts, audio.time, fault !== null || audio.isCorrupt) })
    await this.#show(answer, isCurrent)
  }

  /** Shows a play view that came meanwhile, and loads its best file. */
  async show(timed: TimedView): Promise<void> {
    await this.#show(timed, this.#begin())
  }

  /** Brings a track to its loudness while it plays, unless another one plays by then. */
  async followGain(view: PlayView, gain = this.gainOf(view)): Promise<void> {
    const isCurrent = this.#core.latest.current()
    const to = await gain
    if (isCurrent()) this.#approachGain(to)
  }

  /** The gain that a track is to be played with, by its analysis. */
  async gainOf(view: PlayView): Promise<number> {
    const { options } = this.#core
    const { normalize } = options
    const analysis = normalize && view.variants.find(({ variant }) => variant.index === ANALYSIS)
    const gain = analysis ? await this.#readGain(analysis) : 1
    // What was asked may have changed meanwhile.
    return options.normalize === normalize ? gain : await this.gainOf(view)
  }

  /** The gain by an analysis; 1 when it cannot be read. */
  async #readGain({ path, url }: Entry): Promise<number> {
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

  /** The files of a track that this browser can play, best first. */
  filesOf(view: PlayView): Entry[] {
    const { audio, options } = this.#core
    return candidates(view.variants, options.variants, (type) => audio.audio.canPlayType(type) !== '')
  }

  /** Tells once that the session has ended; what is loaded plays on. */
  expire(): void {
    const { store } = this.#core
    if (this.#state.expiryAnnounced) return
    store.set({ expiryAnnounced: true })
    store.emit('sessionexpired', { playSessionId: this.#state.session?.play_session.id ?? null })
  }

  /** Something else is to be heard: what was asked for before, or is to be asked again, is not wanted any more. */
  #begin(): IsCurrent {
    this.#core.timers.stop('poll')
    return this.#core.latest.next()
  }

  /** Leaves a track for another one. */
  #leave(): IsCurrent {
    for (const name of ['refresh', 'better', 'stall']) this.#core.timers.stop(name)
    this.#core.store.set({ attempts: NO_ATTEMPTS })
    return this.#begin()
  }

  /** Shows a play view and loads its best file, where the listener is by now; plays it when that is wanted. */
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
    // Until it plays, an outage may not be over.
    const polls = this.#state.attempts.failures && this.#state.polls
    store.set({ loaded, polls, status: 'ready', code: null, wasReady: true })
    if (isFirst) store.emit('ready', { ...store.detail(), tracks: this.#state.session?.tracks ?? [] })
    if (this.#state.playing && isCurrent()) await this.start()
  }

  /** The service or the storage refused, or did not answer. Asks again where that may help. */
  #refused(failure: Refusal, again: () => void): void {
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
    // Whoever tries again begins with the best file.
    store.set({ status: 'failed', code, attempts: NO_ATTEMPTS, playing: false })
    store.emit('error', { code, message })
  }
}
