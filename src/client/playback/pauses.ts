import type { EngineContext } from './loader.ts'
import type { Clip } from './state.ts'

/** Seconds. Closer than this to the end of a clip, its end has been reached, because elements round positions. */
const CLIP_END = 0.1

/** Pauses playback at the end of a clip, and when the sleep timer ends. */
export class Pauses {
  readonly #core: EngineContext
  readonly #pause: () => void

  constructor(core: EngineContext, pause: () => void) {
    this.#core = core
    this.#pause = pause
  }

  /** Sets the sleep timer to a time in milliseconds since 1970, or to the end of the track; null cancels it. */
  sleepAt(sleep: number | 'track' | null): void {
    const { store, timers } = this.#core
    store.set({ sleep })
    timers.stop('sleep')
    if (typeof sleep === 'number')
      timers.after('sleep', sleep - Date.now(), () => {
        store.set({ sleep: null })
        this.#pause()
      })
  }

  setClip(clip: Clip | null): void {
    const { starts, store } = this.#core
    for (const start of starts) start.clip = clip
    if (store.state.session) store.set({ clip })
    this.watchClip()
  }

  /** Pauses at the end of the clip. A timer runs until then, because `timeupdate` occurs only four times a second. */
  watchClip(): void {
    const { store, audio, timers, options } = this.#core
    const { clip } = store.state
    timers.stop('clip')
    if (!clip || audio.audio.paused || audio.isWaiting) return
    const left = (clip.end - audio.time) / options.rate
    if (left > 0) return timers.after('clip', left * 1000, () => this.watchClip())
    // Paused first, so that the seconds that were heard end where the sound did.
    this.#pause()
    audio.seek(clip.end)
  }

  /** A seek out of the clip ends it. */
  onSeek(position: number): void {
    const { clip } = this.#core.store.state
    if (clip && (position < clip.start || position > clip.end)) this.setClip(null)
  }

  /** After the end of a clip, playback continues without it. */
  onPlay(): void {
    const { store, audio } = this.#core
    const { clip } = store.state
    if (clip && (audio.audio.ended || audio.time > clip.end - CLIP_END)) this.setClip(null)
  }
}
