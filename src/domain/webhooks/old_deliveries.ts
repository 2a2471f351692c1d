import { and, eq, type SQL, sql } from 'drizzle-orm'

import { webhookDeliveries, webhookEndpoints } from '../../adapters/db/schema/webhooks.ts'
import type { System } from '../../context.ts'
import { EVENT_DAYS } from '../../contract/facts.ts'
import { DAY } from '../../contract/time.ts'
import { scheduleHeads } from './order.ts'

/**
 * Deletes deliveries together with their events, in whole days. The deliveries of a deleted endpoint are deleted before the endpoint itself
 * (docs/decisions/0057).
 */

/** Maximum number of rows that one statement deletes, and of endpoints that one sweep handles. */
const CHUNK = 5000
const ENDPOINTS = 100

/** The first `seq` whose deliveries are kept. It is the start of a day. */
export const sweptUntil = (now: number) => (Math.floor(now / DAY) - EVENT_DAYS) * DAY

/** Selects rows if deliveries should be deleted. */
export const expiredDeliveries = (now: number): SQL => sql`webhook_endpoints where swept_until < ${sweptUntil(now)}`

/** Column values that mark an endpoint as deleted. From then on, nothing is sent to it, and its deliveries are deleted in chunks. */
export const DELETED_ENDPOINT = { state: 'deleted', swept_until: -1, secret: '', previous_secret: null } as const

/**
 * Deletes a chunk of an endpoint's deliveries: of a deleted endpoint any deliveries, otherwise only those that are too old. Returns true when none is
 * left.
 */
export async function deleteDeliveries(system: System, id: string, isDeleted: boolean): Promise<boolean> {
  const { db, now } = system
  const from = sweptUntil(now)
  const isOld = and(eq(webhookDeliveries.endpoint_id, id), isDeleted ? undefined : sql`seq < ${from}`)
  const chunk = sql`seq in (select seq from webhook_deliveries where ${isOld} order by seq limit ${CHUNK})`
  const isSwept = and(eq(webhookEndpoints.id, id), sql`not exists (select 1 from webhook_deliveries where ${isOld})`)
  const [, updated] = await db.batch([
    db.delete(webhookDeliveries).where(and(eq(webhookDeliveries.endpoint_id, id), chunk)),
    isDeleted
      ? db.delete(webhookEndpoints).where(isSwept).returning({ id: webhookEndpoints.id })
      : db.update(webhookEndpoints).set({ swept_until: from }).where(isSwept).returning({ id: webhookEndpoints.id }),
    // Makes deliveries due that waited for the deleted deliveries.
    ...(isDeleted ? [] : [scheduleHeads(system, id)]),
  ])
  return updated.length > 0
}

/** Deletes old deliveries and the deliveries of deleted endpoints. Resolves to true if more endpoints may be left. */
export async function sweepWebhooks(system: System): Promise<boolean> {
  const { id, state } = webhookEndpoints
  const endpoints = await system.db
    .select({ id, state })
    .from(webhookEndpoints)
    .where(sql`swept_until < ${sweptUntil(system.now)}`)
    .orderBy(webhookEndpoints.swept_until)
    .limit(ENDPOINTS)
  for (const endpoint of endpoints) {
    while (!(await deleteDeliveries(system, endpoint.id, endpoint.state === 'deleted')));
  }
  return endpoints.length === ENDPOINTS
}
