import { type Message, NAME } from './gapless_worklet.ts'
import type { EngineContext, Loader } from './loader.ts'

/**
 * Joins tracks at the sample. Two audio elements leave 4 to 30 ms of silence between two tracks: the time from the end of one element until
 * the other has started. Here, both play into an audio worklet. The next element starts a little early, the worklet holds its sound back,
 * and continues with it in the frame in which the sound of the current one ends. From then on, the sound is that much later than the
 * element, until a pause or a seek (docs/decisions/0084).
 *
 * In a bundle, the page and the worklet load the same file, so that no policy needs to allow another one. It must share no code with the player.
 */

/** Seconds from the start of the next element to the end of the current track. Starting takes 10 to 60 ms in Chromium and Firefox. */
const LEAD = 0.2
/** Seconds before the end of a track at which the start of the next element is scheduled. `timeupdate` occurs every 250 ms. */
const SCHEDULE = 0.6
/** Maximum milliseconds for which playback waits for the audio context. */
const PATIENCE = 250
/** Milliseconds without playback after which the audio context releases the device. */
const IDLE = 5000
const EVENTS = ['playing', 'timeupdate', 'pause', 'seeking', 'emptied', 'ended']

/**
 * Joins the tracks that the engine plays, if the browser and the storage allow it. `next` returns the preloaded file that plays after the
 * current track, if there is one.
 */
export function joinTracks(core: EngineContext, next: () => ReturnType<Loader['ahead']>): void {
  // WebKit suspends an audio context when the screen of an iPhone is locked, and would stop the music. A page on the disk may not read its files.
  if (!('AudioWorkletNode' in globalThis) || navigator.vendor.startsWith('Apple') || location.protocol === 'file:')
    return
  const { audio: pair, signal } = core
  const graph = new Graph(core, next)
  const read = () => void graph.allow(pair.audio).catch(() => {})
  if (pair.audio.readyState > 0) read()
  else for (const audio of pair.both) audio.addEventListener('loadedmetadata', read, { signal, once: true })
}

