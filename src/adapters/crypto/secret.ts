import type { KeyType } from '../../contract/api_key.ts'
import { randomBase62, toBase62 } from './id.ts'

/**
 * The secret of an API key is `ta_{sk|pk|uk}_`, 43 random base62 characters (256 bits), and 6 characters with the CRC-32 of all preceding ones. The
 * prefix lets secret scanners detect a secret; the checksum lets the service reject a typo without a query (docs/architecture.md#keys). The secret of a
 * signing key (`ta_sg_`) has the `kid` of its tokens and `_` before the 43 characters (docs/decisions/0125).
 */

const PREFIX: Record<KeyType, string> = { server: 'ta_sk_', player: 'ta_pk_', uploader: 'ta_uk_', signing: 'ta_sg_' }

function crc32(text: string): number {
  let crc = -1
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const checksum = (text: string) => toBase62(crc32(text), 6)

/** Returns a new secret of an API key. `random` is 43 base62 characters, for a signing key after its `kid` and `_`. */
export function newSecret(type: KeyType, random = randomBase62(43)): string {
  const text = PREFIX[type] + random
  return text + checksum(text)
}

/** Whether a text has the format of a secret and a correct checksum. */
export const isSecret = (text: string) =>
  /^ta_([spu]k|sg_[\w.-]+)_[0-9A-Za-z]{49}$/.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)

/** Returns the start of a secret, which is not confidential, so that users can distinguish their keys. */
export const secretHint = (secret: string) => secret.slice(0, 10)

/**
 * Returns the SHA-256 hash in hexadecimal. Secrets are stored only as this hash. They have 256 random bits, so they need neither a salt nor a slow
 * hash.
 */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toHex(new Uint8Array(digest))
}

export const toHex = (bytes: ArrayLike<number>) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
export const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
