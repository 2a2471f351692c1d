import { type AudioCodec, codecOf } from '../../src/contract/facts.ts'
import type { Source } from './probe.ts'

/**
 * Stereo and mono of sources with more channels (docs/decisions/0059): one matrix in floating point, and a limiter behind it. ffmpeg's own
 * (`-ac`) has another level for each sample format, and so for each encoder.
 */

/** The channels of a source that listeners hear, and that is measured: at most two. */
export const heardChannels = (source: Source) => Math.min(source.channels, 2)

/** The filter that mixes a source down to `channels`, with a comma before it; empty when nothing is mixed. */
export function downmix(source: Source, channels: number, codec?: AudioCodec): string {
  const keeps = codec && codecOf(codec).lossless
  if (channels === source.channels && (keeps || PLAIN.includes(source.channelLayout))) return ''
  const gains = source.channels === 1 ? [[1, 1]] : source.speakers.map(gainsOf)
  const rows =
    channels === 1
      ? [gains.map(([left, right]) => (left! + right!) / 2)]
      : [0, 1].map((side) => gains.map((gain) => gain[side]!))
  const matrix = rows.map((row, i) => `c${i}=${row.map((gain, channel) => `${gain.toFixed(6)}*c${channel}`).join('+')}`)
  const pan = `,aformat=sample_fmts=fltp,pan=${channels === 1 ? 'mono' : 'stereo'}|${matrix.join('|')}`
  // Two channels can add up too, such as left and center.
  const mayClip = source.channels > 2 || rows.some((row) => row.reduce((sum, gain) => sum + gain, 0) > 1.001)
  return mayClip ? `${pan},${limiter(source.sampleRate)}` : pan
}

const PLAIN = ['mono', 'stereo']
const HALF_POWER = Math.SQRT1_2

/** A speaker's gains to left and right: ITU-R BS.775-4, table 2, for the speakers that it has. It leaves out the LFE. */
function gainsOf(speaker: string): [left: number, right: number] {
  if (speaker.startsWith('LFE')) return [0, 0]
  const isFront = /^(?:F[LR]?C?|D[LR])$/.test(speaker)
  if (/R/.test(speaker)) return [0, isFront ? 1 : HALF_POWER]
  if (/L/.test(speaker)) return [isFront ? 1 : HALF_POWER, 0]
  return isFront ? [HALF_POWER, HALF_POWER] : [0.5, 0.5]
}

/** Highest sample behind the limiter; what is between samples and what lossy codecs add stays below full scale (bench `layouts`). */
const CEILING = 0.65
const LOOK_AHEAD_SECONDS = 0.005
const RELEASE_MS = 200

// It delays by its attack, which only ffmpeg 5.1 and later can undo by themselves: so silence goes in at the end and comes out at the start.
// A half frame more, so that rounding cannot change the delay.
function limiter(rate: number): string {
  const delay = Math.round(rate * LOOK_AHEAD_SECONDS)
  const attack = (((delay + 1.5) * 1000) / rate).toFixed(6)
  const limit = `alimiter=limit=${CEILING}:level=0:attack=${attack}:release=${RELEASE_MS}`
  return `apad=pad_len=${delay},${limit},atrim=start_sample=${delay},asetpts=PTS-${delay}/SR/TB`
}
