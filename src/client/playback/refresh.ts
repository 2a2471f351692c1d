import type { EngineContext, Loader } from './loader.ts'
import { afterCheck, afterRefresh, checkDelay, mayGetBetter, refreshDelay, RETRY, STALL } from './policy.ts'
import { nextIndex, type LoadedFile, type State } from './state.ts'

/** Seconds before the end of a track at which the next one is loaded. */
const AHEAD = 20

/**
 * Does the background work while a track plays: replaces URLs before they expire, replaces a preliminary file with the final one, preloads the
 * next track, and reloads a file that stalls. A paused player sends no requests unless its track is preliminary; it checks its URL when playback
 * resumes.
 */
export class Refresher {
  readonly #core: EngineContext
  readonly #loader: Loader
  #checks = 0
  /** Key of the last prefetch: the URL that was loaded and the id of the next track. */
  #prefetched = ''

  constructor(core: EngineContext, loader: Loader) {
    this.#core = core
    this.#loader = loader
  }

  get #state(): Readonly<State> {
    return this.#core.store.state
  }

  /** Schedules the next refresh before the current URL expires, and the next check for a better file. */
  plan(): void {
    const { timers, audio } = this.#core
    const { loaded, view } = this.#state
    if (!loaded) return
    timers.after('refresh', refreshDelay(loaded), () => void this.#refresh(loaded))
    if (mayGetBetter(view?.track.is_preliminary === true, loaded, audio.isSingle))
      timers.after('better', checkDelay(this.#checks), () => void this.#checkForBetter(loaded))
    else this.#checks = 0
  }

  /**
   * Preloads the next track near the end of the current one, so that it can start at once. `remaining` is the rest of the current track
   * in seconds.
   */
  prefetch(remaining: number): void {
    const { store, options } = this.#core
    const { playing, index, loaded, order, sleep, clip } = this.#state
    const next = options.loop === 'one' ? undefined : nextIndex({ order, index }, options)
    if (!playing || remaining > AHEAD || next === undefined || next === index || sleep === 'track' || clip) return
    const key = `${loaded?.url} ${store.track(next)?.id}`
    if (this.#prefetched === key) return
    this.#prefetched = key
    store.set({ prefetched: null })
    void this.#prefetch(next, loaded?.url)
  }

  /** Discards the prefetched track after the options have changed. The next call of `prefetch` loads it again. */
  prefetchAgain(): void {
    this.#prefetched = ''
    this.#core.store.set({ prefetched: null })
  }

  async #prefetch(index: number, loadedUrl: string | undefined): Promise<void> {
    const { store, session, audio } = this.#core
    const id = store.track(index)?.id
    const answer = id === undefined ? undefined : await session.view(id)
    if (!answer?.ok) return
    const { view, until } = answer
    const entry = this.#loader.filesOf(view)[0]
    if (!entry || this.#state.loaded?.url !== loadedUrl) return
    const { url, variant } = entry
    audio.preload(url)
    const gain = await this.#loader.gainOf(view)
    if (this.#state.loaded?.url !== loadedUrl) return
    store.set({ prefetched: { trackId: view.track_id, variant: variant.index, url, until, view, gain } })
  }

  async #refresh(loaded: LoadedFile): Promise<void> {
    const { session, audio, timers } = this.#core
    const { playing, status } = this.#state
    // While the player waits for the storage or the service, no refresh is necessary: the file gets a fresh URL when it is reloaded.
    if (this.#state.loaded !== loaded || !playing || status !== 'ready') return
    const answer = await session.refresh(loaded.trackId)
    if (this.#state.loaded !== loaded) return
    const { isSingle } = audio
    const isComplete = audio.has(audio.time, this.duration)
    const after = afterRefresh(loaded, answer, { isSingle, isComplete, now: Date.now() })
    if (after.next === 'expire') return this.#loader.expire()
    if (after.next === 'keep') return
    if (after.next === 'hand-over' && ((await this.#handOver(after.file)) || this.#state.loaded !== loaded)) return
    const delay = after.next === 'ask-again' ? after.delay : RETRY
    timers.after('refresh', delay, () => void this.#refresh(loaded))
  }

  async #checkForBetter(loaded: LoadedFile): Promise<void> {
    const { store, session } = this.#core
    const answer = await session.refresh(loaded.trackId)
    if (this.#state.loaded !== loaded) return
    this.#checks++
    const best = answer.ok ? this.#loader.filesOf(answer.view)[0] : undefined
    const after = afterCheck(loaded, answer, best, this.#state.playing)
    if (after.next === 'expire') return this.#loader.expire()
    if (after.next === 'ask-again' || !answer.ok) return this.plan()
    if (after.next === 'load') return await this.#loader.show(answer)
    store.set({ view: answer.view })
    await this.#loader.followGain(answer.view)
    if (this.#state.loaded !== loaded) return
    if (after.next === 'hand-over' && (await this.#handOver(after.file))) return
    if (this.#state.loaded === loaded) this.plan()
  }

  /** Reloads the file after a long stall, because a dead connection does not always cause an error. */
  watchForStall(): void {
    const { timers, audio } = this.#core
    const isStalled = () => audio.isWaiting && this.#state.status === 'ready'
    if (!isStalled()) return timers.stop('stall')
    if (timers.isRunning('stall')) return
    const loadedBefore = audio.loadedUntil
    timers.after('stall', STALL, () => {
      if (audio.loadedUntil > loadedBefore) this.watchForStall()
      else if (isStalled() && this.#state.playing) void this.#loader.recover(true)
    })
  }

  async #handOver(file: LoadedFile): Promise<boolean> {
    const isDone = await this.#core.audio.handOver(file.url)
    if (isDone) this.#core.store.set({ loaded: file })
    return isDone
  }

  /** Duration of the track in seconds: from the file if it is known there, otherwise from the service. */
  get duration(): number {
    return this.#core.audio.duration || this.#state.view?.track.duration || this.#core.store.track()?.duration || 0
  }
}
