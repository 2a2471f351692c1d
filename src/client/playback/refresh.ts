import type { Core, Loader } from './loader.ts'
import { afterLook, afterRefresh, lookDelay, mayGetBetter, refreshDelay, RETRY } from './policy.ts'
import { following, type LoadedFile, type State } from './state.ts'

/** Seconds before the end of a track at which the next one is loaded. */
const AHEAD = 20

/**
 * What happens by itself while a track plays: URLs are replaced before they end, a preliminary file by the final one, and the next track
 * is loaded ahead. A player that is paused asks for nothing, unless its track is preliminary; it looks when it is to play again.
 */
export class Refresher {
  readonly #core: Core
  readonly #loader: Loader
  #looks = 0
  /** What was loaded, and which track was to follow, when that was last asked for. */
  #asked = ''

  constructor(core: Core, loader: Loader) {
    this.#core = core
    this.#loader = loader
  }

  get #state(): Readonly<State> {
    return this.#core.store.state
  }

  /** Plans the next refresh, from when the present URL ends. */
  plan(): void {
    const { timers, audio } = this.#core
    const { loaded, view } = this.#state
    if (!loaded) return
    timers.after('refresh', refreshDelay(loaded), () => void this.#refresh(loaded))
    if (mayGetBetter(view?.track.is_preliminary === true, loaded, audio.isSingle))
      timers.after('better', lookDelay(this.#looks), () => void this.#lookForBetter(loaded))
    else this.#looks = 0
  }

  /** Loads the next track when the end is near, so that albums do not gap. */
  prefetch(left: number): void {
    const { store, options } = this.#core
    const { playing, index, loaded, order, sleep } = this.#state
    const next = options.loop === 'one' ? undefined : following({ order, index }, options)
    if (!playing || left > AHEAD || next === undefined || next === index || sleep === 'track') return
    const asked = `${loaded?.url} ${store.track(next)?.id}`
    if (this.#asked === asked) return
    this.#asked = asked
    store.set({ prefetched: null })
    void this.#prefetch(next, loaded?.url)
  }

  /** Prepares the next track anew, with the options of now. */
  prefetchAgain(): void {
    this.#asked = ''
    this.#core.store.set({ prefetched: null })
  }

  async #prefetch(index: number, before: string | undefined): Promise<void> {
    const { store, session, audio } = this.#core
    const id = store.track(index)?.id
    const answer = id === undefined ? undefined : await session.view(id)
    if (!answer?.ok) return
    const { view, until } = answer
    const entry = this.#loader.filesOf(view)[0]
    if (!entry || this.#state.loaded?.url !== before) return
    const { url, variant } = entry
    audio.preload(url)
    const gain = await this.#loader.gainOf(view)
    if (this.#state.loaded?.url !== before) return
    store.set({ prefetched: { trackId: view.track_id, variant: variant.index, url, until, view, gain } })
  }

  async #refresh(loaded: LoadedFile): Promise<void> {
    const { session, audio, timers } = this.#core
    const { playing, status } = this.#state
    // A file that waits for the storage or the service gets a fresh URL when it is loaded again.
    if (this.#state.loaded !== loaded || !playing || status !== 'ready') return
    const answer = await session.refresh(loaded.trackId)
    if (this.#state.loaded !== loaded) return
    const { isSingle } = audio
    const situation = { isSingle, isComplete: audio.has(audio.time, this.duration), now: Date.now() }
    const after = afterRefresh(loaded, answer, situation)
    if (after.next === 'expire') return this.#loader.expire()
    if (after.next === 'keep') return
    if (after.next === 'hand-over' && ((await this.#handOver(after.file)) || this.#state.loaded !== loaded)) return
    const delay = after.next === 'ask-again' ? after.delay : RETRY
    timers.after('refresh', delay, () => void this.#refresh(loaded))
  }

  async #lookForBetter(loaded: LoadedFile): Promise<void> {
    const { store, session } = this.#core
    const answer = await session.refresh(loaded.trackId)
    if (this.#state.loaded !== loaded) return
    this.#looks++
    const best = answer.ok ? this.#loader.filesOf(answer.view)[0] : undefined
    const after = afterLook(loaded, answer, best, this.#state.playing)
    if (after.next === 'expire') return this.#loader.expire()
    if (after.next === 'ask-again' || !answer.ok) return this.plan()
    if (after.next === 'load') return await this.#loader.show(answer)
    store.set({ view: answer.view })
    await this.#loader.followGain(answer.view)
    if (this.#state.loaded !== loaded) return
    if (after.next === 'hand-over' && (await this.#handOver(after.file))) return
    if (this.#state.loaded === loaded) this.plan()
  }

  async #handOver(file: LoadedFile): Promise<boolean> {
    const isDone = await this.#core.audio.handOver(file.url)
    if (isDone) this.#core.store.set({ loaded: file })
    return isDone
  }

  /** Seconds, by the file, else by what the service says. */
  get duration(): number {
    return this.#core.audio.duration || this.#state.view?.track.duration || this.#core.store.track()?.duration || 0
  }
}
