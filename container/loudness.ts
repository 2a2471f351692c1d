import { isSilent, type PcmSummary } from './levels.ts'

/** Loudness by EBU R 128 and what players derive from it; null where a value does not exist (silence, too short). */
export type Loudness = {
  /** LUFS, ITU-R BS.1770 gated. */
  integrated_lufs: number | null
  /** LU, EBU Tech 3342. */
  loudness_range: number | null
  /** dBTP, four times oversampled; may be above 0. */
  true_peak_dbtp: number | null
  sample_peak_dbfs: number | null
  /** dB to -18 LUFS, ReplayGain 2.0. */
  replaygain_track_gain: number | null
  /** Linear, 1 is full scale. */
  replaygain_track_peak: number | null
  /** Q7.8 steps of 1/256 dB to -23 LUFS, RFC 7845. */
  r128_track_gain: number | null
  is_silent: boolean
}

/** Reads the summary that ffmpeg's ebur128 filter prints at the end, and adds the sample peak of the PCM. */
export function loudness(stderr: string, pcm: PcmSummary): Loudness {
  const integrated = last(stderr, /\bI:\s+(\S+) LUFS/g)
  const truePeak = highest(stderr, /True peak:\s+Peak:\s+(\S+) dBFS/g)
  const silent = isSilent(pcm)
  const lufs = integrated !== null && integrated > -70 ? integrated : null
  return {
    integrated_lufs: lufs,
    loudness_range: lufs === null ? null : last(stderr, /LRA:\s+(\S+) LU/g),
    true_peak_dbtp: truePeak,
    sample_peak_dbfs: pcm.peak > 0 ? round(20 * Math.log10(pcm.peak / 32768), 2) : null,
    replaygain_track_gain: lufs === null ? null : round(-18 - lufs, 2),
    replaygain_track_peak: truePeak === null ? null : round(10 ** (truePeak / 20), 6),
    r128_track_gain: lufs === null ? null : Math.round((-23 - lufs) * 256),
    is_silent: silent,
  }
}

// Each part between two changes of format has a summary of its own, and the highest peak of all parts is the whole's.
function highest(text: string, pattern: RegExp): number | null {
  const values = [...text.matchAll(pattern)].map((match) => Number(match[1])).filter(Number.isFinite)
  return values.length > 0 ? Math.max(...values) : null
}

// The last match: a filter graph that was rebuilt prints an empty summary first.
function last(text: string, pattern: RegExp): number | null {
  const value = Number([...text.matchAll(pattern)].at(-1)?.[1] ?? Number.NaN)
  return Number.isFinite(value) ? value : null
}

function round(value: number, decimals: number): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals || 0
}
