import type { PcmSummary } from './levels.ts'

/** Waveform data in BBC audiowaveform's JSON format, version 2, 8 bit, bit-exact with that program. */
export function waveform(pcm: PcmSummary, sampleRate: number) {
  const data: number[] = []
  for (let bin = 0; bin < pcm.bins; bin++) data.push(eightBit(pcm.min[bin]!), eightBit(pcm.max[bin]!))
  return {
    version: 2,
    channels: 1,
    sample_rate: sampleRate,
    samples_per_pixel: pcm.framesPerBin,
    bits: 8,
    length: pcm.bins,
    data,
  }
}

// Truncates toward zero, as C divides; `| 0` also turns -0 into 0.
function eightBit(value: number): number {
  return (value / 256) | 0
}
