import { Playback } from '../../client/playback/playback.ts'
import { storageFault } from '../../client/playback/session.ts'
import {
  chapterStep,
  initialState,
  isSounding,
  type PlaybackEvents,
  type Source,
  type StartOptions,
} from '../../client/playback/state.ts'
import { isPlay, pauseFrames } from '../embed/protocol.ts'
import { sheet, upgradeProperties } from '../shared/dom.ts'
import { player as english } from '../texts/en.ts'
import { languageOf } from '../texts/languages.ts'
import { pickLocale, withOverrides } from '../texts/texts.ts'
import { loadedUntil } from '../waveform/follow.ts'
import * as attributes from './attributes.ts'
import { commandsOf, listenToKeys } from './commands.ts'
import { loadCoverLayout } from './cover_layout.ts'
import { LONG_TRACK, ListenerSettings } from './listener_settings.ts'
import { LockScreenLoader } from './lock_screen.ts'
import { MediaElement } from './media_element.ts'
import { pickRemote, unwatchRemote, watchRemote } from './remote.ts'
import { isCover, Theme } from './theme.ts'
import { type Model, PlayerView } from './view.ts'
import { warn } from './warn.ts'

import css from './player.css'

const styles = sheet(css)
/** The origin from which this module was loaded. By default, the service has the same origin. */
const HOME = new URL(import.meta.url).origin
const NOTHING = initialState('empty')
/** Seconds of playback after which the position in a long track is stored again. */
const STORE_INTERVAL = 5

/** The player's events. Each is a `CustomEvent` that bubbles and is composed. */
export type PlayerEventMap = { [N in keyof PlaybackEvents as `tonearm-${N}`]: CustomEvent<PlaybackEvents[N]> }

/**
 * `<tonearm-player>`: plays a play session of the service. docs/player.md describes attributes, events, parts and custom properties.
 */
export class TonearmPlayer extends MediaElement {
  static observedAttributes = [...attributes.SOURCE, ...attributes.OPTIONS, ...attributes.APPEARANCE]

  #source: Source | null = null
  /** The values of the attributes `track`, `start` and `end` when a source was last opened. */
  #openedAt = ''
  #isOpening = false
  #view: PlayerView
  #theme = new Theme()
  #lockScreen = new LockScreenLoader(this, () => this.update())
  #memory = new ListenerSettings(() => !this.hasAttribute('no-memory'))
  /** Where to resume the playback that was closed last. */
  #resumePoint: StartOptions | undefined
  #frame = 0
  #connected = new AbortController()
  #ownEvents = new WeakSet<Event>()
  /** Code of a problem that does not affect playback, such as a failed download. */
  #problem: string | null = null
  #hasRemote = false
  #storedAt = 0

