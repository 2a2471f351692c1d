/**
 * Waveform levels in their stored form: numbers from 0 to 1 with 3 decimals, in 10 bits each, so 320 levels use 400 bytes. Play views decode them
 * with `hexLevels` (hex_levels.ts).
 */

/** Encodes levels as bytes. */
export function packLevels(levels: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((levels.length * 10) / 8))
  for (const [at, level] of levels.entries()) {
    const bit = at * 10
    const value = Math.round(level * 1000) << (6 - (bit % 8))
    bytes[bit >> 3]! |= value >> 8
    bytes[(bit >> 3) + 1]! |= value & 255
  }
  return bytes
}

/** Decodes levels from bytes. Fewer than 8 bits at the end are padding. */
export function unpackLevels(bytes: ArrayLike<number>): number[] {
  const levels: number[] = []
  for (let bit = 0; bit + 10 <= bytes.length * 8; bit += 10) {
    const at = bit >> 3
    const value = ((bytes[at]! << 8) | bytes[at + 1]!) >> (6 - (bit % 8))
    levels.push((value & 1023) / 1000)
  }
  return levels
}
