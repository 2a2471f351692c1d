/** The arguments of `is_timed_hmac_valid_v0`, as a rule names them. */
export interface TokenRule {
  key: string
  /** Lifetime of a token in seconds. */
  ttl: number
  /** Length of the separator between the message and the timestamp. */
  separator: number
  flags: string
}

const encoder = new TextEncoder()
const keys = new Map<string, CryptoKey>()

async function keyOf(secret: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key =
    keys.get(secret) ?? (await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify']))
  keys.set(secret, key)
  return key
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

/** Decodes the MAC of a token: with the flag `s`, base64 of the URL-safe alphabet without padding, otherwise percent-encoded base64. */
function decodeMac(text: string, flags: string): Uint8Array<ArrayBuffer> | null {
  const base64 = flags.includes('s') ? text.replaceAll('-', '+').replaceAll('_', '/') : decodeURIComponent(text)
  if (flags.includes('s') ? !/^[\w-]{43}$/.test(text) : !/^[\w+/]{43}=$/.test(base64)) return null
  return fromBase64(base64)
}

/**
 * Cloudflare's function `is_timed_hmac_valid_v0`, written from its documentation (Ruleset Engine, Functions, HMAC validation) and not from the signer: the
 * ten digits before the last hyphen that is followed by a MAC are the timestamp, and the MAC covers the message and the timestamp, without the separator. `now`
 * is in seconds since 1970.
 */
export async function isTokenValid(rule: TokenRule, messageMac: string, now: number): Promise<boolean> {
  const [, before = '', timestamp = '', text = ''] = /^(.+)(\d{10})-(.{43,})$/s.exec(messageMac) ?? []
  const mac = decodeMac(text, rule.flags)
  if (before.length <= rule.separator || !mac) return false
  const signed = encoder.encode(before.slice(0, before.length - rule.separator) + timestamp)
  return (await crypto.subtle.verify('HMAC', await keyOf(rule.key), mac, signed)) && now < Number(timestamp) + rule.ttl
}
