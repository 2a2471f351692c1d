import { Latest, sleep } from '../retry.ts'

/**
 * The audio element. One plays; another one takes over when the next track begins or the file gets a new URL, and the two change places.
 * Between two tracks there is about a hundredth of a second of silence. Nothing here knows sessions.
 */

interface Callbacks {
  onTime: () => void
  onState: () => void
  onEnded: () => void
  /** The file cannot be loaded, or no more of it. */
  onError: () => void
  /** The browser or the system stopped it. */
  onStop: () => void
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
}

const EVENTS = ['timeupdate', 'seeked', 'ended', 'error', 'pause', 'waiting', 'playing', 'canplay', 'durationchange']

export class AudioPair {
  readonly #callbacks: Callbacks
  readonly #signal: AbortSignal
  readonly #latest: Latest
  #active: HTMLAudioElement
  #other: HTMLAudioElement
  /** What the other one has loaded ahead. */
  #preloaded: string | null = null
  /** The position while the element does not know it: before it has loaded, and after an error. */
  #position = 0
  /** Whether it is us who paused it. */
  #isPausing = false
  #isSingle = false
  #lead = LEAD

  constructor(callbacks: Callbacks, signal: AbortSignal, make: () => HTMLAudioElement) {
    this.#callbacks = callbacks
    this.#signal = signal
    this.#latest = new Latest(signal)
    this.#active = this.#listenTo(make())
    this.#other = this.#listenTo(make())
  }

  /** The one that plays. */
  get audio(): HTMLAudioElement {
    return this.#active
  }

  /** Whether no other element can take over: the browser lets only one of them play, or it plays on another device. */
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

  /** Whether the file arrived and cannot be decoded. Other errors do not tell a file from a network (HTML, MediaError). */
  get isCorrupt(): boolean {
    return this.#active.error?.code === 3
  }

  /** Seconds up to which the file is here, from where it plays. */
  get loadedUntil(): number {
    const { buffered } = this.#active
    return buffered.length > 0 ? buffered.end(buffered.length - 1) : 0
  }

