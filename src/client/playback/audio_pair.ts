import { Latest } from '../retry.ts'

/**
 * Plays through two audio elements: one plays, and the other takes over when the next track starts or the file gets a new URL. Without
 * `gapless.ts`, the gap between two tracks is about a hundredth of a second. This module does not depend on sessions.
 */

interface Callbacks {
  onTime: () => void
  onState: () => void
  onEnded: () => void
  /** The file, or the remainder of it, cannot be loaded. */
  onError: () => void
  /** The browser or the system stopped playback. */
  onStop: () => void
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
}

const EVENTS = [
  'timeupdate',
  'seeked',
  'ended',
  'error',
  'pause',
  'waiting',
  'playing',
  'canplay',
  'durationchange',
  'progress',
]

export class AudioPair {
  readonly #callbacks: Callbacks
  readonly #signal: AbortSignal
  readonly #latest: Latest
  readonly both: readonly [HTMLAudioElement, HTMLAudioElement]
  #active: HTMLAudioElement
  #other: HTMLAudioElement
  /** URL that the other element has preloaded. */
  #preloaded: string | null = null
  /** The last known position in seconds. It is used while the element does not report one: before it has loaded, and after an error. */
  #position = 0
  /** Whether the next `pause` event is caused by this class, and not by the browser or the system. */
  #isPausing = false
  #isSingle = false
  #lead = LEAD
  /** Called before playback starts. Resolves to false if playback is no longer wanted. */
  prepare?: () => Promise<boolean>
  /** Seconds by which the sound is later than the element that plays (`gapless.ts`). */
  delay = 0

