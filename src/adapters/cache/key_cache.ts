import type { KeyHolder } from '../../core/principal.ts'

/** Seconds for which an isolate caches a key. A revoked key works in other isolates for at most this long. */
const TTL = 30
const MAX_KEYS = 1000

interface CachedKey {
  principal: KeyHolder
  until: number
}

/** Creates the isolate's cache of keys, indexed by the hash of their secret. */
export function createKeyCache() {
  const keys = new Map<string, CachedKey>()
  return {
    get(hash: string): KeyHolder | undefined {
      const cached = keys.get(hash)
      return cached && cached.until > Date.now() ? cached.principal : undefined
    },
    /** Caches a key. `expires_at` is the time when its secret expires, in milliseconds since 1970. */
    set(hash: string, principal: KeyHolder, expires_at: number): void {
      if (keys.size >= MAX_KEYS) keys.delete(keys.keys().next().value!)
      keys.set(hash, { principal, until: Math.min(Date.now() + TTL * 1000, expires_at) })
    },
    /** Removes a key that was changed; its next use reads it from the database again. */
    evict(api_key_id: string): void {
      for (const [hash, { principal }] of keys) if (principal.api_key_id === api_key_id) keys.delete(hash)
    },
    /** Removes all keys of a deleted organization. */
    evictOrganization(organization_id: string): void {
      for (const [hash, { principal }] of keys) if (principal.organization_id === organization_id) keys.delete(hash)
    },
  }
}
export type KeyCache = ReturnType<typeof createKeyCache>
