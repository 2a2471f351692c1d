import type { Loudness } from '../../../src/contract/info.ts'
import { isSilent, type PcmSummary } from './levels.ts'

/** Parses the summary that ffmpeg's ebur128 filter prints at the end, and adds the sample peak of the PCM. */
export function loudness(stderr: string, pcm: PcmSummary): Loudness {
  const integrated = integratedOf(stderr).at(-1) ?? null
  // When the format changes within the source, ffmpeg prints one summary for each part. The result is the maximum peak of all parts.
  const peaks = peaksOf(stderr)
  const truePeak = peaks.length > 0 ? Math.max(...peaks) : null
  const lufs = integrated !== null && integrated > -70 ? integrated : null
  return {
    integrated_lufs: lufs,
    loudness_range: lufs === null ? null : (numbers(stderr, RANGE).at(-1) ?? null),
    true_peak_dbtp: truePeak,
    sample_peak_dbfs: pcm.peak > 0 ? round(20 * Math.log10(pcm.peak / 32768), 2) : null,
    replaygain_track_gain: lufs === null ? null : round(-18 - lufs, 2),
    replaygain_track_peak: truePeak === null ? null : round(10 ** (truePeak / 20), 6),
    r128_track_gain: lufs === null ? null : Math.round((-23 - lufs) * 256),
    is_silent: isSilent(pcm),
  }
}

/**
 * Returns the integrated loudness in LUFS of every summary. ffmpeg restarts the measurement when the format changes, and some versions
 * print an empty summary (-70) at the start. The patterns match full lines, because the text also contains the source's tags as `key :
 * value`.
 */
export function integratedOf(stderr: string): number[] {
  return numbers(stderr, INTEGRATED)
}

const INTEGRATED = /^ +I: +(-?[\d.]+) LUFS$/gm
const RANGE = /^ +LRA: +(-?[\d.]+) LU$/gm
const PART = /^ +I: +(-?[\d.]+) LUFS$[^]*?^ +True peak:\r?\n +Peak: +(\S+) dBFS$/gm

// Returns the peak of every part, except of parts without audio, for which ffmpeg 7.1 prints a peak of 0.0.
function peaksOf(stderr: string): number[] {
  const parts = [...stderr.matchAll(PART)]
  const measuredParts = parts.filter(([, lufs, peak]) => parts.length === 1 || lufs !== '-70.0' || peak !== '0.0')
  return measuredParts.map(([, , peak]) => Number(peak)).filter(Number.isFinite)
}

function numbers(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map((match) => Number(match[1])).filter(Number.isFinite)
}

function round(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals || 0
}
