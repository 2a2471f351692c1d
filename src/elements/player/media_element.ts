import type { Playback } from '../../client/playback/playback.ts'
import type { Clip, PlaybackOptions, SessionTrack } from '../../client/playback/state.ts'
import { setAttributes } from '../shared/dom.ts'
import type { Overrides, PlayerTexts } from '../texts/texts.ts'
import { readOptions } from './attributes.ts'

/** The methods and properties of a player, similar to those of an audio element. Calls are queued until a playback exists. */
export abstract class MediaElement extends HTMLElement {
  protected playback: Playback | null = null
  protected options: PlaybackOptions = readOptions(this)
  /** The queued calls that were made before the playback existed, in their order. */
  protected early: ((playback: Playback) => unknown)[] = []
  #texts: Overrides<PlayerTexts> = {}

  /** Renders the current state. */
  protected abstract update(): void

  protected setOptions(change: Partial<PlaybackOptions>): void {
    Object.assign(this.options, change)
    this.playback?.changeOptions(change)
    this.update()
  }

  /** Calls the playback. If there is none, queues the call for the next playback. */
  async #call(call: (playback: Playback) => unknown): Promise<void> {
    if (this.playback) await call(this.playback)
    else this.early.push(call)
  }

  play(): Promise<void> {
    return this.#call((playback) => playback.play())
  }
  pause(): void {
    void this.#call((playback) => playback.pause())
  }
  seek(seconds: number): Promise<void> {
    return this.#call((playback) => playback.seek(seconds))
  }
  next(): Promise<void> {
    return this.#call((playback) => playback.next())
  }
  previous(): Promise<void> {
    return this.#call((playback) => playback.previous())
  }
  /** Plays a track by its id or its number, counted from 1. */
  select(track: string | number): void {
    void this.#call((playback) => playback.selectTrack(String(track)))
  }
  /** Sets the sleep timer: playback pauses after a number of minutes or at the end of the track. Null cancels the timer. */
  sleep(minutes: number | 'track' | null): void {
    const at = typeof minutes === 'number' ? Date.now() + minutes * 60_000 : minutes
    void this.#call((playback) => playback.sleepAt(at))
  }

  get paused(): boolean {
    return this.playback?.paused ?? true
  }
  get currentTime(): number {
    return this.playback?.time ?? 0
  }
  set currentTime(seconds: number) {
    void this.seek(seconds)
  }
  get duration(): number {
    return this.playback?.duration ?? 0
  }
  get volume(): number {
    return this.options.volume
  }
  set volume(volume: number) {
    this.setOptions({ volume: Math.min(1, Math.max(0, volume ?? 1)) })
  }
  get muted(): boolean {
    return this.options.muted
  }
  set muted(muted: boolean) {
    this.setOptions({ muted })
  }
  get rate(): number {
    return this.options.rate
  }
  set rate(rate: number) {
    this.setOptions({ rate: Math.min(2, Math.max(0.5, rate ?? 1)) })
  }
  /** The current track. */
  get track(): SessionTrack | null {
    const { state } = this.playback ?? {}
    return state?.session?.tracks[state.index] ?? null
  }
  /** Sets the attribute `track`. The setter exists because frameworks set the property instead of the attribute if there is one. */
  set track(track: string | number | null) {
    setAttributes(this, { track })
  }
  get tracks(): readonly SessionTrack[] {
    return this.playback?.state.session?.tracks ?? []
  }
  /** The part of the track that is played, in seconds; null for all of it. */
  get clip(): Clip | null {
    return this.playback?.state.clip ?? null
  }
  /** Goes to the start of a part of the track, at whose end playback pauses. Null plays on to the end of the track. */
  set clip(clip: Clip | null) {
    void this.#call((playback) =>
      clip ? playback.goTo({ track: null, position: clip.start, clip }) : playback.setClip(null),
    )
  }
  /** The `index` of the variant that is loaded, such as `mp3-128`. */
  get variant(): string | null {
    return this.playback?.state.loaded?.variant ?? null
  }
  /** Texts that override the default texts of the player. docs/player.md lists their names. */
  get texts(): Overrides<PlayerTexts> {
    return this.#texts
  }
  set texts(texts: Overrides<PlayerTexts>) {
    this.#texts = texts
    this.update()
  }
}
