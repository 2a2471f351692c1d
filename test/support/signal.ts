/** Samples as a file stores them: integers with `bits` bits, in one array per channel. `rate` is in Hz. */
export type Pcm = { rate: number; bits: 16 | 24; channels: Int32Array[] }

/** A signal as a function of seconds, so that it can be sampled at any rate; 1 is full scale. */
export type Wave = (seconds: number) => number

type Sampling = { rate: number; seconds: number; bits?: 16 | 24 }

/** Samples one wave per channel, by default with 24 bits. A wave that several channels share is computed only once. */
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

/** Returns the amplitude for a level in dBFS; full scale is 1. */
export const amplitude = (dbfs: number) => 10 ** (dbfs / 20)

/** Returns a sine with a peak amplitude, of which 1 is full scale, and a phase in degrees at its start. */
export function sine(hz: number, peak: number, degrees = 0): Wave {
  const phase = (degrees * Math.PI) / 180
  return (seconds) => peak * Math.sin(2 * Math.PI * hz * seconds + phase)
}

/** Returns a 1 kHz sine that consists of steps, each with a peak level in dBFS and a length in seconds, as used by EBU Tech 3341 and 3342. */
export function steps(...levels: [dbfs: number, seconds: number][]): { wave: Wave; seconds: number } {
  const ends: { end: number; peak: number }[] = []
  let end = 0
  for (const [dbfs, seconds] of levels) ends.push({ end: (end += seconds), peak: amplitude(dbfs) })
  const wave: Wave = (seconds) =>
    (ends.find((step) => seconds < step.end)?.peak ?? 0) * Math.sin(2 * Math.PI * 1000 * seconds)
  return { wave, seconds: end }
}

/** A wave of silence. */
export const silence: Wave = () => 0

/** Returns a sine whose pitch rises by `slope` Hz per second from `start` Hz, so that the pitch identifies the time. */
export function chirp(start: number, slope: number, peak: number): Wave {
  return (seconds) => peak * Math.sin(2 * Math.PI * (start * seconds + (slope * seconds * seconds) / 2))
}

/**
 * Returns two bursts per second. Each one is a tenth of a second of rising pitch, whose bandwidth is so wide that it
 * can be located to the sample.
 */
export function chirps(peak: number): Wave {
  const rising = chirp(500, 75_000, peak)
  return (seconds) => {
    const since = seconds % 0.5
    return since < 0.1 ? rising(since) * Math.sin(10 * Math.PI * since) ** 2 : 0
  }
}

/**
 * Returns the number of samples, at most `reach`, by which `heard` is later than `wave` sampled at `rate`. It compares
 * 4096 samples from `from` seconds on.
 */
export function lagOf(heard: ArrayLike<number>, wave: Wave, rate: number, from: number, reach = 1200): number {
  const start = Math.round(from * rate)
  const window = Float64Array.from({ length: 4096 }, (_, i) => wave((start + i) / rate))
  // A typed array makes the ten million products below fast.
  const near = Float64Array.from({ length: 4096 + 2 * reach }, (_, i) => heard[start - reach + i] ?? 0)
  let best = { lag: Number.NaN, product: -Infinity }
  for (let lag = -reach; lag <= reach; lag++) {
    let product = 0
    for (let i = 0; i < 4096; i++) product += window[i]! * near[reach + lag + i]!
    if (product > best.product) best = { lag, product }
  }
  return best.lag
}

/**
 * Returns the correlation of `heard`, which is late by `lag` samples, with `wave` in the same window as `lagOf`. 1
 * means identical and 0 means unrelated.
 */
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

/** Returns integer noise within ±`peak`, which is the same on every machine. It uses a linear congruential generator (Numerical Recipes). */
export function noise(frames: number, peak: number, seed = 1): Int32Array {
  let state = seed
  return Int32Array.from({ length: frames }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.trunc((state / 2 ** 31) * peak)
  })
}

/** Returns an integer triangle wave within ±`peak`, with `period` frames from one maximum to the next. */
export function triangle(frames: number, peak: number, period: number): Int32Array {
  return Int32Array.from({ length: frames }, (_, i) => {
    const place = i % period
    const up = place * 2 < period ? place : period - place
    return Math.trunc((4 * peak * up) / period) - peak
  })
}
