import { sql } from 'drizzle-orm'

import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import type { Database } from '../db/database.ts'

/** Wakes the consumer of the webhook queue, because a delivery may be due. When the queue refuses the message, the sweep wakes it later. */
export async function wakeWebhooks({ env }: { env: Env }, delaySeconds = 0): Promise<void> {
  try {
    await env.WEBHOOK_QUEUE.send({}, { delaySeconds })
  } catch (error) {
    log('error', 'wake_failed', { queue: 'webhook', error: describeError(error) })
  }
}

/** Wakes the consumer after background work that may have written events, if the organization has an active endpoint. Reads at most one row. */
export async function wakeIfSubscribed(system: { env: Env; db: Database }, organization_id: string): Promise<void> {
  try {
    const activeEndpoint = sql`select 1 from webhook_endpoints where organization_id = ${organization_id} and state = 'active' limit 1`
    if ((await system.db.all(activeEndpoint)).length > 0) await wakeWebhooks(system)
  } catch (error) {
    log('error', 'wake_failed', { queue: 'webhook', error: describeError(error) })
  }
}
