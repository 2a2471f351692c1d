/** Maximum number of bins. When all bins are full, neighbors are merged, so that the memory does not grow with the duration. */
const MAX_BINS = 32768
const FIRST_BIN_FRAMES = 16
/** If the RMS of every stretch is below this fraction of full scale, the track is silent. -70 dB is the absolute gate of EBU R 128. */
const SILENCE = 10 ** (-70 / 20)
/**
 * Maximum absolute 16-bit sample that counts as silence at the start and end of a track. -60 dBFS is the threshold of ffmpeg's
 * silencedetect and of the reverberation time RT60 (ISO 3382). Dither and the noise of good converters are 30 dB below it.
 */
const INAUDIBLE = Math.floor(32768 * 10 ** (-60 / 20))

/** Measurements of decoded PCM in `bins` bins of `framesPerBin` frames each. The last bin may have fewer frames. */
export type PcmSummary = {
  frames: number
  /** Number of frames after the end. No other field includes them. */
  excess: number
  framesPerBin: number
  bins: number
  /** Minimum and maximum sample of each bin in the 16-bit mono mix, computed as in BBC audiowaveform. */
  min: Int16Array
  max: Int16Array
  /** Sum of the squared samples of each bin, in the channel in which it is largest. */
  energy: Float64Array
  /** Maximum absolute sample of all channels, 0–32768. */
  peak: number
  /** The first frame with sound (above -60 dBFS), and the frame after the last frame with sound. Null if every frame is below. */
  sound: { start: number; end: number } | null
}

/**
 * Returns a meter for interleaved s16le PCM, which accepts chunks of any size. It measures up to frame `end`, in a single pass and with
 * constant memory.
 */
export function createPcmMeter(channels: number, end = Infinity) {
  const min = new Int16Array(MAX_BINS)
  const max = new Int16Array(MAX_BINS)
  const energy = new Float64Array(MAX_BINS)
  const frameBytes = channels * 2
  let remainder: Buffer = Buffer.alloc(0)
  let frames = 0
  let excess = 0
  let framesPerBin = FIRST_BIN_FRAMES
  let bins = 0
  let framesInBin = FIRST_BIN_FRAMES
  let peak = 0
  let sound: PcmSummary['sound'] = null

  function mergeNeighbors() {
    for (let i = 0; i < MAX_BINS / 2; i++) {
      min[i] = Math.min(min[2 * i]!, min[2 * i + 1]!)
      max[i] = Math.max(max[2 * i]!, max[2 * i + 1]!)
      energy[i] = energy[2 * i]! + energy[2 * i + 1]!
    }
    bins = MAX_BINS / 2
    framesPerBin *= 2
    framesInBin = framesPerBin
  }

  function openBin() {
    if (bins === MAX_BINS) mergeNeighbors()
    min[bins] = 32767
    max[bins] = -32768
    energy[bins] = 0
    bins++
    framesInBin = 0
  }

  function measure(samples: Int16Array) {
    let at = 0
    while (at < samples.length) {
      if (framesInBin === framesPerBin) openBin()
      const end = Math.min(samples.length, at + (framesPerBin - framesInBin) * channels)
      framesInBin += (end - at) / channels
      measureBin(samples, at, end)
      at = end
    }
    trackSound(samples)
    frames += samples.length / channels
  }

  // Values are collected in local variables, because writing to arrays for each frame took 5 % of a job's time.
  function measureBin(samples: Int16Array, from: number, end: number) {
    const bin = bins - 1
    let lowest = min[bin]!
    let highest = max[bin]!
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
      if (mono < lowest) lowest = mono
      if (mono > highest) highest = mono
      squares += loudest * loudest
      if (loudest > peak) peak = loudest
    }
    min[bin] = lowest
    max[bin] = highest
    energy[bin]! += squares
  }

  // Searches for sound from both ends of the chunk. This costs almost nothing, unlike a check of each frame in the loop above.
  function trackSound(samples: Int16Array) {
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
      const bytes = remainder.length > 0 ? Buffer.concat([remainder, chunk]) : chunk
      const completeBytes = bytes.length - (bytes.length % frameBytes)
      remainder = Buffer.from(bytes.subarray(completeBytes))
      // An Int16Array view must start at an even offset.
      const aligned = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes)
      const samples = new Int16Array(aligned.buffer, aligned.byteOffset, completeBytes / 2)
      const counted = samples.subarray(0, Math.min(samples.length, (end - frames) * channels))
      excess += (samples.length - counted.length) / channels
      measure(counted)
    },
    /** Returns the number of frames received so far. */
    frames: () => frames + excess,
    summary: (): PcmSummary => ({ frames, excess, framesPerBin, bins, min, max, energy, peak, sound }),
  }
}

const isInaudible = (sample: number) => sample <= INAUDIBLE && sample >= -INAUDIBLE

/**
 * Divides the audio into `count` stretches. Returns the RMS of each relative to the loudest stretch, from 0 to 1 with 3 decimals. All
 * values are 0 for silence.
 */
export function levels(pcm: PcmSummary, count = 320): number[] {
  const rms = stretches(pcm, count)
  const loudest = Math.max(...rms)
  if (loudest / 32768 < SILENCE) return rms.map(() => 0)
  return rms.map((value) => Math.round((value / loudest) * 1000) / 1000)
}

/** Whether the RMS of every stretch is below -70 dBFS. */
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