/** The audio context of a pair, and the events that control its worklet. */
class Graph {
  readonly #core: EngineContext
  readonly #next: () => ReturnType<Loader['ahead']>
  #rate = 0
  #opening: Promise<void> | undefined
  #context: AudioContext | undefined
  #port: MessagePort | undefined
  /** The element whose file was loaded before pages were allowed to read it. Through a worklet it would be silent. */
  #unreadable: HTMLAudioElement | undefined
  /** The element that was started ahead of the end of the current track. */
  #ahead: HTMLAudioElement | undefined
  /** Whether the current track has ended, so that its last sound may still be in the worklet. */
  #isOver = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(core: EngineContext, next: () => ReturnType<Loader['ahead']>) {
    this.#core = core
    this.#next = next
  }

  get #pair(): EngineContext['audio'] {
    return this.#core.audio
  }

  /**
   * Reads the sample rate of the loaded file, because sound that is resampled has no exact end. If the storage lets this page read the file,
   * both elements load their files again, in a way that lets the worklet read them. An element that plays does so with its next file.
   */
  async allow(audio: HTMLAudioElement): Promise<void> {
    if (this.#rate > 0) return
    this.#rate = await sampleRateOf(audio.currentSrc)
    for (const each of this.#pair.both) {
      each.crossOrigin = 'anonymous'
      if (each.paused && each.hasAttribute('src')) {
        const { currentTime } = each
        each.load()
        each.currentTime = currentTime
      } else if (!each.paused) this.#unreadable = each
      for (const type of EVENTS)
        each.addEventListener(type, () => this.#onEvent(each, type), { signal: this.#core.signal })
    }
    this.#pair.prepare = () => this.#prepare()
  }

  /**
   * Before playback starts: opens the audio context, and connects the elements if the context runs. Resolves to false if the listener has
   * paused meanwhile.
   */
  async #prepare(): Promise<boolean> {
    // Without a gesture, the context would not start.
    if (!navigator.userActivation?.hasBeenActive) return true
    this.#opening ??= this.#open().catch(() => {})
    const running = this.#opening.then(() => this.#context?.resume())
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, PATIENCE))])
    const { audio } = this.#pair
    // An element that plays would be silent for a tenth of a second.
    if (!this.#port && this.#context?.state === 'running' && audio.paused && !this.#unreadable) this.#connect()
    return this.#core.store.state.playing
  }

  async #open(): Promise<void> {
    const context = new AudioContext({ latencyHint: 'playback', sampleRate: this.#rate })
    this.#core.signal.addEventListener('abort', () => void context.close())
    await context.audioWorklet.addModule(import.meta.url)
    this.#context = context
  }

  #connect(): void {
    const context = this.#context!
    // Surround sound is mixed down, as it would be without the worklet.
    const node = new AudioWorkletNode(context, NAME, {
      numberOfInputs: 2,
      numberOfOutputs: 2,
      outputChannelCount: [2, 2],
      channelCount: 2,
      channelCountMode: 'explicit',
    })
    for (const [lane, audio] of this.#pair.both.entries()) {
      context.createMediaElementSource(audio).connect(node, 0, lane)
      node.connect(context.destination, lane)
    }
    this.#port = node.port
    this.#port.onmessage = ({ data }: MessageEvent<number>) => (this.#pair.delay = data / context.sampleRate)
  }

  #post(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; this is a MessagePort
    this.#port?.postMessage(message)
  }

  /** The frame of the context in `seconds` from now. */
  #frameIn(seconds: number): number {
    const { currentTime, sampleRate } = this.#context!
    return Math.round((currentTime + seconds) * sampleRate)
  }

  /** Whether the next element was started, and the current one still plays. */
  get #isAhead(): boolean {
    return this.#ahead !== undefined && this.#ahead !== this.#pair.audio
  }

  #onEvent(audio: HTMLAudioElement, type: string): void {
    if (type === 'emptied' && audio === this.#unreadable) this.#unreadable = undefined
    if (!this.#port) return
    const isActive = audio === this.#pair.audio
    const lane = this.#pair.both.indexOf(audio)
    if (type === 'timeupdate') {
      if (isActive && !audio.paused) this.#schedule(audio)
    } else if (type === 'playing') {
      if (isActive) this.#isOver = false
      this.#post({ type: 'started', lane, frame: this.#frameIn(-audio.currentTime / audio.playbackRate) })
    } else if (type === 'ended') {
      // The player has already reacted. If it does not continue with the element that was started, that one must stop.
      if (isActive && this.#isAhead) this.#reset()
      this.#ahead = undefined
      this.#isOver = isActive
      this.#post({ type: 'stopped', lane })
    } else if (!isActive) {
      if (audio !== this.#ahead) this.#post({ type: 'stopped', lane })
    } else if (type === 'pause') {
      if (!audio.ended) this.#rewind(audio)
    } else if (!this.#isOver) this.#reset()
    if (type === 'pause' || type === 'ended') setTimeout(() => this.#rest(), IDLE)
  }

  #rest(): void {
    // A context that was closed rejects.
    if (this.#pair.audio.paused) this.#context!.suspend().catch(() => {})
  }

  /** Schedules the start of the next element. */
  #schedule({ duration, currentTime, playbackRate }: HTMLAudioElement): void {
    const early = LEAD - this.#pair.delay
    const left = (duration - currentTime) / playbackRate
    // With a delay, the element that starts after the event `ended` is early enough.
    if (early < LEAD / 2 || left > SCHEDULE || this.#timer !== undefined || this.#ahead) return
    this.#timer = setTimeout(() => this.#startNext(), Math.max(0, left - early) * 1000)
  }

  #startNext(): void {
    this.#timer = undefined
    const { audio, both } = this.#pair
    const other = both.find((each) => each !== audio)!
    const file = this.#next()
    if (audio.paused || !file || other.src !== file.url || other.readyState < 3) return
    const end = this.#frameIn((audio.duration - audio.currentTime) / audio.playbackRate)
    if (this.#pair.delay === 0) this.#post({ type: 'arm', lane: both.indexOf(other), end })
    this.#ahead = other
    other.volume = Math.min(1, this.#core.options.volume * file.gain)
    other.play().catch(() => this.#reset())
  }

  /** After a pause: moves the element back to the position that was heard last. */
  #rewind(audio: HTMLAudioElement): void {
    const heard = audio.currentTime - this.#pair.delay * audio.playbackRate
    const isLate = this.#pair.delay > 0 && audio.readyState > 0
    this.#reset()
    if (isLate) audio.currentTime = Math.max(0, heard)
  }

  /** Removes the delay, and stops the next element if it was started ahead. */
  #reset(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#post({ type: 'reset' })
    this.#pair.delay = 0
    if (this.#isAhead) {
      this.#ahead!.pause()
      this.#ahead!.currentTime = 0
    }
    this.#ahead = undefined
  }
}

/** Returns the sample rate of a file in Hz from its first bytes. Rejects if the page may not read the file. */
async function sampleRateOf(url: string): Promise<number> {
  const response = await fetch(url, { headers: { range: 'bytes=0-4095' } })
  if (response.status !== 206) {
    void response.body?.cancel()
    throw new Error(`status ${response.status}`)
  }
  const view = new DataView(await response.arrayBuffer())
  const text = String.fromCharCode(...new Uint8Array(view.buffer))
  // FLAC: STREAMINFO (RFC 9639, section 8.2).
  if (text.startsWith('fLaC')) return view.getUint32(18) >>> 12
  // WebM contains Opus, which is always decoded at this rate (RFC 7845, section 5.1).
  if (text.startsWith('\x1A\x45\xDF\xA3')) return 48_000
  // MP4: the time scale of the first track (ISO/IEC 14496-12, 8.4.2).
  const header = text.indexOf('mdhd')
  if (header > 0) return view.getUint32(header + (view.getUint8(header + 4) === 1 ? 24 : 16))
  return 44_100
}
