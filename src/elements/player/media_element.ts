import type { Playback } from '../../client/playback/playback.ts'
import type { PlaybackOptions, SessionTrack, StartOptions } from '../../client/playback/state.ts'
import { setAttributes } from '../shared/dom.ts'
import type { Overrides, PlayerTexts } from '../texts/texts.ts'
import { readOptions } from './attributes.ts'

/** What a page can do with a player, much as with an audio element. What is asked before there is anything to play counts later. */
export abstract class MediaElement extends HTMLElement {
  protected playback: Playback | null = null
  protected options: PlaybackOptions = readOptions(this)
  protected early: Partial<StartOptions> = {}
  #texts: Overrides<PlayerTexts> = {}

  /** Something that is shown has changed. */
  protected abstract update(): void

  protected setOptions(change: Partial<PlaybackOptions>): void {
    Object.assign(this.options, change)
    this.playback?.changeOptions(change)
    this.update()
  }

  async play(): Promise<void> {
    if (!this.playback) this.early.play = true
    await this.playback?.play()
  }
  pause(): void {
    if (!this.playback) this.early.play = false
    this.playback?.pause()
  }
  async seek(seconds: number): Promise<void> {
    if (!this.playback) this.early.position = Math.max(0, seconds)
    await this.playback?.seek(seconds)
  }
  async next(): Promise<void> {
    await this.playback?.next()
  }
  async previous(): Promise<void> {
    await this.playback?.previous()
  }
  /** Plays a track by its id, or its number from 1. */
  select(track: string | number): void {
    void this.playback?.selectTrack(String(track))
  }
  /** Pauses after some minutes, or at the end of the track; null takes it back. */
  sleep(minutes: number | 'track' | null): void {
    this.playback?.sleepAt(typeof minutes === 'number' ? Date.now() + minutes * 60_000 : minutes)
  }

  get paused(): boolean {
    return this.playback?.state.playing !== true
  }
  get currentTime(): number {
    return this.playback?.time ?? this.early.position ?? 0
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
  /** The track that is shown. */
  get track(): SessionTrack | null {
    const { state } = this.playback ?? {}
    return state?.session?.tracks[state.index] ?? null
  }
  /** As the attribute: frameworks set a property where there is one. */
  set track(track: string | number | null) {
    setAttributes(this, { track })
  }
  get tracks(): readonly SessionTrack[] {
    return this.playback?.state.session?.tracks ?? []
  }
  /** The index of the variant that plays. */
  get variant(): string | null {
    return this.playback?.state.loaded?.variant ?? null
  }
  /** Texts that replace the player's own; see docs/player.md for their names. */
  get texts(): Overrides<PlayerTexts> {
    return this.#texts
  }
  set texts(texts: Overrides<PlayerTexts>) {
    this.#texts = texts
    this.update()
  }
}
