import { eq } from 'drizzle-orm'

import { openDatabase } from '../adapters/database.ts'
import { apiKeys } from '../adapters/schema.ts'
import { hashSecret, isSecret } from '../adapters/secret.ts'
import type { Principal } from '../context.ts'
import type { Access } from '../contract/operation.ts'
import { insufficientScope, unauthorized } from '../errors.ts'

/** Seconds a key is remembered in an isolate: a revoked one works at most this much longer elsewhere. */
const REMEMBER = 30
const REMEMBERED_KEYS = 1000

const PUBLIC: Principal = { kind: 'public', organization_id: '', api_key_id: '' }
const ROOT: Principal = { kind: 'root', organization_id: '', api_key_id: 'root' }

/** Compares secrets without telling by the time taken where they differ. */
async function sameSecret(a: string, b: string): Promise<boolean> {
  return (await hashSecret(a)) === (await hashSecret(b))
}

/**
 * Finds out who is calling (specification §5): `Authorization: Bearer <API_KEY>`, scheme in any case (RFC 9110 §11.1). A typo is
 * refused by its checksum without a query, a known key is remembered for a short while.
 */
export function createAuthenticator() {
  const remembered = new Map<string, { principal: Principal; until: number }>()

  async function principalOf(env: Env, secret: string): Promise<Principal> {
    if (env.ROOT_KEY && (await sameSecret(secret, env.ROOT_KEY))) return ROOT
    if (!isSecret(secret)) throw unauthorized('This API key is not valid')
    const hash = await hashSecret(secret)
    const known = remembered.get(hash)
    if (known && known.until > Date.now()) return known.principal
    const key = await openDatabase(env.DB).select().from(apiKeys).where(eq(apiKeys.hash, hash)).get()
    if (!key) throw unauthorized('This API key is not valid')
    const principal = { kind: key.type, organization_id: key.organization_id, api_key_id: key.id }
    if (remembered.size >= REMEMBERED_KEYS) remembered.delete(remembered.keys().next().value!)
    remembered.set(hash, { principal, until: Date.now() + REMEMBER * 1000 })
    return principal
  }

  return async function authenticate(
    env: Env,
    header: string | undefined,
    access: readonly Access[],
  ): Promise<Principal> {
    if (access.length === 0) return PUBLIC
    if (!header) throw unauthorized('Send your API key in the header Authorization: Bearer <API_KEY>')
    const secret = /^bearer +(\S+) *$/i.exec(header)?.[1]
    if (!secret) throw unauthorized('The Authorization header must be: Bearer <API_KEY>')
    const principal = await principalOf(env, secret)
    if (!access.includes(principal.kind as Access)) throw insufficientScope(principal.kind)
    return principal
  }
}
