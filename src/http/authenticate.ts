import { eq, or } from 'drizzle-orm'

import { openDatabase } from '../adapters/database.ts'
import type { KeyCache } from '../adapters/key_cache.ts'
import { apiKeys } from '../adapters/schema.ts'
import { isSecret, sha256 } from '../adapters/secret.ts'
import type { Principal } from '../context.ts'
import type { Access } from '../contract/operation.ts'
import { ApiError, insufficientScope, unauthorized } from '../errors.ts'
import { noteUse } from '../pipeline/key_use.ts'
import { limitGuesses } from './limit_rate.ts'

const nobody = { organization_id: '', binding: null, variants: null, is_downloadable: false, allowed_origins: null }
const PUBLIC: Principal = { ...nobody, kind: 'public', api_key_id: '' }
const ROOT: Principal = { ...nobody, kind: 'root', api_key_id: 'root' }

type Row = typeof apiKeys.$inferSelect

function toPrincipal(key: Row): Principal {
  const { collection_id, track_id, playlist_id } = key
  return {
    kind: key.type,
    organization_id: key.organization_id,
    api_key_id: key.id,
    binding: collection_id
      ? { scope: 'collection', id: collection_id }
      : track_id
        ? { scope: 'track', id: track_id }
        : playlist_id
          ? { scope: 'playlist', id: playlist_id }
          : null,
    variants: key.variants,
    is_downloadable: key.is_downloadable,
    allowed_origins: key.allowed_origins,
  }
}

async function readKey(env: Env, keys: KeyCache, hash: string): Promise<Principal> {
  const key = await openDatabase(env.DB)
    .select()
    .from(apiKeys)
    .where(or(eq(apiKeys.hash, hash), eq(apiKeys.previous_hash, hash)))
    .get()
  if (!key) throw unauthorized('This API key is not valid')
  const ends = Math.min(key.expires_at ?? Infinity, key.hash === hash ? Infinity : (key.previous_expires_at ?? 0))
  if (ends <= Date.now()) throw unauthorized('This API key has expired')
  const principal = toPrincipal(key)
  keys.set(hash, principal, ends)
  await noteUse(env, key)
  return principal
}

async function principalOf(env: Env, keys: KeyCache, secret: string, client: string | null): Promise<Principal> {
  const hash = await sha256(secret)
  // Hashes are compared, so that the time taken tells nothing of the secret.
  if (env.ROOT_KEY && hash === (await sha256(env.ROOT_KEY))) return ROOT
  if (!isSecret(secret)) throw unauthorized('This API key is not valid')
  const known = keys.get(hash)
  if (known) return known
  await limitGuesses(env, client)
  return readKey(env, keys, hash)
}

/**
 * Finds out who is calling (specification §5): `Authorization: Bearer <API_KEY>`, scheme in any case (RFC 9110 §11.1). A typo is
 * refused by its checksum without a query, a known key is remembered for a short while.
 */
export async function authenticate(
  env: Env,
  keys: KeyCache,
  headers: Headers,
  access: readonly Access[],
): Promise<Principal> {
  if (access.length === 0) return PUBLIC
  const header = headers.get('authorization')
  if (!header) throw unauthorized('Send your API key in the header Authorization: Bearer <API_KEY>')
  const secret = /^bearer +(\S+) *$/i.exec(header)?.[1]
  if (!secret) throw unauthorized('The Authorization header must be: Bearer <API_KEY>')
  const principal = await principalOf(env, keys, secret, headers.get('cf-connecting-ip'))
  const origin = headers.get('origin')
  // Only browsers send an Origin; the list keeps a key from being used on somebody else's page.
  if (principal.allowed_origins && origin && !principal.allowed_origins.includes(origin.toLowerCase())) {
    throw new ApiError('origin_not_allowed', `This API key may not be used on ${origin.slice(0, 255)}`)
  }
  if (!access.includes(principal.kind as Access)) throw insufficientScope(principal.kind)
  return principal
}
