import { asc, eq } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { MAX_STATS_TRACKS, STATS_DAYS } from '../../contract/facts.ts'
import type { statsOperations } from '../../contract/stats.ts'
import type { StatsScope } from '../../contract/stats_scope.ts'
import { DAY } from '../../contract/time.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { dateOf, firstDayOf, monthOf } from '../../core/time.ts'
import { objectsOf } from '../../domain/listening_objects.ts'
import { firstKept } from '../../listening/sums/buckets.ts'
import { addCounts, type Counts, noCounts, toResponse } from '../../listening/sums/counts.ts'
import { accumulated, addCurve, emptyCurve, stepsOf } from '../../listening/sums/curve.ts'
import type { Kind } from '../../listening/sums/memory.ts'
import { isFileSource } from '../../listening/sums/sources.ts'
import type { Stats } from '../../listening/sums/sums.ts'
import { findCollection } from '../library/collection.ts'
import { artworkOf } from '../library/resource_artwork.ts'
import { titlesOf } from '../library/titles.ts'
import { findTrack } from '../library/track.ts'

/** Number of days in the response if the request has no start date. */
const DEFAULT_DAYS = 30
/** Visits from which on a country is named, so that few listeners of a small country cannot be recognized. */
const NAMED_COUNTRY = 5
/** Maximum number of sources in a response, without those of links to files, which have no plays. */
const MAX_ROWS = 100
/** Rows in the response if the request has no limit. */
const DEFAULT_ROWS = 50
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

type Sums = [id: string, counts: Counts]
const byCounts = ([, a]: Sums, [, b]: Sums) => b[0]! - a[0]! || b[1]! - a[1]! || b[2]! - a[2]!
const byPlays = (a: Sums, b: Sums) => byCounts(a, b) || (a[0] < b[0] ? -1 : 1)

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

type StatsQuery = Parameters<Handlers<typeof statsOperations>['getStats']>[0]['query']

/** Returns the country or source to which a request limits the counts. Throws if there are two, or rows of countries or sources. */
function onlyOf({ by, country, source }: StatsQuery): { kind: Kind; text: string } | undefined {
  const name = country === undefined ? 'source' : 'country'
  const text = country ?? source
  if (text === undefined) return undefined
  if (by !== 'day') throw invalid(name, 'needs by=day')
  if (country !== undefined && source !== undefined) throw invalid('source', 'cannot be combined with country')
  return { kind: name, text }
}

/** Throws 404 unless the resource exists or is in the trash. */
async function checkResource(context: Context, scope: StatsScope, id: string): Promise<void> {
  const isKnown =
    scope === 'organization'
      ? id === context.principal.organization_id
      : (await titlesOf(context, [{ kind: scope, id }])).has(id)
  if (!isKnown) throw notFound(scope === 'organization' ? scope : 'resource')
}

/** Returns the ids of a collection's tracks, the first 1,000 in its order. Throws 404 if the collection does not exist. */
async function tracksOf(context: Context, collection_id: string): Promise<string[]> {
  const { id } = await findCollection(context, collection_id)
  const { collection_id: owner, order } = tracks
  const rows = await context.db
    .select({ id: tracks.id })
    .from(tracks)
    .where(eq(owner, id))
    .orderBy(asc(order), asc(tracks.id))
    .limit(MAX_STATS_TRACKS)
  return rows.map((row) => row.id)
}

export const statsHandlers: Handlers<typeof statsOperations> = {
  async getStats({ params: { scope, resource_id: id }, query }, context) {
    const { days, kept, dates } = rangeOf(query, context.now, scope)
    const { by, country } = query
    const only = onlyOf(query)
    if (scope === 'organization') await checkResource(context, scope, id)
    const call = await objectsOf(context, context.principal.organization_id)
    const all = await call('stats', { scope, id, ...days, kept, by, ...(only && { only }) })
    const counted = all.map((stats) => stats.totals).reduce(addCounts, noCounts())
    const isNamed = country === undefined || counted[1]! >= NAMED_COUNTRY
    const totals = isNamed ? counted : noCounts()
    // A resource that was deleted keeps its sums, and the objects have only those of the organization.
    if (totals.every((count) => count === 0) && !(await call('has', { scope, id })).includes(true))
      await checkResource(context, scope, id)
    const rowsOf = (rows: Stats['rows']) =>
      by === 'day' ? rows.map(([span, counts]): [string, Counts] => [keyOfSpan(span, kept), counts]) : rows
    const sums = merged(isNamed ? all.map(({ rows }) => rowsOf(rows)) : [])
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
      ...(scope === 'organization' &&
        !only && {
          refused: [...refused].toSorted(([, a], [, b]) => b - a).map(([reason, reports]) => ({ reason, reports })),
        }),
    }
  },

  async getTopStats({ query: { scope, collection_id, limit, include, ...query } }, context) {
    const { days, dates } = rangeOf(query, context.now, scope)
    if (collection_id !== undefined && scope !== 'track') throw invalid('collection_id', 'needs the scope track')
    const call = await objectsOf(context, context.principal.organization_id)
    const isTop = collection_id === undefined
    const size = limit ?? (isTop ? DEFAULT_ROWS : MAX_STATS_TRACKS)
    const ids = isTop
      ? (await call('top', { scope, ...days, limit: candidates(size) })).flat().map(([id]) => id)
      : await tracksOf(context, collection_id)
    const counts = ids.length > 0 ? await call('counts', { scope, ...days, ids: [...new Set(ids)] }) : []
    const sums = merged(counts)
    const listed = isTop
      ? [...sums].filter(([, [plays]]) => plays! > 0).toSorted(byPlays)
      : ids.map((id): Sums => [id, sums.get(id) ?? noCounts()]).toSorted(byCounts)
    const most = listed.slice(0, size)
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
    const rows = most.map(async ([id, counts]) => ({
      id,
      title: titles.get(id) ?? null,
      ...(artwork && { artwork: await artwork({ resource_id: id }) }),
      ...toResponse(counts),
    }))
    return { scope, ...dates, rows: await Promise.all(rows) }
  },

  async getRetention({ params: { track_id }, query }, context) {
    const { days, kept, dates } = rangeOf(query, context.now, 'track')
    const { duration } = await findTrack(context, track_id)
    const call = await objectsOf(context, context.principal.organization_id)
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
