import { gainsFor } from './loudness.ts'

/** Milliseconds between two measurements. */
const PERIOD = 200
/** Samples of one measurement, a power of 2. */
const SAMPLES = 8192
/** Mean square below which a block is not compared: silence would make the ratio random. About −60 dBFS. */
const GATE = 1e-6
/** Number of blocks after which the loudness is equalized. */
const ENOUGH = 5
/** Difference of the positions in seconds from which the file that is not heard is moved. */
const DRIFT = 0.03
/** Time constant in seconds of changes in volume, which avoids clicks. */
const FADE = 0.008

interface Side {
  audio: HTMLAudioElement
  gain: GainNode
  /** The left and right channel, weighted like ITU-R BS.1770. */
  meters: AnalyserNode[]
  /** The sum of the mean squares so far. */
  energy: number
}

/**
 * Plays two files of a track at the same position, of which one is heard. Both are measured while they play, and the louder one is turned down by
 * the difference of their loudness, because a louder sound seems better.
 */
export class Comparison {
  heard = 0
  problem: 'unplayable' | null = null
  /** The decibels by which the second file is louder; null until enough has been played. */
  difference: number | null = null
  onChange: () => void = () => {}
  readonly #context = new AudioContext()
  readonly #sides: [Side, Side]
  #blocks = 0
  #timer = 0

  constructor(urls: readonly [string, string], time: number) {
    const side = (url: string) => this.#connect(url, time)
    this.#sides = [side(urls[0]), side(urls[1])]
    this.#apply()
  }

  get isPlaying(): boolean {
    return !this.#sides[0].audio.paused
  }

  get time(): number {
    return this.#sides[this.heard]!.audio.currentTime
  }

  async play(): Promise<void> {
    await this.#context.resume()
    this.#align()
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#measure(), PERIOD)
    // A file that the browser cannot play dispatches `error` as well.
    await Promise.all(this.#sides.map(({ audio }) => audio.play())).catch(() => {})
    this.onChange()
  }

  pause(): void {
    clearInterval(this.#timer)
    for (const { audio } of this.#sides) audio.pause()
    this.onChange()
  }

  /** Switches to the first or the second file. */
  hear(side: number): void {
    this.heard = side
    this.#apply()
    this.onChange()
  }

  close(): void {
    this.onChange = () => {}
    this.pause()
    for (const { audio } of this.#sides) audio.removeAttribute('src')
    void this.#context.close()
  }

  #connect(url: string, time: number): Side {
    const context = this.#context
    const audio = new Audio()
    // Without CORS, Web Audio is silent.
    Object.assign(audio, { crossOrigin: 'anonymous', preload: 'auto', src: url, currentTime: time })
    audio.addEventListener('error', () => {
      if (!audio.getAttribute('src')) return
      this.problem = 'unplayable'
      this.pause()
    })
    audio.addEventListener('ended', () => this.pause())
    const source = context.createMediaElementSource(audio)
    const gain = new GainNode(context, { gain: 0 })
    source.connect(gain).connect(context.destination)
    const shelf = new BiquadFilterNode(context, { type: 'highshelf', frequency: 1682, gain: 4 })
    const low = new BiquadFilterNode(context, { type: 'highpass', frequency: 38, Q: -6 })
    const stereo = new GainNode(context, { channelCount: 2, channelCountMode: 'explicit' })
    const splitter = new ChannelSplitterNode(context, { numberOfOutputs: 2 })
    source.connect(stereo).connect(shelf).connect(low).connect(splitter)
    const meters = [0, 1].map((channel) => {
      const meter = new AnalyserNode(context, { fftSize: SAMPLES })
      splitter.connect(meter, channel)
      return meter
    })
    return { audio, gain, meters, energy: 0 }
  }

  #measure(): void {
    const squares = this.#sides.map(({ meters }) => meters.reduce((sum, meter) => sum + meanSquare(meter), 0))
    if (squares.every((square) => square > GATE)) {
      for (const [at, square] of squares.entries()) this.#sides[at]!.energy += square
      this.#blocks++
    }
    const [a, b] = this.#sides
    if (this.#blocks >= ENOUGH) this.difference = 10 * Math.log10(b.energy / a.energy)
    this.#apply()
    this.#align()
    this.onChange()
  }

  /** Sets the volumes: the file that is not heard is silent, and the louder one is turned down. */
  #apply(): void {
    const gains = gainsFor(this.difference ?? 0)
    for (const [at, { gain }] of this.#sides.entries()) {
      gain.gain.setTargetAtTime(at === this.heard ? gains[at]! : 0, this.#context.currentTime, FADE)
    }
  }

  #align(): void {
    const [heard, other] = [this.#sides[this.heard]!.audio, this.#sides[1 - this.heard]!.audio]
    if (heard.seeking || other.seeking || Math.abs(heard.currentTime - other.currentTime) < DRIFT) return
    other.currentTime = heard.currentTime
  }
}

function meanSquare(meter: AnalyserNode): number {
  const samples = new Float32Array(meter.fftSize)
  meter.getFloatTimeDomainData(samples)
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
}
