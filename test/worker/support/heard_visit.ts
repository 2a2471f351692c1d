import { env } from 'cloudflare:workers'

import { listeningObject } from '../../../src/listening/call_object.ts'
import { HOUR } from './api.ts'
import { heardReport } from './heard.ts'

export interface HeardVisit {
  track: string
  ranges?: [number, number][]
  country?: string | null
  source?: string
  scope?: 'collection' | 'playlist'
  id: string
  share?: string | null
  shard?: number
}

/** Sends the report of a new visit, as `POST /v1/heard/{token}` does. */
export function hearVisit(organization_id: string, visit: HeardVisit) {
  const { track, ranges = [[0, 40]], country = null, source, shard = 0, scope = 'collection', id, share = null } = visit
  const report = heardReport(track, { age: 300, listens: [{ track, ranges }], ...(source !== undefined && { source }) })
  const session = { id: crypto.randomUUID(), created_at: Date.now() - HOUR, via: { scope, id, share } }
  const heard = { organization_id, shard, shards: 1, report, session, country, client: '' }
  return listeningObject(env, organization_id, shard)('heard', heard)
}
