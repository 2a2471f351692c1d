import type { PcmSummary } from './levels.ts'

/** Returns waveform data in BBC audiowaveform's JSON format (version 2, 8 bit). All values are identical to the output of that program. */
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

// Truncates toward zero, like an integer division in C. `| 0` also converts -0 to 0.
function eightBit(value: number): number {
  return (value / 256) | 0
}
