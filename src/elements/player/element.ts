import { sheet, upgradeProperties } from '../shared/dom.ts'
import { pickLocale } from '../texts/texts.ts'
import { actionsOf } from './actions.ts'
import { download } from './download.ts'
import type { PlayerEventMap } from './events.ts'
import { listenToKeys } from './keyboard.ts'
import { createLockScreen } from './media_session.ts'
import { createPaint } from './paint.ts'
import { createPlayback, type Playback } from './playback.ts'
import { isComplete, isWish, LOOKS, readBeginning, readSource, readWishes, SOURCE, WISHES } from './settings.ts'
import { type Beginning, emptyState, type Wishes } from './state.ts'
import { type Strings, stringsFor } from './strings.ts'
import { createView, type PlayerView } from './view.ts'

import css from './player.css'

const styles = sheet(css)
/** The service that this module came from. */
const HOME = new URL(import.meta.url).origin
const NOTHING = emptyState('empty')

/**
 * `<tonearm-player>`: plays a play session of the service. docs/player.md describes attributes, events, parts and custom properties.
 */
export class TonearmPlayer extends HTMLElement {
  static observedAttributes = [...SOURCE, ...WISHES, ...LOOKS]

  #playback: Playback | null = null
  /** What was asked for before there was anything to play. */
  #early: Partial<Beginning> = {}
  /** What the page's `track` and `start` said when something was opened last. */
  #begun = ''
  #wishes: Wishes = readWishes(this)
  #strings: Partial<Strings> = {}
  #view: PlayerView
  #paint = createPaint()
  #frame = 0
  #connected = new AbortController()
  #pending = false
  #undelivered = false
  #screen = createLockScreen(this)
  #own = new WeakSet<Event>()

  constructor() {
    super()
    const actions = actionsOf(this, {
      select: (place) => void this.#playback?.select(place),
      retry: () => void this.#playback?.retry(),
      download: () => void this.#download(),
    })
    this.#view = createView(actions)
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [styles, this.#paint.sheet]
    root.append(this.#view.root)
    listenToKeys(this.#view.root, this, actions)
  }

  connectedCallback(): void {
    this.#connected = new AbortController()
    const { signal } = this.#connected
    const update = () => this.#update()
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update, { signal })
    // One listener, one sound: whoever starts last plays. Out of a shadow tree events come with its host as their target.
    // One that has nothing to play yet is no part of this, and keeps its autoplay.
    document.addEventListener('tonearm-play', (event) => this.#own.has(event) || this.#playback?.pause(), { signal })
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
    else if (isWish(name)) this.#wish({ [name]: readWishes(this, this.#wishes)[name] })
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
    return this.#playback?.deck.time() ?? this.#early.position ?? 0
  }
  set currentTime(seconds: number) {
    void this.seek(seconds)
  }
  get duration(): number {
    return this.#playback?.duration() ?? 0
  }
  get volume(): number {
    return this.#wishes.volume
  }
  set volume(volume: number) {
    this.#wish({ volume: Math.min(1, Math.max(0, volume)) })
  }
  get muted(): boolean {
    return this.#wishes.muted
  }
  set muted(muted: boolean) {
    this.#wish({ muted })
  }
  get rate(): number {
    return this.#wishes.rate
  }
  set rate(rate: number) {
    this.#wish({ rate: Math.min(2, Math.max(0.5, rate)) })
  }
  /** The track that is shown, and the index of the variant that plays. */
  get track() {
    const { state } = this.#playback ?? {}
    return state?.session?.tracks[state.place] ?? null
  }
  get tracks() {
    return this.#playback?.state.session?.tracks ?? []
  }
  get variant(): string | null {
    return this.#playback?.variant() ?? null
  }
  /** Texts that replace the player's own; see docs/player.md for their names. */
  set strings(strings: Partial<Strings>) {
    this.#strings = strings
    this.#update()
  }

  #wish(change: Partial<Wishes>): void {
    Object.assign(this.#wishes, change)
    this.#playback?.wish(change)
    this.#update()
  }

  /** Opens the source when all attributes that were set together are there. */
  #openSoon(): void {
    if (this.#pending) return
    this.#pending = true
    queueMicrotask(() => {
      this.#pending = false
      if (this.isConnected) this.#open()
    })
  }

  #open(): void {
    const own = { ...readBeginning(this), ...this.#early }
    const begun = [this.getAttribute('track'), this.getAttribute('start')].join()
    const before = this.#playback?.whereItIs()
    this.#undelivered = false
    this.#close()
    const source = readSource(this, HOME)
    if (!isComplete(source)) return this.#update()
    // Another session with the same track goes on where the one before was. What plays, plays on in every case.
    const next = { ...own, play: own.play || before?.play === true }
    const beginnings = before && begun === this.#begun ? [before, next] : [next]
    this.#early = {}
    this.#begun = begun
    const playback = createPlayback(source, this.#wishes, beginnings, {
      onChange: () => this.#update(),
      onTime: () => this.#showTime(),
      onEvent: (name, detail) => this.#tell(name, detail),
      onSwap: (now, before) => before.replaceWith(now),
    })
    this.#playback = playback
    this.#view.root.append(playback.deck.audio)
    void playback.open()
  }

  #close(): void {
    this.#screen.leave()
    this.#playback?.close()
    this.#playback?.deck.audio.remove()
    this.#playback = null
  }

  #tell(name: string, detail: object = {}): void {
    if (name === 'trackchange') this.#undelivered = false
    const event = new CustomEvent(`tonearm-${name}`, { detail, bubbles: true, composed: true })
    this.#own.add(event)
    this.dispatchEvent(event)
  }

  #update(): void {
    if (!this.isConnected) return
    const playback = this.#playback
    const locale = this.#locale()
    const state = playback?.state ?? NOTHING
    if (this.#paint.update(this, state.view?.track)) this.#view.waveform.refresh()
    this.#view.update(
      {
        state,
        wishes: this.#wishes,
        strings: stringsFor(locale, this.#strings),
        locale,
        waiting: playback?.deck.waiting() ?? false,
        downloadable: this.hasAttribute('download') && state.view?.play_session.is_downloadable === true,
        undelivered: this.#undelivered,
        duration: this.duration,
        hasNext: playback?.hasNext() ?? false,
      },
      this.currentTime,
    )
    this.#screen.update(state.view, playback?.hasNext() ?? false)
    cancelAnimationFrame(this.#frame)
    if (state.playing) this.#run()
  }

  #locale(): string {
    const around = this.closest('[lang]')?.getAttribute('lang')
    return pickLocale(this.getAttribute('locale'), around, navigator.language)
  }

  /** Moves the waveform on every frame; where motion is not wanted, four times a second is enough. */
  #run(): void {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    this.#frame = requestAnimationFrame(() => {
      if (this.paused) return
      this.#view.showTime(this.currentTime, this.duration)
      this.#run()
    })
  }

  #showTime(): void {
    this.#view.showTime(this.currentTime, this.duration)
    this.#screen.showPosition()
  }

  async #download(): Promise<void> {
    this.#undelivered = false
    // What was said before is said anew.
    this.#update()
    const [playback, track] = [this.#playback, this.track]
    if (!playback) return
    const problem = await download(() => playback.download(this.getAttribute('download') ?? ''))
    if (playback !== this.#playback || track?.id !== this.track?.id) return
    this.#undelivered = problem !== null
    if (problem) this.#tell('error', { code: problem.code, message: problem.message })
    this.#update()
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-player': TonearmPlayer
  }
  interface HTMLElementEventMap extends PlayerEventMap {}
}
