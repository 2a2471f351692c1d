import { eq, getTableColumns, or, sql } from 'drizzle-orm'

import type { KeyCache } from '../../adapters/cache/key_cache.ts'
import { openForRequest } from '../../adapters/db/database.ts'
import { apiKeys } from '../../adapters/db/schema/api_keys.ts'
import { unauthorized } from '../../core/errors.ts'
import type { KeyHolder } from '../../core/principal.ts'
import { queueKeyUse } from '../../domain/key_use.ts'

type ApiKeyRow = typeof apiKeys.$inferSelect & { has_subscribers: boolean }

/**
 * Whether the organization has active webhook endpoints. This is cached with the key, so that a change needs no query to determine whether to wake
 * the webhook consumer.
 */
const hasSubscribers = sql`exists (select 1 from webhook_endpoints
  where webhook_endpoints.organization_id = api_keys.organization_id and state = 'active')`

function toKeyHolder(key: ApiKeyRow): KeyHolder {
  const { collection_id, track_id, playlist_id } = key
  return {
    kind: key.type,
    organization_id: key.organization_id,
    api_key_id: key.id,
    may: key.may,
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
    has_subscribers: key.has_subscribers,
  }
}

/**
 * Returns the key with this hash of its secret, and caches it for a short time. It is read from the primary database, because a key that was revoked
 * may still be valid in a replica. Throws 401 for an unknown or expired key.
 */
export async function readKey(env: Env, keys: KeyCache, hash: string): Promise<KeyHolder> {
  const key = await openForRequest(env.DB)
    .select({ ...getTableColumns(apiKeys), has_subscribers: hasSubscribers.mapWith(Boolean).as('has_subscribers') })
    .from(apiKeys)
    .where(or(eq(apiKeys.hash, hash), eq(apiKeys.previous_hash, hash)))
    .get()
  if (!key) throw unauthorized('This API key is not valid')
  const expiresAt = Math.min(key.expires_at ?? Infinity, key.hash === hash ? Infinity : (key.previous_expires_at ?? 0))
  if (expiresAt <= Date.now()) throw unauthorized('This API key has expired')
  const principal = toKeyHolder(key)
  keys.set(hash, principal, expiresAt)
  await queueKeyUse(env, key)
  return principal
}
