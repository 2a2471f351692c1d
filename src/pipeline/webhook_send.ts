import { and, eq, sql } from 'drizzle-orm'

import { recordEvents } from '../adapters/record_event.ts'
import { type KeptAttempt, webhookDeliveries, webhookEndpoints } from '../adapters/webhook_schema.ts'
import type { System } from '../context.ts'
import { describeError } from '../errors.ts'
import { bodySql, dueIn, nudge, waiting } from './webhook.ts'
import { holdAll, isActive, isBehind, releaseHeads } from './webhook_order.ts'
import { type Outcome, send, type Sending } from './webhook_request.ts'

/**
 * Sends deliveries (docs/decisions/0057): the row is the truth, a message only says that something is due. Whoever sends takes rows for a
 * while, by one statement that moves `due_at`; who dies loses them to the next. So an event may arrive twice, and is never lost.
 */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Milliseconds after the first try, and from each to the next one. */
export const SCHEDULE = [0, 5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, DAY]
/** By so much each is sooner or later, so that what failed together does not come together again. */
const JITTER = 0.1
/** An endpoint is paused after so long, and so many attempts, of which none arrived. */
const FAILING_FOR = 72 * HOUR
const FAILURES = 20

/** Requests that wait for an answer at a time (Workers, Limits: six connections). */
const AT_ONCE = 6
/** Of these for one endpoint, so that a slow one does not hold up others; one that fails has a single one, and all of those that fail half. */
const FOR_ONE = 4
const FOR_FAILING = 3
/** Of these for endpoints that nothing is on its way to: those that answer late hold up nobody either. */
const FOR_IDLE = 2
/** Milliseconds after which no more are taken, and between looks for what has become due. */
const LIFE = 20_000
const LOOK = 1000
/** Milliseconds beyond the receiver's time in which an attempt is written down. */
const SLACK = 15_000
/** The sweep comes every minute: only what is due sooner needs a message. */
const SOON = MINUTE
/** Attempts that a delivery keeps. */
const KEPT_ATTEMPTS = 30

/** A delivery in somebody's hands, until `lease`. */
interface Taken extends Sending {
  seq: number
  attempt: number
  lease: number
}

const endpointSql = sql`(select json_object('id', id, 'url', url, 'secret', secret, 'previous_secret', previous_secret,
    'previous_secret_expires_at', previous_secret_expires_at) from webhook_endpoints where id = endpoint_id)`

/** Something is due for it; of others' hands, what they have is counted as far as it matters here. */
interface Due {
  id: string
  failing: number
  leases: number
}

/** How many each endpoint may have more: in turn, those that fail last, and none more than its share. */
function sharesOf(due: Due[], running: Iterable<Taken>, free: number) {
  const counts = new Map<string, number>()
  for (const { endpoint } of running) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
  const isFailing = new Map(due.map(({ id, failing }) => [id, failing === 1]))
  let failing = [...counts].reduce((sum, [id, count]) => sum + (isFailing.get(id) ? count : 0), 0)
  const shares = new Map<string, number>()
  for (let given = -1; given !== 0 && free > 0;) {
    given = 0
    for (const { id, leases } of due) {
      const has = (counts.get(id) ?? 0) + (shares.get(id) ?? 0)
      const fails = isFailing.get(id)
      if (free <= (has + leases > 0 ? FOR_IDLE : 0)) continue
      if (has >= (fails ? 1 : FOR_ONE) || (fails && failing >= FOR_FAILING)) continue
      shares.set(id, (shares.get(id) ?? 0) + 1)
      if (fails) failing++
      free--
      given++
    }
  }
  return [...shares]
}

