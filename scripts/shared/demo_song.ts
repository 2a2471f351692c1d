/** The song of the demo track and of the live elements in the documentation, which this code plays: ten seconds of plucked notes over soft chords. */

export const DEMO_SONG = { title: 'Low Tide', artist: 'Ada Moon', seconds: 10 }

/** Frequencies of four chords in Hz: A minor, F, C and G, each with its bass first. */
const CHORDS = [
  [110, 220, 261.6, 329.6, 493.9],
  [87.3, 220, 261.6, 349.2, 440],
  [130.8, 196, 261.6, 329.6, 523.3],
  [98, 196, 246.9, 293.7, 392],
]
/** The notes of a chord in the order in which they are plucked. */
const ORDER = [1, 2, 3, 4, 3, 4, 2, 3]
const BAR = DEMO_SONG.seconds / CHORDS.length

/** Adds a plucked string, whose overtones fade out first. `side` is its place from 0, left, to 1, right. */
function pluck(channels: Float64Array[], rate: number, at: number, frequency: number, loudness: number, side: number) {
  const start = Math.round(at * rate)
  const samples = Math.min(channels[0]!.length - start, Math.round(3 * rate))
  for (let index = 0; index < samples; index++) {
    const time = index / rate
    let tone = 0
    for (let overtone = 1; overtone <= 5 && overtone * frequency < rate / 2; overtone++)
      tone +=
        (Math.sin(2 * Math.PI * overtone * frequency * time) / overtone ** 1.6) * Math.exp(-time * (1.2 + overtone))
    const sample = loudness * tone * Math.min(1, time * 250)
    channels[0]![start + index]! += sample * Math.cos((side * Math.PI) / 2)
    channels[1]![start + index]! += sample * Math.sin((side * Math.PI) / 2)
  }
}

/** Adds a chord of two voices for each note, slightly out of tune against each other, one on each side. */
function pad(channels: Float64Array[], rate: number, at: number, notes: number[]) {
  const start = Math.round(at * rate)
  const samples = Math.min(channels[0]!.length - start, Math.round((BAR + 0.6) * rate))
  for (let index = 0; index < samples; index++) {
    const time = index / rate
    const loudness = 0.03 * Math.min(1, time * 1.6) * Math.min(1, (samples - index) / rate / 0.6)
    for (const [side, channel] of channels.entries())
      for (const note of notes)
        channel[start + index]! += loudness * Math.sin(2 * Math.PI * note * (side === 0 ? 0.9985 : 1.0015) * time)
  }
}

/** Returns the samples of both channels, from -1 to 1. */
export function playDemoSong(rate: number): [Float64Array, Float64Array] {
  const length = rate * DEMO_SONG.seconds
  const channels: [Float64Array, Float64Array] = [new Float64Array(length), new Float64Array(length)]
  for (const [bar, chord] of CHORDS.entries()) {
    const at = bar * BAR
    pad(channels, rate, at, chord.slice(1, 4))
    pluck(channels, rate, at, chord[0]!, 0.4, 0.5)
    for (const [beat, note] of ORDER.entries())
      pluck(
        channels,
        rate,
        at + (beat * BAR) / ORDER.length,
        chord[note]!,
        beat === 0 ? 0.3 : 0.24,
        0.25 + (beat % 3) * 0.25,
      )
  }
  // An echo from the other side, and a fade-out.
  const delay = Math.round(rate * 0.31)
  for (let index = 0; index < length; index++) {
    const [left, right] = channels.map((channel) => channel[index - delay] ?? 0)
    channels[0][index]! += 0.28 * right!
    channels[1][index]! += 0.28 * left!
  }
  const loudest = channels[0].reduce(
    (most, sample, index) => Math.max(most, Math.abs(sample), Math.abs(channels[1][index]!)),
    0,
  )
  for (const channel of channels)
    for (let index = 0; index < length; index++)
      channel[index]! *= (0.8 / loudest) * Math.min(1, (length - index) / rate / 1.5)
  return channels
}

/** Returns samples as a WAV file with 16 bits. */
export function wavOf(channels: Float64Array[], rate: number): Uint8Array<ArrayBuffer> {
  const frame = channels.length * 2
  const size = channels[0]!.length * frame
  const file = Buffer.alloc(44 + size)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + size, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(channels.length, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * frame, 28)
  file.writeUInt16LE(frame, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(size, 40)
  for (const [at, channel] of channels.entries())
    for (const [index, sample] of channel.entries())
      file.writeInt16LE(Math.round(sample * 32_767), 44 + index * frame + at * 2)
  return new Uint8Array(file)
}
