import { encoder, hex, hmac, importKey } from '../../adapters/bucket/presign.ts'
import { newSecret } from '../../adapters/crypto/secret.ts'
import { hexToBase62 } from '../../adapters/crypto/seed.ts'

/**
 * The secrets of signing keys. A secret is derived from `SIGNING_SECRET` and its `kid`, so the service can check tokens although it stores only hashes
 * (docs/decisions/0125). The `kid` is a generation, which is random for each secret of a key, and the id of the key.
 */

const KID = /^[0-9A-Za-z]{8}\.(000[\da-f]{5}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Returns the `kid` of a key's next secret. `random` is base62. */
export const newKid = (api_key_id: string, random: string) => `${random.slice(0, 8)}.${api_key_id}`

/** Returns the id of the key in a `kid`; null if no key has such a `kid`. */
export const keyIdOf = (kid: unknown): string | null => (typeof kid === 'string' && KID.exec(kid)?.[1]) || null

/** Returns the secret with this `kid`. */
export async function signingSecret({ SIGNING_SECRET }: Env, kid: string): Promise<string> {
  const key = await importKey(encoder.encode(`signing key ${SIGNING_SECRET}`))
  return newSecret('signing', `${kid}_${hexToBase62(hex(await hmac(key, kid)))}`)
}
