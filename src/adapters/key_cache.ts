import type { KeyHolder } from '../principal.ts'

/** Seconds a key is remembered in an isolate: a revoked one works at most this much longer in others. */
const REMEMBER = 30
const MOST = 1000

interface Remembered {
  principal: KeyHolder
  until: number
}

/** The keys that an isolate has seen lately, by the hash of their secret. */
export function createKeyCache() {
  const keys = new Map<string, Remembered>()
  return {
    get(hash: string): KeyHolder | undefined {
      const known = keys.get(hash)
      return known && known.until > Date.now() ? known.principal : undefined
    },
    /** `expires_at`: when the secret ends by itself, in milliseconds since 1970. */
    set(hash: string, principal: KeyHolder, expires_at: number): void {
      if (keys.size >= MOST) keys.delete(keys.keys().next().value!)
      keys.set(hash, { principal, until: Math.min(Date.now() + REMEMBER * 1000, expires_at) })
    },
    /** After a change of the key: it is read anew at its next use. */
    forget(api_key_id: string): void {
      for (const [hash, { principal }] of keys) if (principal.api_key_id === api_key_id) keys.delete(hash)
    },
    /** After the end of an organization. */
    forgetOrganization(organization_id: string): void {
      for (const [hash, { principal }] of keys) if (principal.organization_id === organization_id) keys.delete(hash)
    },
  }
}
export type KeyCache = ReturnType<typeof createKeyCache>
