import type { KeyCache } from '../adapters/key_cache.ts'
import { fromHex, toHex } from '../adapters/password.ts'
import type { ShareRow } from '../adapters/share_schema.ts'
import { unauthorized } from '../errors.ts'
import type { KeyHolder } from '../principal.ts'
import { DEFAULT_VARIANTS } from './access.ts'
import { hasEnded, shareAt } from './share_view.ts'

/**
 * A share as a key: its page plays with a player key that opens nothing else, `ta_sh_{slug}`. Of a share with a password the slug is not
 * enough: behind it stands a proof that somebody knew the password, `ta_sh_{slug}.{end}.{signature}`, which ends with a change of it.
 */
const PREFIX = 'ta_sh_'
const SHAPE = /^ta_sh_([a-z0-9-]{3,64})(?:\.(\d{1,15})\.([0-9a-f]{64}))?$/

/** Milliseconds for which a page plays on after the password was given. */
const UNLOCKED_FOR = 24 * 3600 * 1000

export const isShareKey = (secret: string) => secret.startsWith(PREFIX)

const encoder = new TextEncoder()

const keyOf = (env: Env, usage: 'sign' | 'verify') =>
  crypto.subtle.importKey(
    'raw',
    encoder.encode(`share\n${env.SIGNING_SECRET}`),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    [usage],
  )

const proven = ({ id, password_hash }: ShareRow, ends: string) => encoder.encode(`${id}\n${password_hash}\n${ends}`)

/** The key that the share's page plays with; whoever is given it has proven to know the password. */
export async function shareKey(env: Env, share: ShareRow, now: number): Promise<string> {
  if (share.password_hash === null) return `${PREFIX}${share.slug}`
  const ends = String(now + UNLOCKED_FOR)
  const signature = await crypto.subtle.sign('HMAC', await keyOf(env, 'sign'), proven(share, ends))
  return `${PREFIX}${share.slug}.${ends}.${toHex(new Uint8Array(signature))}`
}

const isProven = async (env: Env, share: ShareRow, ends: string, signature: string) =>
  Number(ends) > Date.now() &&
  crypto.subtle.verify('HMAC', await keyOf(env, 'verify'), fromHex(signature), proven(share, ends))

/** The share that a key is of, remembered for a short while; 401 when there is none, or it has ended. */
export async function readShareKey(env: Env, keys: KeyCache, hash: string, secret: string, base_url: string) {
  const [, slug, ends, signature] = SHAPE.exec(secret) ?? []
  const share = slug === undefined ? undefined : await shareAt(env, slug)
  if (!share || hasEnded(share, Date.now())) throw unauthorized('There is no such share, or not any more')
  if (share.password_hash !== null && !(ends && signature && (await isProven(env, share, ends, signature))))
    throw unauthorized('This share needs its password')
  const holder: KeyHolder = {
    kind: 'player',
    organization_id: share.organization_id,
    api_key_id: share.id,
    binding: { scope: share.scope, id: share.resource_id },
    variants: share.variants ?? DEFAULT_VARIANTS,
    is_downloadable: share.is_downloadable,
    // Its own page and frame are the service's.
    allowed_origins: share.allowed_origins && [...share.allowed_origins, new URL(base_url).origin],
    share: { ends_at: share.expires_at },
  }
  const until = Math.min(share.expires_at ?? Infinity, ends ? Number(ends) : Infinity)
  keys.set(hash, holder, until)
  return holder
}