  constructor(callbacks: Callbacks, signal: AbortSignal, make: () => HTMLAudioElement) {
    this.#callbacks = callbacks
    this.#signal = signal
    this.#latest = new Latest(signal)
    this.both = [this.#listenTo(make()), this.#listenTo(make())]
    ;[this.#active, this.#other] = this.both
  }

  /** The element that plays. */
  get audio(): HTMLAudioElement {
    return this.#active
  }

  /** Whether the other element cannot take over: the browser lets only one of them play, or playback is on another device. */
  get isSingle(): boolean {
    const remote = (this.#active as { remote?: RemotePlayback }).remote
    return this.#isSingle || (remote !== undefined && remote.state !== 'disconnected')
  }

  get time(): number {
    if (this.#isKnown) this.#position = this.#active.currentTime
    return this.#position
  }

  get duration(): number {
    const { duration } = this.#active
    return Number.isFinite(duration) && duration > 0 ? duration : 0
  }

  get isWaiting(): boolean {
    return !this.#active.paused && this.#active.readyState < 3
  }

  /** Whether the file arrived but cannot be decoded. All other error codes can be caused by the file or by the network (HTML, MediaError). */
  get isCorrupt(): boolean {
    return this.#active.error?.code === 3
  }

  /** The end of the last buffered range in seconds. */
  get loadedUntil(): number {
    const { buffered } = this.#active
    return buffered.length > 0 ? buffered.end(buffered.length - 1) : 0
  }

  /** Starts playback. Resolves to false if the browser requires a user gesture first. */
  async play(): Promise<boolean> {
    if ((await this.prepare?.()) === false) return true
    return await this.#active.play().then(
      () => true,
      (error: DOMException) => error.name !== 'NotAllowedError',
    )
  }

  pause(): void {
    this.#endSwap()
    this.#stop()
  }

  /** Loads a file and sets the position at which it starts. */
  load(url: string, position: number, eager: boolean): void {
    this.#endSwap()
    this.#position = position
    const audio = this.#active
    audio.preload = eager ? 'auto' : 'metadata'
    audio.src = url
    // The element applies the position once it has loaded the file (HTML, default playback start position).
    if (position > 0) audio.currentTime = position
    audio.playbackRate = audio.defaultPlaybackRate
  }

  /** Stops playback and unloads both elements. */
  clear(position: number): void {
    this.#latest.next()
    this.#drop()
    this.#position = position
    this.#stop()
    unload(this.#active)
  }

  seek(position: number): void {
    this.#endSwap()
    this.#position = position
    this.#active.currentTime = position
  }

  /** Whether the file is buffered between two positions. */
  has(from: number, to: number): boolean {
    const { buffered } = this.#active
    for (let i = 0; i < buffered.length; i++) {
      // Encoders add padding, so the buffered range differs a little from the stated duration.
      if (this.#isKnown && buffered.start(i) <= from + 0.1 && buffered.end(i) >= to - 0.2) return true
    }
    return false
  }

  /** Preloads the next file in the other element. */
  preload(url: string): void {
    if (this.isSingle) return
    this.#latest.next()
    this.#preloaded = url
    this.#other.preload = 'auto'
    this.#other.src = url
    this.#other.load()
  }

  /** Switches to the preloaded file. Returns false if another file was preloaded, or if this file has not loaded. */
  swapTo(url: string): boolean {
    if (this.#preloaded !== url || this.#other.error || this.#other.readyState < 2) return false
    this.#swap()
    this.#position = 0
    return true
  }

  /**
   * Switches back to the previous element and uses only that from now on: iOS does not let the current element play, because no gesture has
   * ever started it.
   */
  swapBack(): void {
    this.#isSingle = true
    this.#swap()
  }

  /** Continues the same audio from another URL, without a gap. Resolves to false if the handover failed. */
  async handOver(url: string): Promise<boolean> {
    if (this.isSingle) return false
    const isCurrent = this.#latest.next()
    this.#preloaded = null
    Object.assign(this.#other, { preload: 'auto', src: url })
    const isDone = await import('./take_over.ts').then(
      ({ takeOver }) => isCurrent() && takeOver(this.#active, this.#other, this.#lead, isCurrent),
      () => false,
    )
    if (isDone) this.#swap()
    else if (isCurrent()) {
      // The next attempt uses a longer lead, which gives a slow machine or network more time.
      this.#lead = Math.min(LONGEST_LEAD, this.#lead * 2)
      this.#drop()
    }
    return isDone
  }

  setVolume(volume: number, muted: boolean): void {
    for (const each of this.both) Object.assign(each, { volume, muted })
  }

  setRate(rate: number): void {
    // The default rate is set as well, because the element resets its rate to the default when it loads another file.
    for (const each of this.both) Object.assign(each, { defaultPlaybackRate: rate, playbackRate: rate })
  }

  #listenTo(audio: HTMLAudioElement): HTMLAudioElement {
    audio.preload = 'metadata'
    for (const name of EVENTS) {
      const listen = ({ type }: Event) => audio === this.#active && this.#onEvent(type)
      audio.addEventListener(name, listen, { signal: this.#signal })
    }
    return audio
  }

  #onEvent(type: string): void {
    const { onTime, onState, onEnded, onError, onStop } = this.#callbacks
    const audio = this.#active
    if (type === 'timeupdate' || type === 'seeked') return onTime()
    if (type === 'ended') onEnded()
    else if (type === 'error' && audio.hasAttribute('src')) onError()
    else if (type === 'pause') {
      if (!this.#isPausing && !audio.ended && audio.error === null) onStop()
      this.#isPausing = false
    } else if (type === 'playing') this.#isPausing = false
    onState()
  }

  get #isKnown(): boolean {
    return this.#active.readyState > 0 && this.#active.error === null
  }

  #stop(): void {
    this.#isPausing = !this.#active.paused
    this.#active.pause()
  }

  /** Unloads the other element. */
  #drop(): void {
    this.#preloaded = null
    if (this.#other.hasAttribute('src')) unload(this.#other)
  }

  /** Cancels a handover that is in progress. A preloaded file stays loaded. */
  #endSwap(): void {
    this.#latest.next()
    if (this.#preloaded === null) this.#drop()
  }

  #swap(): void {
    const previous = this.#active
    this.#latest.next()
    this.#active = this.#other
    this.#other = previous
    this.#drop()
    this.#callbacks.onSwap(this.#active, previous)
  }
}

function unload(audio: HTMLAudioElement): void {
  audio.pause()
  audio.removeAttribute('src')
  audio.load()
  // Without this, the next file would start at the position that was set for this file (HTML, default playback start position).
  audio.currentTime = 0
}

/** Seconds of playback until the takeover position. Within this time, the other element must become ready to play from there. */
const LEAD = 1.5
const LONGEST_LEAD = 12
