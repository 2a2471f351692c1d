/** Joins the sound of two elements at the sample (`gapless.ts`). The code runs in the audio worklet; a page that loads it only gets its name. */

export const NAME = 'tonearm-gapless'
/** Seconds by which the expected end of a track may be wrong. Within this time, a frame of zeros counts as its end. */
const TOLERANCE = 0.05
/** Seconds of sound that a lane can hold. */
const CAPACITY = 1.5
/** Frames of a render quantum (Web Audio API). */
const QUANTUM = 128

/** A message from the page. */
export type Message =
  /** The other lane ends at about the frame `end` of the context, and `lane` is about to start. */
  | { type: 'arm'; lane: number; end: number }
  /** The element of the lane started playing at about this frame of the context. */
  | { type: 'started'; lane: number; frame: number }
  /** The element of the lane has stopped: at its end, or because the other one has taken over. */
  | { type: 'stopped'; lane: number }
  | { type: 'reset' }

declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void
declare const currentFrame: number
declare const sampleRate: number

/** The sound of one element on its way to the output. */
class Lane {
  /** `pass`: without delay; `hold`: stored until the other lane ends; `late`: through the store. */
  mode: 'pass' | 'hold' | 'late' = 'pass'
  /** Whether silence is a part of the track. While false, it is the time until the element starts. */
  isRunning = false
  read = 0
  write = 0
  readonly #store = [0, 1].map(() => new Float32Array(Math.ceil(CAPACITY * sampleRate)))

  /** The number of frames in the store. */
  get held(): number {
    return this.write - this.read
  }

  get isFull(): boolean {
    return this.held > this.#store[0]!.length - QUANTUM
  }

  reset(mode: Lane['mode']): void {
    this.mode = mode
    this.isRunning = false
    this.read = this.write = 0
  }

  /** Stores a quantum; if the element was not running, from the first sound on. */
  push(input: readonly Float32Array[]): void {
    let from = 0
    if (!this.isRunning) while (from < QUANTUM && isSilent(input, from)) from++
    this.isRunning ||= from < QUANTUM
    for (; from < QUANTUM; from++) this.#append(input[0]?.[from], input[1]?.[from])
  }

  pushSilence(frames: number): void {
    this.isRunning = true
    for (let i = 0; i < frames; i++) this.#append()
  }

  /** Ends the sound: removes silence of at most `frames` from the end, and stores nothing until there is sound again. */
  end(frames: number): void {
    this.isRunning = false
    const least = Math.max(this.read, this.write - frames)
    while (this.write > least && isSilent(this.#store, (this.write - 1) % this.#store[0]!.length)) this.write--
  }

  /** Moves stored frames to the output, from the frame `from` of the quantum on. */
  pop(output: readonly Float32Array[], from = 0): void {
    for (; from < QUANTUM && this.held > 0; from++, this.read++)
      for (const [channel, samples] of this.#store.entries())
        output[channel]![from] = samples[this.read % samples.length]!
  }

  #append(...frame: (number | undefined)[]): void {
    for (const [channel, samples] of this.#store.entries()) samples[this.write % samples.length] = frame[channel] ?? 0
    this.write++
  }
}

const isSilent = (channels: readonly Float32Array[], frame: number) => channels.every((samples) => samples[frame] === 0)

function register(): void {
  class Joiner extends AudioWorkletProcessor {
    readonly #lanes = [new Lane(), new Lane()] as const
    /** The lane that continues when the other one ends; null while both pass. */
    #next: number | null = null
    /** The frame at which the other lane is expected to end, and whether its element has stopped. */
    #end = Infinity
    #isStopped = false

    constructor() {
      super()
      this.port.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data)
    }

    #receive(message: Message): void {
      if (message.type === 'reset') return this.#reset()
      if (message.type === 'arm') return this.#await(message.lane, message.end)
      const lane = this.#lanes[message.lane]!
      if (message.type === 'started') {
        // No sound has come since the element started, so the track starts with silence.
        const silence = Math.min(currentFrame - message.frame, sampleRate / 2)
        if (lane.mode === 'hold' && !lane.isRunning) lane.pushSilence(silence)
      } else if (lane.mode === 'hold') lane.reset('hold')
      else if (this.#next !== null) {
        this.#isStopped = true
        lane.end(TOLERANCE * sampleRate)
      }
    }

    #reset(): void {
      for (const lane of this.#lanes) lane.reset('pass')
      this.#next = null
    }

    #await(next: number, end: number): void {
      this.#lanes[next]!.reset('hold')
      this.#next = next
      this.#end = end
      this.#isStopped = false
    }

    process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
      for (const [index, lane] of this.#lanes.entries()) {
        if (lane.mode === 'pass')
          for (const [channel, samples] of inputs[index]!.entries()) outputs[index]![channel]!.set(samples)
        else lane.push(inputs[index]!)
        if (lane.mode === 'late') lane.pop(outputs[index]!)
      }
      if (this.#next !== null) this.#join(this.#lanes[this.#next]!, this.#lanes[1 - this.#next]!, outputs)
      return true
    }

    /** Reports by how many frames the sound is later than the element. */
    #report(frames: number): void {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; this is a MessagePort
      this.port.postMessage(frames)
    }

    /** Continues with the lane `next` if the lane `now` ends in this quantum. */
    #join(next: Lane, now: Lane, outputs: Float32Array[][]): void {
      const index = this.#lanes.indexOf(next)
      const isExpected = now.mode === 'pass' && currentFrame + QUANTUM > this.#end - TOLERANCE * sampleRate
      if (!this.#isStopped && !isExpected && !next.isFull) return
      let from = QUANTUM
      while (from > 0 && isSilent(outputs[1 - index]!, from - 1)) from--
      if (next.held > 0 && (from < QUANTUM || next.isFull)) {
        next.mode = 'late'
        next.pop(outputs[index]!, from)
        this.#report(next.held)
        this.#await(1 - index, Infinity)
      } else if (now.mode === 'late' && now.held === 0) {
        // Nothing follows immediately, so the next sound needs no delay.
        this.#reset()
        this.#report(0)
      }
    }
  }
  registerProcessor(NAME, Joiner)
}

if ('AudioWorkletProcessor' in globalThis) register()
