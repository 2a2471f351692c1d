import { fromHex, toHex } from '../crypto/secret.ts'
import { hexLevels } from './hex_levels.ts'

/** Waveform levels in their stored form: numbers from 0 to 1 with 3 decimals, in 10 bits each, so 320 levels use 400 bytes. */

/** Encodes levels as bytes. The bits that are left over in the last byte are 0. */
export function packLevels(levels: readonly number[]): Uint8Array {
  const thousandths = (at: number) => Math.round((levels[at] ?? 0) * 1000)
  let hex = ''
  for (let at = 0; at < levels.length; at += 2)
    hex += ((thousandths(at) << 10) | thousandths(at + 1)).toString(16).padStart(5, '0')
  const digits = 2 * Math.ceil(levels.length * 1.25)
  return fromHex(hex.slice(0, digits).padEnd(digits, '0'))
}

/** Decodes levels from bytes. */
export const unpackLevels = (bytes: ArrayLike<number>): number[] => hexLevels(toHex(bytes))
