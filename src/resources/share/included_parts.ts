import type { shares } from '../../adapters/db/schema/shares.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../contract/time.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { dateOf } from '../../core/time.ts'
import { objectsOf, type Shards } from '../../domain/listening_objects.ts'
import { toResponse } from '../../listening/sums/counts.ts'
import { type Include, isIncluded } from '../library/list_items.ts'
import { artworkOf } from '../library/resource_artwork.ts'
import { titlesOf } from '../library/titles.ts'

type ShareRow = typeof shares.$inferSelect

/** Number of days, including today, whose sessions and visits are added. */
const DAYS = 7
const VISITS_DAYS = 30

/** Returns the number of sessions with a row that a share created in the last days (UTC). */
function recentSessions({ session_days }: ShareRow, now: number): number {
  const first = dateOf(now - (DAYS - 1) * DAY)
  return Object.entries(session_days ?? {}).reduce((sum, [date, count]) => (date < first ? sum : sum + count), 0)
}

/** Returns a function for the number of visits of each share in the last days; null if the statistics cannot be read, which does not fail the list. */
async function visitsOf(context: Context, rows: ShareRow[], shards: Shards | undefined) {
  const { organization_id } = context.principal
  const to = Math.floor(context.now / DAY)
  try {
    const call = await objectsOf(context, organization_id, shards)
    const ids = rows.map(({ id }) => id)
    const found = (await call('counts', { scope: 'share', from: to + 1 - VISITS_DAYS, to, ids })).flat()
    return (id: string) =>
      found.reduce((sum, [share, counts]) => (share === id ? sum + toResponse(counts).visits : sum), 0)
  } catch (error) {
    log('error', 'visits_not_read', { organization_id, error: describeError(error) })
    return null
  }
}

/** Returns the parts of shares that `include` asks for, in the order of the rows. */
export async function includedParts(context: Context, include: Include, rows: ShareRow[], shards: Shards | undefined) {
  const visits = isIncluded(include, 'visits') && rows.length > 0 ? await visitsOf(context, rows, shards) : null
  const parts = rows.map((row) => ({
    ...(isIncluded(include, 'sessions') && { sessions: recentSessions(row, context.now) }),
    ...(visits && { visits: visits(row.id) }),
  }))
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
