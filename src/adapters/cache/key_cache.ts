import type { KeyHolder } from '../../core/principal.ts'
import { createLru } from './lru.ts'

/** Seconds for which an isolate caches a key. A revoked key works in other isolates for at most this long. */
const TTL = 30

/** Creates the isolate's cache of keys, indexed by the hash of their secret. */
export function createKeyCache() {
  const keys = createLru<KeyHolder>({ entries: 1000, bytes: 2e6 })
  return {
    get: (hash: string) => keys.get(hash, Date.now()),
    /** Caches a key. `expires_at` is the time when its secret expires, in milliseconds since 1970. */
    set(hash: string, principal: KeyHolder, expires_at: number): void {
      const { organization_id } = principal
      keys.set(hash, principal, { organization_id, bytes: 2000, until: Math.min(Date.now() + TTL * 1000, expires_at) })
    },
    /** Removes a key that was changed; its next use reads it from the database again. */
    evict: (api_key_id: string) => keys.evictIf(({ value }) => value.api_key_id === api_key_id),
    /** Removes all keys of a deleted organization. */
    evictOrganization: keys.evict,
  }
}
export type KeyCache = ReturnType<typeof createKeyCache>
