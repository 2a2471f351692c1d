import { eq, getTableColumns, or, sql } from 'drizzle-orm'

import { openDatabase } from '../adapters/database.ts'
import type { KeyCache } from '../adapters/key_cache.ts'
import { apiKeys } from '../adapters/schema.ts'
import { unauthorized } from '../errors.ts'
import { noteUse } from '../pipeline/key_use.ts'
import type { KeyHolder } from '../principal.ts'

type Row = typeof apiKeys.$inferSelect & { has_webhooks: boolean }

/** Remembered with the key, so that a change needs no query of its own to know whether to tell somebody. */
const hasWebhooks = sql`exists (select 1 from webhook_endpoints
  where webhook_endpoints.organization_id = api_keys.organization_id and state = 'active')`

function toKeyHolder(key: Row): KeyHolder {
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
    has_webhooks: key.has_webhooks,
  }
}

/** The key with the hash of a secret, remembered for a short while; 401 when there is none. */
export async function readKey(env: Env, keys: KeyCache, hash: string): Promise<KeyHolder> {
  const key = await openDatabase(env.DB)
    .select({ ...getTableColumns(apiKeys), has_webhooks: hasWebhooks.mapWith(Boolean).as('has_webhooks') })
    .from(apiKeys)
    .where(or(eq(apiKeys.hash, hash), eq(apiKeys.previous_hash, hash)))
    .get()
  if (!key) throw unauthorized('This API key is not valid')
  const ends = Math.min(key.expires_at ?? Infinity, key.hash === hash ? Infinity : (key.previous_expires_at ?? 0))
  if (ends <= Date.now()) throw unauthorized('This API key has expired')
  const principal = toKeyHolder(key)
  keys.set(hash, principal, ends)
  await noteUse(env, key)
  return principal
}
