import type { PcmSummary } from './levels.ts'
import type { Source } from './probe.ts'

/** AAC frames have 1024 samples; decoders before ffmpeg 8 keep the padding of the last one. */
const AAC_FRAME = 1024

/** Seconds by decoded samples, 3 decimals; AAC in MP4 takes the edit list's when only padding is between the two. */
export function durationOf(source: Source, pcm: PcmSummary): number {
  const decoded = pcm.frames / source.sampleRate
  const inMp4 = source.codec === 'aac' && source.container.includes('mov')
  const padding = source.duration === null ? 0 : (decoded - source.duration) * source.sampleRate
  const seconds = inMp4 && padding > 0 && padding < AAC_FRAME ? source.duration! : decoded
  return toMilliseconds(seconds)
}

/** Seconds of silence (nothing above -60 dBFS) before the first and behind the last sound; all of it when there is none. */
export function silenceAtEnds(pcm: PcmSummary, sampleRate: number, duration: number): { start: number; end: number } {
  if (!pcm.sound) return { start: duration, end: duration }
  const { start, end } = pcm.sound
  return { start: toMilliseconds(start / sampleRate), end: toMilliseconds(Math.max(0, duration - end / sampleRate)) }
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
