import type { KeyType } from '../../contract/api_key.ts'
import { randomBase62, toBase62 } from './id.ts'

/**
 * API key secrets: `ta_{sk|pk|uk}_` + 43 random base62 characters (256 bits) + 6 of CRC-32 over all that precedes. The prefix lets secret scanners
 * detect one; the checksum rejects a typo without a query (docs/architecture.md#keys).
 */

const PREFIX: Record<KeyType, string> = { server: 'ta_sk_', player: 'ta_pk_', uploader: 'ta_uk_' }

function crc32(text: string): number {
  let crc = -1
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const checksum = (text: string) => toBase62(crc32(text), 6)

export function newSecret(type: KeyType): string {
  const text = PREFIX[type] + randomBase62(43)
  return text + checksum(text)
}

/** Whether a text has the form and the checksum of a secret. */
export const isSecret = (text: string) =>
  /^ta_(sk|pk|uk)_[0-9A-Za-z]{49}$/.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)

/** The start of a secret, which is not confidential, to tell keys apart. */
export const secretHint = (secret: string) => secret.slice(0, 10)

/** SHA-256 in hex, the only stored form of a secret. Its 256 random bits need no salt and no slow hash. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toHex(new Uint8Array(digest))
}

export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
export const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
