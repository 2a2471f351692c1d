import type { Context, Handlers } from '../../context.ts'
import { STATS_DAYS } from '../../contract/facts.ts'
import type { statsOperations } from '../../contract/stats.ts'
import type { StatsScope } from '../../contract/stats_scope.ts'
import { DAY } from '../../contract/time.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { dateOf, firstDayOf, monthOf } from '../../core/time.ts'
import { firstKept } from '../../listening/sums/buckets.ts'
import { addCounts, type Counts, noCounts, toResponse } from '../../listening/sums/counts.ts'
import { accumulated, addCurve, emptyCurve, stepsOf } from '../../listening/sums/curve.ts'
import { isFileSource } from '../../listening/sums/sources.ts'
import type { Stats } from '../../listening/sums/sums.ts'
import { artworkOf } from '../library/resource_artwork.ts'
import { titlesOf } from '../library/titles.ts'
import { findTrack } from '../library/track.ts'
import { objectsOf } from './listening_objects.ts'

/** Number of days in the response if the request has no start date. */
const DEFAULT_DAYS = 30
/** Visits from which on a country is named, so that few listeners of a small country cannot be recognized. */
const NAMED_COUNTRY = 5
/** Maximum number of sources in a response, without those of links to files, which have no plays. */
const MAX_ROWS = 100
/** Candidates for the most plays that each object returns: more than requested, because their order can differ. */
const candidates = (limit: number) => 2 * limit + 100

const dateOfDay = (day: number) => dateOf(day * DAY)
const dayOf = (date: string) => Date.parse(date) / DAY

/**
 * Returns the days of a request since 1970, and throws if there are too many, or if they are in the future. `kept` is the first day that is known as a day. Days
 * before it are extended to whole months.
 */
function rangeOf(query: { from?: string | undefined; to?: string | undefined }, now: number, scope: StatsScope) {
  const today = Math.floor(now / DAY)
  const to = query.to === undefined ? today : dayOf(query.to)
  if (to < 0 || to > today)
    throw invalid('to', `must be between ${dateOfDay(0)} and ${dateOfDay(today)}, not ${query.to}`)
  const from = query.from === undefined ? to + 1 - DEFAULT_DAYS : dayOf(query.from)
  const first = to + 1 - STATS_DAYS
  if (from > to || from < first) {
    const earlier = from < first ? ', or set an earlier to' : ''
    throw invalid('from', `must be between ${dateOfDay(first)} and ${dateOfDay(to)}, not ${dateOfDay(from)}${earlier}`)
  }
  const kept = firstKept(scope, today)
  const days = {
    from: from < kept ? firstDayOf(monthOf(from)) : from,
    to: to < kept ? firstDayOf(monthOf(to) + 1) - 1 : to,
  }
  const dates = { from: dateOfDay(days.from), to: dateOfDay(days.to) }
  return { days, kept, dates: { ...dates, is_rounded: days.from !== from || days.to !== to } }
}

/** Returns the keys of all rows by day: months (`2027-01`) before `kept`, and then days. */
function keysOf({ from, to }: { from: number; to: number }, kept: number): string[] {
  const keys = Array.from({ length: to - from + 1 }, (_, at) => keyOf(from + at, kept))
  return [...new Set(keys)]
}
const keyOf = (day: number, kept: number) => (day < kept ? dateOfDay(day).slice(0, 7) : dateOfDay(day))
/** Returns the key of a row of an object: of a day, or of a month. */
const keyOfSpan = (span: string, kept: number) =>
  keyOf(span.startsWith('month ') ? firstDayOf(Number(span.slice(6))) : Number(span), kept)

/** Adds up the counts that several objects have of the same keys. */
function merged(all: [key: string, counts: Counts][][]): Map<string, Counts> {
  const sums = new Map<string, Counts>()
  for (const [key, counts] of all.flat()) sums.set(key, addCounts(sums.get(key) ?? noCounts(), counts))
  return sums
}

const byPlays = ([x, a]: [string, Counts], [y, b]: [string, Counts]) =>
  b[0]! - a[0]! || b[1]! - a[1]! || b[2]! - a[2]! || (x < y ? -1 : 1)

