import type { Client, Failure, Organization } from '../api.ts'
import { useConnection } from './connection.ts'
import { peekQuery, useQuery } from './query.ts'

interface Answer {
  ok: true
  organization: Organization
}

const KEY = ['organization']

/** Reads the organization of the key. The list of keys names it, and has at least one entry. */
async function load(client: Client): Promise<Answer | Failure> {
  const keys = await client.get('/v1/api_key', { query: { limit: 1 } })
  if (!keys.ok) return keys
  const { organization_id } = keys.api_keys[0]!
  return client.get('/v1/organization/{organization_id}', { params: { organization_id } })
}

/** Returns the query of the key's organization. The root key has none. */
export function useOrganization() {
  const { client, is_root } = useConnection()
  return useQuery<Answer>(is_root ? null : { key: KEY, load: () => load(client) })
}

/** Whether the tags of files are used. The shell, which contains all pages, is rendered again when this changes. */
export const usesTags = () => (peekQuery(KEY) as Answer | undefined)?.organization.uses_tags !== false