  /** Whether it may play: browsers can demand a gesture. */
  play(): Promise<boolean> {
    return this.#active.play().then(
      () => true,
      (error: DOMException) => error.name !== 'NotAllowedError',
    )
  }

  pause(): void {
    this.#endSwap()
    this.#stop()
  }

  /** Loads a file, to begin at a position. */
  load(url: string, position: number, eager: boolean): void {
    this.#endSwap()
    this.#position = position
    const audio = this.#active
    audio.preload = eager ? 'auto' : 'metadata'
    audio.src = url
    // Kept by the element until it has loaded (HTML, default playback start position).
    if (position > 0) audio.currentTime = position
    audio.playbackRate = audio.defaultPlaybackRate
  }

  /** Nothing is loaded any more, and nothing is heard. */
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

  /** Whether the file is here from one position to another. */
  has(from: number, to: number): boolean {
    const { buffered } = this.#active
    for (let i = 0; i < buffered.length; i++) {
      // Encoders pad: the ends of what is there and of what is said to be there differ a little.
      if (this.#isKnown && buffered.start(i) <= from + 0.1 && buffered.end(i) >= to - 0.2) return true
    }
    return false
  }

  /** Lets the other element load what comes next. */
  preload(url: string): void {
    if (this.isSingle) return
    this.#latest.next()
    this.#preloaded = url
    this.#other.preload = 'auto'
    this.#other.src = url
    this.#other.load()
  }

  /** Changes to what was loaded ahead; false when that is something else or did not load. */
  swapTo(url: string): boolean {
    if (this.#preloaded !== url || this.#other.error || this.#other.readyState < 2) return false
    this.#swap()
    this.#position = 0
    return true
  }

  /** Goes back to the element before, for good: this one may not play, as no gesture has ever started it (iOS). */
  swapBack(): void {
    this.#isSingle = true
    this.#swap()
  }

  /** Goes on with another URL of the same audio, without a gap; false when it did not come to that. */
  async handOver(url: string): Promise<boolean> {
    if (this.isSingle) return false
    const isCurrent = this.#latest.next()
    this.#preloaded = null
    Object.assign(this.#other, { preload: 'auto', src: url })
    const isDone = await takeOver(this.#active, this.#other, this.#lead, isCurrent)
    if (isDone) this.#swap()
    else if (isCurrent()) {
      // A slow machine or network gets more time at the next attempt.
      this.#lead = Math.min(LONGEST_LEAD, this.#lead * 2)
      this.#drop()
    }
    return isDone
  }

  setVolume(volume: number, muted: boolean): void {
    for (const each of [this.#active, this.#other]) Object.assign(each, { volume, muted })
  }

  setRate(rate: number): void {
    // The default, because loading another file sets the rate back to it.
    for (const each of [this.#active, this.#other])
      Object.assign(each, { defaultPlaybackRate: rate, playbackRate: rate })
  }

  #listenTo(made: HTMLAudioElement): HTMLAudioElement {
    made.preload = 'metadata'
    for (const name of EVENTS) {
      const listen = ({ type }: Event) => made === this.#active && this.#hear(type)
      made.addEventListener(name, listen, { signal: this.#signal })
    }
    return made
  }

  #hear(type: string): void {
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

  /** What the other one has or is getting is not needed any more. */
  #drop(): void {
    this.#preloaded = null
    if (this.#other.hasAttribute('src')) unload(this.#other)
  }

  /** Ends a change of elements that is under way. */
  #endSwap(): void {
    this.#latest.next()
    if (this.#preloaded === null) this.#drop()
  }

  #swap(): void {
    const before = this.#active
    this.#latest.next()
    this.#active = this.#other
    this.#other = before
    this.#drop()
    this.#callbacks.onSwap(this.#active, before)
  }
}

function unload(audio: HTMLAudioElement): void {
  audio.pause()
  audio.removeAttribute('src')
  audio.load()
  // Otherwise the next file would begin where this one was to (HTML, default playback start position).
  audio.currentTime = 0
}

/** Seconds of playing time in which the other element must be ready at the place where it takes over. */
const LEAD = 1.5
const LONGEST_LEAD = 12
/** Seconds between `play()` and the first sound, about. */
const START = 0.03
const LOAD_TIMEOUT = 20_000

/**
 * Lets `next`, which loads the same audio, take over from `now`, which plays: it waits at a place a little ahead and starts when `now`
 * gets there. False when it did not load, came too late, or is not wanted any more; then `now` just plays on.
 */
async function takeOver(
  now: HTMLAudioElement,
  next: HTMLAudioElement,
  lead: number,
  isWanted: () => boolean,
): Promise<boolean> {
  next.load()
  if (!(await until(next, 'canplay')) || !isWanted()) return false
  const at = now.currentTime + lead * now.playbackRate
  if (at > now.duration) return false
  next.currentTime = at
  if (!(await until(next, 'canplaythrough')) || !isWanted()) return false
  const left = (at - START - now.currentTime) / now.playbackRate
  if (left < 0) return false
  await sleep(left * 1000)
  if (!isWanted() || now.paused) return false
  // `now` may have stalled meanwhile.
  if (Math.abs(now.currentTime - at) > 0.25) next.currentTime = now.currentTime
  next.playbackRate = now.playbackRate
  return await next.play().then(
    () => isWanted() || (next.pause(), false),
    () => false,
  )
}

/** Waits for an event; false after an error, or when it takes too long. */
function until(audio: HTMLAudioElement, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const finish = (result: boolean) => {
      clearTimeout(timer)
      ended.abort()
      resolve(result)
    }
    const timer = setTimeout(finish, LOAD_TIMEOUT, false)
    audio.addEventListener(name, () => finish(true), { signal: ended.signal })
    audio.addEventListener('error', () => finish(false), { signal: ended.signal })
  })
}
