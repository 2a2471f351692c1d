import { handOver } from './hand_over.ts'
import { createTurns } from './turn.ts'

/**
 * The audio element. One plays; a spare one takes over without a gap when the next track begins or the file gets a new URL, and the two
 * change places. Nothing here knows sessions.
 */

interface Told {
  onTime: () => void
  onState: () => void
  onEnded: () => void
  /** The file cannot be loaded, or no more of it. */
  onError: () => void
  /** The browser or the system stopped it. */
  onInterrupted: () => void
  onSwap: (now: HTMLAudioElement, before: HTMLAudioElement) => void
}

export type Deck = ReturnType<typeof createDeck>

const EVENTS = ['timeupdate', 'seeked', 'ended', 'error', 'pause', 'waiting', 'playing', 'canplay', 'durationchange']

export function createDeck(told: Told, signal: AbortSignal) {
  let audio = make()
  let spare = make()
  /** What the spare one holds, as `preload` was told. */
  let held: string | null = null
  /** The position while the element does not know it: before it has loaded, and after an error. */
  let remembered = 0
  /** Whether it is us who paused it. */
  let pausing = false
  /** Whether the browser lets only one of the two play. */
  let alone = false
  const turns = createTurns(signal)

  function make(): HTMLAudioElement {
    const made = new Audio()
    made.preload = 'metadata'
    for (const name of EVENTS) made.addEventListener(name, (event) => made === audio && hear(event.type), { signal })
    return made
  }

  function hear(type: string): void {
    if (type === 'timeupdate' || type === 'seeked') return told.onTime()
    if (type === 'ended') told.onEnded()
    else if (type === 'error' && audio.hasAttribute('src')) told.onError()
    else if (type === 'pause') {
      if (!pausing && !audio.ended && audio.error === null) told.onInterrupted()
      pausing = false
    } else if (type === 'playing') pausing = false
    told.onState()
  }

  const known = () => audio.readyState > 0 && audio.error === null
  const time = () => (known() ? (remembered = audio.currentTime) : remembered)

  function stop(): void {
    pausing = !audio.paused
    audio.pause()
  }

  /** What the spare one has or is getting is not needed any more. */
  function drop(): void {
    held = null
    if (spare.hasAttribute('src')) unload(spare)
  }

  /** Ends a change of elements that is under way. */
  function stay(): void {
    turns.next()
    if (held === null) drop()
  }

  function swap(): void {
    const before = audio
    turns.next()
    Object.assign(spare, { volume: before.volume, muted: before.muted, playbackRate: before.playbackRate })
    ;[audio, spare] = [spare, before]
    drop()
    told.onSwap(audio, before)
  }

  async function start(): Promise<'playing' | 'blocked' | 'failed'> {
    try {
      await audio.play()
      return 'playing'
    } catch (error) {
      return (error as DOMException).name === 'NotAllowedError' ? 'blocked' : 'failed'
    }
  }

  return {
    get audio() {
      return audio
    },
    time,
    duration: () => (Number.isFinite(audio.duration) && audio.duration > 0 ? audio.duration : 0),
    ended: () => audio.ended,
    waiting: () => !audio.paused && audio.readyState < 3,
    play: start,
    pause() {
      stay()
      stop()
    },
    /** Loads a file, to begin at a position. */
    load(url: string, position: number, eager: boolean) {
      stay()
      remembered = position
      audio.preload = eager ? 'auto' : 'metadata'
      audio.src = url
      // Kept by the element until it has loaded (HTML, default playback start position).
      if (position > 0) audio.currentTime = position
      audio.playbackRate = audio.defaultPlaybackRate
    },
    /** Nothing is loaded any more, and nothing is heard. */
    clear(position: number) {
      turns.next()
      drop()
      remembered = position
      stop()
      unload(audio)
    },
    seek(position: number) {
      stay()
      remembered = position
      audio.currentTime = position
    },
    /** Whether the file is here from one position to another. */
    has(from: number, to: number) {
      const { buffered } = audio
      for (let i = 0; i < buffered.length; i++) {
        // Encoders pad: the ends of what is there and of what is said to be there differ a little.
        if (known() && buffered.start(i) <= from + 0.1 && buffered.end(i) >= to - 0.2) return true
      }
      return false
    },
    /** Lets the spare element load what comes next. */
    preload(name: string, url: string) {
      if (alone) return
      turns.next()
      held = name
      spare.preload = 'auto'
      spare.src = url
      spare.load()
    },
    /** Changes to what was preloaded; false when that is something else or did not load. */
    takePreloaded(name: string) {
      if (held !== name || spare.error || spare.readyState < 2) return false
      swap()
      remembered = 0
      return true
    },
    /** Goes back to the element before, for good: this one may not play, as no gesture has ever started it (iOS). */
    giveBack() {
      alone = true
      swap()
    },
    /** Whether no other element can take over. */
    alone: () => alone,
    /** Goes on with another URL of the same audio, without a gap; false when it did not come to that. */
    async handOver(url: string): Promise<boolean> {
      if (alone) return false
      const current = turns.next()
      held = null
      Object.assign(spare, { preload: 'auto', src: url, muted: audio.muted, volume: audio.volume })
      const done = await handOver(audio, spare, current)
      if (done) swap()
      else if (current()) drop()
      return done
    },
    setVolume(volume: number, muted: boolean) {
      for (const each of [audio, spare]) Object.assign(each, { volume, muted })
    },
    setRate(rate: number) {
      // The default, because loading another file sets the rate back to it.
      for (const each of [audio, spare]) Object.assign(each, { defaultPlaybackRate: rate, playbackRate: rate })
    },
  }
}

function unload(audio: HTMLAudioElement): void {
  audio.pause()
  audio.removeAttribute('src')
  audio.load()
}
