import { type AudioCodec, codecOf } from '../../src/contract/facts.ts'
import type { Source } from './source/probe.ts'

/**
 * Mixes sources down to stereo and mono (docs/decisions/0059) with one floating-point matrix, followed by a limiter. ffmpeg's `-ac` is not
 * used, because its level depends on the sample format, and so on the encoder.
 */

/** Returns the number of channels that listeners hear and that are measured: at most two. */
export const deliveredChannels = (source: Source) => Math.min(source.channels, 2)

/** Returns the filter that mixes a source down to `channels`, with a leading comma. Returns an empty string if nothing must be mixed. */
export function downmix(source: Source, channels: number, codec?: AudioCodec): string {
  const isLossless = codec && codecOf(codec).lossless
  if (channels === source.channels && (isLossless || PLAIN_LAYOUTS.includes(source.channelLayout))) return ''
  const gains = source.channels === 1 ? [[1, 1]] : source.speakers.map(gainsOf)
  const rows =
    channels === 1
      ? [gains.map(([left, right]) => (left! + right!) / 2)]
      : [0, 1].map((side) => gains.map((gain) => gain[side]!))
  const matrix = rows.map((row, i) => `c${i}=${row.map((gain, channel) => `${gain.toFixed(6)}*c${channel}`).join('+')}`)
  const pan = `,aformat=sample_fmts=fltp,pan=${channels === 1 ? 'mono' : 'stereo'}|${matrix.join('|')}`
  // A mix of two channels can also clip, such as left and center.
  const mayClip = source.channels > 2 || rows.some((row) => row.reduce((sum, gain) => sum + gain, 0) > 1.001)
  return mayClip ? `${pan},${limiter(source.sampleRate)}` : pan
}

const PLAIN_LAYOUTS = ['mono', 'stereo']
const HALF_POWER = Math.SQRT1_2

/**
 * Returns the gains of a speaker for left and right. They are those of ITU-R BS.775-4, table 2, if the table lists the speaker. The LFE is
 * dropped.
 */
function gainsOf(speaker: string): [left: number, right: number] {
  if (speaker.startsWith('LFE')) return [0, 0]
  const isFront = /^(?:F[LR]?C?|D[LR])$/.test(speaker)
  if (/R/.test(speaker)) return [0, isFront ? 1 : HALF_POWER]
  if (/L/.test(speaker)) return [isFront ? 1 : HALF_POWER, 0]
  return isFront ? [HALF_POWER, HALF_POWER] : [0.5, 0.5]
}

/**
 * Maximum sample value after the limiter. The headroom keeps peaks between samples, and the errors of lossy codecs, below full scale (bench
 * `layouts`).
 */
const CEILING = 0.65
const LOOK_AHEAD_SECONDS = 0.005
const RELEASE_MS = 200

// The limiter delays the audio by its attack time, and only ffmpeg 5.1 and later can compensate for that. So silence is added at the end,
// and the delay is removed at the start. The extra half frame prevents a change to the delay by rounding.
function limiter(rate: number): string {
  const delay = Math.round(rate * LOOK_AHEAD_SECONDS)
  const attack = (((delay + 1.5) * 1000) / rate).toFixed(6)
  const limit = `alimiter=limit=${CEILING}:level=0:attack=${attack}:release=${RELEASE_MS}`
  return `apad=pad_len=${delay},${limit},atrim=start_sample=${delay},asetpts=PTS-${delay}/SR/TB`
}
