import type { PcmSummary } from './levels.ts'
import type { Source } from './probe.ts'

/** Frames that may follow the end of the edit list: those of the last packet, of which HE-AAC has most. */
const MOST_PADDING = 2048

/** Whether an edit list ends before the audio does: a wrong header, which is then not followed. */
export const isCutShort = (pcm: PcmSummary) => pcm.excess > MOST_PADDING

/** Seconds by decoded samples, 3 decimals. */
export const durationOf = (source: Source, pcm: PcmSummary) => toMilliseconds(pcm.frames / source.sampleRate)

/** Seconds of silence (nothing above -60 dBFS) before the first and behind the last sound; all of it when there is none. */
export function silenceAtEnds(pcm: PcmSummary, sampleRate: number, duration: number): { start: number; end: number } {
  if (!pcm.sound) return { start: duration, end: duration }
  const { start, end } = pcm.sound
  return { start: toMilliseconds(start / sampleRate), end: toMilliseconds(Math.max(0, duration - end / sampleRate)) }
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
