import { Playback } from '../../client/playback/playback.ts'
import {
  initialState,
  type PlaybackEvents,
  type PlaybackOptions,
  type SessionTrack,
  type StartOptions,
} from '../../client/playback/state.ts'
import { sheet, upgradeProperties } from '../shared/dom.ts'
import { textsOfStrings, withOldNames } from '../shared/legacy.ts'
import { playerTexts } from '../texts/player.ts'
import { type Overrides, pickLocale, type PlayerTexts, textsFor } from '../texts/texts.ts'
import { APPEARANCE, isComplete, isOption, OPTIONS, readOptions, readSource, readStart, SOURCE } from './attributes.ts'
import { commandsOf, listenToKeys } from './commands.ts'
import { download } from './download.ts'
import { LockScreen } from './media_session.ts'
import { Theme } from './theme.ts'
import { isSounding, PlayerView } from './view.ts'

import css from './player.css'

const styles = sheet(css)
/** The service that this module came from. */
const HOME = new URL(import.meta.url).origin
const NOTHING = initialState('empty')

/** The player's events, each a `CustomEvent` that bubbles and leaves shadow trees. */
export type PlayerEventMap = { [N in keyof PlaybackEvents as `tonearm-${N}`]: CustomEvent<PlaybackEvents[N]> }

/**
 * `<tonearm-player>`: plays a play session of the service. docs/player.md describes attributes, events, parts and custom properties.
 */
export class TonearmPlayer extends HTMLElement {
  static observedAttributes = [...SOURCE, ...OPTIONS, ...APPEARANCE]

  #playback: Playback | null = null
  /** What was asked for before there was anything to play. */
  #early: Partial<StartOptions> = {}
  /** What the page's `track` and `start` said when something was opened last. */
  #openedAt = ''
  #options: PlaybackOptions = readOptions(this)
  #texts: Overrides<PlayerTexts> = {}
  #view: PlayerView
  #theme = new Theme()
  #frame = 0
  #connected = new AbortController()
  #isOpening = false
  #problem: string | null = null
  #lockScreen = new LockScreen(this)
  #ownEvents = new WeakSet<Event>()

