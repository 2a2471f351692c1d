import { MAX_PAGE } from '../../../contract/facts.ts'
import type { ApiKey, Client, Failure, TonearmEvent, WebhookEndpoint } from '../../base/api.ts'
import { startOfDay } from './attention.ts'

/** The requests of the page Overview: at most nine. */

/** Numbers of failed tracks and of collections that are shown. */
const FAILED = 5
const RECENT = 6
/** Number of requests for the events of quotas. Each covers 5,000 events of the organization. */
const EVENT_REQUESTS = 3

type Ok<F extends (client: Client) => Promise<unknown>> = Extract<Awaited<ReturnType<F>>, { ok: true }>

const readFailed = (client: Client) =>
  client.get('/v1/track', {
    query: { status: ['failed', 'incomplete'], include: ['state', 'artwork', 'collection'], limit: FAILED },
  })
const readLinks = (client: Client) => client.get('/v1/share', { query: { include: ['resource'], limit: MAX_PAGE } })
/** Reads the newest collections. */
export const readRecent = (client: Client) =>
  client.get('/v1/collection', { query: { include: ['artwork', 'counts'], limit: RECENT } })

/** Reads the quota events of today (UTC). */
async function readQuotaEvents(client: Client): Promise<{ ok: true; events: TonearmEvent[] } | Failure> {
  const events: TonearmEvent[] = []
  let after = startOfDay(Date.now()) - 1
  for (let requests = 0; requests < EVENT_REQUESTS; requests++) {
    const query = { type: 'quota.*', include: ['titles'], after, limit: MAX_PAGE } as const
    const page = await client.get('/v1/event', { query })
    if (!page.ok) return page
    events.push(...page.events)
    if (!page.has_more) break
    after = page.after
  }
  return { ok: true, events }
}

export type FailedTrack = Ok<typeof readFailed>['tracks'][number]
/** A link, with the title of its resource. */
export type Link = Ok<typeof readLinks>['shares'][number]
export type RecentCollections = Ok<typeof readRecent>

/** Everything that may need attention. Of links and keys, only the newest are read. */
export interface Attention {
  ok: true
  failed: FailedTrack[]
  failed_count: number
  webhooks: WebhookEndpoint[]
  links: Link[]
  link_count: number
  keys: ApiKey[]
  key_count: number
  events: TonearmEvent[]
}

/** Reads everything that may need attention. Resolves to the failure if a request fails. */
export async function readAttention(client: Client): Promise<Attention | Failure> {
  const [failed, webhooks, links, keys, events] = await Promise.all([
    readFailed(client),
    client.get('/v1/webhook_endpoint', { query: { limit: MAX_PAGE } }),
    readLinks(client),
    client.get('/v1/api_key', { query: { limit: MAX_PAGE } }),
    readQuotaEvents(client),
  ])
  if (!failed.ok) return failed
  if (!webhooks.ok) return webhooks
  if (!links.ok) return links
  if (!keys.ok) return keys
  if (!events.ok) return events
  return {
    ok: true,
    failed: failed.tracks,
    failed_count: failed.count,
    webhooks: webhooks.webhook_endpoints,
    links: links.shares,
    link_count: links.count,
    keys: keys.api_keys,
    key_count: keys.count,
    events: events.events,
  }
}
