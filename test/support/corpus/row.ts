/** One file of the set, and how a job on it must end. */
export type Row = {
  name: string
  make: () => Promise<Buffer>
  /** A code of `JobErrorCode` for a file that fails; without it the job succeeds as the rest says. */
  fails?: string
  /** Seconds of the decoded audio, and by how much they may differ: codecs pad to whole frames, damage takes some away. */
  duration?: number
  tolerance?: number
  warnings?: string[]
  /** Whether the tolerant pass is needed. */
  fallback?: boolean
  info?: Record<string, unknown>
  /** dBFS at which the 440 Hz tone must be heard in the outcome; null when the file holds something else. */
  tone?: number | null
}

/** How long files are if nothing else is said. */
export const SECONDS = 2
/** One frame of MP3, AAC or Opus at 44.1 kHz and the encoder's delay, which not every container can take back. */
const FRAMES = 0.09

export type Quick = Omit<Row, 'name' | 'make'>
/** A file that plays without a word of warning. */
export const good = (name: string, make: () => Promise<Buffer>, facts: Quick = {}): Row => ({
  name,
  make,
  duration: SECONDS,
  tolerance: 0.001,
  warnings: [],
  fallback: false,
  tone: -12,
  ...facts,
})
/** A `good` one that loses nothing, so its length is exact. */
export const lossless = (name: string, codec: string, bits: number, make: () => Promise<Buffer>, facts: Quick = {}) =>
  good(name, make, { ...facts, info: { codec, bit_depth: bits, lossless: true, ...facts.info } })
/** A `good` one whose codec pads to whole frames. */
export const lossy = (name: string, codec: string, make: () => Promise<Buffer>, facts: Quick = {}) =>
  good(name, make, { tolerance: FRAMES, ...facts, info: { codec, bit_depth: null, lossless: false, ...facts.info } })
