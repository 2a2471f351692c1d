import { and, eq, sql } from 'drizzle-orm'

import { recordEvents } from '../adapters/record_event.ts'
import { type KeptAttempt, webhookDeliveries, webhookEndpoints } from '../adapters/webhook_schema.ts'
import type { System } from '../context.ts'
import { describeError } from '../errors.ts'
import { bodySql, dueIn, nudge, waiting } from './webhook.ts'
import { holdAll, isActive, isBehind, releaseHeads } from './webhook_order.ts'
import { type Outcome, send, type Sending } from './webhook_request.ts'

/**
 * Sends deliveries (docs/decisions/0057). The rows are the truth; a message only means that something may be due. A sender claims rows for a
 * limited time with one statement that moves `due_at`; if it dies, the next sender takes over. So an event may arrive twice, but is never
 * lost.
 */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Milliseconds until the first attempt, then between attempts. */
export const SCHEDULE = [0, 5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, DAY]
/** Fraction by which each pause is shortened or lengthened at random, so that deliveries that failed together do not all retry together. */
const JITTER = 0.1
/** An endpoint is paused after failing for this long and for this many attempts without a success. */
const FAILING_FOR = 72 * HOUR
const FAILURES = 20

/** Concurrent requests (Workers, Limits: six connections). */
const AT_ONCE = 6
/**
 * Most of these for one endpoint, so that a slow one does not delay others. A failing endpoint gets one, and all failing endpoints together
 * half.
 */
const FOR_ONE = 4
const FOR_FAILING = 3
/** Reserved for endpoints with nothing in flight, so that slow receivers cannot starve them. */
const FOR_IDLE = 2
/** Milliseconds after which no more deliveries are claimed, and between checks for due ones. */
const LIFE = 20_000
const LOOK = 1000
/** Milliseconds for writing the outcome of an attempt, beyond the receiver's timeout. */
const SLACK = 15_000
/** The sweep runs every minute, so only earlier deliveries need a message. */
const SOON = MINUTE
/** Attempts kept per delivery. */
const KEPT_ATTEMPTS = 30

/** A delivery that a sender has claimed until `lease`. */
interface LeasedDelivery extends Sending {
  seq: number
  attempt: number
  lease: number
}

const endpointSql = sql`(select json_object('id', id, 'url', url, 'secret', secret, 'previous_secret', previous_secret,
    'previous_secret_expires_at', previous_secret_expires_at) from webhook_endpoints where id = endpoint_id)`

/** An endpoint with due deliveries. `leases` counts deliveries leased by any sender, up to `FOR_ONE`. */
interface DueEndpoint {
  id: string
  failing: number
  leases: number
}

/** Returns how many further deliveries each endpoint may have: one at a time in rounds, failing endpoints last, each up to its share. */
function sharesOf(endpoints: DueEndpoint[], running: Iterable<LeasedDelivery>, free: number) {
  const counts = new Map<string, number>()
  for (const { endpoint } of running) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
  const isFailing = new Map(endpoints.map(({ id, failing }) => [id, failing === 1]))
  let failing = [...counts].reduce((sum, [id, count]) => sum + (isFailing.get(id) ? count : 0), 0)
  const shares = new Map<string, number>()
  for (let granted = -1; granted !== 0 && free > 0;) {
    granted = 0
    for (const { id, leases } of endpoints) {
      const has = (counts.get(id) ?? 0) + (shares.get(id) ?? 0)
      const fails = isFailing.get(id)
      if (free <= (has + leases > 0 ? FOR_IDLE : 0)) continue
      if (has >= (fails ? 1 : FOR_ONE) || (fails && failing >= FOR_FAILING)) continue
      shares.set(id, (shares.get(id) ?? 0) + 1)
      if (fails) failing++
      free--
      granted++
    }
  }
  return [...shares]
}

/** Claims due deliveries, up to the free capacity. */
async function claim(system: System, running: Iterable<LeasedDelivery>, free: number): Promise<LeasedDelivery[]> {
  const { env, db } = system
  const now = Date.now()
  const leaseTime = Number(env.WEBHOOK_TIMEOUT) * 1000 + SLACK
  const endpoints = await db.all<DueEndpoint>(sql`${waiting}
    select endpoint.id as id, endpoint.failing_since is not null as failing, (select count(*) from (
      select 1 from webhook_deliveries as leased where leased.endpoint_id = endpoint.id and leased.due_at > ${now}
      and leased.due_at <= ${now + leaseTime} and leased.state = 'sending' limit ${FOR_ONE})) as leases
    from ${dueIn(now)} order by failing, leases, random()`)
  const shares = sharesOf(endpoints, running, free)
  if (shares.length === 0) return []
  const lease = now + leaseTime
  const claimedRows = sql`select endpoint_id, seq from (
    select mine.endpoint_id, mine.seq, share.value ->> '$[1]' as share,
      row_number() over (partition by mine.endpoint_id order by mine.due_at, mine.seq) as place
    from json_each(${JSON.stringify(shares)}) as share
    cross join webhook_deliveries as mine on mine.endpoint_id = share.value ->> '$[0]' and mine.seq in (
      select seq from webhook_deliveries as due where due.endpoint_id = share.value ->> '$[0]' and due.due_at <= ${now}
      order by due.due_at, due.seq limit ${FOR_ONE}))
    where place <= share`
  const rows = await db
    .update(webhookDeliveries)
    .set({ state: 'sending', due_at: lease })
    .where(sql`(endpoint_id, seq) in (${claimedRows}) and due_at <= ${now}`)
    .returning({
      seq: webhookDeliveries.seq,
      attempt: webhookDeliveries.attempt,
      endpoint: sql<string>`${endpointSql}`.as('endpoint'),
      body: sql<string | null>`${bodySql}`.as('body'),
    })
  const deliveries = rows.map(({ body, endpoint, ...row }) => ({
    ...row,
    lease,
    endpoint: JSON.parse(endpoint) as Sending['endpoint'],
    body: body ?? '',
    event: { id: body === null ? '' : (JSON.parse(body) as { id: string }).id },
  }))
  // Its event has been deleted because of its age, so there is nothing to send.
  const withoutEvent = deliveries.filter(({ body }) => body === '')
  for (const delivery of withoutEvent) {
    await db.batch([
      db.delete(webhookDeliveries).where(isLeaseHolder(delivery)),
      releaseHeads(system, delivery.endpoint.id),
    ])
  }
  if (withoutEvent.length > 0) await nudge(system)
  return deliveries.filter(({ body }) => body !== '')
}

