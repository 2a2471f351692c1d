import { type Command, type FrameEvent, type FrameEvents, isMarked, marked } from './protocol.ts'

/** The module `/elements/embed.js`, with which a page controls a player in a frame from another origin and receives its events. */

type Listener<N extends keyof FrameEvents> = (detail: FrameEvents[N]) => void

/**
 * Controls the player in an `<iframe>` that shows an embed page. Commands are queued until the frame has loaded.
 *
 * @example
 * const player = new EmbeddedPlayer(document.querySelector('iframe'), { autoHeight: true })
 * player.on('ended', ({ last }) => last && player.close())
 * player.play()
 */
export class EmbeddedPlayer {
  readonly #frame: HTMLIFrameElement
  readonly #origin: string
  readonly #listeners = new Map<string, Set<(detail: never) => void>>()
  readonly #ended = new AbortController()
  #isConnected = false
  #waiting: Command[] = []

  constructor(frame: HTMLIFrameElement, { autoHeight = false }: { autoHeight?: boolean } = {}) {
    this.#frame = frame
    this.#origin = new URL(frame.src).origin
    const { signal } = this.#ended
    window.addEventListener('message', (event) => this.#onMessage(event), { signal })
    if (autoHeight) this.on('resize', ({ height }) => (frame.height = String(height)))
    // A frame that has loaded responds to this message. A frame that is still loading sends an event when it is ready.
    this.#post({ command: 'hello' })
  }

  /** Starts playback, if the browser allows the page to start sound in its frame (`allow="autoplay"`). */
  play(): void {
    this.#send({ command: 'play' })
  }
  pause(): void {
    this.#send({ command: 'pause' })
  }
  seek(seconds: number): void {
    this.#send({ command: 'seek', value: seconds })
  }
  next(): void {
    this.#send({ command: 'next' })
  }
  previous(): void {
    this.#send({ command: 'previous' })
  }
  /** Plays a track by its id or its number, counted from 1. */
  select(track: string | number): void {
    this.#send({ command: 'select', value: String(track) })
  }
  /** Sets the volume, from 0 to 1. */
  setVolume(volume: number): void {
    this.#send({ command: 'volume', value: volume })
  }
  /** Sets the playback speed, from 0.5 to 2. */
  setRate(rate: number): void {
    this.#send({ command: 'rate', value: rate })
  }

  /** Adds a listener for an event. Returns a function that removes the listener. */
  on<N extends keyof FrameEvents>(name: N, listener: Listener<N>): () => void {
    const all = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, all.add(listener))
    return () => void all.delete(listener)
  }

  /** Removes all listeners. */
  close(): void {
    this.#ended.abort()
    this.#listeners.clear()
  }

  #send(command: Command): void {
    if (this.#isConnected) this.#post(command)
    else this.#waiting.push(command)
  }

  #post(command: Command): void {
    this.#frame.contentWindow?.postMessage(marked(command), this.#origin)
  }

  #onMessage({ source, origin, data }: MessageEvent<unknown>): void {
    if (source !== this.#frame.contentWindow || origin !== this.#origin || !isMarked(data)) return
    if (!this.#isConnected) {
      this.#isConnected = true
      for (const command of this.#waiting.splice(0)) this.#post(command)
    }
    const { event, detail } = data as unknown as FrameEvent
    for (const listener of this.#listeners.get(event) ?? []) listener(detail as never)
  }
}

export type { FrameEvents } from './protocol.ts'