  constructor() {
    super()
    const commands = commandsOf(this, {
      toggle: () => (isSounding(this.playback?.state ?? NOTHING) ? this.pause() : void this.play()),
      select: (index) => void this.playback?.select(index),
      retry: () => void this.playback?.retry(),
      download: () => void this.#download(),
      skip: (step) => void this.seek(this.currentTime + step * this.#skip[step === 1 ? 1 : 0]),
      stepChapter: (step) => this.#stepChapter(step),
      showKeys: () => void this.#view.openMenu('more'),
      sleep: (minutes) => this.sleep(minutes),
      pickRemote: () => pickRemote(this.playback?.audio),
      remember: (chosen) => this.#memory.store(chosen),
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
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.update(), { signal })
    // A player that starts pauses all other players: those in this document with its event, which is retargeted to the host of a shadow
    // tree, and those in frames with messages. A player whose playback is not open yet is not paused, so that its autoplay still works.
    const pause = (event: Event) => this.#ownEvents.has(event) || this.playback?.pause()
    document.addEventListener('tonearm-play', pause, { signal })
    addEventListener('message', (event) => isPlay(event, this.#source?.baseUrl) && this.playback?.pause(), { signal })
    addEventListener('hashchange', () => this.#followHash(), { signal })
    this.#restoreSettings()
    upgradeProperties(this)
    if (!this.playback) this.#openSoon()
    this.update()
  }

  disconnectedCallback(): void {
    this.#connected.abort()
    cancelAnimationFrame(this.#frame)
    // This runs in a microtask, so that a player that is only moved within the page keeps playing.
    queueMicrotask(() => {
      if (this.isConnected) return
      this.playback?.pause()
      this.#close()
    })
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return
    if (!attributes.isUnderstood(name, value)) void warn(({ valueAdvice }) => valueAdvice(name, value))
    if (attributes.SOURCE.includes(name)) this.#openSoon()
    else if (attributes.isOption(name)) this.setOptions({ [name]: attributes.readOptions(this, this.options)[name] })
    else this.update()
  }

  /** Opens the source in a microtask, after the page has set all attributes. */
  #openSoon(): void {
    if (this.#isOpening) return
    this.#isOpening = true
    queueMicrotask(() => {
      this.#isOpening = false
      if (this.isConnected) this.#open()
    })
  }

  #open(): void {
    this.#close()
    const previous = this.#resumePoint
    const hash = this.hasAttribute('share') && !previous ? attributes.readHash(location.hash) : {}
    const start = { ...attributes.readStart(this), ...hash }
    const openedAt = ['track', 'start', 'end'].map((name) => this.getAttribute(name)).join()
    this.#problem = null
    const source = (this.#source = attributes.readSource(this, HOME, document.baseURI))
    const fault = attributes.faultOf(source)
    if (fault) void warn(({ setupAdvice }) => setupAdvice(fault, source))
    if (!attributes.isComplete(source)) return this.update()
    // If another session has the same track, playback continues at the same position. If the previous playback was playing, the new one
    // plays in any case.
    const next = { ...start, play: start.play || previous?.play === true }
    const starts = previous && openedAt === this.#openedAt ? [previous, next] : [next]
    this.#openedAt = openedAt
    const playback = new Playback(source, this.options, starts, {
      onChange: () => this.update(),
      onTime: () => this.#showTime(),
      onEvent: (name, detail) => this.#emit(name, detail),
      onSwap: (now, before) => {
        before.replaceWith(now)
        unwatchRemote(before)
        this.#watchRemote(now)
      },
      resumeAt: (track) => this.#memory.positionOf(track),
      isReporting: () => !this.hasAttribute('no-statistics'),
    })
    this.playback = playback
    this.#view.root.append(playback.audio)
    this.#watchRemote(playback.audio)
    for (const call of this.early.splice(0)) void call(playback)
    void playback.open()
  }

  #close(): void {
    const { playback } = this
    if (!playback) return
    this.#resumePoint = playback.resumePoint
    this.#lockScreen.screen?.leave()
    unwatchRemote(playback.audio)
    playback.close()
    playback.audio.remove()
    this.playback = null
  }

  #emit<N extends keyof PlaybackEvents>(name: N, detail: PlaybackEvents[N]): void {
    if (name === 'trackchange') this.#problem = null
    if (name === 'pause' || name === 'ended') this.#storePosition()
    if (name === 'play') pauseFrames(this.#source!.baseUrl)
    const { code } = detail as PlaybackEvents['error']
    if (name === 'error') void warn(({ failureAdvice }) => failureAdvice(code, this.#source!, location.origin))
    const event = new CustomEvent(`tonearm-${name}`, { detail, bubbles: true, composed: true })
    this.#ownEvents.add(event)
    this.dispatchEvent(event)
  }

  protected override update(): void {
    if (!this.isConnected) return
    const model = this.#model()
    const { state } = model
    if (model.isCover) void loadCoverLayout(this.#view.root)
    if (this.#theme.update(this, state.view?.track)) this.#view.waveform.refresh()
    this.#view.update(model, this.currentTime)
    this.#lockScreen.update(state, model.hasNext)
    cancelAnimationFrame(this.#frame)
    if (state.playing) this.#animate()
  }

  #model(): Model {
    const { playback, duration } = this
    const state = playback?.state ?? NOTHING
    const inherited = this.closest('[lang]')?.getAttribute('lang')
    const locale = pickLocale(this.getAttribute('locale'), inherited, navigator.language)
    const skip = this.getAttribute('skip')
    const number = this.tracks.length > 1 ? state.index + 1 : null
    return {
      state,
      options: this.options,
      texts: withOverrides(languageOf(locale, () => this.update())?.player ?? english, this.texts),
      locale,
      isWaiting: playback?.isWaiting ?? false,
      isDownloadable: this.hasAttribute('download') && state.view?.play_session.is_downloadable === true,
      problem: this.#problem,
      duration,
      loaded: playback && loadedUntil(playback.audio),
      hasNext: playback?.hasNext ?? false,
      skip: this.#skip,
      // The skip buttons are shown by default for long tracks.
      hasSkip: skip === null ? duration >= LONG_TRACK : skip !== 'none',
      link: attributes.shareLink(this.getAttribute('share'), location.href, number),
      hasRemote: this.#hasRemote,
      isCover: isCover(this),
    }
  }

  get #skip(): readonly [number, number] {
    return attributes.readSkip(this.getAttribute('skip'))
  }

  /** Updates the waveform on every frame. If the user prefers reduced motion, it is updated only by `timeupdate`, about four times a second. */
  #animate(): void {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    this.#frame = requestAnimationFrame(() => {
      if (this.paused) return
      this.#view.showTime(this.currentTime, this.duration)
      this.#animate()
    })
  }

  #showTime(): void {
    if (Math.abs(this.currentTime - this.#storedAt) > STORE_INTERVAL) this.#storePosition()
    this.#view.showTime(this.currentTime, this.duration)
    this.#lockScreen.screen?.showPosition()
  }

  #stepChapter(step: 1 | -1): void {
    const target = chapterStep(this.playback?.state.view?.chapters ?? [], this.currentTime, step)
    if (target !== undefined) void this.seek(target)
  }

  /** Goes to the track and the position in the URL's hash after the hash has changed. */
  #followHash(): void {
    const { track = null, position, clip = null } = attributes.readHash(location.hash)
    if (!this.hasAttribute('share') || (track === null && position === undefined)) return
    void this.playback?.goTo({ track, position: position ?? 0, clip })
  }

  /** Restores the volume and speed that the listener has chosen, unless the page sets them. */
  #restoreSettings(): void {
    const { volume, rate } = this.#memory.stored
    if (typeof volume === 'number' && !this.hasAttribute('volume')) this.volume = volume
    if (typeof rate === 'number' && !this.hasAttribute('rate')) this.rate = rate
  }

  #storePosition(): void {
    const { track, currentTime, duration } = this
    this.#storedAt = currentTime
    // A listener who follows a link to a clip keeps the place in the rest of the track.
    if (track && !this.clip && this.playback?.state.status === 'ready')
      this.#memory.storePosition(track, currentTime, duration)
  }

  #watchRemote(audio: HTMLAudioElement): void {
    watchRemote(audio, (hasRemote) => {
      if (this.playback?.audio !== audio || this.#hasRemote === hasRemote) return
      this.#hasRemote = hasRemote
      this.update()
    })
  }

  async #download(): Promise<void> {
    this.#problem = null
    // Clears the previous message, so that screen readers announce the next message even if it has the same text.
    this.update()
    const { playback, track } = this
    if (!playback) return
    // WebKit blocks new tabs after an `await`, so the tab is opened first.
    const tab = navigator.vendor.startsWith('Apple') ? open('', '_blank') : null
    const request = () => playback.download(this.getAttribute('download') ?? '')
    const failure = await import('./download.ts').then(
      ({ download }) => download(request, storageFault, tab),
      () => (tab?.close(), { code: 'network', message: 'The download did not load' }),
    )
    if (playback !== this.playback || track?.id !== this.track?.id) return
    if (failure) this.#emit('error', { code: failure.code, message: failure.message })
    // The view shows the text of `download_failed` for every cause.
    this.#problem = failure && 'download_failed'
    this.update()
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-player': TonearmPlayer
  }
  interface HTMLElementEventMap extends PlayerEventMap {}
}