/** Whether this sender still holds the lease. */
const isLeaseHolder = ({ endpoint, seq, lease }: LeasedDelivery) =>
  and(
    eq(webhookDeliveries.endpoint_id, endpoint.id),
    eq(webhookDeliveries.seq, seq),
    eq(webhookDeliveries.state, 'sending'),
    eq(webhookDeliveries.due_at, lease),
  )

/** Time of the next attempt: as scheduled, or later if the receiver asks for it; null after the last attempt. */
function nextAttemptAt(attempt: number, { at, retry_after }: Outcome): number | null {
  const pause = SCHEDULE[attempt]
  if (pause === undefined) return null
  const jittered = pause * (1 + JITTER * (2 * Math.random() - 1))
  return Math.round(at + Math.max(jittered, (retry_after ?? 0) * 1000))
}

/** Pauses or disables an endpoint and emits an event, in the batch of the attempt that shows that it should. */
function stopSending(system: System, id: string, at: number, isGone: boolean) {
  const { db } = system
  const state = isGone ? ('disabled' as const) : ('paused' as const)
  const reason = isGone ? ('gone' as const) : ('failing' as const)
  const failed = isGone ? sql`true` : sql`failing_since <= ${at - FAILING_FOR} and failures >= ${FAILURES}`
  const stops = sql`id = ${id} and state = 'active' and ${failed}`
  return [
    recordEvents(system, 'webhook_endpoint.paused', sql`webhook_endpoints where ${stops}`, { reason }),
    db.update(webhookEndpoints).set({ state, reason }).where(stops),
    holdAll(system, id),
  ] as const
}

/** Writes the outcome of an attempt, but only while this sender holds the lease. Idempotent. */
async function writeOutcome(system: System, delivery: LeasedDelivery, outcome: Outcome): Promise<number | null> {
  const { db } = system
  const { endpoint } = delivery
  const { retry_after: _retry_after, ...attempt } = outcome satisfies KeptAttempt
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
          // Saves one row write per delivery that arrives.
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
        // Its endpoint may have been paused, or may deliver in order since then.
        due_at: due_at === null ? null : sql`iif(${isActive(endpoint.id)} and not ${isBehind}, ${due_at}, null)`,
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
 * Makes the next delivery of a subject due if the ending one is the only one before it. Read in SQL, because the subject may have been set
 * after the claim.
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

/** Sends due deliveries, several at a time, until no delivery is due or its time is over; then a message wakes the next run. */
export async function sendDue(system: System): Promise<void> {
  const until = Date.now() + LIFE
  const running = new Map<LeasedDelivery, Promise<void>>()
  let soonest = Infinity
  const run = async (delivery: LeasedDelivery) => {
    try {
      const due_at = await writeOutcome(system, delivery, await send(system.env, delivery))
      soonest = Math.min(soonest, due_at ?? Infinity)
    } catch (error) {
      // The row stays leased, and the delivery is sent again when the lease ends.
      console.error(JSON.stringify({ event: 'webhook_not_written', error: describeError(error) }))
    } finally {
      running.delete(delivery)
    }
  }
  try {
    for (;;) {
      const isLate = Date.now() >= until
      const free = AT_ONCE - running.size
      const claimed = isLate || free === 0 ? [] : await claim(system, running.keys(), free)
      for (const delivery of claimed) running.set(delivery, run(delivery))
      if (running.size === 0) {
        if (isLate) await nudge(system)
        else if (soonest < Date.now() + SOON) await nudge(system, Math.max(1, Math.ceil((soonest - Date.now()) / 1000)))
        return
      }
      const timer = new AbortController()
      const pause = scheduler.wait(LOOK, { signal: timer.signal }).catch(() => undefined)
      await Promise.race([...running.values(), pause])
      timer.abort()
    }
  } finally {
    await Promise.all(running.values())
  }
}