  constructor() {
    super()
    const commands = commandsOf(this, {
      toggle: () => (isSounding(this.#playback?.state ?? NOTHING) ? this.pause() : void this.play()),
      select: (index) => void this.#playback?.select(index),
      retry: () => void this.#playback?.retry(),
      download: () => void this.#download(),
    })
    this.#view = new PlayerView(commands)
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [styles, this.#theme.sheet]
    root.append(this.#view.root)
    listenToKeys(this.#view.root, this, commands)
  }

  connectedCallback(): void {
    this.#connected = new AbortController()
    const { signal } = this.#connected
    const update = () => this.#update()
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update, { signal })
    // One listener, one sound: whoever starts last plays. Out of a shadow tree events come with its host as their target.
    // One that has nothing to play yet is no part of this, and keeps its autoplay.
    document.addEventListener('tonearm-play', (event) => this.#ownEvents.has(event) || this.#playback?.pause(), {
      signal,
    })
    upgradeProperties(this)
    if (!this.#playback) this.#openSoon()
    this.#update()
  }

  disconnectedCallback(): void {
    this.#connected.abort()
    cancelAnimationFrame(this.#frame)
    // What is only moved plays on.
    queueMicrotask(() => this.isConnected || this.#close())
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return
    if (SOURCE.includes(name)) this.#openSoon()
    else if (isOption(name)) this.#setOptions({ [name]: readOptions(this, this.#options)[name] })
    else this.#update()
  }

  async play(): Promise<void> {
    if (!this.#playback) this.#early.play = true
    await this.#playback?.play()
  }
  pause(): void {
    if (!this.#playback) this.#early.play = false
    this.#playback?.pause()
  }
  async seek(seconds: number): Promise<void> {
    if (!this.#playback) this.#early.position = Math.max(0, seconds)
    await this.#playback?.seek(seconds)
  }
  async next(): Promise<void> {
    await this.#playback?.next()
  }
  async previous(): Promise<void> {
    await this.#playback?.previous()
  }

  get paused(): boolean {
    return this.#playback?.state.playing !== true
  }
  get currentTime(): number {
    return this.#playback?.time ?? this.#early.position ?? 0
  }
  set currentTime(seconds: number) {
    void this.seek(seconds)
  }
  get duration(): number {
    return this.#playback?.duration ?? 0
  }
  get volume(): number {
    return this.#options.volume
  }
  set volume(volume: number) {
    this.#setOptions({ volume: Math.min(1, Math.max(0, volume)) })
  }
  get muted(): boolean {
    return this.#options.muted
  }
  set muted(muted: boolean) {
    this.#setOptions({ muted })
  }
  get rate(): number {
    return this.#options.rate
  }
  set rate(rate: number) {
    this.#setOptions({ rate: Math.min(2, Math.max(0.5, rate)) })
  }
  /** The track that is shown, and the index of the variant that plays. */
  get track(): SessionTrack | null {
    const { state } = this.#playback ?? {}
    return state?.session?.tracks[state.index] ?? null
  }
  get tracks(): readonly SessionTrack[] {
    return this.#playback?.state.session?.tracks ?? []
  }
  get variant(): string | null {
    return this.#playback?.state.loaded?.variant ?? null
  }
  /** Texts that replace the player's own; see docs/player.md for their names. */
  get texts(): Overrides<PlayerTexts> {
    return this.#texts
  }
  set texts(texts: Overrides<PlayerTexts>) {
    this.#texts = texts
    this.#update()
  }
  set strings(strings: Record<string, string>) {
    this.texts = textsOfStrings(strings)
  }

  #setOptions(change: Partial<PlaybackOptions>): void {
    Object.assign(this.#options, change)
    this.#playback?.changeOptions(change)
    this.#update()
  }

  /** Opens the source when all attributes that were set together are there. */
  #openSoon(): void {
    if (this.#isOpening) return
    this.#isOpening = true
    queueMicrotask(() => {
      this.#isOpening = false
      if (this.isConnected) this.#open()
    })
  }

  #open(): void {
    const start = { ...readStart(this), ...this.#early }
    const openedAt = [this.getAttribute('track'), this.getAttribute('start')].join()
    const before = this.#playback?.resumePoint
    this.#problem = null
    this.#close()
    const source = readSource(this, HOME, document.baseURI)
    if (!isComplete(source)) return this.#update()
    // Another session with the same track goes on where the one before was. What plays, plays on in every case.
    const next = { ...start, play: start.play || before?.play === true }
    const starts = before && openedAt === this.#openedAt ? [before, next] : [next]
    this.#early = {}
    this.#openedAt = openedAt
    this.#playback = new Playback(source, this.#options, starts, {
      onChange: () => this.#update(),
      onTime: () => this.#showTime(),
      onEvent: (name, detail) => this.#emit(name, detail),
      onSwap: (now, before) => before.replaceWith(now),
    })
    this.#view.root.append(this.#playback.audio)
    void this.#playback.open()
  }

  #close(): void {
    this.#lockScreen.leave()
    this.#playback?.close()
    this.#playback?.audio.remove()
    this.#playback = null
  }

  #emit<N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]): void {
    if (name === 'trackchange') this.#problem = null
    const event = new CustomEvent(`tonearm-${name}`, { detail: withOldNames(detail), bubbles: true, composed: true })
    this.#ownEvents.add(event)
    this.dispatchEvent(event)
  }

  #update(): void {
    if (!this.isConnected) return
    const playback = this.#playback
    const locale = this.#locale()
    const state = playback?.state ?? NOTHING
    const hasNext = playback?.hasNext ?? false
    if (this.#theme.update(this, state.view?.track)) this.#view.waveform.refresh()
    this.#view.update(
      {
        state,
        options: this.#options,
        texts: textsFor(playerTexts, locale, this.#texts),
        locale,
        isWaiting: playback?.isWaiting ?? false,
        isDownloadable: this.hasAttribute('download') && state.view?.play_session.is_downloadable === true,
        problem: this.#problem,
        duration: this.duration,
        hasNext,
      },
      this.currentTime,
    )
    this.#lockScreen.update(state.view, hasNext)
    cancelAnimationFrame(this.#frame)
    if (state.playing) this.#animate()
  }

  #locale(): string {
    const around = this.closest('[lang]')?.getAttribute('lang')
    return pickLocale(this.getAttribute('locale'), around, navigator.language)
  }

  /** Moves the waveform on every frame; where motion is not wanted, four times a second is enough. */
  #animate(): void {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    this.#frame = requestAnimationFrame(() => {
      if (this.paused) return
      this.#view.showTime(this.currentTime, this.duration)
      this.#animate()
    })
  }

  #showTime(): void {
    this.#view.showTime(this.currentTime, this.duration)
    this.#lockScreen.showPosition()
  }

  async #download(): Promise<void> {
    this.#problem = null
    // What was said before is said anew.
    this.#update()
    const [playback, track] = [this.#playback, this.track]
    if (!playback) return
    const failure = await download(() => playback.download(this.getAttribute('download') ?? ''))
    if (playback !== this.#playback || track?.id !== this.track?.id) return
    if (failure) this.#emit('error', { code: failure.code, message: failure.message })
    // Whatever the reason, it is the download that failed.
    this.#problem = failure && 'download_failed'
    this.#update()
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-player': TonearmPlayer
  }
  interface HTMLElementEventMap extends PlayerEventMap {}
}
