import { sql } from 'drizzle-orm'

import { openDatabase } from '../../adapters/db/database.ts'
import type { Context } from '../../context.ts'

/**
 * The newest event of each organization for which requests of this isolate wait (docs/decisions/0056). One of these requests reads it for all of
 * them, once a second. They share numbers and not a promise, because in workerd a promise belongs to the request that created it.
 */

/** Milliseconds between two reads. */
const PAUSE = 1000
/** Milliseconds after which another request reads, because the request that was reading may have ended. */
const TIMEOUT = 3000
/** Milliseconds between two checks of whether the read of another request has ended. */
const CHECK = 50

interface Watched {
  /** The `seq` of the newest event, and when it was read. */
  seq: number
  read_at: number
  /** When the last of the requests ends. */
  until: number
}
const watched = new Map<string, Watched>()
/** When the next read is due, and until when a running read is awaited. */
let due_at = 0
let reading_until = 0

/** Milliseconds from `now` to a time. Returns 0 if it is more than `most` away, because the clock was set back. */
const remaining = (time: number, now: number, most: number) => (time - now <= most ? Math.max(0, time - now) : 0)

/** Whether a read of the last second found no event of the organization after `seq`. */
export function isCurrent(organization_id: string, seq: number): boolean {
  const organization = watched.get(organization_id)
  return organization !== undefined && organization.seq <= seq && Math.abs(Date.now() - organization.read_at) <= PAUSE
}

async function readNewest({ db }: Context): Promise<void> {
  const now = Date.now()
  due_at = now + PAUSE
  reading_until = now + TIMEOUT
  for (const [id, { until }] of watched) if (until < now) watched.delete(id)
  try {
    // A replica may lag behind the primary, which delays events and loses none.
    const nearest = openDatabase(db.$client.withSession('first-unconstrained') as unknown as D1Database)
    const rows = await nearest.all<{ id: string; seq: number | null }>(
      sql`select value as id, (select max(seq) from events where organization_id = value) as seq
        from json_each(${JSON.stringify([...watched.keys()])})`,
    )
    for (const { id, seq } of rows) {
      const organization = watched.get(id)
      if (organization) Object.assign(organization, { seq: Math.max(organization.seq, seq ?? 0), read_at: now })
    }
  } finally {
    reading_until = 0
  }
}

/**
 * Resolves to true at the next read, or a later one, that finds an event after `after` in the caller's organization; to false at `until`, in
 * milliseconds since 1970.
 */
export async function waitForEvent(context: Context, after: number, until: number): Promise<boolean> {
  const { organization_id } = context.principal
  const organization = watched.get(organization_id) ?? { seq: 0, read_at: 0, until }
  organization.until = Math.max(organization.until, until)
  // If no request was waiting, the caller has just read its page itself.
  if (due_at < Date.now() - PAUSE) due_at = Date.now() + PAUSE
  watched.set(organization_id, organization)
  const read_at = organization.read_at
  for (;;) {
    if (organization.read_at !== read_at && organization.seq > after) return true
    const now = Date.now()
    const pause = remaining(due_at, now, PAUSE) || Math.min(CHECK, remaining(reading_until, now, TIMEOUT))
    if (pause === 0) await readNewest(context)
    else if (now >= until) return false
    else await scheduler.wait(Math.min(pause, until - now))
  }
}
