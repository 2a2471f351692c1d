import type { KeyCache } from '../../adapters/cache/key_cache.ts'
import { fromHex, toHex } from '../../adapters/crypto/secret.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { SLUG } from '../../contract/facts.ts'
import { unauthorized } from '../../core/errors.ts'
import type { KeyHolder } from '../../core/principal.ts'
import { DEFAULT_VARIANTS } from '../keys/access.ts'
import { isExpired, shareAt } from './share_view.ts'

/**
 * A share as a key: its page plays with a player key limited to the share, `ta_sh_{slug}`. Password-protected shares also need a signed proof
 * after the slug, `ta_sh_{slug}.{end}.{signature}`, which becomes invalid when the password changes.
 */
const PREFIX = 'ta_sh_'
const SHAPE = new RegExp(`^${PREFIX}(${SLUG})(?:\\.(\\d{1,15})\\.([0-9a-f]{64}))?$`)

/** Milliseconds for which a page can play after the password was entered. */
const UNLOCKED_FOR = 24 * 3600 * 1000

export const isShareKey = (secret: string) => SHAPE.test(secret)

/** Slug, end and signature of such a key. */
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

/** Returns the key of the share's page. Only call it after the password was checked. */
export async function shareKey(env: Env, share: ShareRow, now: number): Promise<string> {
  if (share.password_hash === null) return `${PREFIX}${share.slug}`
  const ends = String(now + UNLOCKED_FOR)
  const signature = await crypto.subtle.sign('HMAC', await keyOf(env, 'sign'), signedText(share, ends))
  return `${PREFIX}${share.slug}.${ends}.${toHex(new Uint8Array(signature))}`
}

/** Whether a key opens a share. Checked on every request, because the cache is keyed by the slug alone. */
async function opens(env: Env, secret: string, share: LockedShare): Promise<boolean> {
  if (share.password_hash === null) return true
  const [, ends, signature] = partsOf(secret)
  if (!ends || !signature || Number(ends) <= Date.now()) return false
  return crypto.subtle.verify('HMAC', await keyOf(env, 'verify'), fromHex(signature), signedText(share, ends))
}

/** The cache key of a share: the same for all of its keys, because any number of them can be made up. */
const nameOf = (secret: string) => PREFIX + partsOf(secret)[0]

export const shareNotFound = () => unauthorized('There is no such share, or not any more')

/** The same as `readShareKey`, from the cache. */
export async function cachedShare(env: Env, keys: KeyCache, secret: string): Promise<KeyHolder | undefined> {
  const holder = keys.get(nameOf(secret))
  return holder?.share && (await opens(env, secret, { id: holder.api_key_id, ...holder.share })) ? holder : undefined
}

/** Returns the holder for a share's key, and caches it for a short time; throws 401 when the share does not exist or has ended. */
export async function readShareKey(env: Env, keys: KeyCache, secret: string, base_url: string): Promise<KeyHolder> {
  const share = await shareAt(env, partsOf(secret)[0])
  if (!share || isExpired(share, Date.now())) throw shareNotFound()
  if (!(await opens(env, secret, share))) throw unauthorized('This share needs its password')
  const holder: KeyHolder = {
    kind: 'player',
    organization_id: share.organization_id,
    api_key_id: share.id,
    binding: { scope: share.scope, id: share.resource_id },
    variants: share.variants ?? DEFAULT_VARIANTS,
    is_downloadable: share.is_downloadable,
    // The share's own page and frame have the service's origin.
    allowed_origins: share.allowed_origins && [...share.allowed_origins, new URL(base_url).origin],
    share: { slug: share.slug, password_hash: share.password_hash, ends_at: share.expires_at },
  }
  keys.set(nameOf(secret), holder, share.expires_at ?? Infinity)
  return holder
}
