import { ffmpeg } from '../../test/support/audio.ts'
import { chirps, sample, silence, sine, type Wave } from '../../test/support/signal.ts'
import { wavFile } from '../../test/support/wav.ts'

/**
 * One source file for each layout. The first channel contains bursts with a position that can be measured to the sample. All channels contain
 * chords between the bursts.
 */

export const SECONDS = 3
/** Start times of the measured bursts, in seconds. */
export const BURSTS = [0, 1.5, 2.5]
export const burst: Wave = chirps(0.5)

export type LayoutSource = { name: string; channels: number; make: () => Promise<Buffer> }

/** Name, speaker mask of WAVEFORMATEXTENSIBLE (0 if unspecified), and number of channels. */
const LAYOUTS: [name: string, mask: number, channels: number][] = [
  ['mono', 0x4, 1],
  ['stereo', 0x3, 2],
  ['2.1', 0xb, 3],
  ['3.0', 0x7, 3],
  ['3 unknown', 0, 3],
  ['4.0', 0x107, 4],
  ['quad', 0x33, 4],
  ['4 unknown', 0, 4],
  ['5.0', 0x37, 5],
  ['5.1', 0x3f, 6],
  ['5.1(side)', 0x60f, 6],
  ['hexagonal', 0x137, 6],
  ['6 unknown', 0, 6],
  ['6.1', 0x70f, 7],
  ['7.1', 0x63f, 8],
  ['octagonal', 0x737, 8],
  ['FC+LFE+BC', 0x10c, 3],
]

/** Peak level of the chords in a channel. Mono and stereo must pass unchanged; with more channels, the mix must trigger the limiter. */
const PEAKS = { plain: 0.6, many: 0.95 }

export const SOURCES: LayoutSource[] = [
  ...LAYOUTS.map(([name, mask, channels]) => ({ name, channels, make: async () => wav(mask, channels, 48_000, 16) })),
  ...[8000, 44_100, 96_000, 192_000, 384_000].map((rate) => ({
    name: `5.1, ${rate / 1000} kHz`,
    channels: 6,
    make: async () => wav(0x3f, 6, rate, 24),
  })),
  { name: '5.1, 12 dB over full scale', channels: 6, make: () => overFullScale(wav(0x3f, 6, 48_000, 24, 0.25)) },
]

function wav(mask: number, channels: number, rate: number, bits: 16 | 24, burstGain = 1): Buffer {
  const peak = channels > 2 ? PEAKS.many : PEAKS.plain
  const waves = Array.from({ length: channels }, (_, channel) => {
    const chord = between(chordOf(channel, peak))
    const first = channel === 0 ? burst : silence
    return (seconds: number) => chord(seconds) + burstGain * first(seconds)
  })
  return wavFile(sample(waves, { rate, seconds: SECONDS, bits }), mask)
}

const chordOf = (channel: number, peak: number): Wave => {
  const tones = [1, 2.7, 5.3].map((step) => sine((220 + 37 * channel) * step, peak / 3, 40 * channel))
  return (seconds) => tones.reduce((sum, tone) => sum + tone(seconds), 0)
}

/** Returns a wave that is silent during the bursts. */
const between = (wave: Wave): Wave => {
  return (seconds) => {
    const since = seconds % 0.5
    return since > 0.12 && since < 0.48 ? wave(seconds) * Math.sin((Math.PI * (since - 0.12)) / 0.36) ** 0.5 : 0
  }
}

const overFullScale = (source: Buffer) =>
  ffmpeg(['-i', 'in', '-af', 'volume=12dB:precision=float', '-c:a', 'pcm_f32le', '-f', 'wav'], { in: source })
