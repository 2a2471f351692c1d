import { DAY } from '../../../contract/time.ts'
import type { ApiKey, ShareLink, TonearmEvent, WebhookEndpoint } from '../../base/api.ts'
import { isUnwell } from '../webhooks/webhook.ts'

/** The part "Needs attention" of the page Overview. */

/** Days until a link ends, and days after which a key counts as unused. */
const SOON = 7
const UNUSED = 90
/** Fraction of a quota from which it is reported, as the event `quota.warning` (docs/upload.md#quotas). */
const NEAR = 0.8

/** Returns the links that end within a week, the first to end first. */
export const endingShares = <T extends Pick<ShareLink, 'expires_at'>>(shares: readonly T[], now: number): T[] =>
  shares
    .filter(({ expires_at }) => {
      const end = expires_at === null ? Infinity : Date.parse(expires_at)
      return end > now && end <= now + SOON * DAY
    })
    .toSorted((a, b) => Date.parse(a.expires_at!) - Date.parse(b.expires_at!))

/** Returns the keys that were not used for 90 days, those that have expired excluded. */
export const unusedKeys = <T extends Pick<ApiKey, 'created_at' | 'last_used_at' | 'expires_at'>>(
  keys: readonly T[],
  now: number,
): T[] =>
  keys.filter(
    ({ created_at, last_used_at, expires_at }) =>
      Date.parse(last_used_at ?? created_at) < now - UNUSED * DAY &&
      (expires_at === null || Date.parse(expires_at) > now),
  )

/** Returns the endpoints whose deliveries fail, or that the service has stopped. */
export const unwellWebhooks = (endpoints: readonly WebhookEndpoint[]) => endpoints.filter(isUnwell)

/** Whether most of a quota is used. */
export const isNear = (used: number, limit: number | null) => limit !== null && used >= limit * NEAR

type QuotaEvent = Extract<TonearmEvent, { type: `quota.${string}` }>

/** Returns the last event of each key's quota today. Those of an organization are in its usage, which is newer. */
export function keyQuotas(events: readonly TonearmEvent[]): QuotaEvent[] {
  const latest = new Map<string, QuotaEvent>()
  for (const event of events) {
    if ((event.type === 'quota.warning' || event.type === 'quota.reached') && event.data.scope === 'api_key')
      latest.set(event.subject, event)
  }
  return [...latest.values()]
}

/** Returns the start of the current day in UTC, when the quotas of keys start again. */
export const startOfDay = (now: number) => now - (now % DAY)