/** Takes what is due, as far as there is room for it. */
async function take(system: System, running: Iterable<Taken>, free: number): Promise<Taken[]> {
  const { env, db } = system
  const now = Date.now()
  const leased = Number(env.WEBHOOK_TIMEOUT) * 1000 + SLACK
  const due = await db.all<Due>(sql`${waiting}
    select endpoint.id as id, endpoint.failing_since is not null as failing, (select count(*) from (
      select 1 from webhook_deliveries as leased where leased.endpoint_id = endpoint.id and leased.due_at > ${now}
      and leased.due_at <= ${now + leased} and leased.state = 'sending' limit ${FOR_ONE})) as leases
    from ${dueIn(now)} order by failing, leases, random()`)
  const shares = sharesOf(due, running, free)
  if (shares.length === 0) return []
  const lease = now + leased
  const each = sql`select endpoint_id, seq from (
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
    .where(sql`(endpoint_id, seq) in (${each}) and due_at <= ${now}`)
    .returning({
      seq: webhookDeliveries.seq,
      attempt: webhookDeliveries.attempt,
      endpoint: sql<string>`${endpointSql}`.as('endpoint'),
      body: sql<string | null>`${bodySql}`.as('body'),
    })
  const taken = rows.map(({ body, endpoint, ...row }) => ({
    ...row,
    lease,
    endpoint: JSON.parse(endpoint) as Sending['endpoint'],
    body: body ?? '',
    event: { id: body === null ? '' : (JSON.parse(body) as { id: string }).id },
  }))
  // Its event was so old that it is gone: there is nothing to send any more.
  const gone = taken.filter(({ body }) => body === '')
  for (const one of gone) {
    await db.batch([db.delete(webhookDeliveries).where(held(one)), releaseHeads(system, one.endpoint.id)])
  }
  if (gone.length > 0) await nudge(system)
  return taken.filter(({ body }) => body !== '')
}

/** True as long as the lease is the one that was taken. */
const held = ({ endpoint, seq, lease }: Taken) =>
  and(
    eq(webhookDeliveries.endpoint_id, endpoint.id),
    eq(webhookDeliveries.seq, seq),
    eq(webhookDeliveries.state, 'sending'),
    eq(webhookDeliveries.due_at, lease),
  )

/** When it is tried again: as the schedule says, or later when the receiver asks for it; null: never. */
function nextTry(attempt: number, { at, retry_after }: Outcome): number | null {
  const pause = SCHEDULE[attempt]
  if (pause === undefined) return null
  const jittered = pause * (1 + JITTER * (2 * Math.random() - 1))
  return Math.round(at + Math.max(jittered, (retry_after ?? 0) * 1000))
}

/** Ends an endpoint's being active, and tells the others, in the batch of the attempt that shows that it should. */
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

/** Writes down what came of an attempt: only while the delivery is in these hands, and once, also when it is repeated. */
async function finish(system: System, taken: Taken, outcome: Outcome): Promise<number | null> {
  const { db } = system
  const { endpoint } = taken
  const { retry_after: _retry_after, ...attempt } = outcome satisfies KeptAttempt
  const arrived = outcome.error === null
  const gone = outcome.status === 410
  const tried = taken.attempt + 1
  const due_at = arrived || gone ? null : nextTry(tried, outcome)
  const state = arrived ? 'delivered' : due_at === null ? 'failed' : 'pending'
  const { at } = outcome
  const own = eq(webhookEndpoints.id, endpoint.id)
  const before = sql`iif(json_array_length(attempts) >= ${KEPT_ATTEMPTS}, json_remove(attempts, '$[0]'), attempts)`
  await db.batch([
    db
      .update(webhookEndpoints)
      .set(
        arrived
          ? { failing_since: null, failures: 0, last_success_at: at }
          : { failing_since: sql`coalesce(failing_since, ${at})`, failures: sql`failures + 1` },
      )
      .where(
        and(
          own,
          sql`exists (select 1 from webhook_deliveries where ${held(taken)})`,
          // A row less for each that arrives.
          arrived
            ? sql`(failing_since is not null or last_success_at is null or last_success_at < ${at - MINUTE})`
            : undefined,
        ),
      ),
    ...(due_at === null ? [releaseNext(system, taken)] : []),
    db
      .update(webhookDeliveries)
      .set({
        state,
        // Its endpoint may have been paused meanwhile, or has an order now.
        due_at: due_at === null ? null : sql`iif(${isActive(endpoint.id)} and not ${isBehind}, ${due_at}, null)`,
        attempt: tried,
        ...(due_at === null && { subject: null }),
        attempts: sql`json_insert(${before}, '$[#]', json(${JSON.stringify(attempt)}))`,
      })
      .where(held(taken)),
    ...(arrived ? [] : stopSending(system, endpoint.id, at, gone)),
  ])
  return due_at
}

/** Makes the next delivery of a subject due, if the one that ends is the only one before. Its subject may be younger than its lease. */
const releaseNext = ({ db }: System, taken: Taken) =>
  db
    .update(webhookDeliveries)
    .set({ due_at: Date.now() })
    .where(
      sql`endpoint_id = ${taken.endpoint.id} and due_at is null and state = 'pending' and seq = (
        select min(next.seq) from webhook_deliveries cross join webhook_deliveries as next
        on next.endpoint_id = ${taken.endpoint.id} and next.subject = webhook_deliveries.subject and next.seq <> ${taken.seq}
        where ${held(taken)})`,
    )

/** Sends what is due, several at a time, until nothing is, or its time is over; then it has the rest sent by the next message. */
export async function sendDue(system: System): Promise<void> {
  const until = Date.now() + LIFE
  const running = new Map<Taken, Promise<void>>()
  let soonest = Infinity
  const run = async (taken: Taken) => {
    try {
      const due_at = await finish(system, taken, await send(system.env, taken))
      soonest = Math.min(soonest, due_at ?? Infinity)
    } catch (error) {
      // It stays taken, and is sent again when that is over.
      console.error(JSON.stringify({ event: 'webhook_not_written', error: describeError(error) }))
    } finally {
      running.delete(taken)
    }
  }
  try {
    for (;;) {
      const isLate = Date.now() >= until
      const free = AT_ONCE - running.size
      const taken = isLate || free === 0 ? [] : await take(system, running.keys(), free)
      for (const one of taken) running.set(one, run(one))
      if (running.size === 0) {
        if (isLate) await nudge(system)
        else if (soonest < Date.now() + SOON) await nudge(system, Math.max(1, Math.ceil((soonest - Date.now()) / 1000)))
        return
      }
      const passed = new AbortController()
      const look = scheduler.wait(LOOK, { signal: passed.signal }).catch(() => undefined)
      await Promise.race([...running.values(), look])
      passed.abort()
    }
  } finally {
    await Promise.all(running.values())
  }
}
