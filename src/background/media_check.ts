import { heartbeat, type Vitals } from '../adapters/db/heartbeats.ts'
import type { System } from '../context.ts'
import { HOUR } from '../contract/time.ts'
import { log } from '../core/log.ts'

/** Checks that the domain of the files refuses requests without a token (docs/decisions/0088), because its rule may have been changed or deleted. */

const TIMEOUT = 10_000

/** Statuses of Cloudflare if the domain does not serve anything. */
const isUnanswered = (status: number) => status === 409 || status === 429 || status >= 500

/**
 * Whether the domain must be checked: every hour, and in every sweep while it is open. It is also checked if MEDIA_DELIVERY is `r2`, as long as its
 * address is known, because the bucket may still have the domain.
 */
export const isMediaDue = ({ MEDIA_BASE_URL }: Env, { beats, media }: Vitals, now: number): boolean =>
  Boolean(MEDIA_BASE_URL) && (media?.is_open === true || Math.abs(now - (beats.media ?? 0)) >= HOUR)

/**
 * Requests a file that does not exist without a token. Any response but 403 means that the request has passed the rule. Without a response, the next
 * sweep tries again.
 */
export async function checkMedia({ db, env }: System): Promise<void> {
  const url = `${new URL(env.MEDIA_BASE_URL!).origin}/media/${crypto.randomUUID()}`
  const request = fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) })
  const response = await request.catch(() => null)
  await response?.body?.cancel()
  const status = response?.status ?? 0
  if (!response || isUnanswered(status)) return log('log', 'media_unanswered', { status })
  if (status !== 403) log('error', 'media_open', { status })
  await heartbeat(db, 'media', 0, { is_open: status !== 403 })
}
