import type { shares } from '../../adapters/db/schema/shares.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../contract/time.ts'
import { dateOf } from '../../core/time.ts'
import { type Include, isIncluded } from '../library/list_items.ts'
import { artworkOf } from '../library/resource_artwork.ts'
import { titlesOf } from '../library/titles.ts'

type ShareRow = typeof shares.$inferSelect

/** Number of days, including today, whose sessions are added. */
const DAYS = 7

/** Returns the number of sessions that a share created in the last days (UTC). */
function recentSessions({ session_days }: ShareRow, now: number): number {
  const first = dateOf(now - (DAYS - 1) * DAY)
  return Object.entries(session_days ?? {}).reduce((sum, [date, count]) => (date < first ? sum : sum + count), 0)
}

/** Returns the parts of shares that `include` asks for, in the order of the rows. */
export async function includedParts(context: Context, include: Include, rows: ShareRow[]) {
  const parts = rows.map((row) =>
    isIncluded(include, 'sessions') ? { sessions: recentSessions(row, context.now) } : {},
  )
  if (!isIncluded(include, 'resource') || rows.length === 0) return parts
  const [titles, artwork] = await Promise.all([
    titlesOf(
      context,
      rows.map(({ scope, resource_id }) => ({ kind: scope, id: resource_id })),
    ),
    artworkOf(context, rows),
  ])
  return Promise.all(
    rows.map(async (row, at) => ({
      ...parts[at],
      resource: { title: titles.get(row.resource_id) ?? null, artwork: await artwork(row) },
    })),
  )
}
