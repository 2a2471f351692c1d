import { callApi } from './account.ts'

export interface Zone {
  id: string
  name: string
  plan?: { legacy_id?: string; name?: string }
}

/** Returns the zone of the account that a name belongs to. Throws if there is none. */
export async function findZone(token: string, account_id: string, domain: string): Promise<Zone> {
  const labels = domain.split('.')
  for (const name of labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))) {
    const zones = await callApi<Zone[]>(token, 'GET', `/zones?name=${name}&account.id=${account_id}`)
    const zone = zones.find((candidate) => candidate.name === name)
    if (zone) return zone
  }
  throw new Error(`${domain} belongs to no zone of this account`)
}
