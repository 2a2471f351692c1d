/** Encrypts text with a Worker secret (AES-256-GCM), for values that must not be readable in the database. */

async function keyOf(secret: string, purpose: string): Promise<CryptoKey> {
  const material = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`seal\n${purpose}\n${secret}`))
  return crypto.subtle.importKey('raw', material, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

const toBase64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

/** Encrypts a text. It can be decrypted only with the same `purpose`, so a sealed text cannot be used for another purpose. */
export async function seal(secret: string, purpose: string, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const key = await keyOf(secret, purpose)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, new TextEncoder().encode(text))
  return `${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`
}

/** Decrypts the output of `seal`; throws if the output was modified. */
export async function unseal(secret: string, purpose: string, text: string): Promise<string> {
  const [iv = '', sealed = ''] = text.split('.')
  const key = await keyOf(secret, purpose)
  const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv) }, key, fromBase64(sealed))
  return new TextDecoder().decode(plain)
}
