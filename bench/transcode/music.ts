/**
 * Synthetic music: the same samples every time, for any length, and no audio file in git. Its balance matters: compared with real songs,
 * noise takes LAME 30 % less time but AAC no less, and other sounds change the size of the FLAC. Here AAC takes 1.4 times as long as MP3
 * (songs: 1.3 to 1.6), and FLAC has 900 kbit/s. Strings and voices produce tones, drums produce attacks, hiss produces a noise floor;
 * nothing repeats exactly.
 */

export const RATE = 44100

const BEAT = Math.round((60 / 112) * RATE)
const BAR = 4 * BEAT
const TAIL = 4 * RATE
/** The chords I, V, vi and IV, in semitones above the keynote. */
const CHORDS = [
  [0, 4, 7, 12],
  [-5, -1, 2, 7],
  [-3, 0, 4, 9],
  [-7, -3, 0, 5],
]

/** Yields one bar of music at a time as interleaved s16le stereo, `frames` frames in total. */
export function* music(frames: number): Generator<Buffer> {
  const random = createRandom(1877)
  const band = createBand(random)
  const mix = { left: new Float32Array(BAR + TAIL), right: new Float32Array(BAR + TAIL) }
  for (let bar = 0, left = frames; left > 0; bar++, left -= BAR) {
    playBar(bar, band, mix, random)
    yield interleave(mix, Math.min(left, BAR), random)
    for (const channel of [mix.left, mix.right]) {
      channel.copyWithin(0, BAR)
      channel.fill(0, TAIL)
    }
  }
}

type Mix = { left: Float32Array; right: Float32Array }
type Random = () => number

function playBar(bar: number, band: ReturnType<typeof createBand>, mix: Mix, random: Random): void {
  const key = [0, 3, -2, 5][Math.floor(bar / 16) % 4]!
  const chord = CHORDS[bar % 4]!
  const full = bar % 16 >= 4
  const at = (beats: number) => Math.round(beats * BEAT + random() * 200)
  for (let eighth = 0; eighth < 8; eighth++) {
    const pitch = 12 + key + chord[Math.floor(random() * 4)]!
    add(mix, band.string(pitch), at(eighth / 2), 0.2 + 0.15 * random(), 0.2 + 0.6 * random())
    if (full) add(mix, band.hat, at(eighth / 2), 0.02 + 0.03 * random(), 0.7)
  }
  for (const beat of [0, 1.5, 2, 3]) add(mix, band.string(key + chord[0]! - 12), at(beat), 0.4, 0.5)
  for (const tone of chord) add(mix, band.voice(key + tone), at(random() / 4), 0.05 + 0.05 * random(), random())
  if (!full) return
  for (const beat of [0, 2, 2.5]) add(mix, band.kick, at(beat), 0.5 + 0.2 * random(), 0.5)
  for (const beat of [1, 3]) add(mix, band.snare, at(beat), 0.25 + 0.1 * random(), 0.45)
}

function add({ left, right }: Mix, sound: Float32Array, at: number, gain: number, pan: number): void {
  const toLeft = gain * Math.cos((pan * Math.PI) / 2)
  const toRight = gain * Math.sin((pan * Math.PI) / 2)
  // The sound reaches the far ear slightly later, as in a room.
  const late = Math.round(40 * (pan - 0.5))
  const shiftLeft = at + Math.max(0, late)
  const shiftRight = at + Math.max(0, -late)
  const length = Math.min(sound.length, left.length - at - 40)
  for (let i = 0; i < length; i++) {
    left[shiftLeft + i]! += toLeft * sound[i]!
    right[shiftRight + i]! += toRight * sound[i]!
  }
}

function interleave({ left, right }: Mix, frames: number, random: Random): Buffer {
  const samples = new Int16Array(frames * 2)
  // tanh limits the peaks softly, and the random value adds hiss at -80 dBFS.
  for (let i = 0; i < frames; i++) {
    samples[2 * i] = 32000 * Math.tanh(left[i]! + 0.0001 * (random() * 2 - 1))
    samples[2 * i + 1] = 32000 * Math.tanh(right[i]! + 0.0001 * (random() * 2 - 1))
  }
  return Buffer.from(samples.buffer)
}

/** Creates the instruments. Each note is computed once and then cached. */
function createBand(random: Random) {
  const strings = new Map<number, Float32Array>()
  const voices = new Map<number, Float32Array>()
  const noise = () => random() * 2 - 1
  const hertz = (pitch: number) => 196 * 2 ** (pitch / 12)
  const once = (notes: Map<number, Float32Array>, pitch: number, make: () => Float32Array) => {
    const note = notes.get(pitch) ?? make()
    notes.set(pitch, note)
    return note
  }

  // Karplus–Strong synthesis: noise in a delay line that loses its high frequencies.
  function pluck(pitch: number): Float32Array {
    const period = Math.round(RATE / hertz(pitch))
    const hard = Float32Array.from({ length: period }, noise)
    // Smoothing the noise imitates a soft pick.
    const line = hard.map((v, i) => (hard.at(i - 1)! + 2 * v + hard[(i + 1) % period]!) / 4)
    return Float32Array.from({ length: 2.5 * RATE }, (_, i) => {
      const value = line[i % period]!
      line[i % period] = 0.4965 * (value + line[(i + 1) % period]!)
      return value
    })
  }

  // A sung note: twelve harmonics with vibrato, plus noise for the breath.
  function sing(pitch: number): Float32Array {
    let phase = 0
    return Float32Array.from({ length: 2.4 * RATE }, (_, i) => {
      const t = i / RATE
      phase += (2 * Math.PI * hertz(pitch) * (1 + 0.006 * Math.sin(2 * Math.PI * 5.3 * t))) / RATE
      let value = 0.02 * noise()
      for (let k = 1; k <= 12; k++) value += Math.sin(k * phase) / k
      return value * Math.min(1, t * 4, (2.4 - t) * 3)
    })
  }

  const hit = (seconds: number, sound: (t: number) => number) =>
    Float32Array.from({ length: seconds * RATE }, (_, i) => sound(i / RATE))
  let last = 0
  return {
    string: (pitch: number) => once(strings, pitch, () => pluck(pitch)),
    voice: (pitch: number) => once(voices, pitch, () => sing(pitch)),
    kick: hit(0.4, (t) => Math.sin(2 * Math.PI * (45 * t + 4 * (1 - Math.exp(-30 * t)))) * Math.exp(-9 * t)),
    snare: hit(0.3, (t) => (noise() + 0.5 * Math.sin(2 * Math.PI * 190 * t)) * Math.exp(-18 * t)),
    hat: hit(0.12, (t) => {
      const before = last
      last = noise()
      return (last - before) * Math.exp(-50 * t)
    }),
  }
}

/** A pseudorandom generator of numbers from 0 to 1 (mulberry32): the same seed gives the same numbers. */
function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
