/** A file of the corpus and the expected outcome of its job. */
export type CorpusFile = {
  name: string
  make: () => Promise<Buffer>
  /** The `JobErrorCode` with which the job fails. If it is missing, the job succeeds with the values below. */
  fails?: string
  /** The length of the decoded audio in seconds. It has a tolerance, because codecs pad to whole frames and damage removes some audio. */
  duration?: number
  tolerance?: number
  warnings?: string[]
  /** Whether the tolerant pass is needed. */
  fallback?: boolean
  info?: Record<string, unknown>
  /** Level in dBFS of the 440 Hz tone in the outputs; null if the file contains other sounds. */
  tone?: number | null
}

/** Default length of the files in seconds. */
export const SECONDS = 2
/**
 * The tolerance in seconds for one frame of MP3, AAC or Opus at 44.1 kHz and for the delay of the encoder, for which
 * not every container can compensate.
 */
const FRAMES = 0.09

export type Expectations = Omit<CorpusFile, 'name' | 'make'>
/** A file that plays without warnings. */
export const playable = (name: string, make: () => Promise<Buffer>, facts: Expectations = {}): CorpusFile => ({
  name,
  make,
  duration: SECONDS,
  tolerance: 0.001,
  warnings: [],
  fallback: false,
  tone: -12,
  ...facts,
})
/** A playable lossless file with an exact length. */
export const lossless = (
  name: string,
  codec: string,
  bits: number,
  make: () => Promise<Buffer>,
  facts: Expectations = {},
) => playable(name, make, { ...facts, info: { codec, bit_depth: bits, lossless: true, ...facts.info } })
/** A playable file with a codec that pads to whole frames. */
export const lossy = (name: string, codec: string, make: () => Promise<Buffer>, facts: Expectations = {}) =>
  playable(name, make, {
    tolerance: FRAMES,
    ...facts,
    info: { codec, bit_depth: null, lossless: false, ...facts.info },
  })
