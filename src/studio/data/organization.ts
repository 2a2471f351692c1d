import type { Client, Organization } from '../api.ts'
import { createStore } from './store.ts'

/** The organization of the key; null until it is known. */
export const organization = createStore<Organization | null>(null)

/** Reads the organization through the list of keys, which has at least one. Returns a function that clears it. */
export function findOrganization(client: Client): () => void {
  let isCurrent = true
  void (async () => {
    const keys = await client.get('/v1/api_key', { query: { limit: 1 } })
    const organization_id = keys.ok && keys.api_keys[0]?.organization_id
    if (!organization_id) return
    const found = await client.get('/v1/organization/{organization_id}', { params: { organization_id } })
    if (found.ok && isCurrent) organization.set(found.organization)
  })()
  return () => {
    isCurrent = false
    organization.set(null)
  }
}
