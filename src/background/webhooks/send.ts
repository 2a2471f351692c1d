import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { send } from '../../domain/webhooks/request.ts'
import { claimDue, type LeasedDelivery } from './claim.ts'
import { writeOutcome } from './outcome.ts'

/**
 * Sends deliveries (docs/decisions/0057). The rows are authoritative; a message only means that a delivery may be due. A sender claims rows for a
 * limited time with one statement that moves `due_at`. If the sender crashes, the next one takes over, so an event may arrive twice but is never
 * lost.
 */

/** Maximum number of concurrent requests (Workers, Limits: six connections). */
const AT_ONCE = 6
/** Milliseconds after which no more deliveries are claimed, and interval between checks for due deliveries. */
const LIFE = 20_000
const CHECK_EVERY = 1000
/** Queries that must be left to claim more deliveries: enough to write the outcomes of the running ones, with retries. */
const RESERVE = 50
/**
 * If the next delivery is due within this number of milliseconds, a message is sent for it. For later deliveries, the sweep is enough, because it
 * runs every minute.
 */
const SOON = 60_000

/** Sends due deliveries, several at a time, until none is due, the time is over, or few queries are left. In the latter cases, a message starts the next run. */
export async function sendDue(system: System): Promise<void> {
  const until = Date.now() + LIFE
  const running = new Map<LeasedDelivery, Promise<void>>()
  let soonest = Infinity
  const run = async (delivery: LeasedDelivery) => {
    try {
      const due_at = await writeOutcome(system, delivery, await send(system.env, delivery))
      soonest = Math.min(soonest, due_at ?? Infinity)
    } catch (error) {
      // The row keeps its lease; when the lease ends, the delivery is sent again.
      log('error', 'webhook_not_written', { error: describeError(error) })
    } finally {
      running.delete(delivery)
    }
  }
  try {
    for (;;) {
      const isLate = Date.now() >= until || (system.queries?.left ?? Infinity) < RESERVE
      const free = AT_ONCE - running.size
      const claimed = isLate || free === 0 ? [] : await claimDue(system, running.keys(), free)
      for (const delivery of claimed) running.set(delivery, run(delivery))
      if (running.size === 0) {
        if (isLate) await wakeWebhooks(system)
        else if (soonest < Date.now() + SOON)
          await wakeWebhooks(system, Math.max(1, Math.ceil((soonest - Date.now()) / 1000)))
        return
      }
      const timer = new AbortController()
      const pause = scheduler.wait(CHECK_EVERY, { signal: timer.signal }).catch(() => undefined)
      await Promise.race([...running.values(), pause])
      timer.abort()
    }
  } finally {
    await Promise.all(running.values())
  }
}
