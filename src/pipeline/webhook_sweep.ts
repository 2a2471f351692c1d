import { and, eq, type SQL, sql } from 'drizzle-orm'

import { webhookDeliveries, webhookEndpoints } from '../adapters/webhook_schema.ts'
import type { System } from '../context.ts'
import { EVENT_DAYS } from '../contract/facts.ts'
import { releaseHeads } from './webhook_order.ts'

/** Deliveries go with their events, whole days of them, and those of a deleted endpoint before it goes itself (docs/decisions/0057). */

const DAY = 24 * 3600_000
/** Rows that one statement deletes, endpoints that one sweep looks after, and statements of it. */
const CHUNK = 5000
const ENDPOINTS = 100
const ROUNDS = 200

/** The first event whose deliveries are kept: the beginning of a day. */
export const sweptUntil = (now: number) => (Math.floor(now / DAY) - EVENT_DAYS) * DAY

/** Rows that there are when deliveries are to go. */
export const oldWebhooks = (now: number): SQL => sql`webhook_endpoints where swept_until < ${sweptUntil(now)}`

/** What makes an endpoint deleted, at once; its deliveries are not sent any more, and go in chunks. */
export const deleted = { state: 'deleted', swept_until: -1, secret: '', previous_secret: null } as const

/** Deletes some deliveries of an endpoint that are too old, or all that there are; true when none is left. */
export async function deleteSomeOf(system: System, id: string, isDeleted: boolean): Promise<boolean> {
  const { db, now } = system
  const from = sweptUntil(now)
  const old = and(eq(webhookDeliveries.endpoint_id, id), isDeleted ? undefined : sql`seq < ${from}`)
  const chunk = sql`seq in (select seq from webhook_deliveries where ${old} order by seq limit ${CHUNK})`
  const own = and(eq(webhookEndpoints.id, id), sql`not exists (select 1 from webhook_deliveries where ${old})`)
  const [, ended] = await db.batch([
    db.delete(webhookDeliveries).where(and(eq(webhookDeliveries.endpoint_id, id), chunk)),
    isDeleted
      ? db.delete(webhookEndpoints).where(own).returning({ id: webhookEndpoints.id })
      : db.update(webhookEndpoints).set({ swept_until: from }).where(own).returning({ id: webhookEndpoints.id }),
    // What has waited for these.
    ...(isDeleted ? [] : [releaseHeads(system, id)]),
  ])
  return ended.length > 0
}

/** Deletes what is too old, or an endpoint's that is deleted. */
export async function sweepWebhooks(system: System): Promise<void> {
  const { id, state } = webhookEndpoints
  const found = await system.db
    .select({ id, state })
    .from(webhookEndpoints)
    .where(sql`swept_until < ${sweptUntil(system.now)}`)
    .orderBy(webhookEndpoints.swept_until)
    .limit(ENDPOINTS)
  let rounds = 0
  for (const endpoint of found) {
    while (rounds++ < ROUNDS && !(await deleteSomeOf(system, endpoint.id, endpoint.state === 'deleted')));
  }
}
