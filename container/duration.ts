import type { JobResult } from '../src/contract/job.ts'
import type { Encoded } from './encode.ts'
import type { PcmSummary } from './levels.ts'
import type { Source } from './probe.ts'
import type { Sniffed } from './sniff.ts'

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

/** What the result should say about a source that decoded, but not to what it promised. */
export function decodeWarnings(source: Source, sniffed: Sniffed, { pcm, stderr }: Encoded): JobResult['warnings'] {
  const warnings: JobResult['warnings'] = []
  const decoded = pcm.frames / source.sampleRate
  const difference = source.duration === null ? 0 : Math.abs(source.duration - decoded)
  if (sniffed.truncated) {
    warnings.push({ code: 'truncated', message: 'The file ends before the end that its header promises.' })
  } else if (difference > Math.max(0.5, decoded * 0.02)) {
    // ffmpeg reports success on many truncated files; only the header tells.
    const message = `The header says ${source.duration!.toFixed(1)} s, but ${decoded.toFixed(1)} s could be decoded.`
    warnings.push({ code: 'duration_mismatch', message })
  }
  if (loudnessSummaries(stderr) > 1) {
    const message = 'The format changes within the file, so the loudness is that of its last part.'
    warnings.push({ code: 'format_changed', message })
  }
  return warnings
}

// ffmpeg measures anew when the format changes; some versions also print an empty summary (-70) at the start.
function loudnessSummaries(stderr: string): number {
  return [...stderr.matchAll(/\bI:\s+(\S+) LUFS/g)].filter((match) => Number(match[1]) > -70).length
}
