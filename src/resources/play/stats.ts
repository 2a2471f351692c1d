import type { Context, Handlers } from '../../context.ts'
import { STATS_DAYS } from '../../contract/facts.ts'
import type { ListeningCounts, statsOperations } from '../../contract/stats.ts'
import type { StatsScope } from '../../contract/stats_scope.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { titlesOf } from '../library/titles.ts'
import { findTrack } from '../library/track.ts'

const DAY = 24 * 3600_000
/** Number of days in the response if the request has no start date. */
const DEFAULT_DAYS = 30

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)
const shifted = (date: string, days: number) => dateOf(Date.parse(date) + days * DAY)

/** Returns the days of a request, and throws if there are too many, or if they are in the future. */
function rangeOf(query: { from?: string | undefined; to?: string | undefined }, now: number) {
  const today = dateOf(now)
  const { to = query.from && query.from > today ? query.from : today } = query
  if (to > today) throw invalid('to', `must not be after ${today}`)
  const { from = shifted(to, 1 - DEFAULT_DAYS) } = query
  const first = shifted(to, 1 - STATS_DAYS)
  if (from > to || from < first) throw invalid('from', `must lie between ${first} and ${to}`)
  return { from, to }
}

const NOTHING: ListeningCounts = {
  plays: 0,
  visits: 0,
  seconds: 0,
  completions: 0,
  downloads: 0,
  muted_seconds: 0,
  fast_seconds: 0,
}

/** Throws 404 for a resource that does not exist, nor is in the trash. */
async function checkResource(context: Context, scope: StatsScope, id: string): Promise<void> {
  const isKnown =
    scope === 'organization'
      ? id === context.principal.organization_id
      : (await titlesOf(context, [{ kind: scope, id }])).has(id)
  if (!isKnown) throw notFound('resource')
}

export const statsHandlers: Handlers<typeof statsOperations> = {
  async getStats({ params: { scope, resource_id }, query }, context) {
    const range = rangeOf(query, context.now)
    await checkResource(context, scope, resource_id)
    const days = (Date.parse(range.to) - Date.parse(range.from)) / DAY + 1
    const rows = Array.from({ length: query.by === 'day' ? days : 0 }, (_, day) => ({
      key: shifted(range.from, day),
      ...NOTHING,
    }))
    return {
      scope,
      resource_id,
      ...range,
      by: query.by,
      totals: NOTHING,
      rows,
      ...(scope === 'organization' && { refused: [] }),
    }
  },

  async getTopStats({ query }, context) {
    return Promise.resolve({ scope: query.scope, ...rangeOf(query, context.now), rows: [] })
  },

  async getRetention({ params: { track_id }, query }, context) {
    const { from, to } = rangeOf(query, context.now)
    const { duration } = await findTrack(context, track_id)
    const step = Math.max(1, duration / 1000)
    const heard = Array.from({ length: Math.ceil(duration / step) }, () => 0)
    // 1970-01-05 was a Monday.
    const monday = (date: string) => shifted(date, -((Date.parse(date) / DAY + 3) % 7))
    const weeks = { from: monday(from), to: shifted(monday(to), 6) }
    return { track_id, ...weeks, duration, step, visits: 0, heard, times: heard }
  },
}
