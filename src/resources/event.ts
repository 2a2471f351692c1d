import { type SQL, sql } from 'drizzle-orm'

import { type EventRow, events } from '../adapters/event_schema.ts'
import type { Context, Handlers } from '../context.ts'
import type { eventOperations, TonearmEvent } from '../contract/event.ts'
import { EVENT_WINDOW } from '../contract/facts.ts'
import { timestamp } from './session.ts'

/** Milliseconds between two looks of who waits. */
const PAUSE = 1000

/** An event as the feed tells it, and webhooks. */
export const toEvent = ({ created_at, ...row }: EventRow) =>
  ({ ...row, timestamp: timestamp(created_at) }) as unknown as TonearmEvent

interface Filter {
  type?: string | undefined
  subject?: string | undefined
  limit: number
}

const isWanted = ({ type, subject }: Filter): SQL[] => [
  ...(type === undefined || type === '*' ? [] : [sql`type glob ${type}`]),
  ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
]

/** The next events behind a place and where to go on from, which may be behind a window without any. */
async function readPage({ db, principal }: Context, after: number, filter: Filter) {
  const { limit } = filter
  const where = isWanted(filter)
  const behind = sql`from ${events} where organization_id = ${principal.organization_id} and seq > ${after} order by seq`
  const found = await db.all<EventRow & { data: string }>(sql`select * from (
    select * ${behind} limit ${where.length > 0 ? EVENT_WINDOW : limit + 1}
  ) where ${sql.join([sql`true`, ...where], sql` and `)} limit ${limit + 1}`)
  const page = found.slice(0, limit)
  const answer = {
    events: page.map((row) => toEvent({ ...row, data: JSON.parse(row.data) as EventRow['data'] })),
    after: page.at(-1)?.seq ?? after,
    has_more: found.length > limit,
  }
  if (answer.has_more || where.length === 0) return answer
  // All of the window was looked at.
  const [end] = await db.all<{ last: number | null; count: number }>(
    sql`select max(seq) as last, count(*) as count from (select seq ${behind} limit ${EVENT_WINDOW})`,
  )
  return { ...answer, after: Math.max(answer.after, end?.last ?? 0), has_more: end?.count === EVENT_WINDOW }
}

export const eventHandlers: Handlers<typeof eventOperations> = {
  async listEvents({ query: { after, wait, ...filter } }, context) {
    const until = Date.now() + wait * 1000
    const isGone = () => context.signal?.aborted === true
    let page = await readPage(context, after, filter)
    while (page.events.length === 0 && !page.has_more && Date.now() < until && !isGone()) {
      await scheduler.wait(Math.min(PAUSE, until - Date.now()), { signal: context.signal }).catch(() => undefined)
      // From where the last look ended, so that each reads only what has come since.
      if (!isGone()) page = await readPage(context, page.after, filter)
    }
    return page
  },
}