/** Returns the countries or sources that may be named, and everything else in a last row. */
export function namedRows(
  by: 'country' | 'source',
  sums: Map<string, Counts>,
  totals: Counts,
): [string | null, Counts][] {
  const named = [...sums]
    .filter(([, counts]) => by === 'source' || counts[1]! >= NAMED_COUNTRY)
    .toSorted(byPlays)
    .filter(([key], at) => by === 'country' || at < MAX_ROWS || isFileSource(key))
  const rest = [...totals]
  for (const [, counts] of named) for (const [column, count] of counts.entries()) rest[column]! -= count
  return rest.some((count) => count !== 0) ? [...named, [null, rest]] : named
}

/** Throws 404 unless the resource exists or is in the trash. */
async function checkResource(context: Context, scope: StatsScope, id: string): Promise<void> {
  const isKnown =
    scope === 'organization'
      ? id === context.principal.organization_id
      : (await titlesOf(context, [{ kind: scope, id }])).has(id)
  if (!isKnown) throw notFound(scope === 'organization' ? scope : 'resource')
}

export const statsHandlers: Handlers<typeof statsOperations> = {
  async getStats({ params: { scope, resource_id: id }, query }, context) {
    const { days, kept, dates } = rangeOf(query, context.now, scope)
    const { by } = query
    if (scope === 'organization') await checkResource(context, scope, id)
    const call = await objectsOf(context)
    const all = await call('stats', { scope, id, ...days, kept, by })
    const totals = all.map((stats) => stats.totals).reduce(addCounts, noCounts())
    // A resource that was deleted keeps its sums, and the objects have only those of the organization.
    if (totals.every((count) => count === 0) && !(await call('has', { scope, id })).includes(true))
      await checkResource(context, scope, id)
    const rowsOf = (rows: Stats['rows']) =>
      by === 'day' ? rows.map(([span, counts]): [string, Counts] => [keyOfSpan(span, kept), counts]) : rows
    const sums = merged(all.map(({ rows }) => rowsOf(rows)))
    const rows =
      by === 'day'
        ? keysOf(days, kept).map((key): [string, Counts] => [key, sums.get(key) ?? []])
        : namedRows(by, sums, totals)
    const refused = new Map<string, number>()
    for (const [reason, reports] of all.flatMap((stats) => Object.entries(stats.refused)))
      refused.set(reason, (refused.get(reason) ?? 0) + reports)
    return {
      scope,
      resource_id: id,
      ...dates,
      by,
      totals: toResponse(totals),
      rows: rows.map(([key, counts]) => ({ key, ...toResponse(counts) })),
      ...(scope === 'organization' && {
        refused: [...refused].toSorted(([, a], [, b]) => b - a).map(([reason, reports]) => ({ reason, reports })),
      }),
    }
  },

  async getTopStats({ query: { scope, limit, include, ...query } }, context) {
    const { days, dates } = rangeOf(query, context.now, scope)
    const call = await objectsOf(context)
    const found = await call('top', { scope, ...days, limit: candidates(limit) })
    const ids = [...new Set(found.flat().map(([id]) => id))]
    const counts = ids.length > 0 ? await call('counts', { scope, ...days, ids }) : []
    const most = [...merged(counts)]
      .filter(([, [plays]]) => plays! > 0)
      .toSorted(byPlays)
      .slice(0, limit)
    if (most.length === 0) return { scope, ...dates, rows: [] }
    const [titles, artwork] = await Promise.all([
      titlesOf(
        context,
        most.map(([id]) => ({ kind: scope, id })),
      ),
      include === undefined || scope === 'share'
        ? null
        : artworkOf(
            context,
            most.map(([resource_id]) => ({ scope, resource_id })),
          ),
    ])
    const rows = most.map(async ([id, sums]) => ({
      id,
      title: titles.get(id) ?? null,
      ...(artwork && { artwork: await artwork({ resource_id: id }) }),
      ...toResponse(sums),
    }))
    return { scope, ...dates, rows: await Promise.all(rows) }
  },

  async getRetention({ params: { track_id }, query }, context) {
    const { days, kept, dates } = rangeOf(query, context.now, 'track')
    const { duration } = await findTrack(context, track_id)
    const call = await objectsOf(context)
    const sum = emptyCurve(duration)
    for (const curve of await call('curve', { track: track_id, duration, ...days, kept })) addCurve(sum, curve)
    return {
      track_id,
      ...dates,
      duration,
      step: stepsOf(duration).step,
      visits: sum.visits,
      heard: accumulated(sum.heard),
      times: accumulated(sum.times),
    }
  },
}
