import { encoder, hex, hmac, importKey } from '../../adapters/bucket/presign.ts'
import type { PlayedSession } from '../../adapters/db/play/play_rows.ts'

/**
 * The token for the listening reports of a player (docs/decisions/0102). It contains everything that a report needs of its session, so that reports
 * do not read the database. heard_grant.ts verifies it.
 */

/** The key of the last signature. Its promise is not stored, because it would end with the request that created it. */
let lastSecret: string | null = null
let lastKey: CryptoKey

/** Returns a token's content, which is in hexadecimal, and its MAC of 32 characters. */
export async function withMac({ SIGNING_SECRET }: Env, content: string): Promise<string> {
  if (lastSecret !== SIGNING_SECRET) {
    lastKey = await importKey(encoder.encode(`heard ${SIGNING_SECRET}`))
    lastSecret = SIGNING_SECRET
  }
  return content + hex(await hmac(lastKey, content)).slice(0, 32)
}

/** Returns a keyed hash of an address that sends reports to an organization; empty for an address that is not known. */
export const clientHash = async (env: Env, organization_id: string, address: string): Promise<string> =>
  address && (await withMac(env, `client ${organization_id} ${address}`)).slice(-32)

/**
 * The last token of each session. Sessions are cached, so the play view of another track does not sign again, which took a fifth of its time
 * (docs/decisions/0029).
 */
const lastTokens = new WeakMap<PlayedSession, string>()

const toHex = (value: number) => Math.floor(value).toString(16).padStart(8, '0')

/**
 * Returns the token of a session: two times in seconds, the number of shards, three or four ids, and the listener if it has one. The same session always gets the same token, unless
 * the number of its organization's shards changes.
 */
export async function heardToken(env: Env, session: PlayedSession, shards: number): Promise<string> {
  const { created_at, expires_at, scope, organization_id, resource_id, share_id, listener, signed } = session
  const id = signed?.session_uuid ?? session.id
  const numbers = toHex(created_at / 1000) + toHex(expires_at / 1000) + toHex(shards)
  const ids = [scope[0], organization_id, id, resource_id, share_id, listener && `l${listener}`]
  // `join` writes null as an empty text.
  const content = numbers + ids.join('').replaceAll('-', '')
  const last = lastTokens.get(session)
  if (last?.startsWith(content)) return last
  const token = await withMac(env, content)
  lastTokens.set(session, token)
  return token
}
