import { and, eq, sql } from 'drizzle-orm'

import { recordEvents } from '../../adapters/db/record_event.ts'
import { type RecordedAttempt, webhookDeliveries, webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import type { System } from '../../context.ts'
import { DAY, HOUR, MINUTE } from '../../contract/time.ts'
import { unscheduleAll, isActive, hasPredecessor } from '../../domain/webhooks/order.ts'
import type { AttemptOutcome } from '../../domain/webhooks/request.ts'
import { isLeaseHolder, type LeasedDelivery } from './claim.ts'

/** Milliseconds before each attempt, counted from the event or from the previous attempt. */
export const SCHEDULE = [0, 5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, DAY]
/** Fraction by which each pause is shortened or lengthened at random, so that deliveries that failed together do not all retry together. */
const JITTER = 0.1
/** An endpoint is paused when it has been failing for at least this time and for at least this number of attempts, without a success in between. */
const FAILING_FOR = 72 * HOUR
const FAILURES = 20
/** Maximum number of attempts that are stored per delivery. */
const KEPT_ATTEMPTS = 30

/** Returns the time of the next attempt: as scheduled, or later if the receiver asks for a longer pause. Returns null after the last attempt. */
function nextAttemptAt(attempt: number, { at, retry_after }: AttemptOutcome): number | null {
  const pause = SCHEDULE[attempt]
  if (pause === undefined) return null
  const jittered = pause * (1 + JITTER * (2 * Math.random() - 1))
  return Math.round(at + Math.max(jittered, (retry_after ?? 0) * 1000))
}

/** Pauses or disables an endpoint and writes an event, in the batch that stores the attempt that causes this. */
function stopSending(system: System, id: string, at: number, isGone: boolean) {
  const { db } = system
  const state = isGone ? ('disabled' as const) : ('paused' as const)
  const reason = isGone ? ('gone' as const) : ('failing' as const)
  const failed = isGone ? sql`true` : sql`failing_since <= ${at - FAILING_FOR} and failures >= ${FAILURES}`
  const stops = sql`id = ${id} and state = 'active' and ${failed}`
  return [
    recordEvents(system, 'webhook_endpoint.paused', sql`webhook_endpoints where ${stops}`, { reason }),
    db.update(webhookEndpoints).set({ state, reason }).where(stops),
    unscheduleAll(system, id),
  ] as const
}

/** Writes the outcome of an attempt, but only while this sender still holds the lease. Idempotent. */
export async function writeOutcome(
  system: System,
  delivery: LeasedDelivery,
  outcome: AttemptOutcome,
): Promise<number | null> {
  const { db } = system
  const { endpoint } = delivery
  const { retry_after: _retry_after, ...attempt } = outcome satisfies RecordedAttempt
  const isDelivered = outcome.error === null
  const isGone = outcome.status === 410
  const attempts = delivery.attempt + 1
  const due_at = isDelivered || isGone ? null : nextAttemptAt(attempts, outcome)
  const state = isDelivered ? 'delivered' : due_at === null ? 'failed' : 'pending'
  const { at } = outcome
  const isEndpoint = eq(webhookEndpoints.id, endpoint.id)
  const keptAttempts = sql`iif(json_array_length(attempts) >= ${KEPT_ATTEMPTS}, json_remove(attempts, '$[0]'), attempts)`
  await db.batch([
    db
      .update(webhookEndpoints)
      .set(
        isDelivered
          ? { failing_since: null, failures: 0, last_success_at: at }
          : { failing_since: sql`coalesce(failing_since, ${at})`, failures: sql`failures + 1` },
      )
      .where(
        and(
          isEndpoint,
          sql`exists (select 1 from webhook_deliveries where ${isLeaseHolder(delivery)})`,
          // Without this condition, each successful delivery would cost an additional row write.
          isDelivered
            ? sql`(failing_since is not null or last_success_at is null or last_success_at < ${at - MINUTE})`
            : undefined,
        ),
      ),
    ...(due_at === null ? [releaseNext(system, delivery)] : []),
    db
      .update(webhookDeliveries)
      .set({
        state,
        // In the meantime, the endpoint may have been paused or ordered delivery switched on.
        due_at: due_at === null ? null : sql`iif(${isActive(endpoint.id)} and not ${hasPredecessor}, ${due_at}, null)`,
        attempt: attempts,
        ...(due_at === null && { subject: null }),
        attempts: sql`json_insert(${keptAttempts}, '$[#]', json(${JSON.stringify(attempt)}))`,
      })
      .where(isLeaseHolder(delivery)),
    ...(isDelivered ? [] : stopSending(system, endpoint.id, at, isGone)),
  ])
  return due_at
}

/**
 * Makes the next delivery of a subject due when this delivery ends, unless yet another delivery precedes it. The subject is read in SQL, because it
 * may have been set after the claim.
 */
const releaseNext = ({ db }: System, delivery: LeasedDelivery) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: Date.now() })
    .where(
      sql`endpoint_id = ${delivery.endpoint.id} and due_at is null and state = 'pending' and seq = (
        select min(next.seq) from webhook_deliveries cross join webhook_deliveries as next
        on next.endpoint_id = ${delivery.endpoint.id} and next.subject = webhook_deliveries.subject and next.seq <> ${delivery.seq}
        where ${isLeaseHolder(delivery)})`,
    )
