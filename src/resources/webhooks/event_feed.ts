import { type SQL, sql } from 'drizzle-orm'

import { type EventRow, events } from '../../adapters/db/schema/events.ts'
import type { Context, Handlers } from '../../context.ts'
import { type eventOperations, EVENTS, type TonearmEvent } from '../../contract/event.ts'
import { EVENT_WINDOW } from '../../contract/facts.ts'
import { timestamp } from '../../core/time.ts'
import { isCurrent, waitForEvent } from './event_watch.ts'
import { withParts } from './included_parts.ts'

/** Returns an event in the form that the feed and webhooks use. */
export const toEvent = ({ created_at, ...row }: EventRow) =>
  ({ ...row, timestamp: timestamp(created_at) }) as unknown as TonearmEvent

interface Filter {
  type?: string | undefined
  subject?: string | undefined
  limit: number
}

const conditionsOf = ({ type, subject }: Filter): SQL[] => [
  ...(type === undefined || type === '*' ? [] : [sql`type glob ${type}`]),
  ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
]

/**
 * Reads the events after a position, and the position from which to continue. If no event matches, this is the end of the window. One statement reads
 * both, because an event written between two statements would be skipped. The end of the window is a row without an id, and is only used when the
 * page is not full.
 */
async function readPage({ db, principal }: Context, after: number, filter: Filter) {
  const { limit } = filter
  const where = conditionsOf(filter)
  const isFiltered = where.length > 0
  const behind = sql`from ${events} where organization_id = ${principal.organization_id} and seq > ${after} order by seq
    limit ${isFiltered ? EVENT_WINDOW : limit + 1}`
  const matches = sql`select * from (select seq, id, type, subject, sequence, actor, data, created_at from (select * ${behind})
    where ${sql.join([sql`true`, ...where], sql` and `)} limit ${limit + 1})`
  const end = sql`union all select max(seq), null, null, null, count(*), null, null, null from (select seq ${behind}) limit ${limit + 1}`
  const rows = await db.all<EventRow & { id: string | null; data: string }>(
    isFiltered ? sql`${matches} ${end}` : matches,
  )
  const has_more = rows[limit]?.id != null
  const page = has_more ? rows.slice(0, limit) : rows
  const last = page.at(-1)
  return {
    // After a rollback, the table may contain event types of a newer version.
    events: page
      .filter(({ type }) => Object.hasOwn(EVENTS, type))
      .map((row) => toEvent({ ...row, data: JSON.parse(row.data) as EventRow['data'] })),
    after: last?.seq ?? after,
    has_more: has_more || (last?.id === null && last.sequence === EVENT_WINDOW),
  }
}

export const eventHandlers: Handlers<typeof eventOperations> = {
  async listEvents({ query: { after, wait, include, ...filter } }, context) {
    const until = Date.now() + wait * 1000
    const isKnown = wait > 0 && isCurrent(context.principal.organization_id, after)
    let page = isKnown ? { events: [], after, has_more: false } : await readPage(context, after, filter)
    // When the client disconnects, workerd ends the request and with it this loop.
    while (page.events.length === 0 && !page.has_more && (await waitForEvent(context, page.after, until)))
      // Continues where the previous read ended, so that each read only covers newer events.
      page = await readPage(context, page.after, filter)
    return include ? { ...page, events: await withParts(context, include, page.events) } : page
  },
}
