import { fromHex, toHex } from './secret.ts'

/** Hashes passwords with PBKDF2-HMAC-SHA-256. The result is `{iterations}.{salt}.{hash}`, with salt and hash in hexadecimal. */

/** Number of iterations: the maximum that Workers allow. */
const ITERATIONS = 100_000

async function derive(password: string, salt: BufferSource, iterations: number): Promise<Uint8Array> {
  // Keyboards compose accented characters in different ways, so they are normalized.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(16))
  return `${ITERATIONS}.${toHex(salt)}.${toHex(await derive(password, salt, ITERATIONS))}`
}

/** Whether the password matches the stored hash. A wrong password takes the same time as a correct one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [iterations = '', salt = '', hash = ''] = stored.split('.')
  return crypto.subtle.timingSafeEqual(await derive(password, fromHex(salt), Number(iterations)), fromHex(hash))
}
