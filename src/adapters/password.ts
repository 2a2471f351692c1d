import { fromHex, toHex } from './secret.ts'

/** Passwords as they are stored: `{iterations}.{salt}.{hash}` of PBKDF2-HMAC-SHA-256, in hex. */

/** The most that Workers derive with. */
const ITERATIONS = 100_000

async function derive(password: string, salt: BufferSource, iterations: number): Promise<Uint8Array> {
  // The same letters, however a keyboard composes them.
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations }, key, 256))
}

export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(16))
  return `${ITERATIONS}.${toHex(salt)}.${toHex(await derive(password, salt, ITERATIONS))}`
}

/** Whether this is the password; takes as long for a wrong one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [iterations = '', salt = '', hash = ''] = stored.split('.')
  return crypto.subtle.timingSafeEqual(await derive(password, fromHex(salt), Number(iterations)), fromHex(hash))
}
