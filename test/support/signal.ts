/** Samples as a file stores them: integers of `bits` bits, one array per channel; `rate` in Hz. */
export type Pcm = { rate: number; bits: 16 | 24; channels: Int32Array[] }

/** A signal as a function of seconds, so that it can be sampled at any rate; 1 is full scale. */
export type Wave = (seconds: number) => number

type Sampling = { rate: number; seconds: number; bits?: 16 | 24 }

/** Samples one wave per channel, by default with 24 bits. Equal waves are computed once. */
export function sample(waves: Wave[], { rate, seconds, bits = 24 }: Sampling): Pcm {
  const frames = Math.round(rate * seconds)
  const full = 2 ** (bits - 1)
  const done = new Map<Wave, Int32Array>()
  for (const wave of new Set(waves)) {
    const samples = new Int32Array(frames)
    for (let i = 0; i < frames; i++) {
      samples[i] = Math.max(-full, Math.min(full - 1, Math.round(full * wave(i / rate))))
    }
    done.set(wave, samples)
  }
  return { rate, bits, channels: waves.map((wave) => done.get(wave)!) }
}

/** Amplitude at a level in dB below full scale, which is 1. */
export const amplitude = (dbfs: number) => 10 ** (dbfs / 20)

/** A sine of a peak amplitude (1 is full scale) and a phase in degrees at its start. */
export function sine(hz: number, peak: number, degrees = 0): Wave {
  const phase = (degrees * Math.PI) / 180
  return (seconds) => peak * Math.sin(2 * Math.PI * hz * seconds + phase)
}

/** A 1 kHz sine with a peak level in dBFS for each step of some seconds, as EBU Tech 3341 and 3342 use it. */
export function steps(...levels: [dbfs: number, seconds: number][]): { wave: Wave; seconds: number } {
  const ends: { end: number; peak: number }[] = []
  let end = 0
  for (const [dbfs, seconds] of levels) ends.push({ end: (end += seconds), peak: amplitude(dbfs) })
  const wave: Wave = (seconds) =>
    (ends.find((step) => seconds < step.end)?.peak ?? 0) * Math.sin(2 * Math.PI * 1000 * seconds)
  return { wave, seconds: end }
}

/** Silence. */
export const silence: Wave = () => 0

/** A sine whose pitch rises by `slope` Hz per second from `start` Hz, so that the pitch identifies the time. */
export function chirp(start: number, slope: number, peak: number): Wave {
  return (seconds) => peak * Math.sin(2 * Math.PI * (start * seconds + (slope * seconds * seconds) / 2))
}

/** A tenth of a second of rising pitch, twice a second: its wide bandwidth allows locating it to the sample. */
export function chirps(peak: number): Wave {
  const rising = chirp(500, 75_000, peak)
  return (seconds) => {
    const since = seconds % 0.5
    return since < 0.1 ? rising(since) * Math.sin(10 * Math.PI * since) ** 2 : 0
  }
}

/**
 * The number of samples by which `heard` is later than `wave` at `rate`, in a window of 4096 samples from `from` seconds on; at most
 * `reach`.
 */
export function lagOf(heard: ArrayLike<number>, wave: Wave, rate: number, from: number, reach = 1200): number {
  const start = Math.round(from * rate)
  const window = Float64Array.from({ length: 4096 }, (_, i) => wave((start + i) / rate))
  // One typed array without gaps, so that the ten million products below are fast.
  const near = Float64Array.from({ length: 4096 + 2 * reach }, (_, i) => heard[start - reach + i] ?? 0)
  let best = { lag: Number.NaN, product: -Infinity }
  for (let lag = -reach; lag <= reach; lag++) {
    let product = 0
    for (let i = 0; i < 4096; i++) product += window[i]! * near[reach + lag + i]!
    if (product > best.product) best = { lag, product }
  }
  return best.lag
}

/** The correlation of `heard`, delayed by `lag` samples, with `wave` in the same window: 1 is identical, 0 is unrelated. */
export function correlation(heard: ArrayLike<number>, wave: Wave, rate: number, from: number, lag: number): number {
  const start = Math.round(from * rate)
  let [product, expectedPower, foundPower] = [0, 0, 0]
  for (let i = start; i < start + 4096; i++) {
    const [expected, found] = [wave(i / rate), heard[i + lag] ?? 0]
    product += expected * found
    expectedPower += expected * expected
    foundPower += found * found
  }
  return product / Math.sqrt(expectedPower * foundPower || 1)
}

/** Integer noise within ±`peak`, the same on every machine: a linear congruential generator (Numerical Recipes). */
export function noise(frames: number, peak: number, seed = 1): Int32Array {
  let state = seed
  return Int32Array.from({ length: frames }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.trunc((state / 2 ** 31) * peak)
  })
}

/** An integer triangle wave within ±`peak`, with `period` frames from one maximum to the next. */
export function triangle(frames: number, peak: number, period: number): Int32Array {
  return Int32Array.from({ length: frames }, (_, i) => {
    const place = i % period
    const up = place * 2 < period ? place : period - place
    return Math.trunc((4 * peak * up) / period) - peak
  })
}
