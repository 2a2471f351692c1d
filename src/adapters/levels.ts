/**
 * Waveform levels as they are stored: numbers from 0 to 1 with 3 decimals, in 10 bits each, so 320 of them take 400 bytes. Plain code,
 * without Drizzle: play views use it (docs/decisions/0029).
 */

/** Returns the bytes of a list of levels. */
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

/** Returns the levels that these bytes hold. Fewer than 8 bits at the end are padding. */
export function unpackLevels(bytes: ArrayLike<number>): number[] {
  const levels: number[] = []
  for (let bit = 0; bit + 10 <= bytes.length * 8; bit += 10) {
    const at = bit >> 3
    const value = ((bytes[at]! << 8) | bytes[at + 1]!) >> (6 - (bit % 8))
    levels.push((value & 1023) / 1000)
  }
  return levels
}

/** Returns the levels in a hexadecimal text, as `hex()` in SQL writes bytes; none of null. Five digits hold two levels. */
export function hexLevels(hex: string | null): number[] {
  const levels: number[] = []
  if (hex === null) return levels
  const padded = hex.padEnd(Math.ceil(hex.length / 5) * 5, '0')
  for (let at = 0; at < padded.length; at += 5) {
    const pair = Number.parseInt(padded.slice(at, at + 5), 16)
    levels.push((pair >> 10) / 1000, (pair & 1023) / 1000)
  }
  levels.length = Math.floor(hex.length / 2.5)
  return levels
}
