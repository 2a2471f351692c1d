/** Most bins that are kept; when they are full, neighbours merge, so memory does not grow with the duration. */
const MAX_BINS = 32768
const FIRST_BIN_FRAMES = 16
/** Buckets quieter than this (RMS, of full scale) everywhere are silence: -70 dB, the absolute gate of EBU R 128. */
const SILENCE = 10 ** (-70 / 20)
/**
 * The largest 16-bit sample that still counts as silence at the ends: -60 dBFS, where ffmpeg's silencedetect and the reverberation
 * time RT60 (ISO 3382) draw the line too. Dither and the noise of good converters lie 30 dB below it.
 */
const INAUDIBLE = Math.floor(32768 * 10 ** (-60 / 20))

/** What was learned from decoded PCM: `bins` bins of `framesPerBin` frames each, the last one possibly partial. */
export type PcmSummary = {
  frames: number
  /** Frames behind the end, which nothing else counts. */
  excess: number
  framesPerBin: number
  bins: number
  /** Extremes of the mono mix, 16 bit, as BBC audiowaveform computes them. */
  min: Int16Array
  max: Int16Array
  /** Sums of squares of the loudest channel's samples. */
  energy: Float64Array
  /** Largest absolute sample of any channel, 0–32768. */
  peak: number
  /** The frames from the first above -60 dBFS to the one behind the last; null when none is. */
  sound: { start: number; end: number } | null
}

/** Takes interleaved s16le PCM in chunks of any size and summarises it up to frame `end`, in one pass and constant memory. */
export function createPcmMeter(channels: number, end = Infinity) {
  const min = new Int16Array(MAX_BINS)
  const max = new Int16Array(MAX_BINS)
  const energy = new Float64Array(MAX_BINS)
  const frameBytes = channels * 2
  let rest: Buffer = Buffer.alloc(0)
  let frames = 0
  let excess = 0
  let framesPerBin = FIRST_BIN_FRAMES
  let bins = 0
  let inBin = FIRST_BIN_FRAMES
  let peak = 0
  let sound: PcmSummary['sound'] = null

  function mergeNeighbours() {
    for (let i = 0; i < MAX_BINS / 2; i++) {
      min[i] = Math.min(min[2 * i]!, min[2 * i + 1]!)
      max[i] = Math.max(max[2 * i]!, max[2 * i + 1]!)
      energy[i] = energy[2 * i]! + energy[2 * i + 1]!
    }
    bins = MAX_BINS / 2
    framesPerBin *= 2
    inBin = framesPerBin
  }

  function openBin() {
    if (bins === MAX_BINS) mergeNeighbours()
    min[bins] = 32767
    max[bins] = -32768
    energy[bins] = 0
    bins++
    inBin = 0
  }

  function measure(samples: Int16Array) {
    let at = 0
    while (at < samples.length) {
      if (inBin === framesPerBin) openBin()
      const end = Math.min(samples.length, at + (framesPerBin - inBin) * channels)
      inBin += (end - at) / channels
      measureBin(samples, at, end)
      at = end
    }
    noteSound(samples)
    frames += samples.length / channels
  }

  // All in local variables: 5 % of a job's time went into arrays that were written for each frame.
  function measureBin(samples: Int16Array, from: number, end: number) {
    const bin = bins - 1
    let least = min[bin]!
    let most = max[bin]!
    let squares = 0
    for (let at = from; at < end; at += channels) {
      let sum = 0
      let loudest = 0
      for (let channel = 0; channel < channels; channel++) {
        const sample = samples[at + channel]!
        sum += sample
        const size = sample < 0 ? -sample : sample
        if (size > loudest) loudest = size
      }
      const mono = (sum / channels) | 0
      if (mono < least) least = mono
      if (mono > most) most = mono
      squares += loudest * loudest
      if (loudest > peak) peak = loudest
    }
    min[bin] = least
    max[bin] = most
    energy[bin]! += squares
  }

  // From the end of the chunk back to the nearest sound, which costs next to nothing; a look at each frame in the loop above would.
  function noteSound(samples: Int16Array) {
    let last = samples.length - 1
    while (last >= 0 && isInaudible(samples[last]!)) last--
    if (last < 0) return
    let first = 0
    if (!sound) while (isInaudible(samples[first]!)) first++
    sound ??= { start: frames + Math.floor(first / channels), end: 0 }
    sound.end = frames + Math.floor(last / channels) + 1
  }

  return {
    add(chunk: Buffer): void {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      const whole = bytes.length - (bytes.length % frameBytes)
      rest = Buffer.from(bytes.subarray(whole))
      // A view of 16-bit numbers must start at an even address.
      const even = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes)
      const samples = new Int16Array(even.buffer, even.byteOffset, whole / 2)
      const kept = samples.subarray(0, Math.min(samples.length, (end - frames) * channels))
      excess += (samples.length - kept.length) / channels
      measure(kept)
    },
    /** Frames taken so far. */
    frames: () => frames + excess,
    summary: (): PcmSummary => ({ frames, excess, framesPerBin, bins, min, max, energy, peak, sound }),
  }
}

const isInaudible = (sample: number) => sample <= INAUDIBLE && sample >= -INAUDIBLE

/** `count` levels from 0 to 1: RMS of each stretch over the loudest stretch's, 3 decimals, all 0 for silence. */
export function levels(pcm: PcmSummary, count = 320): number[] {
  const rms = stretches(pcm, count)
  const loudest = Math.max(...rms)
  if (loudest / 32768 < SILENCE) return rms.map(() => 0)
  return rms.map((value) => Math.round((value / loudest) * 1000) / 1000)
}

/** True when no stretch reaches -70 dB of full scale. */
export function isSilent(pcm: PcmSummary): boolean {
  return Math.max(...stretches(pcm, 320)) / 32768 < SILENCE
}

function stretches(pcm: PcmSummary, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const first = Math.min(binAt(pcm, i / count), pcm.bins - 1)
    const end = Math.max(binAt(pcm, (i + 1) / count), first + 1)
    let energy = 0
    for (let bin = first; bin < end; bin++) energy += pcm.energy[bin] ?? 0
    const frames = Math.min(end * pcm.framesPerBin, pcm.frames) - first * pcm.framesPerBin
    return frames > 0 ? Math.sqrt(energy / frames) : 0
  })
}

function binAt(pcm: PcmSummary, fraction: number): number {
  return Math.min(Math.round((fraction * pcm.frames) / pcm.framesPerBin), pcm.bins)
}
