import type { Source } from '../source/probe.ts'
import type { PcmSummary } from './levels.ts'

/** Maximum number of frames after the end of the edit list: the padding of the last packet, which is longest in HE-AAC. */
const MAX_PADDING = 2048

/** Whether the edit list ends before the audio. In that case, the edit list is wrong and is ignored. */
export const isCutShort = (pcm: PcmSummary) => pcm.excess > MAX_PADDING

/** Returns the duration of the decoded samples in seconds, with 3 decimals. */
export const durationOf = (source: Source, pcm: PcmSummary) => toMilliseconds(pcm.frames / source.sampleRate)

/**
 * Returns the seconds of silence (nothing above -60 dBFS) before the first and after the last sound. Both are the full duration if there is
 * no sound.
 */
export function silenceAtEnds(pcm: PcmSummary, sampleRate: number, duration: number): { start: number; end: number } {
  if (!pcm.sound) return { start: duration, end: duration }
  const { start, end } = pcm.sound
  return { start: toMilliseconds(start / sampleRate), end: toMilliseconds(Math.max(0, duration - end / sampleRate)) }
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
