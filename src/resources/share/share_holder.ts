import type { KeyCache } from '../../adapters/cache/key_cache.ts'
import { fromHex, toHex } from '../../adapters/crypto/secret.ts'
import { openForRequest } from '../../adapters/db/database.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { shareRows } from '../../adapters/db/share_rows.ts'
import { DEFAULT_VARIANTS, SHARE_KEY, SLUG } from '../../contract/facts.ts'
import { DAY } from '../../contract/time.ts'
import { unauthorized } from '../../core/errors.ts'
import type { KeyHolder } from '../../core/principal.ts'
import { isExpired } from './share_view.ts'

/**
 * The key of a share. A share's page plays with a player key that is limited to the share, `ta_sh_{slug}`. For a share with a password, the key also
 * has a signed proof after the slug, `ta_sh_{slug}.{end}.{signature}`, which becomes invalid when the password is changed.
 */
const SHAPE = new RegExp(`^${SHARE_KEY}(${SLUG})(?:\\.(\\d{1,15})\\.([0-9a-f]{64}))?$`)

/** Milliseconds for which a page can play after the password has been entered. */
const UNLOCKED_FOR = DAY

export const isShareKey = (secret: string) => SHAPE.test(secret)

/** Returns the slug, the end and the signature in the key of a share. */
const partsOf = (secret: string) => SHAPE.exec(secret)!.slice(1) as [string, string?, string?]

const encoder = new TextEncoder()

const keyOf = (env: Env, usage: 'sign' | 'verify') =>
  crypto.subtle.importKey(
    'raw',
    encoder.encode(`share\n${env.SIGNING_SECRET}`),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    [usage],
  )

type LockedShare = Pick<ShareRow, 'id' | 'password_hash'>

const signedText = ({ id, password_hash }: LockedShare, ends: string) =>
  encoder.encode(`${id}\n${password_hash}\n${ends}`)

/** Returns the key for the page of a share. Only call this after the password has been checked. */
export async function shareKey(env: Env, share: ShareRow, now: number): Promise<string> {
  if (share.password_hash === null) return `${SHARE_KEY}${share.slug}`
  const ends = String(now + UNLOCKED_FOR)
  const signature = await crypto.subtle.sign('HMAC', await keyOf(env, 'sign'), signedText(share, ends))
  return `${SHARE_KEY}${share.slug}.${ends}.${toHex(new Uint8Array(signature))}`
}

/** Whether a key opens a share. This is checked on every request, because the cache key contains only the slug. */
async function opens(env: Env, secret: string, share: LockedShare): Promise<boolean> {
  if (share.password_hash === null) return true
  const [, ends, signature] = partsOf(secret)
  if (!ends || !signature || Number(ends) <= Date.now()) return false
  return crypto.subtle.verify('HMAC', await keyOf(env, 'verify'), fromHex(signature), signedText(share, ends))
}

/** Returns the cache key of a share. It is the same for all keys of the share, because a client can invent any number of them. */
const nameOf = (secret: string) => SHARE_KEY + partsOf(secret)[0]

export const shareNotFound = () => unauthorized('There is no such share, or not any more')

/** Like `readShareKey`, but only reads the cache. Returns undefined if the share is not cached or the key does not open it. */
export async function cachedShare(env: Env, keys: KeyCache, secret: string): Promise<KeyHolder | undefined> {
  const holder = keys.get(nameOf(secret))
  return holder?.share && (await opens(env, secret, { id: holder.api_key_id, ...holder.share })) ? holder : undefined
}

/**
 * Reads the share for a key from the primary database, and caches it for a short time. A replica may lag behind, and a revoked share must not play. Throws 401 when the share does not exist or has expired, or when its password is needed.
 */
export async function readShareKey(env: Env, keys: KeyCache, secret: string, base_url: string): Promise<KeyHolder> {
  const slug = partsOf(secret)[0]
  const { share } = (await shareRows.get(openForRequest(env.DB), { slug })) ?? {}
  if (!share || isExpired(share, Date.now())) throw shareNotFound()
  if (!(await opens(env, secret, share))) throw unauthorized('This share needs its password')
  const holder: KeyHolder = {
    kind: 'player',
    organization_id: share.organization_id,
    api_key_id: share.id,
    may: null,
    binding: { scope: share.scope, id: share.resource_id },
    variants: share.variants ?? DEFAULT_VARIANTS,
    is_downloadable: share.is_downloadable,
    // The share's own page and the embedded frame have the origin of the service, so this origin is always allowed.
    allowed_origins: share.allowed_origins && [...share.allowed_origins, new URL(base_url).origin],
    share: { slug: share.slug, password_hash: share.password_hash },
  }
  keys.set(nameOf(secret), holder, share.expires_at ?? Infinity)
  return holder
}
