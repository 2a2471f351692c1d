import { MAX_PAGE } from '../../contract/facts.ts'
import type { Client, Failure, Organization } from '../base/api.ts'
import { useConnection } from './connection.ts'
import { peekQuery, useQuery } from './query.ts'

interface OrganizationResponse {
  ok: true
  organization: Organization
}

const KEY = ['organization']

const listKeys = (client: Client) => client.get('/v1/api_key', { query: { limit: MAX_PAGE } })

/** Milliseconds for which the keys are kept that were read for the id of the organization: until the first page has loaded. */
const KEPT = 10_000

/** The keys that were read for the id of the organization. The page Overview shows them as well. */
let first: { client: Client; keys: ReturnType<typeof listKeys>; at: number } | undefined

/** Reads the newest keys. The first call soon after the organization was read does not need a request. */
export function readKeys(client: Client): ReturnType<typeof listKeys> {
  const known = first?.client === client && Date.now() - first.at < KEPT ? first.keys : undefined
  first = undefined
  return known ?? listKeys(client)
}

/** Resolves to the id of a key's organization. The list of keys has it, and at least one entry. */
async function readId(client: Client): Promise<{ ok: true; organization_id: string } | Failure> {
  first = { client, keys: listKeys(client), at: Date.now() }
  const keys = await first.keys
  return keys.ok ? { ok: true, organization_id: keys.api_keys[0]!.organization_id } : keys
}

/** Reads the organization of the key. */
async function load(client: Client): Promise<OrganizationResponse | Failure> {
  const read = await readId(client)
  if (!read.ok) return read
  const { organization_id } = read
  return client.get('/v1/organization/{organization_id}', { params: { organization_id } })
}

/** Returns the query of the key's organization. The root key has none. */
export function useOrganization() {
  const { client, is_root } = useConnection()
  return useQuery<OrganizationResponse>(is_root ? null : { key: KEY, load: () => load(client) })
}

/** Whether a client's key belongs to the organization that is shown. True if that is not known, because the page was loaded with a refused key. */
export async function isOfThisOrganization(client: Client): Promise<boolean> {
  const shown = peekQuery(KEY) as OrganizationResponse | undefined
  if (!shown) return true
  const read = await readId(client)
  return read.ok && read.organization_id === shown.organization.id
}

/** Whether the tags of files are used. The shell, which contains all pages, is rendered again when this changes. */
export const usesTags = () => (peekQuery(KEY) as OrganizationResponse | undefined)?.organization.uses_tags !== false
